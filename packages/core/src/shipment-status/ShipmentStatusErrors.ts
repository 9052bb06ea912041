/** Errors of shipment lookups and status subscriptions. */
import { Schema } from "effect"

/** No shipment has this key, or its first milestone is not known yet. Other parties' shipments are found and show their public fields. */
export class ShipmentNotFound extends Schema.TaggedError<ShipmentNotFound>()("ShipmentNotFound", {
  key: Schema.String,
  /** One sentence with the next step for the caller. */
  advice: Schema.String
}) {
  override get message(): string {
    return `No shipment with ${this.key}. ${this.advice}`
  }
}

/** No client and no shipment of the tenant has this account. */
export class AccountNotFound extends Schema.TaggedError<AccountNotFound>()("AccountNotFound", { accountNumber: Schema.String }) {
  override get message(): string {
    return `No account ${this.accountNumber}. Use the account number that the carrier gave you.`
  }
}

/** The account belongs to another party. */
export class AccountNotPermitted extends Schema.TaggedError<AccountNotPermitted>()("AccountNotPermitted", { accountNumber: Schema.String }) {
  override get message(): string {
    return `Account ${this.accountNumber} is not one of yours. Ask the carrier for access to it.`
  }
}

/** Too many lookups of other parties' freight within a minute. Lookups of the caller's own freight are not limited. */
export class TooManyLookups extends Schema.TaggedError<TooManyLookups>()("TooManyLookups", { retryAfterSeconds: Schema.Int }) {
  override get message(): string {
    return `Too many lookups of shipments that are not yours. Try again in ${this.retryAfterSeconds} seconds.`
  }
}

/** The caller has no status subscription with this id. An id of another client gives the same error. */
export class StatusSubscriptionNotFound extends Schema.TaggedError<StatusSubscriptionNotFound>()("StatusSubscriptionNotFound", {
  transactionId: Schema.String
}) {
  override get message(): string {
    return `No subscription ${this.transactionId}. Use the transactionId that subscribing answered.`
  }
}
