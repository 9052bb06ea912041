/** Errors of freight charge subscriptions. */
import { Schema } from "effect"
import { taggedFailure } from "../shared/TaggedFailure.ts"

/** The caller has no subscription with this id. An id of another client gives the same error. */
export class ChargeSubscriptionNotFound extends taggedFailure<ChargeSubscriptionNotFound>()("ChargeSubscriptionNotFound", {
  subscriptionId: Schema.String
}, ({ subscriptionId }) => `No subscription ${subscriptionId}. Use the subscriptionId from the answer that created it.`) {}

/** The caller is neither debtor nor agent for some of the accounts. */
export class AccountsNotPermitted extends taggedFailure<AccountsNotPermitted>()("AccountsNotPermitted", {
  accounts: Schema.Array(Schema.String)
}, ({ accounts }) => `You are neither debtor nor agent of ${accounts.join(", ")}. Name accounts of your own, or ask the carrier to add them to your key.`) {}

/** A live subscription of the caller already covers one of the accounts. SPEC-GAP-E12 */
export class ChargeSubscriptionConflict extends taggedFailure<ChargeSubscriptionConflict>()("ChargeSubscriptionConflict", {
  accountId: Schema.String,
  /** The subscription that covers it, which the caller can get and cancel. */
  subscriptionId: Schema.String
}, ({ accountId, subscriptionId }) => `Your subscription ${subscriptionId} covers account ${accountId} already. Cancel it first, or leave the account out.`) {}

/** The receiver did not accept the test notification. */
export class WebhookTestFailed extends taggedFailure<WebhookTestFailed>()("WebhookTestFailed", {
  webhookUrl: Schema.String,
  /** One sentence about the result. */
  detail: Schema.String
}, ({ detail }) => `The test notification was not accepted. ${detail}`) {}
