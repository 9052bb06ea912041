/** Rows that a call gives to a statement. */
import { PgArray } from "../client/PgBulk.ts"
import { textArray } from "../client/SqlRow.ts"
import { raw, type Statement, statement } from "../client/SqlStatement.ts"

/** A column of lists of texts, as array literals: Postgres has no arrays of arrays of different lengths. */
export const textLists = (lists: ReadonlyArray<ReadonlyArray<string> | null>): PgArray =>
  textArray(lists.map((list) => list === null ? null : new PgArray("text", list).literal()))

/** Columns by members of the rows: a type takes the member of each row, and an array has values of its own. */
type Columns<Row> = {
  readonly [Name in keyof Row]?: PgArray | ((values: ReadonlyArray<Exclude<Row[Name], undefined> | null>) => PgArray)
}

/** The rows as a relation `alias (column, …)`: `shipmentId` is the column `shipment_id`. A missing member is NULL. `place`: the column of their positions, from 1. */
export const given = <Row extends object>(alias: string, rows: ReadonlyArray<Row>, columns: Columns<Row>, place?: string): Statement => {
  const types = Object.entries(columns as Readonly<Record<string, PgArray | ((values: ReadonlyArray<never>) => PgArray)>>)
  const arrays = types.map(([name, type]) => type instanceof PgArray ? type : type(rows.map((each) => (each[name as keyof Row] ?? null) as never)))
  const list = arrays.map((array) => statement`${array}`).reduce((left, right) => statement`${left}, ${right}`)
  const names = types.map(([name]) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  return place === undefined
    ? statement`unnest(${list}) AS ${raw(`${alias} (${names.join(", ")})`)}`
    : statement`unnest(${list}) WITH ORDINALITY AS ${raw(`${alias} (${[...names, place].join(", ")})`)}`
}
