/** Operator reads and writes as promises. */
import type * as core from "@waybill/core"
import type * as delivery from "@waybill/core/delivery"
import type { CarrierDecisionInput, PickupReportResult } from "@waybill/core/pickups"
import type { SubscriptionEdit } from "@waybill/core/transit-events"

export interface PageQuery {
  /** `nextCursor` of the previous page. */
  readonly cursor?: string
  /** 1 to 500; 100 by default. */
  readonly limit?: number
}

export interface AllSubscriptionsQuery extends PageQuery {
  /** Only these, at most 100. Unknown ids are left out. */
  readonly subscriptionId?: ReadonlyArray<string>
  /** A bare name means `key:<name>`. */
  readonly client?: string
  readonly state?: delivery.DestinationState
  /** A host, with its port if the address names one, or a whole address. */
  readonly endpoint?: string
  /** Outcome of the last attempt. A page looks at 1,000 subscriptions at most, so it may be short, or empty, with a `nextCursor`. */
  readonly error?: delivery.DeliveryError
  /** Only subscriptions that `inTrouble` of a tenant's health counts. */
  readonly inTrouble?: boolean
  /** Whether to count all pages, up to 10,000. Not with `error`. */
  readonly total?: boolean
}

/** What dead letters are found by, as in the list of deliveries; at least one member. */
export interface DeadLettersFilter extends Pick<DeliveriesQuery, "subscriptionId" | "client" | "endpoint" | "error" | "since" | "until"> {
  /** `nextCursor` of the previous step. */
  readonly cursor?: string
}

/** Subscriptions by id, at most 100, or by at least one of the other members. */
export interface PurgeFilter {
  readonly subscriptionIds?: ReadonlyArray<string>
  /** A bare name means `key:<name>`. */
  readonly client?: string
  readonly endpoint?: string
  readonly state?: delivery.DestinationState
  /** `nextCursor` of the previous step. */
  readonly cursor?: string
}

export interface AllPickupsQuery extends PageQuery {
  /** `waiting`: only those that wait for the carrier's decision, the oldest order first. Default `all`, the latest order first. */
  readonly state?: "waiting" | "all"
}

export interface DeliveriesQuery extends PageQuery {
  readonly state?: delivery.DeliveryView["state"]
  readonly subscriptionId?: string
  /** A bare name means `key:<name>`. Deliveries of deleted subscriptions are excluded. */
  readonly client?: string
  /** A host, with its port if the address names one, or a whole address. Deliveries of deleted subscriptions are excluded. */
  readonly endpoint?: string
  /** Outcome of the last attempt, of deliveries that wait for a retry or are dead letters. */
  readonly error?: delivery.DeliveryError
  readonly since?: string | Date
  /** Created before. */
  readonly until?: string | Date
  /** Order of creation. Default `newest` first. */
  readonly order?: "oldest" | "newest"
  /** Whether to count all pages, up to 10,000. */
  readonly total?: boolean
}

export interface AuditListQuery extends PageQuery {
  /** Only calls about this tenant. */
  readonly tenant?: string
  /** Only calls of this operator or client; a bare name is also the client `key:<name>`. Calls of these operator methods have the name `host`. */
  readonly actor?: string
  readonly since?: string | Date
}

export interface AuditMethods {
  /** Newest first: writes of operators and intake over HTTP, reads of delivery bodies, and the operator methods of this object. */
  readonly list: (query?: AuditListQuery) => Promise<core.ListPage<core.AuditEntry>>
}

export interface ClientMethods {
  /** Ordered by client: clients of API keys, and clients whose principals or tokens were seen. */
  readonly list: (tenantId: string, query?: PageQuery) => Promise<core.ListPage<core.ClientView>>
  /**
   * Revokes the client's keys, closes its subscriptions, drops their waiting entries and removes its access. A bare
   * name means `key:<name>`.
   */
  readonly delete: (tenantId: string, client: string) => Promise<void>
}

export interface LimitMethods {
  /** All quotas of a tenant, defaults included. */
  readonly get: (tenantId: string) => Promise<core.Limits>
  /** Changes the given quotas; `null` resets one to its default. Returns all quotas. */
  readonly put: (tenantId: string, change: core.LimitsChange) => Promise<core.Limits>
}

/** A new secret needs exactly one of `client`, `accounts` and `anyClient`. Later at most one, which replaces the owner. */
export interface SecretSettings {
  /** `whsec_…`. Default: generated. */
  readonly secret?: string
  /** `shipper-tms` is the client of API keys `key:shipper-tms`; the client of a token is `jwt:<issuer>:<sub>`. */
  readonly client?: string
  /** Clients with one of these accounts. */
  readonly accounts?: ReadonlyArray<string>
  readonly anyClient?: true
  /** How long the previous secret keeps signing. Default: one day. */
  readonly overlapSeconds?: number
  /** `false`: change only the owner and `bodySignature`. */
  readonly rotate?: false
  readonly bodySignature?: boolean
}

export interface SigningSecret {
  readonly hmacSecretId: string
  /** `whsec_…`. */
  readonly secret: string
}

export interface ResealedSecrets {
  /** Secrets that an older key had encrypted. */
  readonly resealed: number
  readonly unchanged: number
  /** Ids of secrets that no key here opens, at most 100. */
  readonly unreadable: ReadonlyArray<string>
}

export interface SecretMethods {
  /** Registers or rotates a secret. Returns the secret that signs from now on. */
  readonly put: (tenantId: string, hmacSecretId: string, settings?: SecretSettings) => Promise<SigningSecret>
  /** Ordered by hmacSecretId. Never returns a secret's value. */
  readonly list: (tenantId: string, query?: PageQuery) => Promise<core.ListPage<delivery.SecretView>>
  /** Rejects with `secret_in_use` while a subscription uses the secret. */
  readonly delete: (tenantId: string, hmacSecretId: string) => Promise<void>
  /** Encrypts every secret of the tenant with the first of `sealingKeys`. Call it before you take an older key away. */
  readonly reseal: (tenantId: string) => Promise<ResealedSecrets>
}

/**
 * Exactly one of them. A freight bill is found by its PRO, by its id as `shipmentId`, or by its shipment; a pickup by its number or id as
 * `pickupId`, by a PRO, or by a shipment with one of its PROs.
 */
export type ExplainSubject = { readonly eventId: string } | { readonly shipmentId: string } | { readonly pro: string } | { readonly pickupId: string }

/** Members that are left out stay as they are. */
export type SubscriptionChange = typeof SubscriptionEdit.Encoded

/** Subscriptions of every client and area, for operators. */
export interface AllSubscriptionsMethods {
  /** Ordered by id, with waiting entries and delivery state. */
  readonly list: (tenantId: string, query?: AllSubscriptionsQuery) => Promise<core.CountedPage<core.SubscriptionView>>
  readonly get: (tenantId: string, subscriptionId: string) => Promise<core.SubscriptionView>
  /**
   * Changes endpoint, secret, delivery and filters of a subscription to transit events or pickups by the rules of its client's own patch: `null` resets a
   * member to its default. Other areas reject with `invalid_input`.
   */
  readonly edit: (tenantId: string, subscriptionId: string, change: SubscriptionChange) => Promise<core.SubscriptionView>
  /** Stops sending until `resume`. Its client can read the reason and cannot resume it. */
  readonly pause: (tenantId: string, subscriptionId: string, reason: string) => Promise<core.SubscriptionView>
  /** Resumes a subscription that its client, the service or an operator paused. For freight charges, deliveries that were not accepted since the pause are sent again first. */
  readonly resume: (tenantId: string, subscriptionId: string) => Promise<core.SubscriptionView>
  /** Drops waiting entries. Returns their number. */
  readonly purge: (tenantId: string, subscriptionId: string) => Promise<number>
  /** Drops waiting entries of several subscriptions, in steps: call again with `nextCursor` until it is null. */
  readonly purgeMatching: (tenantId: string, filter: PurgeFilter) => Promise<core.PurgeResult>
  /** Explains why the subscription did or did not receive a subject. */
  readonly explain: (tenantId: string, subscriptionId: string, subject: ExplainSubject) => Promise<core.Explanation>
  /** Deletes the subscription, like a call of its client. */
  readonly remove: (tenantId: string, subscriptionId: string) => Promise<void>
}

/** Pickups of every client, for operators. */
export interface AllPickupsMethods {
  /** Test pickups included. */
  readonly list: (tenantId: string, query?: AllPickupsQuery) => Promise<core.ListPage<core.PickupView>>
  /** Decides for the carrier, like `pickups.decide`. The pickup's history names `host`. */
  readonly decide: (tenantId: string, pickupId: string, decision: CarrierDecisionInput) => Promise<PickupReportResult>
}

export interface HealthMethods {
  /** Delivery health of each tenant, the worst first; covers the first 1,000 tenants. Counts stop at 10,000. */
  readonly health: () => Promise<core.HealthView>
}

/** One series for each subscriptionId; otherwise one for the client or the whole tenant. The last hour by default. */
export interface StatisticsQuery {
  /** At most 100. */
  readonly subscriptionId?: ReadonlyArray<string>
  /** Its subscriptions as one series, also those deleted since. */
  readonly client?: string
  readonly from?: string | Date
  readonly to?: string | Date
  /** Seconds of a point: a multiple of 60 up to 3600, or of 3600. */
  readonly step?: number
}

export interface StatisticsMethods {
  /** Deliveries, failures, latency and waiting entries over time. A minute appears within two minutes after its end. */
  readonly get: (tenantId: string, query?: StatisticsQuery) => Promise<core.StatisticsView>
}

export interface JourneyMethods {
  /** At most 20 shipments that match a shipmentId, PRO, bill of lading or purchase order. */
  readonly find: (tenantId: string, reference: string) => Promise<ReadonlyArray<core.FoundShipment>>
  /** Everything all areas know about a shipment, and the deliveries that contained it. */
  readonly get: (tenantId: string, shipmentId: string) => Promise<core.ShipmentJourney>
}

export type TenantSettings = typeof core.TenantSettings.Encoded

export interface TenantDeleteOptions {
  /** Repeats the tenant's id. */
  readonly confirm: string
}

export interface TenantMethods extends HealthMethods {
  /** Creates the tenant, or changes its name and hosts. */
  readonly put: (tenantId: string, settings: TenantSettings) => Promise<core.Tenant>
  /** Ordered by tenantId. */
  readonly list: (query?: PageQuery) => Promise<core.ListPage<core.Tenant>>
  /** Refuses all its callers with `tenant_suspended` and sends nothing, in every process at once. */
  readonly suspend: (tenantId: string) => Promise<core.Tenant>
  /** Serves it again; waiting entries are sent. */
  readonly resume: (tenantId: string) => Promise<core.Tenant>
  /**
   * Deletes the tenant and all its data. Callers are refused at once; a started process
   * removes the data in the background.
   */
  readonly delete: (tenantId: string, options: TenantDeleteOptions) => Promise<void>
}

export interface CreatedApiKey {
  readonly id: string
  /** Returned only once. */
  readonly key: string
}

export interface ApiKeyMethods {
  /** Keys with the same name are one client, which sees what they see together. */
  readonly create: (tenantId: string, request: core.ApiKeyRequest) => Promise<CreatedApiKey>
  /** Never returns a key's value. */
  readonly list: (tenantId: string, query?: PageQuery) => Promise<core.ListPage<core.ApiKeyView>>
  /** Takes effect in every process at once. Rejects with `api_key_not_found`. */
  readonly revoke: (tenantId: string, id: string) => Promise<void>
}

export interface ReplayRange {
  readonly from: string | Date
  readonly to?: string | Date
  /** Only for subscriptions to transit events. */
  readonly shipmentIds?: ReadonlyArray<string>
}

export interface DeliveryMethods {
  /** Newest first by default. A page may be short, or empty, with a `nextCursor`. */
  readonly list: (tenantId: string, query?: DeliveriesQuery) => Promise<core.CountedPage<delivery.DeliveryView>>
  /** The delivery with its attempts and its exact body. Rejects with `delivery_not_found`. */
  readonly get: (tenantId: string, deliveryId: string) => Promise<delivery.DeliveryBodyView>
  /** Sends the same bytes with the same id again, with a full series of attempts. Rejects with `delivery_not_retryable`. */
  readonly retry: (tenantId: string, deliveryId: string) => Promise<void>
  /** Dismisses a dead letter: it is no longer counted or recovered. It can still be retried. */
  readonly dismiss: (tenantId: string, deliveryId: string) => Promise<void>
  /** Sends dead letters that match again, the oldest 500 of them: call again with `nextCursor` until it is null. */
  readonly retryDeadLetters: (tenantId: string, filter: DeadLettersFilter) => Promise<delivery.BulkResult>
  /** Dismisses dead letters that match, the oldest 500 of them: call again with `nextCursor` until it is null. */
  readonly dismissDeadLetters: (tenantId: string, filter: DeadLettersFilter) => Promise<delivery.BulkResult>
  /** Sends every dead letter of the subscription since then again, with the same ids. Returns their number. */
  readonly recover: (tenantId: string, subscriptionId: string, since: string | Date) => Promise<number>
  /** Sends past events, or past changes of pickups, again as new deliveries. Returns their number. */
  readonly replay: (tenantId: string, subscriptionId: string, range: ReplayRange) => Promise<number>
}
