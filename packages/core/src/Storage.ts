/** A storage adapter as a single value, for callers that do not use Effect layers. */
import type { Effect, Layer } from "effect"
import type { AccessStore } from "./access/AccessStore.ts"
import type { AuditStore } from "./audit/AuditStore.ts"
import type { DeliveryControl } from "./delivery/DeliveryControl.ts"
import type { DeliveryQueue } from "./delivery/DeliveryQueue.ts"
import type { SecretStore } from "./delivery/SecretStore.ts"
import type { Wakeups } from "./delivery/Wakeups.ts"
import type { ChargeSubscriptionStore } from "./freight-charges/ChargeSubscriptionStore.ts"
import type { FreightBillStore } from "./freight-charges/FreightBillStore.ts"
import type { DocumentContents } from "./invoices/DocumentContents.ts"
import type { DocumentStore } from "./invoices/DocumentStore.ts"
import type { InvoiceStore } from "./invoices/InvoiceStore.ts"
import type { PickupStore } from "./pickups/PickupStore.ts"
import type { StorageError } from "./shared/StorageError.ts"
import type { Transaction } from "./shared/Transaction.ts"
import type { ShipmentStatusStore } from "./shipment-status/ShipmentStatusStore.ts"
import type { StatusSubscriptionStore } from "./shipment-status/StatusSubscriptionStore.ts"
import type { TransitEventStore } from "./transit-events/TransitEventStore.ts"
import type { TransitSubscriptionStore } from "./transit-events/TransitSubscriptionStore.ts"

/** Every storage port. */
export type StoragePorts =
  | Transaction
  | AccessStore
  | AuditStore
  | SecretStore
  | TransitEventStore
  | TransitSubscriptionStore
  | ShipmentStatusStore
  | StatusSubscriptionStore
  | FreightBillStore
  | ChargeSubscriptionStore
  | InvoiceStore
  | DocumentStore
  | DocumentContents
  | PickupStore
  | DeliveryQueue
  | DeliveryControl
  | Wakeups

/** What a storage adapter provides. */
export interface StorageAdapter {
  /** All storage ports. Built once; its resources are released when the service stops. */
  readonly layer: Layer.Layer<StoragePorts, StorageError>
  /**
   * Runs an effect so that `Transaction.run` inside it joins the transaction of `tx`, a client of the host's own database driver.
   * Dies with a one-sentence message when the adapter cannot join `tx`.
   */
  readonly joined: (tx: unknown) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const adapter = Symbol.for("@waybill/core/Storage")

/** An opaque value that a storage package creates and `createWaybill` takes. */
export interface WaybillStorage {
  /** @internal */
  readonly [adapter]: unknown
}

/** Wraps an adapter. For storage packages. */
export const makeStorage = (offered: StorageAdapter): WaybillStorage => ({ [adapter]: offered })

/** Unwraps the adapter; `undefined` when the value is not a storage. For transports. */
export const storageAdapter = (storage: WaybillStorage): StorageAdapter | undefined =>
  (storage as { readonly [adapter]: StorageAdapter } | undefined)?.[adapter]
