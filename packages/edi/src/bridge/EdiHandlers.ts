/** Functions of the host that store what the bridge reads. */
import type { Invoice } from "@waybill/core/invoices"
import type { EdiPickupAnswer } from "../pickups/Answers.ts"
import type { EdiPickupOrder } from "../pickups/Orders.ts"
import type { EdiEvent } from "../transit-events/TransitEvents214.ts"

/** A fault in the items of a handler, with its place. */
export interface HandlerFault {
  /** JSON pointer, such as `/events/3/location/city` or `/3/location/city`. */
  readonly pointer?: string | undefined
  readonly detail?: string | undefined
}

/** The result of one item. */
export interface HandlerResult {
  readonly result: "accepted" | "duplicate" | "refused"
  /** Of a refused item. */
  readonly faults?: ReadonlyArray<HandlerFault> | undefined
}

/**
 * Stores all items or none. Rejects with an error that has `faults` if it refuses them; any other error stops the file, which can be read
 * again. The methods of `createWaybill` and the client of intake fit.
 */
export type Handler<Item> = (items: ReadonlyArray<Item>) => Promise<ReadonlyArray<HandlerResult>>

/** The handler for each kind of set. A set without a handler is refused. */
export interface EdiHandlers {
  /** 214. */
  readonly transitEvents?: Handler<EdiEvent> | undefined
  /** 210. */
  readonly invoices?: Handler<Invoice> | undefined
  /** 204, 211 and 216. Order with `key` as the idempotency key, and answer a 204 with `writePickupAnswers`. */
  readonly pickups?: Handler<EdiPickupOrder> | undefined
  /** 990. */
  readonly pickupAnswers?: Handler<EdiPickupAnswer> | undefined
}

/** The faults of a refusal; `undefined` for any other error, after which the file may be read again. */
export const refusalIn = (error: unknown): ReadonlyArray<HandlerFault> | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  const { code, errors, faults, message, status } = error as { readonly [name: string]: unknown }
  if (typeof status === "number" && (status < 400 || status >= 500 || [401, 403, 408, 429].includes(status))) return undefined
  const list = Array.isArray(faults) ? faults : Array.isArray(errors) ? errors : undefined
  if (list !== undefined && list.length > 0) return list as ReadonlyArray<HandlerFault>
  // a refusal without a place, such as a conflict
  return typeof status === "number" ? [{ detail: `${String(code ?? status)}: ${String(message)}` }] : undefined
}
