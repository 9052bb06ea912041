/** What operators look at, as plain promises. */
import type {
  ApiKeyView,
  AuditEntry,
  ClientView,
  DeliveryView,
  Explanation,
  FoundShipment,
  HealthView,
  LaneState,
  Limits,
  LimitsChange,
  ListPage,
  SecretView,
  ShipmentJourney,
  SubscriptionView,
  Tenant
} from "@waybill/core"

export interface PageQuery {
  /** `nextCursor` of the page before. */
  readonly cursor?: string
  /** 1 to 500; 100 by default. */
  readonly limit?: number
}

export interface AllSubscriptionsQuery extends PageQuery {
  /** A bare name means `key:<name>`. */
  readonly client?: string
  readonly state?: LaneState
}

export interface DeliveriesQuery extends PageQuery {
  readonly state?: DeliveryView["state"]
  readonly subscriptionId?: string
  /** A bare name means `key:<name>`. Deliveries of deleted subscriptions are left out. */
  readonly client?: string
  readonly since?: string | Date
  /** Of their creation; `newest` first by default. */
  readonly order?: "oldest" | "newest"
}

export type DeliveriesPage = ListPage<DeliveryView>
export type SecretsPage = ListPage<SecretView>
export type AllSubscriptionsPage = ListPage<SubscriptionView>
export type ApiKeysPage = ListPage<ApiKeyView>
export type ClientsPage = ListPage<ClientView>
export type TenantsPage = ListPage<Tenant>

export interface AuditListQuery extends PageQuery {
  /** Only calls about this tenant. */
  readonly tenant?: string
  /** Only calls of this operator or client, by its whole name. Those of the operator methods here are `host`. */
  readonly actor?: string
  readonly since?: string | Date
}

export interface AuditMethods {
  /** Newest first: writes of operators and of intake over HTTP, reads of deliveries' bodies, and the operator methods of this object. */
  readonly list: (query?: AuditListQuery) => Promise<ListPage<AuditEntry>>
}

export interface ClientMethods {
  /** By client: those of API keys, and those whose principals or tokens were seen. */
  readonly list: (tenantId: string, query?: PageQuery) => Promise<ClientsPage>
  /** Revokes its keys, closes its subscriptions, drops what waits and forgets its access. A bare name means `key:<name>`. */
  readonly delete: (tenantId: string, client: string) => Promise<void>
}

export interface LimitMethods {
  /** All quotas of a tenant, those that were never changed with their defaults. */
  readonly get: (tenantId: string) => Promise<Limits>
  /** Changes those that are named; `null` returns one to its default. Answers all. */
  readonly put: (tenantId: string, change: LimitsChange) => Promise<Limits>
}

/** Exactly one of `client`, `accounts` and `anyClient` when the secret is new; at most one later, which replaces the owner. */
export interface SecretSettings {
  /** `whsec_…`; generated when left out. */
  readonly secret?: string
  /** `shipper-tms` is the client of API keys `key:shipper-tms`; a token's client is `jwt:<issuer>:<sub>`. */
  readonly client?: string
  /** Clients with one of these accounts. */
  readonly accounts?: ReadonlyArray<string>
  readonly anyClient?: true
  /** How long the secret before goes on signing; a day by default. */
  readonly overlapSeconds?: number
  /** `false`: only the owner and `bodySignature` change. */
  readonly rotate?: false
  readonly bodySignature?: boolean
}

export interface SecretMethods {
  /** Registers or rotates. Answers the secret that signs from now on. */
  readonly put: (tenantId: string, hmacSecretId: string, settings?: SecretSettings) => Promise<{ readonly hmacSecretId: string; readonly secret: string }>
  /** By hmacSecretId; never a secret itself. */
  readonly list: (tenantId: string, query?: PageQuery) => Promise<SecretsPage>
  /** Rejects with `secret_in_use` while a subscription is signed with it. */
  readonly delete: (tenantId: string, hmacSecretId: string) => Promise<void>
}

/** One of them. A freight bill is found by its PRO, its id as a shipmentId, or its shipment. */
export type ExplainSubject = { readonly eventId: string } | { readonly shipmentId: string } | { readonly pro: string }

/** Subscriptions of every client and area, for whoever runs the service. */
export interface AllSubscriptionsMethods {
  /** By id, with what waits for them and how they do. */
  readonly list: (tenantId: string, query?: AllSubscriptionsQuery) => Promise<AllSubscriptionsPage>
  readonly get: (tenantId: string, subscriptionId: string) => Promise<SubscriptionView>
  /** Nothing more is sent until `resume`; its client reads the reason and cannot resume it. */
  readonly pause: (tenantId: string, subscriptionId: string, reason: string) => Promise<SubscriptionView>
  /** Whoever paused it. Of freight charges, what was not accepted since goes out again first. */
  readonly resume: (tenantId: string, subscriptionId: string) => Promise<SubscriptionView>
  /** Drops what waits. Answers how many entries. */
  readonly purge: (tenantId: string, subscriptionId: string) => Promise<number>
  /** Why it did or did not receive something. */
  readonly explain: (tenantId: string, subscriptionId: string, subject: ExplainSubject) => Promise<Explanation>
  /** As if its client had deleted it. */
  readonly remove: (tenantId: string, subscriptionId: string) => Promise<void>
}

export interface HealthMethods {
  /** How deliveries of each tenant do, the worst first; of the first 1,000 tenants. Counts stop at 10,000. */
  readonly health: () => Promise<HealthView>
}

export interface JourneyMethods {
  /** Shipments that a shipmentId, PRO, bill of lading or purchase order names, 20 at most. */
  readonly find: (tenantId: string, reference: string) => Promise<ReadonlyArray<FoundShipment>>
  /** Everything that all areas know of a shipment, and what carried it to receivers. */
  readonly get: (tenantId: string, shipmentId: string) => Promise<ShipmentJourney>
}
