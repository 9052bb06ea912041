/** What operators look at, as plain promises. */
import type { DeliveryView, FoundShipment, Limits, LimitsChange, LaneState, LaneView, ListPage, ShipmentJourney, Tenant } from "@waybill/core"

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
export type TenantsPage = ListPage<Tenant>

export interface LimitMethods {
  /** All quotas of a tenant, those that were never changed with their defaults. */
  readonly get: (tenantId: string) => Promise<Limits>
  /** Changes those that are named; `null` returns one to its default. Answers all. */
  readonly put: (tenantId: string, change: LimitsChange) => Promise<Limits>
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
