/** Shipment status as promises. */
import type { IntakeOptions, ItemResult, ShipmentKey, StatusUpdateKey } from "@waybill/core"
import type * as status from "@waybill/core/shipment-status"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"

export type {
  LookupBy,
  PostedShipment,
  PublicShipment,
  ShipmentRecord,
  ShipmentView,
  StatusUpdate,
  SubscribeRequest,
  SubscriptionResult,
  VerifiedShipment
} from "@waybill/core/shipment-status"

export interface ReportMethods {
  /**
   * Registers shipments, or replaces their fields. One invalid item refuses the whole call unless `partial`. The same
   * content again is a `duplicate`.
   */
  readonly register: (
    principal: HostPrincipal,
    shipments: ReadonlyArray<status.PostedShipment>,
    options?: IntakeOptions
  ) => Promise<ReadonlyArray<ItemResult<ShipmentKey>>>
  /** Writes movements and information to lookups, subscriptions and the event log, in one transaction. */
  readonly report: (
    principal: HostPrincipal,
    updates: ReadonlyArray<status.StatusUpdate>,
    options?: IntakeOptions
  ) => Promise<ReadonlyArray<ItemResult<StatusUpdateKey>>>
}

/** Every field of the caller's own shipments; four fields of others. */
export type FoundShipment =
  | { readonly own: true; readonly shipment: status.VerifiedShipment }
  | { readonly own: false; readonly shipment: status.PublicShipment }

/** Everything known about a shipment. Without a milestone it is not covered: lookups do not find it yet. */
export type KnownShipmentRecord = Omit<status.ShipmentRecord, "shipment"> & { readonly shipment: status.ShipmentView }

/** A caller without credentials. */
export interface PublicCaller {
  readonly tenantId: string
  /** Key that lookups are counted by: an address or a name of your own. Callers without one share an allowance. */
  readonly client?: string
}

/** Both ends are inclusive. */
export interface PickedUpRange {
  readonly accountNumber: string
  readonly startDate: string | Date
  readonly endDate: string | Date
}

export interface LookupMethods {
  /** One shipment, by PRO, bill of lading or purchase order. Rejects with `shipment_not_found`, and with `too_many_lookups` after many lookups of others' freight. */
  readonly verified: (principal: HostPrincipal, by: status.LookupBy) => Promise<FoundShipment>
  /** The four public fields of one shipment. Rejects like `verified`. */
  readonly public: (caller: PublicCaller, by: status.LookupBy) => Promise<status.PublicShipment>
  /** An account's shipments by pickup time, at most 5,000; a date without a time is a whole day in UTC. */
  readonly pickedUp: (principal: HostPrincipal, range: PickedUpRange) => Promise<ReadonlyArray<status.VerifiedShipment>>
  /** Everything known about a shipment, for carriers; of a history of more than 8 MB the newest part. */
  readonly record: (principal: HostPrincipal, shipmentId: string) => Promise<KnownShipmentRecord>
}

export interface StatusSubscriptionMethods {
  /** The referenced shipments need not exist yet. */
  readonly subscribe: (principal: HostPrincipal, subscription: status.SubscribeRequest) => Promise<status.SubscriptionResult>
  /** Ends the subscription; nothing more is sent. Rejects with `subscription_not_found`. */
  readonly unsubscribe: (principal: HostPrincipal, transactionId: string) => Promise<status.SubscriptionResult>
}
