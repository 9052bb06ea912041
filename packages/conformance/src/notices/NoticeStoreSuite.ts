/** Conformance of `NoticeStore`. */
import { type NoticeContacts, type NoticeKey, noticeSource, NoticeStore } from "@waybill/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { bytesOf, destinationSettings, freshTenant, idOf, letSee, textOf } from "../StorageFixtures.ts"
import { drain } from "../WorkerFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const key = (changes: Partial<NoticeKey> = {}): NoticeKey => ({ subscriptionId: idOf(1), kind: "failing", day: 20_400, ...changes })

export const suite = storeSuite("NoticeStore", NoticeStore, (test) => {
  test("keeps the contacts of each client of a tenant, until they are removed", function*({ other, store, tenantId: one }) {
    const all = { emailKinds: undefined, webhookKinds: undefined }
    const nobody = { ...all, email: undefined, webhookId: undefined }
    assert.deepStrictEqual(yield* store.contacts(one, "key:shop"), nobody)
    assert.deepStrictEqual(yield* store.contacts(one, "key:shop", true), nobody)
    yield* store.setContacts(one, "key:shop", { email: "a@shop.example", emailKinds: ["failing"], webhookId: undefined, webhookKinds: undefined })
    const chosen: NoticeContacts = { email: "c@rival.example", emailKinds: ["paused"], webhookId: idOf(2), webhookKinds: ["dead_letter", "ending"] }
    yield* store.setContacts(one, "key:rival", { email: "b@rival.example", emailKinds: ["failing"], webhookId: idOf(3), webhookKinds: undefined })
    yield* store.setContacts(one, "key:rival", chosen)
    yield* store.setContacts(one, "key:shop", { ...all, email: undefined, webhookId: idOf(1) })
    assert.deepStrictEqual(yield* store.contacts(one, "key:shop", true), { ...all, email: undefined, webhookId: idOf(1) })
    assert.deepStrictEqual(yield* store.contacts(other, "key:shop"), nobody)
    for (let n = 0; n < 2; n++) yield* store.setContacts(one, "key:shop", nobody)
    assert.deepStrictEqual(yield* store.contacts(one, "key:shop"), nobody)
    assert.deepStrictEqual(yield* store.contacts(one, "key:rival"), chosen)
  })

  test("ends a webhook only if it is the client's present one", function*({ store, tenantId }) {
    const kinds: Pick<NoticeContacts, "emailKinds" | "webhookKinds"> = { emailKinds: ["paused"], webhookKinds: undefined }
    yield* store.setContacts(tenantId, "key:shop", { ...kinds, email: "a@shop.example", webhookId: idOf(1) })
    yield* store.endWebhook(tenantId, "key:shop", idOf(2))
    yield* store.endWebhook(tenantId, "key:rival", idOf(1))
    yield* store.endWebhook(freshTenant(), "key:shop", idOf(1))
    assert.strictEqual((yield* store.contacts(tenantId, "key:shop")).webhookId, idOf(1))
    yield* store.endWebhook(tenantId, "key:shop", idOf(1))
    assert.deepStrictEqual(yield* store.contacts(tenantId, "key:shop"), { ...kinds, email: "a@shop.example", webhookId: undefined })
  })

  test("queues a notice for its webhook, with its bytes, and nothing for a closed one", function*({ queue, store, tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    for (const n of [1, 2]) {
      yield* queue.openDestination(tenantId, { ...destinationSettings({ n, policy: { batchMaxSize: 1 } }), source: noticeSource, envelope: { open: "", close: "" } })
    }
    const notice = { webhookId: idOf(1), subscriptionId: idOf(9), noticeId: "failing.1", body: bytesOf('{"type":"notice.failing"}'), traceparent: undefined }
    yield* store.queue(tenantId, notice)
    yield* store.queue(tenantId, { ...notice, noticeId: "paused.1", body: bytesOf('{"type":"notice.paused"}') })
    yield* queue.closeDestination(tenantId, idOf(2))
    yield* store.queue(tenantId, { ...notice, webhookId: idOf(2) })
    const first = yield* drain(tenantId)
    const second = yield* drain(tenantId)
    assert.deepStrictEqual([...first.sent, ...second.sent].map(({ body, destinationId }) => [destinationId, textOf(body)]), [
      [idOf(1), '{"type":"notice.failing"}'],
      [idOf(1), '{"type":"notice.paused"}']
    ])
    assert.isAtMost(yield* store.pruneBodies(tenantId, 0), 0)
  })

  test("gives a notice to one of several callers, and again after their transaction failed", function*({ store, tenantId, transaction }) {
    const claims = yield* Effect.all(Array.from({ length: 8 }, () => store.claim(tenantId, key())), { concurrency: "unbounded" })
    assert.strictEqual(claims.filter(Boolean).length, 1)
    for (const different of [key({ subscriptionId: idOf(2) }), key({ kind: "paused" }), key({ day: 20_401 })]) assert.isTrue(yield* store.claim(tenantId, different))
    assert.isTrue(yield* store.claim(freshTenant(), key()))
    const failed = key({ subscriptionId: idOf(3) })
    yield* Effect.flip(transaction.run(Effect.andThen(store.claim(tenantId, failed), Effect.fail("refused"))))
    assert.isTrue(yield* store.claim(tenantId, failed))
    assert.isFalse(yield* store.claim(tenantId, failed))
  })

  test("removes notices of earlier days of a tenant", function*({ other, store, tenantId: one }) {
    for (const day of [20_398, 20_399, 20_400]) yield* store.claim(one, key({ day }))
    yield* store.claim(other, key({ day: 20_398 }))
    assert.strictEqual(yield* store.prune(one, 20_400), 2)
    assert.strictEqual(yield* store.prune(one, 20_400), 0)
    assert.isTrue(yield* store.claim(one, key({ day: 20_399 })))
    assert.isFalse(yield* store.claim(one, key({ day: 20_400 })))
    assert.isFalse(yield* store.claim(other, key({ day: 20_398 })))
  })
})
