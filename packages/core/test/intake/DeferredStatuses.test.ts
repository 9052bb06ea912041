import { assert, describe, it } from "@effect/vitest"
import { type AwaitingEvents, DeferredStatuses, EventsAwaitingStatus, ShipmentIntake, StorageError } from "@waybill/core"
import { ShipmentStatuses } from "@waybill/core/shipment-status"
import type { StoredEvent } from "@waybill/core/transit-events"
import { ltlJourney, postedShipment, TestWaybill } from "@waybill/testkit"
import { Context, Effect, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { inService } from "../inService.ts"

/** Events that another writer has stored, and tenants and shipments whose events cannot be read. */
const makeAwaiting = (broken: ReadonlySet<string>) => {
  const waiting = new Map<string, ReadonlyArray<StoredEvent>>()
  const port: AwaitingEvents = {
    tenants: ({ after = "", limit }) => Effect.sync(() => [...waiting.keys()].filter((tenantId) => tenantId > after).sort().slice(0, limit)),
    lockShipments: (tenantId, { after = "", limit }) => Effect.sync(() => {
      const shipmentIds = [...new Set((waiting.get(tenantId) ?? []).map(({ shipmentId }) => shipmentId))].filter((shipmentId) => shipmentId > after).sort().slice(0, limit)
      return { shipmentIds, last: shipmentIds.length < limit ? undefined : shipmentIds.at(-1) }
    }),
    take: (tenantId, shipmentIds) =>
      broken.has(tenantId) || shipmentIds.some((shipmentId) => broken.has(shipmentId))
        ? Effect.fail(new StorageError({ operation: "EventsAwaitingStatus.take", cause: "broken" }))
        : Effect.sync(() => {
          const events = waiting.get(tenantId)!
          const left = events.filter(({ shipmentId }) => !shipmentIds.includes(shipmentId))
          if (left.length > 0) waiting.set(tenantId, left)
          else waiting.delete(tenantId)
          return events.filter(({ shipmentId }) => shipmentIds.includes(shipmentId))
        })
  }
  return { port, waiting }
}

const encoder = new TextEncoder()

const journey = (shipmentId: string): ReadonlyArray<StoredEvent> =>
  ltlJourney(shipmentId).map((event, at) => ({ eventId: `${shipmentId}-${at}`, shipmentId, sequence: at + 1, body: encoder.encode(JSON.stringify(event)) }))

const setup = Effect.fnUntraced(function*(broken: ReadonlySet<string> = new Set()) {
  const { port, waiting } = makeAwaiting(broken)
  const context = yield* Layer.build(Layer.fresh(DeferredStatuses.layer).pipe(Layer.provide(Layer.succeed(EventsAwaitingStatus, port))))
  return { statuses: Context.get(context, DeferredStatuses), waiting }
})

const registered = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  yield* (yield* ShipmentIntake).report(tenant.carrier, { shipments: [postedShipment("S")] })
  const milestone = Effect.gen(function*() {
    const { shipment } = yield* (yield* ShipmentStatuses).record(tenant.carrier, "S")
    return (JSON.parse(new TextDecoder().decode(shipment.bytes)) as { readonly ShipmentMilestoneStatus?: string }).ShipmentMilestoneStatus
  })
  return { tenantId: tenant.tenantId, milestone }
})

describe("deferred statuses", () => {
  it.effect("follow the waiting events, each once, and ignore shipments without a status", () =>
    inService(Effect.scoped(Effect.gen(function*() {
      const { milestone, tenantId } = yield* registered
      const { statuses, waiting } = yield* setup()
      waiting.set(tenantId, [...journey("S"), ...journey("T")])
      assert.strictEqual(yield* statuses.applyDue, 18)
      assert.strictEqual(yield* milestone, "Delivered")
      assert.strictEqual(yield* statuses.applyDue, 0)
    }))))

  it.effect("follow for the other tenants when a hundred before them fail, and the failure is reported", () =>
    inService(Effect.scoped(Effect.gen(function*() {
      const { milestone, tenantId } = yield* registered
      const broken = Array.from({ length: 100 }, (_, n) => `aa-broken-${n}`)
      const { statuses, waiting } = yield* setup(new Set(broken))
      for (const each of broken) waiting.set(each, journey("S"))
      waiting.set(tenantId, journey("S"))
      assert.strictEqual((yield* Effect.flip(statuses.applyDue)).cause, "broken")
      assert.strictEqual(yield* milestone, "Delivered")
      assert.deepStrictEqual([...waiting.keys()], broken)
    }))).pipe(Effect.provide(Logger.layer([]))))

  it.effect("follow for the other shipments of a tenant when the events of one cannot be read", () =>
    inService(Effect.scoped(Effect.gen(function*() {
      const { milestone, tenantId } = yield* registered
      const { statuses, waiting } = yield* setup(new Set(["R"]))
      waiting.set(tenantId, [...journey("Q"), ...journey("R"), ...journey("S")])
      const fiber = yield* Effect.forkChild(statuses.run)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* milestone, "Delivered")
      assert.deepStrictEqual([...new Set(waiting.get(tenantId)!.map(({ shipmentId }) => shipmentId))], ["R"])
      yield* Fiber.interrupt(fiber)
    }))).pipe(Effect.provide(Logger.layer([]))))

  it.effect("follow within a second in the background, also after a failure", () =>
    inService(Effect.scoped(Effect.gen(function*() {
      const { milestone, tenantId } = yield* registered
      const broken = new Set(["broken"])
      const { statuses, waiting } = yield* setup(broken)
      const fiber = yield* Effect.forkChild(statuses.run)
      waiting.set("broken", journey("S"))
      yield* TestClock.adjust("1 second")
      waiting.set(tenantId, journey("S"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* milestone, "Delivered")
      broken.clear()
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([...waiting.keys()], [])
      yield* Fiber.interrupt(fiber)
    }))).pipe(Effect.provide(Logger.layer([]))))

  it.effect("have nothing to do in a storage that never has such events", Effect.fnUntraced(function*() {
    assert.strictEqual(yield* (yield* DeferredStatuses).applyDue, 0)
  }, inService))
})
