/** Column types, which also create parameters, and rows. Rows are decoded by position, with the column types that a host's executor does not report. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { type BulkRunner, type BulkValue, PgArray, type PgArrayType, timestampParameter } from "./PgBulk.ts"
import { sqlError } from "./PgErrors.ts"
import type { ColumnHint } from "./PgTypes.ts"
import { Parameter, raw, type Statement } from "./SqlStatement.ts"

/** Decodes rows that have these columns. */
export interface RowDecoder<A> {
  readonly hints: ReadonlyArray<ColumnHint>
  /** Throws if the values do not fit; the message names the column, never its value. */
  readonly decode: (values: ReadonlyArray<unknown>) => A
}

/** A column of a result. As a decoder it reads rows of this column alone. */
export interface Column<A> extends RowDecoder<A> {
  /** The value for NULL; without it NULL fails the statement. */
  readonly whenNull?: { readonly value: A }
}

/** The type of a column. Called as a function, it creates a parameter with a cast; `undefined` is sent as NULL. */
export interface SqlType<A, In = A> extends Column<A> {
  (value: In | null | undefined): Parameter
}

/** The type of an array. Called as a function, it creates a parameter that can also be sent in bulk. */
export interface SqlArrayType<A, In = A> extends Column<ReadonlyArray<A>> {
  (elements: ReadonlyArray<In | null>): PgArray
  (elements: ReadonlyArray<In | null> | null | undefined): PgArray | Parameter
}

const column = <A>(hint: ColumnHint, whenNull?: { readonly value: A }): Column<A> => {
  const own: Column<A> = {
    hints: [hint],
    decode: (values) => {
      if (values.length !== 1) throw new Error(`A row has ${values.length} columns, and 1 is read.`)
      return valueOf(own, values[0], hint)
    },
    ...(whenNull === undefined ? {} : { whenNull })
  }
  return own
}

const valueOf = <A>({ whenNull }: Column<A>, value: unknown, name: string): A => {
  if (value !== null) return value as A
  if (whenNull === undefined) throw new Error(`The column ${name} of a row is NULL, and its type is not nullable.`)
  return whenNull.value
}

const scalar = <A, In = A>(type: PgArrayType, form = `$::${type}`, sent: (value: In) => BulkValue = (value) => value as BulkValue): SqlType<A, In> =>
  Object.assign((value: In | null | undefined) => new Parameter(value === null || value === undefined ? null : sent(value), form), column<A>(type))

const array = <A, In = A>(type: PgArrayType): SqlArrayType<A, In> =>
  Object.assign(
    (elements: ReadonlyArray<In | null> | null | undefined) =>
      elements === null || elements === undefined ? new Parameter(null, `$::${type}[]`) : new PgArray(type, elements),
    column<ReadonlyArray<A>>(`${type}[]`)
  ) as SqlArrayType<A, In>

export const bool = scalar<boolean>("bool")
export const bytea = scalar<Uint8Array>("bytea")
export const float8 = scalar<number>("float8")
export const int4 = scalar<number>("int4")
export const int8 = scalar<number, number | bigint>("int8")
export const text = scalar<string>("text")
export const uuid = scalar<string>("uuid")
/**
 * Milliseconds since 1970; infinite numbers are Postgres' infinities. A parameter is sent as text, because drivers of hosts write
 * single times in ways of their own, without infinity. An element of an array would not do: Citus 13.2 crashes on one in `SET`.
 */
export const timestamptz = scalar<number>("timestamptz", "$::text::timestamptz", timestampParameter)

export const boolArray = array<boolean>("bool")
export const byteaArray = array<Uint8Array>("bytea")
export const float8Array = array<number>("float8")
export const int4Array = array<number>("int4")
export const int8Array = array<number, number | bigint>("int8")
/** Postgres stores no NUL character in text and fails the statement. */
export const textArray = array<string>("text")
export const timestamptzArray = array<number>("timestamptz")
export const uuidArray = array<string>("uuid")

/** A column that may be NULL, as null. */
export const nullable = <A>({ hints }: Column<A>): Column<A | null> => column<A | null>(hints[0]!, { value: null })

/** A column that may be NULL, as undefined. */
export const optional = <A>({ hints }: Column<A>): Column<A | undefined> => column<A | undefined>(hints[0]!, { value: undefined })

/** A column that holds only some values of its type, such as the names of states. Not checked. */
export const only = <A extends B, B = unknown>({ hints }: Column<B>): Column<A> => column<A>(hints[0]!)

/** A row with named columns. */
export interface Row<A> extends RowDecoder<A> {
  /** Its columns for a SELECT list, as columns of `alias`: `createdAt` is `created_at`. */
  readonly columns: (alias?: string) => Statement
}

/** The decoded type of a row or column. */
export type Decoded<D extends RowDecoder<unknown>> = D extends RowDecoder<infer A> ? A : never

/** A row of these columns, in this order: `row({ eventId: text, body: bytea })`. */
export const row = <const C extends Readonly<Record<string, Column<any>>>>(
  columns: C
): Row<{ readonly [K in keyof C]: Decoded<C[K]> }> => {
  const names = Object.keys(columns)
  const types = Object.values(columns)
  const sqlNames = names.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  const lists = new Map<string, Statement>()
  // Rows are copies of this object, because adding one member at a time takes three times as long.
  const blank: Readonly<Record<string, unknown>> = Object.fromEntries(names.map((name) => [name, undefined]))
  const listOf = (prefix: string) => raw(sqlNames.map((name) => prefix + name).join(", "))
  return {
    hints: types.map(({ hints }) => hints[0]!),
    columns: (alias = "") => {
      const list = lists.get(alias) ?? listOf(alias === "" ? "" : `${alias}.`)
      lists.set(alias, list)
      return list
    },
    decode: (values) => {
      if (values.length !== names.length) throw new Error(`A row has ${values.length} columns, and ${names.length} are read: ${names.join(", ")}.`)
      const decoded: Record<string, unknown> = { ...blank }
      for (let index = 0; index < names.length; index++) {
        const value = values[index]
        decoded[names[index]!] = value === null ? valueOf(types[index]!, value, sqlNames[index]!) : value
      }
      return decoded as { readonly [K in keyof C]: Decoded<C[K]> }
    }
  }
}

/** Runs statements on the connection of the current transaction, or else on a connection of the pool. */
export interface StatementRunner {
  /** Returns all rows. */
  readonly rows: <A>(decoder: RowDecoder<A>, statement: Statement) => Effect.Effect<ReadonlyArray<A>, SqlError>
  /** Returns the only row; fails if there is none or several. */
  readonly one: <A>(decoder: RowDecoder<A>, statement: Statement) => Effect.Effect<A, SqlError>
  /** Ignores the rows. */
  readonly run: (statement: Statement) => Effect.Effect<void, SqlError>
}

export const statementRunner = (bulk: BulkRunner["bulk"]): StatementRunner => {
  const read = <A, B>(decoder: RowDecoder<A>, statement: Statement, result: (rows: ReadonlyArray<ReadonlyArray<unknown>>) => B) =>
    Effect.flatMap(Effect.suspend(() => bulk(statement.text, statement.values, decoder.hints)), (rows) =>
      Effect.try({ try: () => result(rows), catch: (cause) => sqlError(cause, "decode") }))
  return {
    rows: (decoder, statement) => read(decoder, statement, (rows) => rows.map(decoder.decode)),
    one: (decoder, statement) =>
      read(decoder, statement, (rows) => {
        if (rows.length !== 1) throw new Error(`A statement that returns one row returned ${rows.length}.`)
        return decoder.decode(rows[0]!)
      }),
    run: (statement) => Effect.asVoid(Effect.suspend(() => bulk(statement.text, statement.values)))
  }
}
