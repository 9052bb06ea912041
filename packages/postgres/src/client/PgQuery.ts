/** Statements for a pg client of the host application. */
import { PgArray } from "./PgBulk.ts"
import type { PgResult, PgStatement } from "./PgConnection.ts"
import { bulkTypes, rowTypes } from "./PgTypes.ts"

/**
 * A statement for pg's `query`. Its members are its own: what the host wraps around pg, such as OpenTelemetry with comments in statements, copies no others.
 *
 * Throws if a parameter cannot be encoded. It is encoded before pg binds: an error thrown while binding leaves the named
 * statement closed, but pg considers it open.
 */
export const pgQuery = ({ asArrays, deadlineMs, isBulk, prepare, text, values }: PgStatement, statementName: (text: string) => string | undefined) => ({
  text,
  values: encoded(values),
  types: isBulk ? bulkTypes : rowTypes,
  name: prepare ? statementName(text) : undefined,
  rowMode: asArrays ? "array" : undefined,
  queryMode: isBulk ? "extended" : undefined,
  query_timeout: deadlineMs
})

const encoded = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  values.some((value) => value instanceof PgArray)
    ? values.map((value) => value instanceof PgArray ? value.encode() : value)
    : values

/** Several statements in one text return a list of results; the last one counts. */
export const lastResult = (answer: PgResult | ReadonlyArray<PgResult>): PgResult =>
  Array.isArray(answer) ? answer.at(-1) as PgResult : answer as PgResult
