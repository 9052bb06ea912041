/** A purge concurrent with workers: every entry is either dropped, or sent once and in order. */
import { layer } from "@effect/vitest"
import { Subscriptions } from "@waybill/core"
import { TransitEvents } from "@waybill/core/transit-events"
import { reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { testService } from "../TestService.ts"
import { testStorage } from "../TestStorage.ts"

const { eventually, freshTenant } = fixtures

layer(testService(testStorage(), { pollMillis: 20 }), { excludeTestServices: true })("a purge", (it) => {
  it.effect("concurrent with a running worker and publisher delivers or drops every event once and in order", Effect.fnUntraced(function*() {
    const url = "https://receiver.example/purged"
    const tenant = yield* TestWaybill.tenant(freshTenant())
    const { carrier, tenantId } = tenant
    const { id } = yield* TestWaybill.subscribe(tenant, tenant.customer("client", ["A"]), { endpointUrl: url, delivery: { batchMaxSize: 3, rateLimitPerMinute: 60_000 } })
    const subscriptions = yield* Subscriptions
    const [shipments, rounds] = [10, 12]
    yield* TestWaybill.run
    const events = Array.from({ length: shipments }, (_, n) => reportedEvent(`S${n}`, { accounts: ["A"] }))
    const publishing = Effect.forEach(Array.from({ length: rounds }), () => Effect.flatMap(TransitEvents, (all) => all.append(carrier, events)), { discard: true })
    const purging = Effect.forEach(Array.from({ length: rounds }), () => subscriptions.purge(tenantId, id))
    const [, purged] = yield* Effect.all([publishing, purging], { concurrency: 2 })
    const done = yield* eventually(subscriptions.get(tenantId, id), ({ inFlight, state, waiting }) => state === "active" && inFlight + waiting === 0)
    const dropped = purged.reduce((sum, each) => sum + each, 0)
    assert.strictEqual(done.dropped, dropped)
    const delivered = yield* (yield* ScriptedReceivers).deliveredEvents(url)
    assert.strictEqual(new Set(delivered.map(({ eventId }) => eventId)).size, delivered.length, "sent twice")
    assert.strictEqual(delivered.length + dropped, shipments * rounds)
    const last = new Map<string, number>()
    for (const { sequence, shipment: { shipmentId } } of delivered) {
      assert.isAbove(sequence, last.get(shipmentId) ?? 0)
      last.set(shipmentId, sequence)
    }
  }), 60_000)
})
