/** Quotas of a tenant. Beyond a counted one a call is refused with 409, beyond a rate with 429; the refusal names the quota. */
export interface Limits {
  /** Live subscriptions to transit events of one client. */
  readonly eventSubscriptionsPerClient: number
  readonly chargeSubscriptionsPerClient: number
  readonly statusSubscriptionsPerClient: number
  /** Live subscriptions of the tenant, of all areas and clients. */
  readonly subscriptions: number
  /** Entries that wait for one subscription. The oldest beyond it are dropped in the background. */
  readonly waitingPerSubscription: number
  /** How many days an entry may wait. Older ones are dropped in the background. */
  readonly waitingDays: number
  /** Of one client without the role carrier, in each process. */
  readonly requestsPerSecondPerCustomer: number
  /** Of one client with the role carrier, in each process. */
  readonly requestsPerSecondPerCarrier: number
  /** Document uploads of one client at the same time, in each process. */
  readonly uploadsPerClient: number
  /** Bytes of all documents of the tenant. */
  readonly documentBytes: number
}

/** Any of them; `null` returns one to its default. */
export type LimitsChange = { readonly [Quota in keyof Limits]?: number | null }
