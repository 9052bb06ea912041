/** Creates, checks and revokes API keys. */
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { fault } from "../shared/Fault.ts"
import { makeRequestBatcher } from "../shared/RequestBatcher.ts"
import { formatInstant, instantOrNull, InstantText, parseInstant } from "../shared/Instant.ts"
import { decodeInput, InvalidInput, type WithLists } from "../shared/InvalidInput.ts"
import { defaultListLimit, IdCursor, ListLimit, type ListPage, listPage, textsSize } from "../shared/ListPage.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { traced } from "../shared/TraceContext.ts"
import { isUniqueId, RandomBytes, UniqueIds } from "../shared/UniqueIds.ts"
import { ApiKeyNotFound, TenantNotFound, TenantSuspended, Unauthenticated } from "./AccessErrors.ts"
import { AccessStore } from "./AccessStore.ts"
import { reviewClient } from "./ClientReview.ts"
import { makeKeyUses } from "./KeyUses.ts"
import { ApiKeyRequest, formatApiKey, keyAddress, KeyRole, type ListedApiKey, sameHash, type StoredApiKey } from "./model/ApiKey.ts"
import { keyClient } from "./model/Client.ts"
import type { Principal } from "./model/Principal.ts"
import { sha256 } from "./Sha256.ts"

/** A page of a tenant's API keys. */
export const ApiKeyListQuery = Schema.Struct({ cursor: IdCursor, limit: ListLimit })

/** A key in an answer. Instants are UTC text. */
export const ApiKeyView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  client: Schema.String.annotate({ description: "key:<name>." }),
  roles: Schema.Array(KeyRole),
  accounts: Schema.Array(Schema.String),
  dot: Schema.NullOr(Schema.String),
  mc: Schema.NullOr(Schema.String),
  createdAt: InstantText,
  expiresAt: Schema.NullOr(InstantText),
  lastUsedAt: Schema.NullOr(InstantText).annotate({ description: "Written about once a minute." })
}).annotate({ identifier: "ListedApiKey" })
export type ApiKeyView = typeof ApiKeyView.Type

/** Creates, lists and revokes the API keys of a tenant. Only their hashes are stored. */
export class ApiKeys extends Context.Service<ApiKeys, {
  /** Creates a key. Its text is shown once and cannot be read again. */
  readonly create: (
    tenantId: string,
    input: WithLists<typeof ApiKeyRequest.Encoded>
  ) => Effect.Effect<{ readonly id: string; readonly key: Redacted.Redacted }, InvalidInput | TenantNotFound | StorageError>
  /** Revokes a key. Takes effect on every node at once. */
  readonly revoke: (tenantId: string, id: string) => Effect.Effect<void, ApiKeyNotFound | StorageError>
  /** Lists keys that are not revoked, in the order of their ids and so of their creation. Never contains the key's text. */
  readonly list: (tenantId: string, query?: typeof ApiKeyListQuery.Encoded) => Effect.Effect<ListPage<ApiKeyView>, InvalidInput | StorageError>
  /** Authenticates the holder of a key. */
  readonly principalOf: (key: Redacted.Redacted) => Effect.Effect<Principal, Unauthenticated | TenantSuspended | StorageError>
}>()("@waybill/core/access/ApiKeys") {
  static readonly layer = Layer.effect(ApiKeys, Effect.gen(function*() {
    const store = yield* AccessStore
    const transaction = yield* Transaction
    const ids = yield* UniqueIds
    const fill = yield* RandomBytes
    const queue = yield* DeliveryQueue
    const wakeups = yield* Wakeups
    const decode = decodeInput(ApiKeyRequest, { closed: true })
    const decodeQuery = decodeInput(ApiKeyListQuery, { closed: true })
    const findKey = yield* makeRequestBatcher(store.findKeys)

    const noteUse = yield* makeKeyUses(store)

    const future = Effect.fnUntraced(function*(text: string) {
      const instant = parseInstant(text)!
      if (instant <= (yield* Clock.currentTimeMillis)) {
        return yield* InvalidInput.of(fault(["expiresAt"], "expiresAt must be in the future.", "out_of_bounds"))
      }
      return instant
    })

    const create = Effect.fn("ApiKeys.create")(function*(tenantId: string, input: unknown) {
      const { expiresAt: expiry, ...request } = yield* decode(input)
      if (!request.roles.includes("carrier") && (request.dot ?? request.mc) !== undefined) return yield* numberOfNoCarrier(request)
      const expiresAt = expiry === undefined ? undefined : yield* future(expiry)
      if (Option.isNone(yield* store.findTenant(tenantId))) return yield* new TenantNotFound({ tenantId })
      const secret = new Uint8Array(32)
      fill(secret)
      const id = yield* ids.next
      const key = formatApiKey({ tenantId, id }, secret)
      const stored: StoredApiKey = {
        ...request,
        accounts: request.accounts ?? [],
        id,
        hash: yield* sha256(key),
        ...(expiresAt === undefined ? {} : { expiresAt })
      }
      const client = keyClient(request.name)
      yield* transaction.run(Effect.gen(function*() {
        yield* store.addKey(tenantId, stored)
        yield* reviewClient(store, tenantId, client)
        yield* queue.accessRestored(tenantId, client)
      }))
      yield* wakeups.wake(tenantId)
      return { id, key: Redacted.make(key) }
    })

    const revoke = Effect.fn("ApiKeys.revoke")(function*(tenantId: string, id: string) {
      yield* transaction.run(Effect.gen(function*() {
        const revoked = isUniqueId(id) ? yield* store.revokeKey(tenantId, id) : Option.none<StoredApiKey>()
        const { name } = yield* Effect.fromOption(revoked, () => new ApiKeyNotFound({ id }))
        yield* reviewClient(store, tenantId, keyClient(name))
      }))
    })

    const list = Effect.fn("ApiKeys.list")(function*(tenantId: string, input: unknown = {}) {
      const { cursor, limit = defaultListLimit } = yield* decodeQuery(input)
      return yield* listPage({
        read: (range) => store.pageKeys(tenantId, range),
        idOf: ({ id }) => id,
        sizeOf: ({ accounts }) => 500 + textsSize(accounts),
        shown: apiKeyView
      }, cursor, limit)
    })

    const principalOf = Effect.fnUntraced(function*(key: Redacted.Redacted) {
      const text = Redacted.value(key)
      const address = keyAddress(text)
      if (address === undefined) return yield* new Unauthenticated({ presented: true, reason: "malformed API key" })
      const hash = yield* sha256(text)
      const stored = yield* Effect.fromOption(yield* findKey(address.tenantId, address.id), () => new Unauthenticated({ presented: true, reason: "unknown, expired or revoked API key" }))
      if (!sameHash(stored.hash, hash)) return yield* new Unauthenticated({ presented: true, reason: "wrong API key" })
      const { accounts, dot, id, mc, name, roles, tenantState } = stored
      const client = keyClient(name)
      if (tenantState === "suspended") return yield* new TenantSuspended({ tenantId: address.tenantId, client })
      yield* noteUse(address.tenantId, id, client)
      return {
        tenantId: address.tenantId,
        client,
        roles,
        accounts,
        ...(dot === undefined ? {} : { dot }),
        ...(mc === undefined ? {} : { mc }),
        origin: "key" as const
      }
    }, traced("ApiKeys.principalOf"))

    return ApiKeys.of({ create, revoke, list, principalOf })
  }))
}

/** A customer's access is by accounts: with a number it would see neither more nor less than its creator expects of the number. */
const numberOfNoCarrier = ({ dot }: Pick<typeof ApiKeyRequest.Type, "dot">) =>
  Effect.fail(InvalidInput.of(fault([dot === undefined ? "mc" : "dot"], "Only a carrier has a DOT or MC number. Add the role carrier, or leave the number out.", "conflict")))

const apiKeyView = ({ accounts, createdAt, dot, expiresAt, id, lastUsedAt, mc, name, roles }: ListedApiKey): ApiKeyView => ({
  id,
  name,
  client: keyClient(name),
  roles,
  accounts,
  dot: dot ?? null,
  mc: mc ?? null,
  createdAt: formatInstant(createdAt),
  expiresAt: instantOrNull(expiresAt),
  lastUsedAt: instantOrNull(lastUsedAt)
})
