/** Shipment status as plain promises. */
import type {
  ItemResult,
  LookupBy,
  PostedShipment,
  PublicShipment,
  ShipmentKey,
  ShipmentRecord,
  ShipmentView,
  StatusUpdate,
  StatusUpdateKey,
  SubscribeRequest,
  SubscriptionResult,
  VerifiedShipment
} from "@waybill/core"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"

export interface ReportMethods {
  /**
   * Makes shipments known, or replaces their fields. One bad item rejects the whole call unless `partial`. The same content
   * again is a `duplicate`.
   */
  readonly register: (
    principal: HostPrincipal,
    shipments: ReadonlyArray<PostedShipment>,
    options?: { readonly partial?: boolean }
  ) => Promise<ReadonlyArray<ItemResult<ShipmentKey>>>
  /** Movement and information, for the view, its followers and the event log, as one fact. */
  readonly report: (
    principal: HostPrincipal,
    updates: ReadonlyArray<StatusUpdate>,
    options?: { readonly partial?: boolean }
  ) => Promise<ReadonlyArray<ItemResult<StatusUpdateKey>>>
}

/** Every field of the caller's own shipment; four of anybody else's. */
export type FoundShipment =
  | { readonly own: true; readonly shipment: VerifiedShipment }
  | { readonly own: false; readonly shipment: PublicShipment }

/** All that is known of a shipment. Without a milestone it is not covered: lookups do not find it yet. */
export type KnownShipmentRecord = Omit<ShipmentRecord, "shipment"> & { readonly shipment: ShipmentView }

/** Somebody who need not be known. */
export interface PublicCaller {
  readonly tenantId: string
  /** Whose allowance of lookups pays: an address or a name of your own. Everybody shares one when it is left out. */
  readonly client?: string
}

export interface LookupMethods {
  readonly verified: (principal: HostPrincipal, by: LookupBy) => Promise<FoundShipment>
  readonly public: (caller: PublicCaller, by: LookupBy) => Promise<PublicShipment>
  /** An account's shipments by pick-up; both ends belong to the range. */
  readonly pickedUp: (
    principal: HostPrincipal,
    range: { readonly accountNumber: string; readonly startDate: string | Date; readonly endDate: string | Date }
  ) => Promise<ReadonlyArray<VerifiedShipment>>
  /** All that is known of a shipment, for carriers. */
  readonly record: (principal: HostPrincipal, shipmentId: string) => Promise<KnownShipmentRecord>
}

export interface StatusSubscriptionMethods {
  /** References may belong to no shipment yet. */
  readonly subscribe: (principal: HostPrincipal, subscription: SubscribeRequest) => Promise<SubscriptionResult>
  readonly unsubscribe: (principal: HostPrincipal, transactionId: string) => Promise<SubscriptionResult>
}
