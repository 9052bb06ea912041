/** Storage port: webhook signing secrets, sealed. The store never sees a secret in the clear. */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"

/** One sealed version of a secret. */
export interface SealedVersion {
  readonly sealed: Uint8Array
  /** Milliseconds since 1970 after which this version no longer signs; `undefined` for the current one. */
  readonly signsUntil: number | undefined
}

export interface StoredSecret {
  /** Newest first; versions whose time is over are left out. */
  readonly versions: ReadonlyArray<SealedVersion>
  /** When not empty, only clients with one of these accounts may name the secret. */
  readonly accounts: ReadonlyArray<string>
  /** Whether deliveries also carry the older `X-Signature`. */
  readonly bodySignature: boolean
}

export class SecretStore extends Context.Service<SecretStore, {
  /** Locks the secret until the transaction ends, so that two rotations follow one another. */
  readonly findForUpdate: (tenantId: string, hmacSecretId: string) => Effect.Effect<Option.Option<StoredSecret>, StorageError>
  readonly find: (tenantId: string, hmacSecretId: string) => Effect.Effect<Option.Option<StoredSecret>, StorageError>
  /** Replaces everything that is stored under the id. */
  readonly put: (tenantId: string, hmacSecretId: string, secret: StoredSecret) => Effect.Effect<void, StorageError>
}>()("@waybill/core/delivery/SecretStore") {}
