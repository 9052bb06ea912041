import { assert, describe, it } from "@effect/vitest"
import { TransitEvents } from "@waybill/core/transit-events"
import { reportedEvent, ScriptedReceivers, type SeededTenant, TestWaybill } from "@waybill/testkit"
import { Clock, Effect } from "effect"
import { workerOver } from "../Engine.ts"

const healthy = "https://healthy.example/hook"

const publish = (tenant: SeededTenant, shipmentId: string) =>
  Effect.flatMap(TransitEvents, (events) => Effect.orDie(events.append(tenant.carrier, [reportedEvent(shipmentId, { accounts: ["A"] })])))

const tenantWith = Effect.fnUntraced(function*(name: string, endpointUrl: string) {
  const tenant = yield* TestWaybill.tenant(name)
  yield* TestWaybill.subscribe(tenant, tenant.customer("client", ["A"]), { endpointUrl, delivery: { batchMaxSize: 1 } })
  return tenant
})

/** Publishes for all tenants for a minute. Returns how late each event of the last half a minute reached the healthy tenant's receiver: until then the worker learns who is slow. */
const delays = Effect.fnUntraced(function*(slow: ReadonlyArray<SeededTenant>, other: SeededTenant) {
  const published = new Map<string, number>()
  for (let second = 0; second < 60; second++) {
    for (const tenant of slow) yield* publish(tenant, `S${second}`)
    yield* TestWaybill.pass(500)
    published.set(`S${second}`, yield* Clock.currentTimeMillis)
    yield* publish(other, `S${second}`)
    yield* TestWaybill.pass(500)
  }
  yield* TestWaybill.pass("1 minute")
  const requests = yield* (yield* ScriptedReceivers).requests(healthy)
  assert.lengthOf(requests, 60)
  return requests.slice(30).map(({ at }, n) => at - published.get(`S${30 + n}`)!)
})

describe("a worker with tenants whose storage is slow", () => {
  for (const count of [2, 3, 7]) it.effect(`sends what others publish while such tenants are served, ${count} of them`, Effect.fnUntraced(function*() {
    const slow = yield* Effect.forEach(["a", "b", "c", "d", "e", "f", "g"].slice(0, count), (name) => tenantWith(name, `https://${name}.example/hook`))
    const other = yield* tenantWith("healthy", healthy)
    const ids = new Set(slow.map(({ tenantId }) => tenantId))
    yield* workerOver((store) => ({ take: (request) => Effect.tap(store.take(request), () => ids.has(request.tenantId) ? Effect.sleep(5_000) : Effect.void) }))
    assert.isAtMost(Math.max(...yield* delays(slow, other)), 100)
    for (const { tenantId } of slow) assert.lengthOf(yield* (yield* ScriptedReceivers).requests(`https://${tenantId}.example/hook`), 60)
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))
})
