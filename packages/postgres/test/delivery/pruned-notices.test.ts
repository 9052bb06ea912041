/** A retry of a delivery whose payloads were pruned. */
import { layer } from "@effect/vitest"
import { noticeSource, NoticeStore } from "@waybill/core"
import { DeliveryQueue } from "@waybill/core/delivery"
import { FreightBillStore } from "@waybill/core/freight-charges"
import { chargeFixtures, fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect, Option } from "effect"
import { assert } from "vitest"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { publishBills, subscribeToCharges } = chargeFixtures
const { bytesOf, destinationSettings, freshTenant, idOf, letSee } = fixtures
const { drain, drainedBodies } = workerFixtures

layer(testStorage(freshSchema()), { excludeTestServices: true })("a delivered delivery whose notices were pruned", (it) => {
  it.effect("does not block later notices of the bill when it is retried", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const bills = yield* FreightBillStore
    const tenantId = freshTenant()
    yield* letSee(tenantId, "client", ["A"])
    yield* subscribeToCharges(tenantId)
    yield* publishBills(tenantId, [{ billId: "B" }])
    const { sent: [delivery] } = yield* drain(tenantId)
    assert.isAbove(yield* bills.prune(tenantId, { ended: 0, noticed: Date.now() + 60_000 }), 0)
    assert.deepStrictEqual(yield* queue.retry(tenantId, delivery!.deliveryId), Option.some("cancelled" as const))
    yield* publishBills(tenantId, [{ billId: "B" }])
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["B/2"] })
  }))

  it.effect("keeps the body of a notice to a customer until its delivery is done and old enough, and stores none for a closed webhook", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const notices = yield* NoticeStore
    const tenantId = freshTenant()
    yield* letSee(tenantId, "client", ["A"])
    for (const n of [1, 2]) yield* queue.openDestination(tenantId, { ...destinationSettings({ n }), source: noticeSource, envelope: { open: "", close: "" } })
    yield* queue.closeDestination(tenantId, idOf(2))
    for (const n of [1, 2]) yield* notices.queue(tenantId, { webhookId: idOf(n), subscriptionId: idOf(9), noticeId: "failing.1", body: bytesOf("{}"), traceparent: undefined })
    const later = Date.now() + 60_000
    assert.strictEqual(yield* notices.pruneBodies(tenantId, later), 0)
    yield* drain(tenantId)
    assert.strictEqual(yield* notices.pruneBodies(tenantId, 0), 0)
    assert.strictEqual(yield* notices.pruneBodies(tenantId, later), 1)
  }))
})
