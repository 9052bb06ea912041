/** The schema of all tables. */
import { Context } from "effect"

export class WaybillSchema extends Context.Service<WaybillSchema, {
  /** Unquoted, as configured. */
  readonly name: string
  /** Quoted, as a prefix of table names. */
  readonly quoted: string
}>()("@waybill/postgres/shared/WaybillSchema") {}
