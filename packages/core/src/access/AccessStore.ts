/** Storage port: tenants, API keys, and what each client may see for how long. */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { FoundApiKey, ListedApiKey, StoredApiKey } from "./model/ApiKey.ts"
import type { Principal, Role } from "./model/Principal.ts"
import type { TenantState } from "./model/TenantState.ts"

export interface NewTenant {
  readonly tenantId: string
  readonly name: string
  /** Host names whose public lookups belong to this tenant. */
  readonly hosts: ReadonlyArray<string>
}

export interface Tenant extends NewTenant {
  readonly state: TenantState
}

/** Where a list goes on: behind `after`, `limit` rows at most. */
export interface ListRange {
  readonly after: string | undefined
  readonly limit: number
}

/** What one credential source says a client may see, and for how long. */
export interface ClientAccess {
  readonly client: string
  readonly origin: Principal["origin"]
  readonly seesAll: boolean
  /** Account numbers, and what a carrier with a number is known by (`accessOf`). */
  readonly accounts: ReadonlyArray<string>
  readonly roles?: ReadonlyArray<Role>
  /** Until an instant, or for so long from now by the storage's clock. Without end where left out. */
  readonly live?: { readonly until: number } | { readonly forMillis: number }
  /** When this has to be computed again, such as at the expiry of one of several keys. When it ends, where left out. */
  readonly reviewAt?: number
}

/** One credential source's row of a client. */
export interface ClientRow {
  readonly origin: Principal["origin"]
  /** Epoch milliseconds; `Infinity` without end, `-Infinity` where it was never live. */
  readonly liveUntil: number
}

export interface ClientRows {
  /** The storage's clock. */
  readonly now: number
  readonly rows: ReadonlyArray<ClientRow>
  /** Set while the client is being removed: its subscriptions with ids up to this one are closed. */
  readonly endingThrough: string | undefined
}

/** A client over all its credential sources. */
export interface ListedClient {
  readonly client: string
  readonly roles: ReadonlyArray<Role>
  readonly accounts: ReadonlyArray<string>
  /** How many keys it has that are neither revoked nor expired. */
  readonly keys: number
  /** How many subscriptions it has in all areas. */
  readonly subscriptions: number
  readonly lastSeenAt: number | undefined
  readonly live: boolean
}

export class AccessStore extends Context.Service<AccessStore, {
  /** Creates the tenant or changes its name and hosts. `None` while a deleted tenant of this id is being removed. */
  readonly putTenant: (tenant: NewTenant) => Effect.Effect<Option.Option<Tenant>, StorageError>
  /** Deleted ones are not found, and not listed. */
  readonly findTenant: (tenantId: string) => Effect.Effect<Option.Option<Tenant>, StorageError>
  /** By id, after one of them; `limit` at most. */
  readonly pageTenants: (range: ListRange) => Effect.Effect<ReadonlyArray<Tenant>, StorageError>
  readonly listTenants: Effect.Effect<ReadonlyArray<Tenant>, StorageError>
  /** The tenant's quotas as JSON that only core reads, `undefined` where nothing was changed; `None` when there is no such tenant. */
  readonly findLimits: (tenantId: string) => Effect.Effect<Option.Option<string | undefined>, StorageError>
  /** The same, locked until the transaction ends. */
  readonly findLimitsForUpdate: (tenantId: string) => Effect.Effect<Option.Option<string | undefined>, StorageError>
  /** Replaces the quotas of a tenant that exists. */
  readonly putLimits: (tenantId: string, limits: string) => Effect.Effect<void, StorageError>
  /** `None` when there is no such tenant. */
  readonly setTenantState: (tenantId: string, state: TenantState) => Effect.Effect<Option.Option<Tenant>, StorageError>
  /** Marks the tenant as deleted. Whether there was one. */
  readonly deleteTenant: (tenantId: string) => Effect.Effect<boolean, StorageError>
  /** Ids of deleted tenants whose data may not be removed completely. */
  readonly deletedTenants: Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Removes about so many rows of a deleted tenant, whatever they are of. Answers how many; 0 when only its mark is left. */
  readonly purgeTenant: (tenantId: string, limit: number) => Effect.Effect<number, StorageError>
  /** Takes away the mark of a tenant that was deleted so long ago. Whether it did. */
  readonly dropTenant: (tenantId: string, graceMillis: number) => Effect.Effect<boolean, StorageError>

  /** Holds back other writes to the tenant's keys until the transaction ends. */
  readonly lockKeys: (tenantId: string) => Effect.Effect<void, StorageError>
  /** Writes to a tenant's keys are serialised until the transaction ends, so that what a client may see is computed from all of them. */
  readonly addKey: (tenantId: string, key: StoredApiKey) => Effect.Effect<void, StorageError>
  /**
   * In the order of the ids, and only keys that are neither revoked nor expired, of tenants that are there. Read at every request,
   * so a revocation or a suspension works at once on every node.
   */
  readonly findKeys: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Option.Option<FoundApiKey>>, StorageError>
  /** The revoked key, expired or not, or `None` when no key has this id or it was revoked before. Serialised like `addKey`. */
  readonly revokeKey: (tenantId: string, id: string) => Effect.Effect<Option.Option<StoredApiKey>, StorageError>
  /** Revokes every key of one name. Serialised like `addKey`. */
  readonly revokeKeysOf: (tenantId: string, name: string) => Effect.Effect<void, StorageError>
  /** Keys of one name that are neither revoked nor expired: the same client. */
  readonly keysOf: (tenantId: string, name: string) => Effect.Effect<ReadonlyArray<StoredApiKey>, StorageError>
  /** Keys that were not revoked, expired ones too, by id. */
  readonly pageKeys: (tenantId: string, range: ListRange) => Effect.Effect<ReadonlyArray<ListedApiKey>, StorageError>
  /** When keys and their clients were last seen; an earlier instant than the stored one changes nothing. */
  readonly touchKeys: (
    tenantId: string,
    uses: ReadonlyArray<{ readonly id: string; readonly client: string; readonly at: number }>
  ) => Effect.Effect<void, StorageError>

  /**
   * Replaces what one source says of a client. Publishing reads it in its own transaction. From a token it says that one was seen
   * now. Answers whether the client was known and had no access before.
   */
  readonly putClientAccess: (tenantId: string, access: ClientAccess) => Effect.Effect<boolean, StorageError>
  /** The rows of one client, which no other transaction changes until this one ends. */
  readonly clientRows: (tenantId: string, client: string) => Effect.Effect<ClientRows, StorageError>
  /** Ends what one source gave, at an instant that is past. What the client saw last stays, so that what comes waits for it. */
  readonly holdClient: (
    tenantId: string,
    held: { readonly client: string; readonly origin: Principal["origin"]; readonly until: number; readonly reviewAt: number }
  ) => Effect.Effect<void, StorageError>
  /** Takes back what one source said, or the whole client where none is named. */
  readonly dropClient: (tenantId: string, client: string, origin?: Principal["origin"]) => Effect.Effect<void, StorageError>
  /** Marks a client, known or not, for removal, and holds it now. `undefined` takes the mark back. */
  readonly markEnding: (tenantId: string, client: string, through: string | undefined) => Effect.Effect<void, StorageError>
  /** Clients whose access has to be computed again, of all tenants, the longest due first. */
  readonly clientsDue: (limit: number) => Effect.Effect<ReadonlyArray<{ readonly tenantId: string; readonly client: string }>, StorageError>
  /** By name. */
  readonly pageClients: (tenantId: string, range: ListRange) => Effect.Effect<ReadonlyArray<ListedClient>, StorageError>
}>()("@waybill/core/access/AccessStore") {}
