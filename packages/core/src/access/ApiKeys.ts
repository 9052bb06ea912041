/** Give out, check and revoke API keys. */
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { gathering } from "../shared/Gathering.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { traced } from "../shared/TraceContext.ts"
import { Transaction } from "../shared/Transaction.ts"
import { isUniqueId, RandomBytes, UniqueIds } from "../shared/UniqueIds.ts"
import { ApiKeyNotFound, TenantNotFound, Unauthenticated } from "./AccessErrors.ts"
import { AccessStore } from "./AccessStore.ts"
import { ApiKeyRequest, formatApiKey, keyAddress, sameHash, type StoredApiKey } from "./model/ApiKey.ts"
import { accessOf, type Principal } from "./model/Principal.ts"
import { sha256 } from "./Sha256.ts"

export class ApiKeys extends Context.Service<ApiKeys, {
  /** A new key. The text is shown once and cannot be read back. */
  readonly create: (
    tenantId: string,
    input: unknown
  ) => Effect.Effect<{ readonly id: string; readonly key: Redacted.Redacted }, InvalidInput | TenantNotFound | StorageError>
  /** Revokes a key on every node at once. */
  readonly revoke: (tenantId: string, id: string) => Effect.Effect<void, ApiKeyNotFound | StorageError>
  /** Whoever holds this key. */
  readonly principalOf: (key: Redacted.Redacted) => Effect.Effect<Principal, Unauthenticated | StorageError>
}>()("@waybill/core/access/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function*() {
      const store = yield* AccessStore
      const transaction = yield* Transaction
      const ids = yield* UniqueIds
      const fill = yield* RandomBytes
      const decode = decodeInput(ApiKeyRequest, { closed: true })
      const findKey = yield* gathering(store.findKeys)

      /** What a client may see is the union over its live keys. */
      const rememberAccess = Effect.fnUntraced(function*(tenantId: string, client: string) {
        const keys = yield* store.keysOf(tenantId, client)
        yield* store.putClientAccess(tenantId, {
          client,
          origin: "key",
          ...accessOf(keys)
        })
      })

      const create = Effect.fn("ApiKeys.create")(function*(tenantId: string, input: unknown) {
        const request = yield* decode(input)
        if (Option.isNone(yield* store.findTenant(tenantId))) return yield* new TenantNotFound({ tenantId })
        const secret = new Uint8Array(32)
        fill(secret)
        const id = yield* ids.next
        const key = formatApiKey({ tenantId, id }, secret)
        const stored: StoredApiKey = { ...request, accounts: request.accounts ?? [], id, hash: yield* sha256(key) }
        yield* transaction.run(Effect.andThen(store.addKey(tenantId, stored), rememberAccess(tenantId, request.name)))
        return { id, key: Redacted.make(key) }
      })

      const revoke = Effect.fn("ApiKeys.revoke")(function*(tenantId: string, id: string) {
        yield* transaction.run(Effect.gen(function*() {
          const revoked = isUniqueId(id) ? yield* store.revokeKey(tenantId, id) : Option.none<StoredApiKey>()
          if (Option.isNone(revoked)) return yield* new ApiKeyNotFound({ id })
          yield* rememberAccess(tenantId, revoked.value.name)
        }))
      })

      const principalOf = Effect.fnUntraced(function*(key: Redacted.Redacted) {
        const text = Redacted.value(key)
        const address = keyAddress(text)
        if (address === undefined) return yield* new Unauthenticated({ presented: true, reason: "malformed API key" })
        const hash = yield* sha256(text)
        const stored = yield* findKey(address.tenantId, address.id)
        if (Option.isNone(stored)) return yield* new Unauthenticated({ presented: true, reason: "unknown or revoked API key" })
        if (!sameHash(stored.value.hash, hash)) return yield* new Unauthenticated({ presented: true, reason: "wrong API key" })
        const { accounts, dot, mc, name, roles } = stored.value
        return {
          tenantId: address.tenantId,
          client: name,
          roles,
          accounts,
          ...(dot === undefined ? {} : { dot }),
          ...(mc === undefined ? {} : { mc }),
          origin: "key" as const
        }
      }, traced("ApiKeys.principalOf"))

      return ApiKeys.of({ create, revoke, principalOf })
    })
  )
}
