/** Whether the current transaction belongs to the host, so that Waybill does not know when it commits. */
import { Context } from "effect"

export class InHostTransaction extends Context.Reference<boolean>("@waybill/postgres/shared/InHostTransaction", {
  defaultValue: () => false
}) {}
