/** The descriptor of an area: what the registries of the whole service need to know of it. */
import type { Effect, Layer } from "effect"
import type { RetentionWindows } from "./RetentionOptions.ts"
import type { StorageError } from "./StoragePort.ts"

/** Subscriptions of an area, for operators and for the delivery engine, which sees sources and bytes only. */
export interface AreaSubscriptions {
  /** Names under which the area's entries are stored for delivery. */
  readonly sources: ReadonlyArray<string>
  /** Filters of a stored document in the area's terms. Empty for a subscription to everything that its client may see. */
  readonly filtersOf: (settings: never) => Readonly<Record<string, unknown>>
  /** The accounts that a stored document names; `null` if it covers all accounts of its client. */
  readonly accountsOf?: (settings: never) => ReadonlyArray<string> | null
  readonly store: Effect.Effect<SubscriptionDocuments, never, unknown>
}

export interface SubscriptionDocuments {
  readonly documents: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, StorageError>
  /** Ends a subscription as a deletion by its client does. */
  readonly end: (tenantId: string, client: string, id: string) => Effect.Effect<unknown, StorageError>
  /** Forgets subscriptions that ended before an instant, where the area remembers any. Returns their number; at most a few thousand per call. */
  readonly prune?: (tenantId: string, endedBefore: number) => Effect.Effect<number, StorageError>
}

/** Deletes some of what is older than the windows from one tenant, and answers how many rows that were; 0 when nothing else can be deleted now. */
export type AreaRetention = (tenantId: string, now: number, windows: RetentionWindows) => Effect.Effect<number, StorageError>

export interface AreaDescriptor {
  /** The name of its folders. */
  readonly name: string
  /** Its storage ports. */
  readonly stores: ReadonlyArray<{ readonly key: string }>
  /** Its use cases. */
  readonly services: Layer.Any
  readonly subscriptions?: AreaSubscriptions
  readonly retention?: Effect.Effect<AreaRetention, never, unknown>
}
