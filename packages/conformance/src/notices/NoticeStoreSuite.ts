/** Conformance of `NoticeStore`. */
import { type NoticeKey, NoticeStore, type StoragePorts, Transaction } from "@waybill/core"
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { freshTenant, idOf } from "../StorageFixtures.ts"

const key = (changes: Partial<NoticeKey> = {}): NoticeKey => ({ subscriptionId: idOf(1), kind: "failing", day: 20_400, ...changes })

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: NoticeStore`, (it) => {
    it.effect("keeps one address for each client of a tenant, until it is removed", () =>
      Effect.gen(function*() {
        const store = yield* NoticeStore
        const [one, other] = [freshTenant(), freshTenant()]
        assert.deepStrictEqual(yield* store.contact(one, "key:shop"), Option.none())
        yield* store.setContact(one, "key:shop", "a@shop.example")
        yield* store.setContact(one, "key:rival", "c@rival.example")
        yield* store.setContact(one, "key:shop", "b@shop.example")
        assert.deepStrictEqual(yield* store.contact(one, "key:shop"), Option.some("b@shop.example"))
        assert.deepStrictEqual(yield* store.contact(other, "key:shop"), Option.none())
        yield* store.setContact(one, "key:shop", undefined)
        yield* store.setContact(one, "key:shop", undefined)
        assert.deepStrictEqual(yield* store.contact(one, "key:shop"), Option.none())
        assert.deepStrictEqual(yield* store.contact(one, "key:rival"), Option.some("c@rival.example"))
      }))

    it.effect("gives a notice to one of several callers, and again after their transaction failed", () =>
      Effect.gen(function*() {
        const store = yield* NoticeStore
        const tenantId = freshTenant()
        const claims = yield* Effect.all(Array.from({ length: 8 }, () => store.claim(tenantId, key())), { concurrency: "unbounded" })
        assert.strictEqual(claims.filter(Boolean).length, 1)
        for (const different of [key({ subscriptionId: idOf(2) }), key({ kind: "paused" }), key({ day: 20_401 })]) assert.isTrue(yield* store.claim(tenantId, different))
        assert.isTrue(yield* store.claim(freshTenant(), key()))
        const transaction = yield* Transaction
        const failed = key({ subscriptionId: idOf(3) })
        yield* Effect.flip(transaction.run(Effect.andThen(store.claim(tenantId, failed), Effect.fail("refused"))))
        assert.isTrue(yield* store.claim(tenantId, failed))
        assert.isFalse(yield* store.claim(tenantId, failed))
      }))

    it.effect("removes notices of earlier days of a tenant", () =>
      Effect.gen(function*() {
        const store = yield* NoticeStore
        const [one, other] = [freshTenant(), freshTenant()]
        for (const day of [20_398, 20_399, 20_400]) yield* store.claim(one, key({ day }))
        yield* store.claim(other, key({ day: 20_398 }))
        assert.strictEqual(yield* store.prune(one, 20_400), 2)
        assert.strictEqual(yield* store.prune(one, 20_400), 0)
        assert.isTrue(yield* store.claim(one, key({ day: 20_399 })))
        assert.isFalse(yield* store.claim(one, key({ day: 20_400 })))
        assert.isFalse(yield* store.claim(other, key({ day: 20_398 })))
      }))
  })
