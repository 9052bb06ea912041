/** Failures of area E, with their statuses and codes. */
import type { AccountsNotPermitted, ChargeSubscriptionConflict, ChargeSubscriptionNotFound, WebhookTestFailed } from "@waybill/core/freight-charges"
import type { FailureDetails, FailureTable } from "../shared/FailureTable.ts"

export type FreightChargesFailure = AccountsNotPermitted | ChargeSubscriptionConflict | ChargeSubscriptionNotFound | WebhookTestFailed

export const freightChargesFailures = {
  WebhookTestFailed: [400, "webhook_test_failed"],
  AccountsNotPermitted: [403, "accounts_not_permitted"],
  ChargeSubscriptionNotFound: [404, "subscription_not_found"],
  ChargeSubscriptionConflict: [409, "subscription_conflict"]
} as const satisfies FailureTable<FreightChargesFailure>

export const freightChargesFailureDetails: FailureDetails<FreightChargesFailure> = {
  ChargeSubscriptionConflict: ({ accountId }) => ({ about: { accountId } }),
  ChargeSubscriptionNotFound: ({ subscriptionId }) => ({ about: { resource: "subscriptionId", value: subscriptionId } }),
  WebhookTestFailed: ({ detail }) => ({ errors: [{ detail, pointer: "/webhookUrl", code: "not_allowed" }] })
}
