/** Storage port: webhook signing secrets, sealed. The store never sees a secret in the clear. */
import { Context, type Effect, type Option } from "effect"
import type { ListRange } from "../../shared/ListPage.ts"
import type { StorageError } from "../../shared/StorageError.ts"
import type { SecretOwner } from "../model/SecretOwner.ts"

/** One sealed version of a secret. */
export interface SealedVersion {
  readonly sealed: Uint8Array
  /** Milliseconds since 1970 after which this version no longer signs; `undefined` for the current one. */
  readonly signsUntil: number | undefined
}

export interface StoredSecret {
  /** Newest first; versions whose time is over are left out. */
  readonly versions: ReadonlyArray<SealedVersion>
  readonly owner: SecretOwner
  /** Whether deliveries also carry the older `X-Signature`. */
  readonly bodySignature: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** When the version that signs now replaced another; `undefined` for the first one. */
  readonly rotatedAt: number | undefined
}

/** A secret in a list: no sealed bytes. */
export interface ListedSecret {
  readonly hmacSecretId: string
  readonly owner: SecretOwner
  readonly createdAt: number
  readonly rotatedAt: number | undefined
  /** When the last of the older versions stops to sign; `undefined` when only the current one signs. */
  readonly signsUntil: number | undefined
  /** How many destinations that are not closed are signed with it; not counted beyond `maxCountedUses`. */
  readonly usedBy: number
}

/** `usedBy` stops here: a list must not cost as much as there are subscriptions. */
export const maxCountedUses = 1000

export class SecretStore extends Context.Service<SecretStore, {
  /**
   * With a lock, the secret is neither changed nor removed by others until the transaction ends. Several may hold one for `use` at once; one for a
   * `change` is held alone, also of an id that has no secret yet, so that two rotations follow one another.
   */
  readonly find: (tenantId: string, hmacSecretId: string, lock?: "use" | "change") => Effect.Effect<Option.Option<StoredSecret>, StorageError>
  /** Replaces everything that is stored under the id. */
  readonly put: (tenantId: string, hmacSecretId: string, secret: StoredSecret) => Effect.Effect<void, StorageError>
  /** By id, after one of them; `limit` at most. `client`: only secrets that belong to this client (qualified). */
  readonly page: (
    tenantId: string,
    range: ListRange & { readonly client?: string }
  ) => Effect.Effect<ReadonlyArray<ListedSecret>, StorageError>
  /**
   * Removes the secret unless a destination that is not closed is signed with it. Waits for those who hold it for use, so that
   * no destination opened by then is left without it.
   */
  readonly remove: (tenantId: string, hmacSecretId: string) => Effect.Effect<"removed" | "used" | "unknown", StorageError>
  /**
   * Whether the secret exists and may sign for a client (qualified) by what is stored of the client's access. Signing asks
   * the same question, in the same words.
   */
  readonly usableBy: (tenantId: string, hmacSecretId: string, client: string) => Effect.Effect<boolean, StorageError>
}>()("@waybill/core/delivery/SecretStore") {}
