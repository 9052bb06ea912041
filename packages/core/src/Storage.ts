/** A storage adapter as one value, for callers who assemble no layers. */
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

/** What an adapter has to offer. */
export interface StorageAdapter {
  /** All ports. Built once; its resources are released when the service stops. */
  readonly layer: Layer.Layer<StoragePorts, StorageError>
  /**
   * Runs an effect so that `Transaction.run` in it joins the transaction that `tx` (a client of the host's own database
   * driver) holds. Dies with one sentence when `tx` is nothing this adapter can join.
   */
  readonly joined: (tx: unknown) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const adapter = Symbol.for("@waybill/core/Storage")

/** Made by a storage package, handed to `createWaybill`, and otherwise nobody's business. */
export interface WaybillStorage {
  /** @internal */
  readonly [adapter]: unknown
}

/** For storage packages. */
export const makeStorage = (offered: StorageAdapter): WaybillStorage => ({ [adapter]: offered })

/** For transports. `undefined` when the value is no storage. */
export const storageAdapter = (storage: WaybillStorage): StorageAdapter | undefined =>
  (storage as { readonly [adapter]: StorageAdapter } | undefined)?.[adapter]
