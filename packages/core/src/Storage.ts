/** A storage adapter as a single value, for callers that do not use Effect layers. */
import { Effect, type Layer } from "effect"
import type { AreaStores } from "./Areas.ts"
import type { AccessStore } from "./access/AccessStore.ts"
import type { AuditStore } from "./audit/AuditStore.ts"
import type { DeliveryControl } from "./delivery/DeliveryControl.ts"
import type { DeliveryQueue } from "./delivery/DeliveryQueue.ts"
import type { DeliveryStore } from "./delivery/DeliveryStore.ts"
import type { SecretStore } from "./delivery/secrets/SecretStore.ts"
import type { StatisticsStore } from "./delivery/statistics/StatisticsStore.ts"
import type { Wakeups } from "./delivery/Wakeups.ts"
import type { MailStore } from "./mail/MailStore.ts"
import type { NoticeStore } from "./notices/NoticeStore.ts"
import { describeCopy, type EffectCopy, EffectCopiesMet, effectCopy } from "./shared/EffectCopy.ts"
import { HostTransaction, type StorageError, type Transaction } from "./shared/StoragePort.ts"

/** Every storage port. */
export type StoragePorts =
  | AreaStores
  | Transaction
  | AccessStore
  | AuditStore
  | SecretStore
  | DeliveryStore
  | DeliveryQueue
  | DeliveryControl
  | StatisticsStore
  | NoticeStore
  | MailStore
  | Wakeups

/** What a storage adapter provides. `Tx` are the host's transactions that it can join. */
export interface StorageAdapter<Tx = never> {
  /** All storage ports. Built once; its resources are released when the service stops. */
  readonly layer: Layer.Layer<StoragePorts, StorageError>
  /**
   * Runs an effect so that `Transaction.run` inside it joins the transaction of `tx`, a client of the host's own database driver.
   * Dies with a one-sentence message when the adapter cannot join `tx`.
   */
  readonly joined: (tx: Tx) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Shared by all copies of this package, so that a storage of another copy is recognized and refused. */
const offer = Symbol.for("@waybill/core/Storage")

interface Offer<Tx> {
  readonly adapter: StorageAdapter<Tx>
  readonly copy: EffectCopy
}

/** An opaque value that a storage package creates and `createWaybill` takes. `Tx` is what `within` accepts: nothing by default. */
export interface WaybillStorage<in Tx = never> {
  readonly [offer]: { readonly adapter: { readonly joined: (tx: Tx) => unknown } }
}

/** Wraps an adapter. For storage packages. */
export const makeStorage = <Tx = never>(adapter: StorageAdapter<Tx>): WaybillStorage<Tx> => {
  const joined: StorageAdapter<Tx>["joined"] = (tx) => {
    const join = adapter.joined(tx)
    return (effect) => join(Effect.provideService(effect, HostTransaction, tx))
  }
  const offered: Offer<Tx> = { adapter: { ...adapter, joined }, copy: effectCopy }
  return { [offer]: offered }
}

/**
 * Unwraps the adapter; `undefined` when the value is not a storage. For transports. Throws `EffectCopiesMet` when another
 * copy of this package made the storage.
 */
export const storageAdapter = <Tx>(storage: WaybillStorage<Tx>): StorageAdapter<Tx> | undefined => {
  const offered = (storage as { readonly [offer]: Offer<Tx> } | undefined)?.[offer]
  if (offered !== undefined && offered.copy !== effectCopy) throw new EffectCopiesMet("the storage", describeCopy(offered.copy))
  return offered?.adapter
}
