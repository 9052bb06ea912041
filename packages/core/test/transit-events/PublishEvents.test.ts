import { assert, describe, it } from "@effect/vitest"
import { Transaction, UniqueIds } from "@waybill/core"
import { type EventKey, TransitEventStore } from "@waybill/core/transit-events"
import { reportedEvent, StorageMemory } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { publishEvents } from "../../src/transit-events/PublishEvents.ts"

const own = { traceparent: undefined, writer: undefined }

const storage = Layer.mergeAll(StorageMemory.layer, UniqueIds.layer)

describe("publishing events", () => {
  it.effect("is answered however often concurrent calls store one of its events first", Effect.fnUntraced(function*() {
    const services = { store: yield* TransitEventStore, transaction: yield* Transaction, ids: yield* UniqueIds }
    const events = Array.from({ length: 30 }, (_, n) => reportedEvent("S", { eventId: `e${n}` }))
    yield* publishEvents(services)("acme", events.slice(1), own)
    // as if each of them had been stored after this call had looked for it
    let looks = 0
    const late = { ...services.store, find: (tenantId: string, keys: ReadonlyArray<EventKey>) => Effect.map(services.store.find(tenantId, keys), (found) => found.slice(0, looks++)) }
    const results = yield* publishEvents({ ...services, store: late })("acme", events, own)
    assert.deepStrictEqual(results.map(({ result }) => result), events.map((_, n) => n === 0 ? "accepted" : "duplicate"))
    assert.strictEqual(looks, 30)
  }, Effect.provide(storage)))
})
