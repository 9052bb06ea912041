/** Failures of area D, with their statuses, codes and details. */
import type { SubscriptionNotFound } from "@waybill/core/transit-events"
import type { FailureTable } from "../shared/FailureTable.ts"

export type TransitEventsFailure = SubscriptionNotFound

export const transitEventsFailures = {
  SubscriptionNotFound: [404, "subscription_not_found"]
} as const satisfies FailureTable<TransitEventsFailure>
