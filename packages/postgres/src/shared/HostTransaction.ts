/** Whether we write inside a transaction that the host will end, at a time nobody tells us. */
import { Context } from "effect"

export class InHostTransaction extends Context.Reference<boolean>("@waybill/postgres/shared/InHostTransaction", {
  defaultValue: () => false
}) {}
