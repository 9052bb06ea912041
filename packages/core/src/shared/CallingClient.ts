/** The client that a request is handled for. Storage adapters share their connections between clients by it. */
import { Context } from "effect"

/** A text for each client of each tenant; `undefined` for work of the service and of operators. */
export class CallingClient extends Context.Reference<string | undefined>("@waybill/core/shared/CallingClient", {
  defaultValue: () => undefined
}) {}
