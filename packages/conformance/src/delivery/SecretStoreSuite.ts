/** Conformance of `SecretStore`. */
import { accessOf } from "@waybill/core"
import { type SecretOwner, SecretStore, secretUsableBy, type StoredSecret } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { bytesOf, eventually, freshTenant, idOf, destinationSettings, letSee, letSeeAll, occurredAt, storedSecret } from "../StorageFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const plain = ({ now: _, ...secret }: StoredSecret & { readonly now?: number }) => ({
  ...secret,
  versions: secret.versions.map((each) => ({ sealed: [...each.sealed], signsUntil: each.signsUntil }))
})

const version = (text: string, signsUntil?: number) => ({ sealed: bytesOf(text), signsUntil })

const client = (name: string): SecretOwner => ({ _tag: "Client", client: name })

export const suite = storeSuite("SecretStore", SecretStore, (test) => {
  test("finds nothing under an unknown id", function*({ store }) {
    assert.isTrue(Option.isNone(yield* store.find(freshTenant(), "main")))
    assert.isTrue(Option.isNone(yield* store.find(freshTenant(), "main", "use")))
    assert.isTrue(Option.isNone(yield* store.find(freshTenant(), "main", "change")))
  })

  test("returns every version, newest first, to the millisecond", function*({ store, tenantId }) {
    const later = (yield* Clock.currentTimeMillis) + 86_400_123
    const secret = storedSecret(
      [{ sealed: Uint8Array.from([0, 255, 10, 0]), signsUntil: undefined }, version("b", later), version("a", later - 7)],
      { owner: { _tag: "Accounts", accounts: ["A", "B,{}\"\\", "船"] }, bodySignature: true, rotatedAt: occurredAt + 1 }
    )
    yield* store.put(tenantId, "schlüssel / 1", secret)
    for (const lock of [undefined, "use", "change"] as const) {
      assert.deepStrictEqual(plain(Option.getOrThrow(yield* store.find(tenantId, "schlüssel / 1", lock))), plain(secret))
    }
  })

  test("replaces everything with the next put", function*({ store, tenantId }) {
    const later = (yield* Clock.currentTimeMillis) + 86_400_123
    yield* store.put(tenantId, "main", storedSecret([version("a")], { owner: client("key:a"), bodySignature: true, rotatedAt: occurredAt }))
    for (const owner of [{ _tag: "Accounts", accounts: ["A"] }, { _tag: "AnyClient" }, client("jwt:https://issuer:sub")] as const) {
      const next = storedSecret([version("b"), version("a", later)], { owner, createdAt: occurredAt + 5 })
      yield* store.put(tenantId, "main", next)
      assert.deepStrictEqual(plain(Option.getOrThrow(yield* store.find(tenantId, "main"))), plain(next))
    }
  })

  test("leaves out versions whose time is over", function*({ store, tenantId }) {
    const now = yield* Clock.currentTimeMillis
    const versions = [version("new"), version("retiring", now + 86_400_000), version("retired", now - 86_400_000), version("soon", now + 30)]
    yield* store.put(tenantId, "main", storedSecret(versions))
    const found = yield* eventually(Effect.map(store.find(tenantId, "main"), Option.getOrThrow), (each) => each.versions.length < 3)
    assert.deepStrictEqual(found.versions.map((each) => new TextDecoder().decode(each.sealed)), ["new", "retiring"])
  })

  test("isolates tenants and ids", function*({ other, store, tenantId: one }) {
    const secret = (text: string) => storedSecret([version(text)])
    yield* store.put(one, "main", secret("one"))
    assert.isTrue(Option.isNone(yield* store.find(other, "main")))
    assert.isTrue(Option.isNone(yield* store.find(one, "Main")))
    assert.deepStrictEqual([yield* store.page(other, { after: undefined, limit: 10 }), yield* store.remove(other, "main")], [[], "unknown"])
    assert.isFalse(yield* store.usableBy(other, "main", "key:c"))
    yield* store.put(other, "main", secret("other"))
    yield* store.remove(other, "main")
    assert.deepStrictEqual(plain(Option.getOrThrow(yield* store.find(one, "main"))), plain(secret("one")))
  })

  test("lists secrets by id, page after page, with the end of older versions", function*({ store, tenantId, transaction }) {
    const later = (yield* Clock.currentTimeMillis) + 86_400_123
    yield* store.put(tenantId, "b", storedSecret([version("n"), version("o", later), version("p", later - 7)], { rotatedAt: occurredAt + 1 }))
    yield* store.put(tenantId, "a", storedSecret([version("n"), version("gone", occurredAt)], { owner: client("key:a") }))
    yield* store.put(tenantId, "Z", storedSecret([version("n")], { owner: { _tag: "Accounts", accounts: ["A", "B"] } }))
    // one that is only locked is not there
    yield* transaction.run(store.find(tenantId, "locked", "change"))
    assert.isFalse(yield* store.usableBy(tenantId, "locked", "key:a"))
    const first = yield* store.page(tenantId, { after: undefined, limit: 2 })
    const rest = yield* store.page(tenantId, { after: "a", limit: 2 })
    const owned = yield* Effect.forEach(["key:a", "key:b"], (owner) => store.page(tenantId, { after: undefined, client: owner, limit: 2 }))
    assert.deepStrictEqual(owned.map((page) => page.map(({ hmacSecretId }) => hmacSecretId)), [["a"], []])
    const common = { createdAt: occurredAt, rotatedAt: undefined, signsUntil: undefined, usedBy: 0 }
    assert.deepStrictEqual(first, [
      { ...common, hmacSecretId: "Z", owner: { _tag: "Accounts", accounts: ["A", "B"] } },
      { ...common, hmacSecretId: "a", owner: client("key:a") }
    ])
    assert.deepStrictEqual(rest, [{ ...common, hmacSecretId: "b", owner: { _tag: "AnyClient" }, rotatedAt: occurredAt + 1, signsUntil: later }])
    yield* store.put(tenantId, "c", storedSecret([version("n")], { owner: client("key:a") }))
    assert.deepStrictEqual((yield* store.page(tenantId, { after: undefined, client: "key:a", limit: 1 })).map(({ hmacSecretId }) => hmacSecretId), ["a"])
  })

  test("counts and keeps a secret that a destination is signed with, until the destination is closed", function*({ store, queue, transaction, tenantId }) {
    yield* store.put(tenantId, "main", storedSecret([version("n")]))
    const destinations = [1, 2].map((n) => ({ ...destinationSettings({ n, state: n === 1 ? "active" : "paused" }), hmacSecretId: "main" }))
    for (const destination of destinations) yield* queue.openDestination(tenantId, destination)
    yield* queue.openDestination(freshTenant(), destinations[0]!)
    const usedBy = Effect.map(store.page(tenantId, { after: undefined, limit: 5 }), ([only]) => only?.usedBy)
    yield* store.put(tenantId, "spare", storedSecret([version("n")]))
    assert.deepStrictEqual((yield* store.page(tenantId, { after: undefined, limit: 5 })).map(({ usedBy }) => usedBy), [2, 0])
    assert.strictEqual(yield* store.remove(tenantId, "another"), "unknown")
    assert.strictEqual(yield* store.remove(tenantId, "spare"), "removed")
    const seen = [yield* usedBy, yield* store.remove(tenantId, "main")]
    yield* transaction.run(queue.closeDestination(tenantId, idOf(1)))
    seen.push(yield* usedBy, yield* store.remove(tenantId, "main"))
    yield* transaction.run(queue.closeDestination(tenantId, idOf(2)))
    seen.push(yield* usedBy, yield* store.remove(tenantId, "main"), yield* store.remove(tenantId, "main"))
    assert.deepStrictEqual(seen, [2, "used", 1, "used", 0, "removed", "unknown"])
  })

  test("decides who may use a secret by stored access, like core's rule", function*({ store, tenantId }) {
    yield* letSee(tenantId, "key:a", ["A", "B"])
    yield* letSee(tenantId, "jwt:i:a", ["C"], "token")
    yield* letSeeAll(tenantId, "key:carrier")
    // one carrier of several: its accounts are kept as those within the carrier
    yield* letSee(tenantId, "key:fleet", accessOf([{ roles: ["carrier"], accounts: ["B"], dot: "1" }]).accounts)
    const owners: ReadonlyArray<SecretOwner> = [client("key:a"), { _tag: "Accounts", accounts: ["B", "C"] }, { _tag: "AnyClient" }]
    const clients: ReadonlyArray<{ readonly client: string; readonly accounts: ReadonlyArray<string> }> = [
      { client: "key:a", accounts: ["A", "B"] },
      { client: "jwt:i:a", accounts: ["C"] },
      { client: "key:carrier", accounts: [] },
      { client: "key:fleet", accounts: ["B"] },
      { client: "key:unknown", accounts: [] }
    ]
    for (const owner of owners) {
      yield* store.put(tenantId, "main", storedSecret([version("n")], { owner }))
      for (const who of clients) {
        assert.strictEqual(yield* store.usableBy(tenantId, "main", who.client), secretUsableBy(owner, who), `${JSON.stringify(owner)} ${who.client}`)
      }
    }
    assert.isFalse(yield* store.usableBy(tenantId, "other", "key:a"))
  })

  test("signals its destinations when it changes or its client may no longer use it", function*({ access, deliveries, queue, store, tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    yield* letSee(tenantId, "other", ["A"])
    const secret = (owner: SecretOwner) => storedSecret([version("n")], { owner })
    const destinations = [destinationSettings({ n: 1 }), { ...destinationSettings({ n: 2 }), hmacSecretId: "spare" }, destinationSettings({ n: 3, client: "other" })]
    for (const destination of destinations) yield* queue.openDestination(tenantId, destination)
    yield* store.put(tenantId, "spare", secret({ _tag: "AnyClient" }))
    const versions = Effect.map(deliveries.load(tenantId, [1, 2, 3].map(idOf)), (loaded) =>
      loaded.toSorted((a, b) => a.destinationId < b.destinationId ? -1 : 1).map(({ version }) => version))
    /** The numbers of destinations whose version the change raises. */
    const raisedBy = <E, R>(change: Effect.Effect<unknown, E, R>) =>
      Effect.gen(function*() {
        const before = yield* versions
        yield* change
        return (yield* versions).flatMap((version, at) => version > before[at]! ? [at + 1] : [])
      })
    assert.deepStrictEqual(yield* raisedBy(store.put(tenantId, "main", secret({ _tag: "Accounts", accounts: ["A"] }))), [1, 3])
    assert.deepStrictEqual(yield* raisedBy(letSee(tenantId, "client", ["A"])), [])
    assert.deepStrictEqual(yield* raisedBy(letSee(tenantId, "client", ["B"])), [1])
    assert.deepStrictEqual(yield* raisedBy(letSee(tenantId, "client", ["B", "A"])), [1])
    assert.deepStrictEqual(yield* raisedBy(access.dropClient(tenantId, "other")), [3])
    yield* store.put(tenantId, "main", secret({ _tag: "Client", client: "client" }))
    assert.deepStrictEqual(yield* raisedBy(letSee(tenantId, "client", [])), [])
  })
})
