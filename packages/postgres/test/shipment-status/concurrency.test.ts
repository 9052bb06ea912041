/** Concurrent registrations, events and status updates of the same shipments, with repeats and interruptions. */
import { layer } from "@effect/vitest"
import { formatInstant, ShipmentIntake, StatusUpdateIntake, TransitEventIntake } from "@waybill/core"
import { DeliveryWorker } from "@waybill/core/delivery"
import { ShipmentStatuses, StatusSubscriptions, type StatusUpdate } from "@waybill/core/shipment-status"
import type { ReportedEvent } from "@waybill/core/transit-events"
import { postedShipment, reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { type Duration, Effect, Option, Random } from "effect"
import { assert } from "vitest"
import { rowsIn, testService } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()

const service = testService(testStorage(schema))

const rows = rowsIn(schema)

const start = Date.UTC(2026, 10, 20, 14)
const at = (hours: number) => formatInstant(start + hours * 3_600_000)

const shipmentIds = Array.from({ length: 8 }, (_, n) => `S${n}`)

const journey = [
  ["PICKED_UP", 1], ["ARRIVED_AT_TERMINAL", 3], ["DEPARTED_TERMINAL", 5], ["EXCEPTION", 6], ["IN_TRANSIT", 7], ["OUT_FOR_DELIVERY", 20], ["DELIVERY_ATTEMPTED", 22],
  ["OUT_FOR_DELIVERY", 40], ["DELIVERED", 44], ["PROOF_OF_DELIVERY", 45]
] as const

const eventsOf = (shipmentId: string) =>
  journey.map(([type, hours], n) =>
    reportedEvent(shipmentId, {
      type,
      occurredAt: at(hours),
      eventId: `${shipmentId}-${n}`,
      accounts: n % 3 === 0 ? ["A", "B"] : ["A"],
      more: { attributes: type === "EXCEPTION" ? { exception: "damaged" } : {} }
    }))

const updatesOf = (shipmentId: string): ReadonlyArray<StatusUpdate> => ([
  { shipmentMilestoneStatus: "In Transit", terminalStatus: "Arrived", terminalAddress: { TerminalID: "DAL" }, occurredAt: at(10) },
  { shipmentMilestoneStatus: "Out for Delivery", countsToDelivery: 2, occurredAt: at(21) },
  { shipmentMilestoneStatus: "Delivered", terminalStatus: "Short", occurredAt: at(43) },
  { deliveryInformation_messages: "Noted late", UpdatedETA: "2026-11-27", delayReasonCode: "310-2", occurredAt: at(8) },
  { deliveryInformation_messages: "POD available", occurredAt: at(46) }
] as const).map((update, n) => ({ shipmentId, updateId: `u${n}`, ...update }))

/** Interrupts a call at a random point, as by a crash, and repeats it until it is answered. */
const untilAnswered = <A, E, R>(call: Effect.Effect<A, E, R>, patience: Duration.Input): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.timeoutOption(call, patience), Option.match({
    onNone: () => untilAnswered(call, 10_000),
    onSome: Effect.succeed
  }))

const rounds = (seed: string) =>
  Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant(seed)
    const shipments = yield* ShipmentIntake
    const events = yield* TransitEventIntake
    const updates = yield* StatusUpdateIntake
    const subscriptions = yield* StatusSubscriptions
    const customer = tenant.customer("client", ["A"])
    const webhookUrl = `https://${seed}.example/status`
    yield* subscriptions.subscribe(customer, { referenceNumbers: shipmentIds, webhookUrl })
    const post = (ids: ReadonlyArray<string>, EstimatedStandardDay: number) =>
      Effect.asVoid(shipments.report(tenant.carrier, ids.map((id) => postedShipment(id, { accounts: ["A"], EstimatedStandardDay })), { partial: true }))
    const happen = (all: ReadonlyArray<ReportedEvent>) => Effect.asVoid(events.report(tenant.carrier, all))
    const update = (all: ReadonlyArray<StatusUpdate>) => Effect.asVoid(updates.report(tenant.carrier, all, { partial: true }))
    const calls = [
      post(shipmentIds, 2),
      post(shipmentIds.toReversed(), 2),
      post(shipmentIds, 3),
      ...shipmentIds.flatMap((id, n) => {
        const next = shipmentIds[(n + 1) % shipmentIds.length]!
        // shipments of one call are in any order, which must not cause a deadlock
        return [
          ...eventsOf(id).map((event) => happen([event])),
          happen([...eventsOf(next), ...eventsOf(id)]),
          happen([...eventsOf(id), ...eventsOf(next)]),
          update([...updatesOf(id), ...updatesOf(next)]),
          update([...updatesOf(next), ...updatesOf(id)]),
          ...updatesOf(id).map((each) => update([each]))
        ]
      })
    ]
    const shuffled = yield* Random.shuffle(calls)
    yield* Effect.forEach(shuffled, (call, n) => untilAnswered(call, n % 3 === 0 ? `${n % 17} millis` : 10_000), { concurrency: 10 })
    // repeats updates that found no shipment yet, as a refused sender does
    yield* Effect.forEach(shipmentIds, (id) => update(updatesOf(id)), { concurrency: 4 })
    yield* (yield* DeliveryWorker).drain
    const told = yield* (yield* ScriptedReceivers).delivered(webhookUrl)
    return { tenant, customer, told: told as ReadonlyArray<Readonly<Record<string, unknown>>> }
  }).pipe(Random.withSeed(seed))

layer(service, { excludeTestServices: true, timeout: 60_000 })("shipments under many writers on Postgres", (it) => {
  for (const seed of ["one", "two", "three"]) {
    it.effect(`agree in every view, with nothing lost or repeated: ${seed}`, Effect.fnUntraced(function*() {
      const { customer, tenant, told } = yield* rounds(seed)
      const statuses = yield* ShipmentStatuses
      const logged = yield* rows<{ shipment_id: string; event_id: string }>("SELECT shipment_id, event_id FROM @transit_events WHERE tenant_id = $1", [seed])
      const notices = yield* rows<{ shipment_id: string; sequence: string; body: string }>(
        "SELECT n.shipment_id, n.sequence::text, convert_from(n.body, 'UTF8') AS body FROM @shipment_status_notices AS n WHERE n.tenant_id = $1 ORDER BY n.sequence",
        [seed]
      )
      for (const shipmentId of shipmentIds) {
        const { history, shipment } = yield* statuses.record(tenant.carrier, shipmentId)
        assert.deepStrictEqual(history.map(({ position }) => position), history.map((_, n) => n + 1))
        const sources = history.map(({ report }) => report["source"] as { kind: string; id: string })
        const ofEvents = sources.filter(({ kind }) => kind === "event").map(({ id }) => id).sort()
        assert.deepStrictEqual(ofEvents, eventsOf(shipmentId).map(({ eventId }) => eventId!).sort())
        const ids = logged.filter((each) => each.shipment_id === shipmentId).map((each) => each.event_id)
        const ofUpdates = sources.filter(({ kind }) => kind === "update").map(({ id }) => id)
        assert.strictEqual(new Set(ofUpdates).size, ofUpdates.length)
        assert.lengthOf(ids.filter((id) => id.startsWith("status-update-") && !id.endsWith("-move")), ofUpdates.length)

        const own = notices.filter((each) => each.shipment_id === shipmentId)
        assert.deepStrictEqual(own.map((each) => Number(each.sequence)), own.map((_, n) => n + 1))
        const received = told.filter((each) => each["proNumber"] === shipmentId)
        assert.deepStrictEqual(received, own.map((each) => JSON.parse(each.body)))

        const view = JSON.parse(new TextDecoder().decode(shipment.bytes))
        const milestones = received.flatMap((each) => each["shipmentMilestoneStatus"] ?? [])
        assert.deepInclude(view, { ShipmentMilestoneStatus: "Delivered", ShipmentDamage: true, PODAvailable: true })
        assert.strictEqual(milestones.at(-1), "Delivered")
        const { body } = yield* statuses.verified(customer, { kind: "pro", proNumber: shipmentId })
        assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(body.bytes)), view)
      }
    }))
  }

  it.effect("keep keys and accounts consistent with their statuses under concurrent changes", Effect.fnUntraced(function*() {
    const stray = yield* rows(`
      SELECT k.key AS stray FROM @shipment_keys AS k LEFT JOIN @shipment_statuses AS s USING (tenant_id, shipment_id)
      WHERE (k.pickup_at, k.covered) IS DISTINCT FROM (s.pickup_at, s.covered)
      UNION ALL
      SELECT a.account FROM @shipment_accounts AS a LEFT JOIN @shipment_statuses AS s USING (tenant_id, shipment_id)
      WHERE a.pickup_at IS DISTINCT FROM CASE WHEN s.covered THEN s.pickup_at END`)
    assert.deepStrictEqual(stray, [])
    const [counted] = yield* rows<{ n: string }>("SELECT count(*)::text AS n FROM @shipment_accounts WHERE pickup_at IS NOT NULL")
    assert.isAbove(Number(counted!.n), 0)
  }))
})
