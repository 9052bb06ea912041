/** Errors of freight charge subscriptions. */
import { Schema } from "effect"

/** The caller has no subscription with this id. An id of another client gives the same error. */
export class ChargeSubscriptionNotFound extends Schema.TaggedError<ChargeSubscriptionNotFound>()("ChargeSubscriptionNotFound", {
  subscriptionId: Schema.String
}) {
  override get message(): string {
    return `No subscription ${this.subscriptionId}. Use the subscriptionId from the answer that created it.`
  }
}

/** The caller is neither debtor nor agent for some of the accounts. */
export class AccountsNotPermitted extends Schema.TaggedError<AccountsNotPermitted>()("AccountsNotPermitted", {
  accounts: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `You are neither debtor nor agent of ${this.accounts.join(", ")}. Name accounts of your own, or ask the carrier to add them to your key.`
  }
}

/** A live subscription of the caller already covers one of the accounts. SPEC-GAP-E12 */
export class ChargeSubscriptionConflict extends Schema.TaggedError<ChargeSubscriptionConflict>()("ChargeSubscriptionConflict", {
  accountId: Schema.String
}) {
  override get message(): string {
    return `A subscription of yours covers account ${this.accountId} already. Cancel it first, or leave the account out.`
  }
}

/** The receiver did not accept the test notification. */
export class WebhookTestFailed extends Schema.TaggedError<WebhookTestFailed>()("WebhookTestFailed", {
  webhookUrl: Schema.String,
  /** One sentence about the result. */
  detail: Schema.String
}) {
  override get message(): string {
    return `The test notification was not accepted. ${this.detail}`
  }
}
