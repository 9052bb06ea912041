/** What operators look at, as plain promises. */
import type { DeliveryView, FoundShipment, Limits, LimitsChange, LaneState, LaneView, ListPage, SecretView, ShipmentJourney, Tenant } from "@waybill/core"

export interface PageQuery {
  /** `nextCursor` of the page before. */
  readonly cursor?: string
  /** 1 to 500; 100 by default. */
  readonly limit?: number
}

export interface LanesQuery extends PageQuery {
  readonly state?: LaneState
}

export interface DeliveriesQuery extends PageQuery {
  readonly state?: DeliveryView["state"]
  readonly subscriptionId?: string
  readonly since?: string | Date
  /** Of their creation; `oldest` first by default. */
  readonly order?: "oldest" | "newest"
}

export type DeliveriesPage = ListPage<DeliveryView>
export type LanesPage = ListPage<LaneView>
export type SecretsPage = ListPage<SecretView>
export type TenantsPage = ListPage<Tenant>

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

export interface LaneMethods {
  /** Subscriptions of every client and area, by id, with what waits for them and how they do. */
  readonly list: (tenantId: string, query?: LanesQuery) => Promise<LanesPage>
  readonly get: (tenantId: string, subscriptionId: string) => Promise<LaneView>
}

export interface JourneyMethods {
  /** Shipments that a shipmentId, PRO, bill of lading or purchase order names, 20 at most. */
  readonly find: (tenantId: string, reference: string) => Promise<ReadonlyArray<FoundShipment>>
  /** Everything that all areas know of a shipment, and what carried it to receivers. */
  readonly get: (tenantId: string, shipmentId: string) => Promise<ShipmentJourney>
}
