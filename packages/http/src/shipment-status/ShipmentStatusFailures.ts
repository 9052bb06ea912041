/** Failures of area A, with their statuses, codes and details. */
import type { AccountNotFound, AccountNotPermitted, ShipmentNotFound, StatusSubscriptionNotFound, TooManyLookups } from "@waybill/core/shipment-status"
import type { FailureTable } from "../shared/FailureTable.ts"

export type ShipmentStatusFailure = AccountNotFound | AccountNotPermitted | ShipmentNotFound | StatusSubscriptionNotFound | TooManyLookups

export const shipmentStatusFailures = {
  AccountNotPermitted: [401, "account_not_permitted"],
  AccountNotFound: [404, "account_not_found"],
  ShipmentNotFound: [404, "shipment_not_found"],
  StatusSubscriptionNotFound: [404, "subscription_not_found"],
  TooManyLookups: [429, "too_many_lookups", ({ retryAfterSeconds }) => ({ headers: { "retry-after": String(retryAfterSeconds) } })]
} as const satisfies FailureTable<ShipmentStatusFailure>
