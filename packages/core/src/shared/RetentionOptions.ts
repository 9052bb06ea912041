/** How long old data are kept. */
import { Context, Layer, Record } from "effect"
import { checkOptions, optionKinds } from "./CheckOptions.ts"

const days = (count: number): number => count * 86_400_000

const defaults = {
  /** Shipments after their delivery, with their status history. Default 365 days. */
  keepDeliveredShipmentsMillis: days(365),
  /** Freight bills after they were invoiced or removed. Default 365 days. */
  keepEndedBillsMillis: days(365),
  /** Bodies of notifications, and cancelled subscriptions to charges. At least as long as deliveries are kept. Default 180 days. */
  keepNoticesMillis: days(180),
  /** Pickups after they were ordered, unless a change of them is still to be sent. Default 365 days. */
  keepPickupsMillis: days(365),
  /** Entries of the audit log. Default 400 days. */
  keepAuditMillis: days(400),
  /** Delivery statistics by hour. Those by minute are kept for a day. Default 90 days. */
  keepStatisticsMillis: days(90)
}

/** How long areas keep their data, in milliseconds. */
export type RetentionWindows = { readonly [Name in keyof typeof defaults]: number }

const kinds = Record.map(defaults, () => optionKinds.period)

/** Retention periods. Settled deliveries have their own in `DeliveryOptions`. */
export class RetentionOptions extends Context.Reference<RetentionWindows>("@waybill/core/retention/RetentionOptions", {
  defaultValue: () => defaults
}) {
  /** Throws when one is invalid. */
  static readonly layer = (options: Partial<RetentionWindows>): Layer.Layer<never> => {
    checkOptions("retention", options, kinds)
    return Layer.succeed(RetentionOptions, { ...defaults, ...options })
  }
}
