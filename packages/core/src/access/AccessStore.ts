/** Storage port: tenants, API keys, and what each client may see. */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { StoredApiKey } from "./model/ApiKey.ts"
import type { Principal } from "./model/Principal.ts"

export interface Tenant {
  readonly tenantId: string
  readonly name: string
  /** Host names whose public lookups belong to this tenant. */
  readonly hosts: ReadonlyArray<string>
}

/** What one credential source says a client may see. */
export interface ClientAccess {
  readonly client: string
  readonly origin: Principal["origin"]
  readonly seesAll: boolean
  /** Account numbers, and what a carrier with a number is known by (`accessOf`). */
  readonly accounts: ReadonlyArray<string>
}

export class AccessStore extends Context.Service<AccessStore, {
  /** Creates the tenant or changes its name and hosts. */
  readonly putTenant: (tenant: Tenant) => Effect.Effect<void, StorageError>
  readonly findTenant: (tenantId: string) => Effect.Effect<Option.Option<Tenant>, StorageError>
  /** By id, after one of them; `limit` at most. */
  readonly pageTenants: (range: { readonly after: string | undefined; readonly limit: number }) => Effect.Effect<ReadonlyArray<Tenant>, StorageError>
  readonly listTenants: Effect.Effect<ReadonlyArray<Tenant>, StorageError>
  /** The tenant's quotas as JSON that only core reads, `undefined` where nothing was changed; `None` when there is no such tenant. */
  readonly findLimits: (tenantId: string) => Effect.Effect<Option.Option<string | undefined>, StorageError>
  /** The same, locked until the transaction ends. */
  readonly findLimitsForUpdate: (tenantId: string) => Effect.Effect<Option.Option<string | undefined>, StorageError>
  /** Replaces the quotas of a tenant that exists. */
  readonly putLimits: (tenantId: string, limits: string) => Effect.Effect<void, StorageError>
  /** Writes to a tenant's keys are serialised until the transaction ends, so that what a client may see is computed from all of them. */
  readonly addKey: (tenantId: string, key: StoredApiKey) => Effect.Effect<void, StorageError>
  /** In the order of the ids, and only keys that were not revoked. Read at every request, so a revocation works at once on every node. */
  readonly findKeys: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Option.Option<StoredApiKey>>, StorageError>
  /** The revoked key, or `None` when no live key has this id. */
  readonly revokeKey: (tenantId: string, id: string) => Effect.Effect<Option.Option<StoredApiKey>, StorageError>
  /** Live keys of one name: the same client. */
  readonly keysOf: (tenantId: string, name: string) => Effect.Effect<ReadonlyArray<StoredApiKey>, StorageError>
  /** Replaces what one source says of a client. Publishing reads it in its own transaction. */
  readonly putClientAccess: (tenantId: string, access: ClientAccess) => Effect.Effect<void, StorageError>
}>()("@waybill/core/access/AccessStore") {}
