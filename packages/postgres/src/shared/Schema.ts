/** The schema that holds every table, as it stands in statements. */
import { Context } from "effect"

export class WaybillSchema extends Context.Service<WaybillSchema, {
  /** Bare, as configured. */
  readonly name: string
  /** In quotes, to be put before a table's name. */
  readonly quoted: string
}>()("@waybill/postgres/shared/WaybillSchema") {}
