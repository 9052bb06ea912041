/** How looking up shipments and following them can fail. */
import { Schema } from "effect"

/** No shipment answers to this key, or it is not covered yet. Another party's shipment is found; what it shows is the public part. */
export class ShipmentNotFound extends Schema.TaggedError<ShipmentNotFound>()("ShipmentNotFound", {
  sought: Schema.String,
  /** What to do about it, in one sentence. */
  advice: Schema.String
}) {
  override get message(): string {
    return `No shipment with ${this.sought}. ${this.advice}`
  }
}

/** No client and no shipment of the tenant has this account. */
export class AccountNotFound extends Schema.TaggedError<AccountNotFound>()("AccountNotFound", { accountNumber: Schema.String }) {
  override get message(): string {
    return `No account ${this.accountNumber}. Use the account number that the carrier gave you.`
  }
}

/** The account is somebody else's. */
export class AccountNotPermitted extends Schema.TaggedError<AccountNotPermitted>()("AccountNotPermitted", { accountNumber: Schema.String }) {
  override get message(): string {
    return `Account ${this.accountNumber} is not one of yours. Ask the carrier to add it to your key.`
  }
}

/** Too many lookups of other people's freight within a minute; the caller's own freight is never limited. */
export class TooManyLookups extends Schema.TaggedError<TooManyLookups>()("TooManyLookups", { retryAfterSeconds: Schema.Int }) {
  override get message(): string {
    return `Too many lookups of shipments that are not yours. Try again in ${this.retryAfterSeconds} seconds.`
  }
}

/** No status subscription of this id belongs to the caller. Another client's id answers the same. */
export class StatusSubscriptionNotFound extends Schema.TaggedError<StatusSubscriptionNotFound>()("StatusSubscriptionNotFound", {
  transactionId: Schema.String
}) {
  override get message(): string {
    return `No subscription ${this.transactionId}. Use the transactionId that subscribing answered.`
  }
}
