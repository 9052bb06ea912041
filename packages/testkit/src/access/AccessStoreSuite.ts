/** What an `AccessStore` promises. What clients may see is judged where it counts: by the suite of the event log. */
import { AccessStore, type StoragePorts, type StoredApiKey } from "@waybill/core"
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { bytesOf, freshTenant, idOf } from "../StorageFixtures.ts"

const key = (n: number, parts: Partial<StoredApiKey> = {}): StoredApiKey => ({
  id: idOf(n),
  name: "warehouse",
  roles: ["customer"],
  accounts: ["A"],
  hash: bytesOf(`hash ${n}`),
  ...parts
})

const findKey = (tenantId: string, id: string) =>
  Effect.flatMap(AccessStore, (store) => Effect.map(store.findKeys(tenantId, [id]), ([found]) => found!))

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: AccessStore`, (it) => {
    it.effect("finds a tenant as it was put last", () =>
      Effect.gen(function*() {
        const store = yield* AccessStore
        const tenantId = freshTenant()
        assert.isTrue(Option.isNone(yield* store.findTenant(tenantId)))
        yield* store.putTenant({ tenantId, name: "Acme", hosts: ["a.example"] })
        const renamed = { tenantId, name: "Acme \"Fracht\" & Söhne, {Inc}", hosts: ["b.example", "c.example"] }
        yield* store.putTenant(renamed)
        assert.deepStrictEqual(Option.getOrThrow(yield* store.findTenant(tenantId)), renamed)
      }))

    it.effect("lists every tenant once, by id", () =>
      Effect.gen(function*() {
        const store = yield* AccessStore
        const mine = [freshTenant(), freshTenant(), freshTenant()]
        for (const tenantId of mine) yield* store.putTenant({ tenantId, name: "One", hosts: [] })
        yield* store.putTenant({ tenantId: mine[0]!, name: "Again", hosts: [] })
        const listed = (yield* store.listTenants).map((each) => each.tenantId).filter((each) => mine.includes(each))
        assert.deepStrictEqual(listed, mine.toSorted())
      }))

    it.effect("lists tenants page by page, by id", () =>
      Effect.gen(function*() {
        const store = yield* AccessStore
        const mine = [freshTenant(), freshTenant(), freshTenant()].toSorted()
        for (const tenantId of mine) yield* store.putTenant({ tenantId, name: tenantId, hosts: ["a.example"] })
        const walked: Array<string> = []
        let after: string | undefined
        for (;;) {
          const rows = yield* store.pageTenants({ after, limit: 2 })
          if (rows.length === 0) break
          assert.isAtMost(rows.length, 2)
          walked.push(...rows.map((each) => each.tenantId))
          after = rows.at(-1)!.tenantId
        }
        assert.deepStrictEqual(walked, walked.toSorted())
        assert.deepStrictEqual(walked.filter((each) => mine.includes(each)), mine)
        assert.deepStrictEqual(yield* store.pageTenants({ after: walked.at(-1)!, limit: 2 }), [])
      }))

    it.effect("finds a tenant's limits as they were put last, beside its name and hosts", () =>
      Effect.gen(function*() {
        const store = yield* AccessStore
        const tenantId = freshTenant()
        assert.isTrue(Option.isNone(yield* store.findLimits(tenantId)))
        yield* store.putLimits(tenantId, "{\"subscriptions\":1}")
        assert.isTrue(Option.isNone(yield* store.findLimits(tenantId)))
        yield* store.putTenant({ tenantId, name: "Acme", hosts: ["a.example"] })
        assert.isUndefined(Option.getOrThrow(yield* store.findLimits(tenantId)))
        yield* store.putLimits(tenantId, "{\"subscriptions\":2}")
        yield* store.putTenant({ tenantId, name: "Acme again", hosts: [] })
        assert.strictEqual(Option.getOrThrow(yield* store.findLimits(tenantId)), "{\"subscriptions\":2}")
        assert.strictEqual(Option.getOrThrow(yield* store.findLimitsForUpdate(tenantId)), "{\"subscriptions\":2}")
        assert.strictEqual(Option.getOrThrow(yield* store.findTenant(tenantId)).name, "Acme again")
        assert.isTrue(Option.isNone(yield* store.findLimits(freshTenant())))
      }))

    it.effect("finds a key with everything it was added with", () =>
      Effect.gen(function*() {
        const store = yield* AccessStore
        const tenantId = freshTenant()
        yield* store.putTenant({ tenantId, name: "Acme", hosts: [] })
        const full = key(1, {
          roles: ["carrier", "customer"],
          accounts: ["A,B", "{C}", "\"D\"", "\\E", "NULL", "ä 船"],
          dot: "1234567",
          mc: "MC-9",
          hash: Uint8Array.from([0, 1, 127, 128, 255])
        })
        yield* store.addKey(tenantId, full)
        yield* store.addKey(tenantId, key(2))
        const found = Option.getOrThrow(yield* findKey(tenantId, idOf(1)))
        assert.deepStrictEqual({ ...found, hash: [...found.hash] }, { ...full, hash: [...full.hash] })
        assert.deepStrictEqual(Object.keys(Option.getOrThrow(yield* findKey(tenantId, idOf(2)))).includes("dot"), false)
      }))

    it.effect("finds several keys at once, in the order they were asked for, each as often as it was", () =>
      Effect.gen(function*() {
        const store = yield* AccessStore
        const tenantId = freshTenant()
        yield* store.putTenant({ tenantId, name: "Acme", hosts: [] })
        for (const n of [1, 2, 3]) yield* store.addKey(tenantId, key(n))
        yield* store.revokeKey(tenantId, idOf(2))
        const found = yield* store.findKeys(tenantId, [idOf(3), idOf(2), "no id", idOf(1), idOf(3)])
        assert.deepStrictEqual(found.map((each) => Option.getOrUndefined(each)?.id), [idOf(3), undefined, undefined, idOf(1), idOf(3)])
        assert.deepStrictEqual(yield* store.findKeys(tenantId, []), [])
      }))

    it.effect("finds no key under an id that was never given out, or is none", () =>
      Effect.gen(function*() {
        const store = yield* AccessStore
        const tenantId = freshTenant()
        for (const id of [idOf(9), "", "no id", "-".repeat(36), "e".repeat(36)]) {
          assert.isTrue(Option.isNone(yield* findKey(tenantId, id)), id)
          assert.isTrue(Option.isNone(yield* store.revokeKey(tenantId, id)), id)
        }
      }))

    it.effect("answers a revoked key once, and finds it no more", () =>
      Effect.gen(function*() {
        const store = yield* AccessStore
        const tenantId = freshTenant()
        yield* store.putTenant({ tenantId, name: "Acme", hosts: [] })
        yield* store.addKey(tenantId, key(1))
        assert.strictEqual(Option.getOrThrow(yield* store.revokeKey(tenantId, idOf(1))).name, "warehouse")
        assert.isTrue(Option.isNone(yield* store.revokeKey(tenantId, idOf(1))))
        assert.isTrue(Option.isNone(yield* findKey(tenantId, idOf(1))))
      }))

    it.effect("names the live keys of one client", () =>
      Effect.gen(function*() {
        const store = yield* AccessStore
        const tenantId = freshTenant()
        yield* store.putTenant({ tenantId, name: "Acme", hosts: [] })
        for (const n of [1, 2, 3]) yield* store.addKey(tenantId, key(n))
        yield* store.addKey(tenantId, key(4, { name: "somebody else" }))
        yield* store.revokeKey(tenantId, idOf(2))
        assert.deepStrictEqual((yield* store.keysOf(tenantId, "warehouse")).map((each) => each.id).sort(), [idOf(1), idOf(3)])
        assert.deepStrictEqual(yield* store.keysOf(tenantId, "nobody"), [])
      }))

    it.effect("keeps tenants apart, whatever ids they share", () =>
      Effect.gen(function*() {
        const store = yield* AccessStore
        const [one, other] = [freshTenant(), freshTenant()]
        for (const tenantId of [one, other]) yield* store.putTenant({ tenantId, name: tenantId, hosts: [] })
        yield* store.addKey(one, key(1, { dot: "1" }))
        assert.isTrue(Option.isNone(yield* findKey(other, idOf(1))))
        assert.deepStrictEqual(yield* store.keysOf(other, "warehouse"), [])
        assert.isTrue(Option.isNone(yield* store.revokeKey(other, idOf(1))))
        yield* store.addKey(other, key(1, { dot: "2" }))
        yield* store.revokeKey(other, idOf(1))
        assert.strictEqual(Option.getOrThrow(yield* findKey(one, idOf(1))).dot, "1")
      }))
  })
