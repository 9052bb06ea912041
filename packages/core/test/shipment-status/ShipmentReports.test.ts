import { assert, describe, it } from "@effect/vitest"
import { UniqueIds } from "@waybill/core"
import { ShipmentReports, ShipmentStatusStore, type StatusChanges, type StatusReport, type StoredStatus } from "@waybill/core/shipment-status"
import { postedShipment } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

const encoder = new TextEncoder()

/** A store that records every write. */
const remembering = () => {
  const writes: Array<StatusChanges> = []
  const statuses = new Map<string, StoredStatus>()
  const not = () => Effect.die("not asked here")
  const stored = (shipmentIds: ReadonlyArray<string>) => Effect.sync(() => shipmentIds.flatMap((id) => statuses.get(id) ?? []))
  const store = Layer.succeed(ShipmentStatusStore, ShipmentStatusStore.of({
    find: not,
    findPickedUp: not,
    accountKnown: not,
    search: not,
    record: not,
    prune: not,
    carriers: not,
    resolve: (_tenantId, keys) => Effect.succeed(keys.map((key) => key === "pro 7" ? "S" : undefined)),
    lock: (_tenantId, claims) => stored(claims.map((each) => each.shipmentId)),
    read: (_tenantId, shipmentIds) => stored(shipmentIds),
    write: (_tenantId, changes) =>
      Effect.sync(() => {
        writes.push(changes)
        for (const each of changes.statuses) statuses.set(each.shipmentId, each)
      })
  }))
  return { writes, layer: Layer.provide(ShipmentReports.layer, Layer.merge(store, UniqueIds.layer)) }
}

const report = (n: number, more: Partial<StatusReport>): StatusReport => ({
  occurredAt: `2026-11-20T${String(n).padStart(2, "0")}:00:00Z`,
  at: Date.UTC(2026, 10, 20, n),
  source: { kind: "event", id: `e${n}` },
  ...more
})

const locked = (...shipmentIds: ReadonlyArray<string>) =>
  Effect.flatMap(ShipmentReports, (reports) => reports.lock("t", shipmentIds.map((shipmentId) => ({ shipmentId, accounts: undefined }))))

describe("writing reports", () => {
  it.effect("numbers notifications and history of each shipment without gaps, across calls", () => {
    const { layer, writes } = remembering()
    return Effect.gen(function*() {
      const reports = yield* ShipmentReports
      yield* reports.register("t", yield* locked("S", "T"), [postedShipment("S", { ShipmentMilestoneStatus: "Picked-up" }), postedShipment("T")], () => [])
      yield* reports.report("t", yield* locked("S", "T"), [
        { shipmentId: "S", report: report(1, { milestone: "In Transit", terminal: { status: "Arrived" }, updatedEta: "2026-11-30" }) },
        { shipmentId: "T", report: report(1, { milestone: "Picked-up" }) },
        { shipmentId: "S", report: report(2, { milestone: "In Transit" }) },
        { shipmentId: "S", report: report(3, { exceptions: ["Damaged", "Short"] }) }
      ])
      yield* reports.report("t", yield* locked("S"), [{ shipmentId: "S", report: report(4, { milestone: "Out for Delivery" }) }])
      const notices = writes.flatMap((each) => each.notices).map(({ sequence, shipmentId }) => `${shipmentId}${sequence}`)
      assert.deepStrictEqual(notices, ["S1", "S2", "S3", "T1", "S4", "S5", "S6"])
      const history = writes.flatMap((each) => each.history).map(({ position, shipmentId }) => `${shipmentId}${position}`)
      assert.deepStrictEqual(history, ["S1", "T1", "S2", "T2", "S3", "S4", "S5"])
      assert.lengthOf(new Set(writes.flatMap((each) => each.notices).map((each) => each.noticeId)), 7)
      assert.deepStrictEqual(writes.map((each) => each.statuses.length), [2, 2, 1])
    }).pipe(Effect.provide(layer))
  })

  it.effect("writes keys and references only when they change", () => {
    const { layer, writes } = remembering()
    return Effect.gen(function*() {
      const reports = yield* ShipmentReports
      yield* reports.register("t", yield* locked("S"), [postedShipment("S", { ShipmentMilestoneStatus: "Picked-up" })], () => [])
      yield* reports.report("t", yield* locked("S"), [{ shipmentId: "S", report: report(1, { milestone: "In Transit" }) }])
      yield* reports.report("t", yield* locked("S"), [{ shipmentId: "S", report: report(2, { updatedPro: "P-2" }) }])
      const [first, second, third] = writes.map((each) => each.statuses[0]!)
      assert.include(first!.keys ?? [], "pro S")
      assert.deepStrictEqual([second!.keys, second!.references], [undefined, undefined])
      assert.include(third!.keys ?? [], "pro P2")
      assert.include(third!.references ?? [], "P2")
    }).pipe(Effect.provide(layer))
  })

  it.effect("writes nothing if every report was refused or repeated", () => {
    const { layer, writes } = remembering()
    return Effect.gen(function*() {
      const reports = yield* ShipmentReports
      const posted = postedShipment("S", { ShipmentMilestoneStatus: "Delivered" })
      yield* reports.register("t", yield* locked("S"), [posted], () => [])
      const known = yield* locked("S")
      assert.deepStrictEqual(yield* reports.register("t", known, [posted], () => []), [{ result: "duplicate" }])
      const results = yield* reports.report("t", known, [
        { shipmentId: "S", report: report(1, { milestone: "In Transit", undated: true }) },
        { shipmentId: "unknown", report: report(1, {}) }
      ])
      assert.deepStrictEqual(results.map((each) => each.outcome), ["refused", "unknown"])
      assert.lengthOf(writes, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("stores the verified bytes, and public bytes of four fields", () => {
    const { layer, writes } = remembering()
    return Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 10, 20, 14))
      yield* (yield* ShipmentReports).register("t", yield* locked("S"), [postedShipment("S", { ShipmentMilestoneStatus: "Delivered", occurredAt: "2026-11-20T08:00:00Z" })], () => [])
      const written = writes[0]!.statuses[0]!
      assert.deepStrictEqual(written.public, encoder.encode("{\"ProNumber\":\"S\",\"ShipmentMilestoneStatus\":\"Delivered\",\"UpdatedETA\":\"2026-11-24\",\"EstimatedStandardDay\":2}"))
      assert.deepStrictEqual([written.covered, written.deliveredAt], [true, Date.UTC(2026, 10, 20, 8)])
    }).pipe(Effect.provide(layer))
  })

  it.effect("finds the shipments of PRO numbers in any spelling", () => {
    const { layer } = remembering()
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* (yield* ShipmentReports).resolve("t", ["7", " 7-", "8", ""]), ["S", "S", undefined, undefined])
    }).pipe(Effect.provide(layer))
  })
})
