/** Statements for a pg client of the host application. */
import { PgArray } from "./PgBulk.ts"
import type { PgResult, PgStatement } from "./PgConnection.ts"
import { bulkTypes, rowTypes } from "./PgTypes.ts"

/**
 * A statement with a single own property: pg copies all property descriptors of a statement, which would cost more than
 * sending it.
 */
export class PgQuery {
  private readonly own: readonly [PgStatement, ReadonlyArray<unknown>, string | undefined]

  /**
   * Throws if a parameter cannot be encoded. It is encoded before pg binds: an error thrown while binding leaves the named
   * statement closed, but pg considers it open.
   */
  constructor(statement: PgStatement, statementName: (text: string) => string | undefined) {
    this.own = [statement, encoded(statement.values), statement.prepare ? statementName(statement.text) : undefined]
  }

  get text() {
    return this.own[0].text
  }
  get values() {
    return this.own[1]
  }
  get name() {
    return this.own[2]
  }
  get types() {
    return this.own[0].isBulk ? bulkTypes : rowTypes
  }
  get rowMode() {
    return this.own[0].asArrays ? "array" : undefined
  }
  get queryMode() {
    return this.own[0].isBulk ? "extended" : undefined
  }
  get query_timeout() {
    return this.own[0].deadlineMs
  }

  /** With own properties, for a client that the host may have wrapped. Without a deadline, because Waybill never closes it. */
  plain() {
    const { name, queryMode, rowMode, text, types, values } = this
    return { text, values, types, name, rowMode, queryMode }
  }
}

const encoded = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  values.some((value) => value instanceof PgArray)
    ? values.map((value) => value instanceof PgArray ? value.encode() : value)
    : values

/** Several statements in one text return a list of results; the last one counts. */
export const lastResult = (answer: PgResult | ReadonlyArray<PgResult>): PgResult =>
  Array.isArray(answer) ? answer.at(-1) as PgResult : answer as PgResult
