/** One connection as Effect's SQL client uses it, over any driver. */
import * as Effect from "effect/Effect"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import { type BulkValue, PgArray } from "./PgBulk.ts"
import { sqlError } from "./PgErrors.ts"
import { bulkTypes, type ColumnHint, type ResultTypes, rowTypes } from "./PgTypes.ts"

/**
 * Effect's connection, plus the bulk path.
 *
 * @stability unstable
 */
export interface PgConnection extends Connection {
  readonly executeBulk: (
    statement: string,
    values: ReadonlyArray<BulkValue>,
    columns: ReadonlyArray<ColumnHint> | undefined
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError>
  /** Ends a transaction, or begins or ends a savepoint. Effect makes these uninterruptible, so they have their own deadline. */
  readonly control: (text: string, deadlineMs: number) => Effect.Effect<PgResult, SqlError>
  /** The host application began this connection's transaction and ends it; Waybill never does. */
  readonly isHosted: boolean
  /** The connection cannot be used any more, and the server has rolled back its transaction. */
  readonly isLost: () => boolean
}

/** The configuration of `query` of a pg client. */
export interface PgQuery {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  readonly types: ResultTypes
  readonly name?: string
  readonly rowMode?: "array"
  readonly binary?: boolean
  readonly queryMode?: "extended"
  readonly query_timeout?: number
  /** The BEGIN statement, sent together with the first statement of a transaction. */
  readonly begin?: string
}

/** The result of a pg client. */
export interface PgResult {
  readonly rows: ReadonlyArray<any>
  readonly command?: string
}

/** Sends the statements of a {@link PgWireConnection}. */
export interface PgWire {
  readonly run: (query: PgQuery) => Effect.Effect<PgResult, SqlError>
  /** Missing if the host begins transactions. */
  readonly begin?: (text: string) => void
  readonly statementName: (text: string) => string | undefined
  readonly readsBinary: boolean
  readonly isHosted: boolean
  readonly isLost: () => boolean
}

type TransformRows = (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

/**
 * A connection over a pg client, of Waybill's own pool or of the host application.
 *
 * @stability unstable
 */
export class PgWireConnection implements PgConnection {
  private readonly wire: PgWire

  constructor(wire: PgWire) {
    this.wire = wire
  }

  get isHosted(): boolean {
    return this.wire.isHosted
  }

  isLost(): boolean {
    return this.wire.isLost()
  }

  /** Begins a transaction with the next statement, in the same round trip if possible. */
  begin(text: string): void {
    this.wire.begin?.(text)
  }

  execute(text: string, values: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return rowsOf(this.send({ text, values, types: rowTypes }, true), transformRows)
  }

  executeRaw(text: string, values: ReadonlyArray<unknown>) {
    return this.send({ text, values, types: rowTypes }, true)
  }

  /** Fetches all rows before it emits them, because there is no cursor. Read large tables page by page. */
  executeStream(text: string, values: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return Stream.unwrap(Effect.map(this.execute(text, values, transformRows), (rows) => Stream.fromIterable(rows)))
  }

  executeValues(text: string, values: ReadonlyArray<unknown>) {
    return rowsOf(this.send({ text, values, types: rowTypes, rowMode: "array" }, true), undefined)
  }

  executeValuesUnprepared(text: string, values: ReadonlyArray<unknown>) {
    return rowsOf(this.send({ text, values, types: rowTypes, rowMode: "array" }, false), undefined)
  }

  executeUnprepared(text: string, values: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return rowsOf(this.send({ text, values, types: rowTypes }, false), transformRows)
  }

  executeBulk(text: string, values: ReadonlyArray<BulkValue>) {
    const query = { text, values, types: bulkTypes, rowMode: "array", queryMode: "extended" } as const
    return rowsOf(this.send({ ...query, binary: this.wire.readsBinary }, true), undefined)
  }

  control(text: string, deadlineMs: number) {
    const query = { text, values: [], types: rowTypes }
    return this.send(this.isHosted ? query : { ...query, query_timeout: deadlineMs }, false)
  }

  private send(query: PgQuery, prepare: boolean): Effect.Effect<PgResult, SqlError> {
    return Effect.suspend(() => {
      let values: ReadonlyArray<unknown>
      try {
        values = encoded(query.values)
      } catch (cause) {
        return Effect.fail(sqlError(cause, "encode"))
      }
      const name = prepare ? this.wire.statementName(query.text) : undefined
      return this.wire.run(name === undefined ? { ...query, values } : { ...query, values, name })
    })
  }
}

/** Encodes before pg binds: an error thrown while binding leaves the named statement closed, but pg considers it open. */
const encoded = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  values.some((value) => value instanceof PgArray)
    ? values.map((value) => value instanceof PgArray ? value.encode() : value)
    : values

const rowsOf = (
  result: Effect.Effect<PgResult, SqlError>,
  transformRows: TransformRows
): Effect.Effect<ReadonlyArray<any>, SqlError> =>
  Effect.map(result, (answer) => {
    // several statements in one text return a list of results; the last one counts
    const { rows } = Array.isArray(answer) ? answer.at(-1) as PgResult : answer
    return transformRows === undefined ? rows : transformRows(rows)
  })
