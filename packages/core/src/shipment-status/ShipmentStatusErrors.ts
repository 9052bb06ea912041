/** Errors of shipment lookups and status subscriptions. */
import { Schema } from "effect"
import { taggedFailure } from "../shared/TaggedFailure.ts"

/** No shipment has this key, or its first milestone is not known yet. Other parties' shipments are found and show their public fields. */
export class ShipmentNotFound extends taggedFailure<ShipmentNotFound>()("ShipmentNotFound", {
  key: Schema.String,
  /** One sentence with the next step for the caller. */
  advice: Schema.String
}, ({ advice, key }) => `No shipment with ${key}. ${advice}`) {}

/** No client and no shipment of the tenant has this account. */
export class AccountNotFound extends taggedFailure<AccountNotFound>()("AccountNotFound", { accountNumber: Schema.String }, ({ accountNumber }) =>
  `No account ${accountNumber}. Use the account number that the carrier gave you.`) {}

/** The account belongs to another party. */
export class AccountNotPermitted extends taggedFailure<AccountNotPermitted>()("AccountNotPermitted", { accountNumber: Schema.String }, ({ accountNumber }) =>
  `Account ${accountNumber} is not one of yours. Ask the carrier for access to it.`) {}

/** Too many lookups of other parties' freight within a minute. Lookups of the caller's own freight are not limited. */
export class TooManyLookups extends taggedFailure<TooManyLookups>()("TooManyLookups", { retryAfterSeconds: Schema.Int }, ({ retryAfterSeconds }) =>
  `Too many lookups of shipments that are not yours. Try again in ${retryAfterSeconds} seconds.`) {}

/** The caller has no status subscription with this id. An id of another client gives the same error. */
export class StatusSubscriptionNotFound extends taggedFailure<StatusSubscriptionNotFound>()("StatusSubscriptionNotFound", {
  transactionId: Schema.String
}, ({ transactionId }) => `No subscription ${transactionId}. Use the transactionId that subscribing answered.`) {}
