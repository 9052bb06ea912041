/** Quotas of a tenant. A call above a count quota fails with 409, above a rate quota with 429. The error names the quota. */
export interface Limits {
  /** Live transit event subscriptions per client. */
  readonly eventSubscriptionsPerClient: number
  readonly chargeSubscriptionsPerClient: number
  readonly statusSubscriptionsPerClient: number
  /** Of one client, that follow the same reference. */
  readonly statusSubscriptionsPerReference: number
  /** Live subscriptions of the tenant, across all areas and clients. */
  readonly subscriptions: number
  /** Waiting entries per subscription. The oldest ones above it are dropped in the background. */
  readonly waitingPerSubscription: number
  /** Days that an entry may wait. Older ones are dropped in the background. */
  readonly waitingDays: number
  /** Per client without the role carrier, in each process. */
  readonly requestsPerSecondPerCustomer: number
  /** Per client with the role carrier, in each process. */
  readonly requestsPerSecondPerCarrier: number
  /** Concurrent document uploads per client, in each process. */
  readonly uploadsPerClient: number
  /** Total bytes of all documents of the tenant. */
  readonly documentBytes: number
  /** Files of all documents of one invoice number of one carrier. */
  readonly documentsPerInvoice: number
  /** Total bytes of the histories of one client's pickups, with their entries in the carrier's work list. */
  readonly pickupBytesPerClient: number
}

/** Any of the quotas; `null` resets one to its default. */
export type LimitsChange = { readonly [Quota in keyof Limits]?: number | null }
