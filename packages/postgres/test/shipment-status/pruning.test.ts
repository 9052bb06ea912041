/** Pruning removes a shipment completely, and keeps a shipment that is being written, at every interleaving. */
import { layer } from "@effect/vitest"
import { ShipmentIntake, Transaction, TransitEventIntake } from "@waybill/core"
import { ShipmentReports, ShipmentStatuses, ShipmentStatusStore, type StatusReport } from "@waybill/core/shipment-status"
import { TransitEvents } from "@waybill/core/transit-events"
import { postedShipment, reportedEvent, type SeededTenant, TestWaybill } from "@waybill/testkit"
import { fixtures } from "@waybill/conformance/suites"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { assert } from "vitest"
import { countBlocked, openTransaction, untilOneIsBlocked } from "../OpenTransaction.ts"
import { rowsIn, testService } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { pauseNextRead } from "../PausedReads.ts"

const { eventually, freshTenant } = fixtures

const schema = freshSchema()

const service = testService(testStorage(schema))

const rows = rowsIn(schema)

const event = (type: "PICKED_UP" | "DELIVERED" | "PROOF_OF_DELIVERY", day: number) =>
  reportedEvent("S", { type, eventId: `${type}-${day}`, occurredAt: `2024-01-0${day}T12:00:00Z` })

/** A tenant with one shipment, delivered years ago. */
const deliveredLongAgo = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant(freshTenant())
  yield* (yield* ShipmentIntake).report(tenant.carrier, [postedShipment("S", { accounts: ["A"] })])
  yield* (yield* TransitEventIntake).report(tenant.carrier, [event("PICKED_UP", 1), event("DELIVERED", 3)])
  return tenant
})

const prune = (tenantId: string) => Effect.flatMap(ShipmentStatusStore, (store) => store.prune(tenantId, { delivered: Date.UTC(2025, 0, 1), noticed: 0 }))

const proof: StatusReport = {
  occurredAt: "2024-01-04T12:00:00Z",
  at: Date.UTC(2024, 0, 4, 12),
  source: { kind: "event", id: "pod" },
  information: [{ deliveryInformation_messages: "POD available" }]
}

/** A writer of several steps, paused after the first until the returned effect runs. */
const writing = Effect.fnUntraced(function*(tenantId: string, accounts: ReadonlyArray<string> | undefined) {
  const transaction = yield* Transaction
  const reports = yield* ShipmentReports
  const read = yield* Deferred.make<void>()
  const resumed = yield* Deferred.make<void>()
  const fiber = yield* Effect.forkChild(Effect.exit(transaction.run(Effect.gen(function*() {
    const known = yield* reports.lock(tenantId, [{ shipmentId: "S", accounts }])
    yield* Deferred.succeed(read, undefined)
    yield* Deferred.await(resumed)
    return yield* reports.report(tenantId, known, [{ shipmentId: "S", report: proof }])
  }))))
  yield* Deferred.await(read)
  return Effect.andThen(Deferred.succeed(resumed, undefined), Fiber.join(fiber))
})

/** Rows of shipments without a status, by table. */
const leftOver = (tenantId: string) =>
  Effect.map(
    Effect.forEach([
      ["shipment_keys", "true"],
      ["shipment_references", "true"],
      ["shipment_status_history", "true"],
      ["shipment_accounts", "t.pickup_at IS NOT NULL"]
    ], ([table, condition]) =>
      Effect.map(
        rows<{ n: number }>(
          `SELECT count(*)::int AS n FROM @${table} AS t
           WHERE t.tenant_id = $1 AND ${condition} AND NOT EXISTS (SELECT FROM @shipment_statuses AS s WHERE s.tenant_id = $1 AND s.shipment_id = t.shipment_id)`,
          [tenantId]
        ),
        ([row]) => [table, row!.n] as const
      )),
    Object.fromEntries
  )

const nothing = { shipment_keys: 0, shipment_references: 0, shipment_status_history: 0, shipment_accounts: 0 }

const look = (tenant: SeededTenant) =>
  Effect.gen(function*() {
    const statuses = yield* ShipmentStatuses
    const { history } = yield* statuses.record(tenant.carrier, "S")
    const { body } = yield* statuses.verified(tenant.customer("client", ["A"]), { kind: "pro", proNumber: "S" })
    return [history.map(({ position }) => position), JSON.parse(new TextDecoder().decode(body.bytes)).PODAvailable]
  })

layer(service, { excludeTestServices: true })("shipments that are old enough to be pruned", (it) => {
  it.effect("stay unchanged, with their keys, while a writer has read them", Effect.fnUntraced(function*() {
    const tenant = yield* deliveredLongAgo
    const write = yield* writing(tenant.tenantId, undefined)
    yield* prune(tenant.tenantId)
    assert.isTrue(Exit.isSuccess(yield* write))
    assert.deepStrictEqual(yield* look(tenant), [[1, 2, 3, 4], true])
  }))

  it.effect("neither fail nor deadlock a writer that holds their accounts", Effect.fnUntraced(function*() {
    const tenant = yield* deliveredLongAgo
    const write = yield* writing(tenant.tenantId, ["B"])
    const pruning = yield* Effect.forkChild(Effect.exit(prune(tenant.tenantId)))
    yield* eventually(countBlocked, (n) => n > 0 || pruning.pollUnsafe() !== undefined)
    const written = yield* write
    const pruned = yield* Fiber.join(pruning)
    assert.deepStrictEqual({ written: Exit.isSuccess(written), pruned: Exit.isSuccess(pruned) }, { written: true, pruned: true })
  }))

  it.effect("leave no account entry without a status when they are reassigned meanwhile", Effect.fnUntraced(function*() {
    const tenant = yield* deliveredLongAgo
    const { tenantId } = tenant
    const events = yield* TransitEvents
    const commit = yield* openTransaction(events.append(tenant.carrier, [reportedEvent("S", { accounts: ["B"] })]))
    const pruning = yield* Effect.forkChild(prune(tenantId))
    yield* eventually(countBlocked, (n) => n > 0 || pruning.pollUnsafe() !== undefined)
    yield* commit
    yield* Fiber.join(pruning)
    assert.deepStrictEqual(yield* leftOver(tenantId), nothing)
  }))

  for (const [what, thereafter] of [
    ["leave nothing that was written while pruning searched them", (tenant: SeededTenant) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* leftOver(tenant.tenantId), nothing)
      })],
    ["can be reported again after a write while pruning searched them", (tenant: SeededTenant) =>
      Effect.gen(function*() {
        const { results } = yield* (yield* ShipmentIntake).report(tenant.carrier, [postedShipment("S", { accounts: ["A"] })])
        assert.deepStrictEqual(results.map(({ result }) => result), ["accepted"])
        assert.deepStrictEqual(yield* look(tenant), [[1, 2, 3, 4], true])
      })]
  ] as const) {
    it.effect(what, Effect.fnUntraced(function*() {
      const tenant = yield* deliveredLongAgo
      const resume = yield* pauseNextRead(schema, "shipment_statuses")
      const pruning = yield* Effect.forkChild(prune(tenant.tenantId))
      yield* untilOneIsBlocked
      yield* (yield* TransitEventIntake).report(tenant.carrier, [event("PROOF_OF_DELIVERY", 4)])
      yield* (yield* ShipmentIntake).report(tenant.carrier, [postedShipment("S", { accounts: ["A"], ProNumber: "NEW" })])
      yield* resume
      yield* Fiber.join(pruning)
      yield* thereafter(tenant)
    }))
  }

  it.effect("stay when a report of the meantime says that they are not delivered", Effect.fnUntraced(function*() {
    const { tenantId } = yield* deliveredLongAgo
    const resume = yield* pauseNextRead(schema, "shipment_statuses")
    const pruning = yield* Effect.forkChild(prune(tenantId))
    yield* untilOneIsBlocked
    yield* rows("UPDATE @shipment_statuses SET delivered_at = NULL WHERE tenant_id = $1", [tenantId])
    yield* resume
    yield* Fiber.join(pruning)
    assert.lengthOf(yield* rows("SELECT 1 FROM @shipment_statuses WHERE tenant_id = $1", [tenantId]), 1)
  }))
})
