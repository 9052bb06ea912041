/** How long old data are kept. */
import { Context, Layer } from "effect"
import { checkOptions, type OptionKinds, optionKinds } from "./CheckOptions.ts"

const days = (count: number): number => count * 86_400_000

/** How long areas keep their data, in milliseconds. */
export interface RetentionWindows {
  /** Shipments after their delivery, with their status history. Default 365 days. */
  readonly keepDeliveredShipmentsMillis: number
  /** Freight bills after they were invoiced or removed. Default 365 days. */
  readonly keepEndedBillsMillis: number
  /** Bodies of notifications. At least as long as deliveries are kept. Default 180 days. */
  readonly keepNoticesMillis: number
  /** Pickups after they were ordered, unless a change of them is still to be sent. Default 365 days. */
  readonly keepPickupsMillis: number
  /** Entries of the audit log. Default 400 days. */
  readonly keepAuditMillis: number
  /** Delivery statistics by hour. Those by minute are kept for a day. Default 90 days. */
  readonly keepStatisticsMillis: number
}

const { period } = optionKinds

const kinds: OptionKinds<RetentionWindows> = {
  keepDeliveredShipmentsMillis: period,
  keepEndedBillsMillis: period,
  keepNoticesMillis: period,
  keepPickupsMillis: period,
  keepAuditMillis: period,
  keepStatisticsMillis: period
}

/** Retention periods. Settled deliveries have their own in `DeliveryOptions`. */
export class RetentionOptions extends Context.Reference<RetentionWindows>("@waybill/core/retention/RetentionOptions", {
  defaultValue: () => ({
    keepDeliveredShipmentsMillis: days(365),
    keepEndedBillsMillis: days(365),
    keepNoticesMillis: days(180),
    keepPickupsMillis: days(365),
    keepAuditMillis: days(400),
    keepStatisticsMillis: days(90)
  })
}) {
  /** Throws when one is invalid. */
  static readonly layer = (options: Partial<RetentionWindows>): Layer.Layer<never> => {
    checkOptions("retention", options, kinds)
    return Layer.succeed(RetentionOptions, { ...RetentionOptions.defaultValue(), ...options })
  }
}
