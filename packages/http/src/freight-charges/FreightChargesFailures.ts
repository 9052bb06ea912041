/** Failures of area E, with their statuses, codes and details. */
import type { AccountsNotPermitted, ChargeSubscriptionConflict, ChargeSubscriptionNotFound, WebhookTestFailed } from "@waybill/core/freight-charges"
import type { FailureTable } from "../shared/FailureTable.ts"

export type FreightChargesFailure = AccountsNotPermitted | ChargeSubscriptionConflict | ChargeSubscriptionNotFound | WebhookTestFailed

export const freightChargesFailures = {
  WebhookTestFailed: [400, "webhook_test_failed", ({ detail }) => ({ errors: [{ detail, pointer: "/webhookUrl", code: "not_allowed" }] })],
  AccountsNotPermitted: [403, "accounts_not_permitted"],
  ChargeSubscriptionNotFound: [404, "subscription_not_found", ({ subscriptionId }) => ({ about: { resource: "subscriptionId", value: subscriptionId } })],
  ChargeSubscriptionConflict: [409, "subscription_conflict", ({ accountId, subscriptionId }) => ({ about: { accountId, subscriptionId } })]
} as const satisfies FailureTable<FreightChargesFailure>
