/** The schema of all tables. */
import { Context } from "effect"
import type { Statement } from "../client/SqlStatement.ts"

export class WaybillSchema extends Context.Service<WaybillSchema, {
  /** Unquoted, as configured. */
  readonly name: string
  /** Quoted, to be inserted into statements as a prefix of table names. */
  readonly identifier: Statement
}>()("@waybill/postgres/shared/WaybillSchema") {}
