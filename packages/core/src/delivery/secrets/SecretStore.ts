/** Storage port: sealed signing secrets. The store never gets an unsealed secret. */
import { Context, type Effect, type Option } from "effect"
import type { ListRange } from "../../shared/ListPage.ts"
import type { StorageError } from "../../shared/StoragePort.ts"
import type { SecretOwner } from "../model/SecretOwner.ts"

/** One sealed version of a secret. */
export interface SealedVersion {
  readonly sealed: Uint8Array
  /** Milliseconds since 1970 after which this version no longer signs; `undefined` for the current one. */
  readonly signsUntil: number | undefined
}

/** A secret with its live versions. */
export interface StoredSecret {
  /** Newest first, without versions that no longer sign. */
  readonly versions: ReadonlyArray<SealedVersion>
  readonly owner: SecretOwner
  /** Whether deliveries also carry the older `X-Signature`. */
  readonly bodySignature: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** When the newest version replaced another; `undefined` for the first version. */
  readonly rotatedAt: number | undefined
}

/** A secret, and the time of the store in milliseconds since 1970. Versions sign until then by its clock. */
export interface FoundSecret extends StoredSecret {
  readonly now: number
}

/** A secret in a list, without sealed bytes. Instants are milliseconds since 1970. */
export interface ListedSecret {
  readonly hmacSecretId: string
  readonly owner: SecretOwner
  readonly createdAt: number
  readonly rotatedAt: number | undefined
  /** When the last older version stops signing; `undefined` if only the newest one signs. */
  readonly signsUntil: number | undefined
  /** Number of destinations that use it, without closed ones; at most `maxCountedUses`. */
  readonly usedBy: number
}

/** Maximum of `usedBy`, so that the cost of a list does not depend on the number of subscriptions. */
export const maxCountedUses = 1000

/** Storage port of signing secrets. */
export class SecretStore extends Context.Service<SecretStore, {
  /**
   * Finds a secret. With a lock, others neither change nor remove it until the transaction ends. Locks for `use` are shared; a lock for `change` is
   * exclusive, also for an id without a secret, so that two rotations run one after the other.
   */
  readonly find: (tenantId: string, hmacSecretId: string, lock?: "use" | "change") => Effect.Effect<Option.Option<FoundSecret>, StorageError>
  /** Replaces everything that is stored under the id. */
  readonly put: (tenantId: string, hmacSecretId: string, secret: StoredSecret) => Effect.Effect<void, StorageError>
  /** Lists secrets by id, after an id, at most `limit`. `client`: only secrets that belong to this client (qualified). */
  readonly page: (
    tenantId: string,
    range: ListRange & { readonly client?: string }
  ) => Effect.Effect<ReadonlyArray<ListedSecret>, StorageError>
  /**
   * Removes the secret unless a destination that is not closed uses it. Waits for locks for `use`, so that no destination
   * that is being opened loses it.
   */
  readonly remove: (tenantId: string, hmacSecretId: string) => Effect.Effect<"removed" | "used" | "unknown", StorageError>
  /**
   * Whether the secret exists and may sign for a client (qualified), by the client's stored access. Signing uses the same
   * condition.
   */
  readonly usableBy: (tenantId: string, hmacSecretId: string, client: string) => Effect.Effect<boolean, StorageError>
}>()("@waybill/core/delivery/SecretStore") {}
