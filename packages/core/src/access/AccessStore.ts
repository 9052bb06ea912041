/** Storage port: tenants, API keys, and the access of each client with its end. */
import { Context, type Effect, type Option } from "effect"
import type { ListRange } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import type { FoundApiKey, ListedApiKey, StoredApiKey } from "./model/ApiKey.ts"
import type { Principal, Role } from "./model/Principal.ts"
import type { TenantState } from "./model/TenantState.ts"

/** A tenant as an operator puts it. */
export interface NewTenant {
  readonly tenantId: string
  readonly name: string
  /** Host names whose public lookups use this tenant. */
  readonly hosts: ReadonlyArray<string>
}

/** A tenant as stored. */
export interface Tenant extends NewTenant {
  readonly state: TenantState
}

/** The access that one credential source gives a client, and its end. */
export interface ClientAccess {
  readonly client: string
  readonly origin: Principal["origin"]
  readonly seesAll: boolean
  /** Account numbers, and the grants of a carrier with a DOT or MC number (`accessOf`). */
  readonly accounts: ReadonlyArray<string>
  readonly roles?: ReadonlyArray<Role>
  /** When the access ends: an instant, or a duration from now by the storage's clock. Never, if left out. */
  readonly live?: { readonly until: number } | { readonly forMillis: number }
  /** When to compute this access again, such as when the first of several keys expires. At its end, if left out. */
  readonly reviewAt?: number
}

/** A client's access row of one credential source. */
export interface ClientRow {
  readonly origin: Principal["origin"]
  /** Epoch milliseconds. `Infinity`: no end. `-Infinity`: never had access. */
  readonly liveUntil: number
}

/** Everything that gave a client access, and until when. */
export interface ClientRows {
  /** Current time by the storage's clock. */
  readonly now: number
  readonly rows: ReadonlyArray<ClientRow>
  /** Set while the client is being removed. Subscriptions with ids up to this one are closed. */
  readonly endingThrough: string | undefined
}

/** A client, combined over all its credential sources. */
export interface ListedClient {
  readonly client: string
  readonly roles: ReadonlyArray<Role>
  readonly accounts: ReadonlyArray<string>
  /** Number of keys that are neither revoked nor expired. */
  readonly keys: number
  /** Number of subscriptions in all areas. */
  readonly subscriptions: number
  readonly lastSeenAt: number | undefined
  readonly live: boolean
}

/** Storage port: tenants with their quotas, API keys, and what clients may see. */
export class AccessStore extends Context.Service<AccessStore, {
  /** The time of the storage in milliseconds since 1970. A process does not know when its own clock is wrong. */
  readonly now: Effect.Effect<number, StorageError>
  /** Creates the tenant or changes its name and hosts. `None` while a deleted tenant with this id is being removed. */
  readonly putTenant: (tenant: NewTenant) => Effect.Effect<Option.Option<Tenant>, StorageError>
  /** Deleted tenants are not found and not listed. */
  readonly findTenant: (tenantId: string) => Effect.Effect<Option.Option<Tenant>, StorageError>
  /** Tenants in the order of their ids. */
  readonly pageTenants: (range: ListRange) => Effect.Effect<ReadonlyArray<Tenant>, StorageError>
  readonly listTenants: Effect.Effect<ReadonlyArray<Tenant>, StorageError>
  /**
   * The tenant's quotas as JSON that only core reads; `undefined` when none was changed. `None` when the tenant does not exist. `forUpdate` locks them
   * until the transaction ends.
   */
  readonly findLimits: (tenantId: string, forUpdate?: boolean) => Effect.Effect<Option.Option<string | undefined>, StorageError>
  /** Replaces the quotas of an existing tenant. */
  readonly putLimits: (tenantId: string, limits: string) => Effect.Effect<void, StorageError>
  /** `None` when the tenant does not exist. */
  readonly setTenantState: (tenantId: string, state: TenantState) => Effect.Effect<Option.Option<Tenant>, StorageError>
  /** Marks the tenant as deleted. Returns whether it existed. */
  readonly deleteTenant: (tenantId: string) => Effect.Effect<boolean, StorageError>
  /** Ids of deleted tenants that may still have data, in their order. */
  readonly deletedTenants: (range: ListRange) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Deletes about `limit` rows of a deleted tenant, from any table. Returns their number; 0 when only the deletion mark is left. */
  readonly purgeTenant: (tenantId: string, limit: number) => Effect.Effect<number, StorageError>
  /** Removes the deletion mark of a tenant that was deleted at least `graceMillis` ago. Returns whether it did. */
  readonly dropTenant: (tenantId: string, graceMillis: number) => Effect.Effect<boolean, StorageError>

  /** Blocks other writes to the tenant's keys until the transaction ends. */
  readonly lockKeys: (tenantId: string) => Effect.Effect<void, StorageError>
  /** Serialises writes to the tenant's keys until the transaction ends, so that a client's access is computed from all of its keys. */
  readonly addKey: (tenantId: string, key: StoredApiKey) => Effect.Effect<void, StorageError>
  /**
   * Finds keys, in the order of `ids`. Skips revoked and expired keys, and keys of deleted tenants. Every request reads this, so a
   * revocation or suspension takes effect at once on every node.
   */
  readonly findKeys: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Option.Option<FoundApiKey>>, StorageError>
  /** Returns the revoked key, expired or not; `None` when the id is unknown or was already revoked. Serialised like `addKey`. */
  readonly revokeKey: (tenantId: string, id: string) => Effect.Effect<Option.Option<StoredApiKey>, StorageError>
  /** Revokes every key with this name. Serialised like `addKey`. */
  readonly revokeKeysOf: (tenantId: string, name: string) => Effect.Effect<void, StorageError>
  /** Keys with this name that are neither revoked nor expired. They all belong to one client. */
  readonly keysOf: (tenantId: string, name: string) => Effect.Effect<ReadonlyArray<StoredApiKey>, StorageError>
  /** Keys that are not revoked, including expired ones, in the order of their ids. */
  readonly pageKeys: (tenantId: string, range: ListRange) => Effect.Effect<ReadonlyArray<ListedApiKey>, StorageError>
  /** Records when keys and their clients were last seen. An earlier instant than the stored one changes nothing. */
  readonly touchKeys: (
    tenantId: string,
    uses: ReadonlyArray<{ readonly id: string; readonly client: string; readonly at: number }>
  ) => Effect.Effect<void, StorageError>

  /**
   * Replaces the access that one source gives a client. Publishing reads it in its own transaction. For a token source it also records
   * that the client was seen now. If its accounts change, the owners of its destinations load them again, where their secrets belong to
   * accounts. Returns whether the client was known and had no access before, or may lose it before the transaction ends.
   */
  readonly putClientAccess: (tenantId: string, access: ClientAccess) => Effect.Effect<boolean, StorageError>
  /** The rows of one client, locked until the transaction ends. */
  readonly clientRows: (tenantId: string, client: string) => Effect.Effect<ClientRows, StorageError>
  /**
   * Whether clients, live or held, have the carrier number `grant` (`carrierGrants`), and none of them has one of the carrier's `own` as well:
   * then it is another carrier's number.
   */
  readonly isOthersNumber: (tenantId: string, grant: string, own: ReadonlyArray<string>) => Effect.Effect<boolean, StorageError>
  /** Whether the client has access from any source now; `undefined` for an unknown client. */
  readonly findClientState: (tenantId: string, client: string) => Effect.Effect<"live" | "held" | undefined, StorageError>
  /** Ends the access from one source at a past instant. Keeps the client's last accounts, so that new deliveries are held for it. */
  readonly holdClient: (
    tenantId: string,
    held: { readonly client: string; readonly origin: Principal["origin"]; readonly until: number; readonly reviewAt: number }
  ) => Effect.Effect<void, StorageError>
  /** Removes the access from one source, or the whole client when `origin` is left out. */
  readonly dropClient: (tenantId: string, client: string, origin?: Principal["origin"]) => Effect.Effect<void, StorageError>
  /** Marks a client, known or not, for removal and holds its deliveries from now on. `undefined` removes the mark. */
  readonly markEnding: (tenantId: string, client: string, through: string | undefined) => Effect.Effect<void, StorageError>
  /** Tenants with clients whose access must be computed again, in the order of their ids. */
  readonly tenantsWithClientsDue: (range: ListRange) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** These clients of a tenant, in the order of their names. */
  readonly clientsDue: (tenantId: string, range: ListRange) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** In the order of their names. */
  readonly pageClients: (tenantId: string, range: ListRange) => Effect.Effect<ReadonlyArray<ListedClient>, StorageError>
}>()("@waybill/core/access/AccessStore") {}
