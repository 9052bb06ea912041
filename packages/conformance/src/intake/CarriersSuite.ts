/** Conformance for several carriers in one tenant: the owner of a shipment, and who sees it. */
import { carrierGrants } from "@waybill/core"
import { ShipmentStatusStore, type StatusClaim } from "@waybill/core/shipment-status"
import { type ShipmentNotOwn, TransitEventStore } from "@waybill/core/transit-events"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { drainedBodies, drainedEvents } from "../WorkerFixtures.ts"
import { freshTenant, idOf, inTransaction, letSee, letSeeAll, occurredAt, publish, subscribe, textOf } from "../StorageFixtures.ts"
import { follow, report } from "../shipment-status/StatusFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const one = carrierGrants({ dot: "1" })
const other = carrierGrants({ dot: "2", mc: "1" })

/** A call of one writer with one event of each shipment. */
const write = (tenantId: string, shipmentIds: ReadonlyArray<string>, writer?: ReadonlyArray<string>) =>
  Effect.flatMap(TransitEventStore, (store) =>
    store.allocate(tenantId, shipmentIds.map((shipmentId) => ({ shipmentId, needed: 1, highestGiven: 0, accounts: undefined })), writer))

const refused = (tenantId: string, shipmentIds: ReadonlyArray<string>, writer?: ReadonlyArray<string>) =>
  Effect.map(Effect.flip(inTransaction(write(tenantId, shipmentIds, writer))), (error) => (error as ShipmentNotOwn).shipmentIds)

/** Sets the carriers of shipments. */
const claimFor = (tenantId: string, claims: ReadonlyArray<Omit<StatusClaim, "accounts"> & Partial<StatusClaim>>, writer?: ReadonlyArray<string>) =>
  Effect.flatMap(ShipmentStatusStore, (store) => store.lock(tenantId, claims.map((each) => ({ accounts: undefined, written: true, ...each })), writer))

const carriers = (tenantId: string, ...shipmentIds: ReadonlyArray<string>) =>
  Effect.flatMap(TransitEventStore, (store) => Effect.map(store.carriers(tenantId, shipmentIds), (found) => Object.fromEntries(found)))

/** Shipments A and B of two carriers, and N without a carrier, each with an event. */
const threeShipments = Effect.fnUntraced(function*(tenantId: string) {
  yield* claimFor(tenantId, [{ shipmentId: "A", carrier: one }, { shipmentId: "B", carrier: other }, { shipmentId: "N" }])
  yield* publish(tenantId, [{ shipmentId: "A", eventId: "a" }, { shipmentId: "B", eventId: "b" }, { shipmentId: "N", eventId: "n" }])
})

const listed = (tenantId: string, grants: ReadonlyArray<string>) =>
  Effect.flatMap(TransitEventStore, (store) =>
    Effect.map(store.page({
      tenantId,
      visibility: { _tag: "Granted", grants },
      filter: { shipmentId: undefined, eventTypes: undefined, occurredFrom: undefined, occurredTo: undefined, order: "asc" },
      snapshot: undefined,
      after: undefined,
      skip: 0,
      limit: 100,
      count: true
    }), ({ rows, totalCount }) => [rows.map((each) => each.eventId), totalCount]))

export const suite = storeSuite("several carriers in one tenant", TransitEventStore, (test) => {
  test("gives a shipment to the carrier that writes to it first", function*({ tenantId }) {
    assert.deepStrictEqual(yield* write(tenantId, ["S"], one), [1])
    assert.deepStrictEqual(yield* carriers(tenantId, "S", "unknown"), { S: one })
    assert.deepStrictEqual(yield* refused(tenantId, ["T", "S"], other), ["S"])
    assert.deepStrictEqual(yield* write(tenantId, ["S"], one), [2])
    assert.deepStrictEqual(yield* write(tenantId, ["S"]), [3])
    assert.deepStrictEqual(yield* carriers(tenantId, "S"), { S: one }, "a writer without numbers leaves it")
  })

  test("hides shipments without a carrier from carriers with a number", function*({ tenantId }) {
    yield* write(tenantId, ["S"])
    assert.deepStrictEqual(yield* carriers(tenantId, "S"), { S: [] })
    assert.deepStrictEqual(yield* refused(tenantId, ["S"], one), ["S"])
    assert.deepStrictEqual(yield* refused(tenantId, ["S"], []), ["S"])
  })

  test("refuses a call as a whole, and allocates no number for it", function*({ tenantId }) {
    yield* write(tenantId, ["B"], other)
    assert.deepStrictEqual(yield* refused(tenantId, ["A", "B"], one), ["B"])
    assert.deepStrictEqual(yield* carriers(tenantId, "A", "B"), { B: other })
    assert.deepStrictEqual(yield* write(tenantId, ["B"], other), [2])
  })

  test("keeps a shipment without a carrier when it is only locked", function*({ tenantId }) {
    assert.deepStrictEqual(yield* claimFor(tenantId, [{ shipmentId: "S", written: false }], one), [])
    assert.deepStrictEqual(yield* carriers(tenantId, "S"), {})
    assert.deepStrictEqual(yield* write(tenantId, ["S"], other), [1])
    assert.deepStrictEqual(yield* carriers(tenantId, "S"), { S: other })
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "s" }])
    assert.deepStrictEqual(yield* listed(tenantId, other), [["s"], 1])
  })

  test("lets only a writer without numbers change the carrier of a written shipment", function*({ tenantId }) {
    yield* claimFor(tenantId, [{ shipmentId: "S", carrier: one }])
    yield* claimFor(tenantId, [{ shipmentId: "S", carrier: carrierGrants({ dot: "1", mc: "9" }) }], one)
    assert.deepStrictEqual(yield* carriers(tenantId, "S"), { S: one })
    yield* claimFor(tenantId, [{ shipmentId: "S", carrier: other }])
    assert.deepStrictEqual(yield* carriers(tenantId, "S"), { S: other })
    assert.deepStrictEqual(yield* refused(tenantId, ["S"], one), ["S"])
    assert.deepStrictEqual(yield* write(tenantId, ["S"], carrierGrants({ dot: "7", mc: "1" })), [1], "one number of the same kind is enough")
    assert.deepStrictEqual(yield* refused(tenantId, ["S"], carrierGrants({ mc: "2" })), ["S"], "a DOT number is no MC number")
  })

  test("shows a carrier only its own shipments when it locks them", function*({ tenantId }) {
    yield* threeShipments(tenantId)
    yield* report(tenantId, [{ shipmentId: "A" }, { shipmentId: "B" }, { shipmentId: "N" }])
    const look = (writer?: ReadonlyArray<string>) =>
      Effect.map(claimFor(tenantId, ["A", "B", "N"].map((shipmentId) => ({ shipmentId, accounts: writer, written: false })), writer), (known) => known.map((each) => each.shipmentId))
    assert.deepStrictEqual(yield* look(one), ["A"])
    assert.deepStrictEqual(yield* look(other), ["B"])
    assert.deepStrictEqual(yield* look(), ["A", "B", "N"])
  })

  test("lists and counts only the events of a carrier's own shipments", function*({ tenantId }) {
    yield* threeShipments(tenantId)
    assert.deepStrictEqual(yield* listed(tenantId, one), [["a"], 1])
    assert.deepStrictEqual(yield* listed(tenantId, other), [["b"], 1])
    assert.deepStrictEqual(yield* listed(tenantId, []), [[], 0])
  })

  test("queues only a carrier's own shipments for its subscriptions", function*({ tenantId }) {
    yield* letSee(tenantId, "one", one)
    yield* letSee(tenantId, "other", other)
    yield* letSeeAll(tenantId, "broker")
    yield* subscribe(tenantId, { n: 1, client: "one" })
    yield* subscribe(tenantId, { n: 2, client: "other" })
    yield* subscribe(tenantId, { n: 3, client: "broker" })
    yield* subscribe(tenantId, { n: 4, client: "one", shipmentIds: ["A", "B", "N"] })
    yield* threeShipments(tenantId)
    assert.deepStrictEqual(yield* drainedEvents(tenantId), { 1: ["a"], 2: ["b"], 3: ["a", "b", "n"], 4: ["a"] })
  })

  test("follows a shipment that moves from one carrier to another", function*({ tenantId }) {
    yield* letSee(tenantId, "one", one)
    yield* letSee(tenantId, "other", other)
    yield* subscribe(tenantId, { n: 1, client: "one" })
    yield* subscribe(tenantId, { n: 2, client: "other" })
    yield* threeShipments(tenantId)
    yield* claimFor(tenantId, [{ shipmentId: "A", carrier: other }, { shipmentId: "B", carrier: one }])
    yield* publish(tenantId, [{ shipmentId: "A", eventId: "a2" }])
    assert.deepStrictEqual(yield* listed(tenantId, one), [["b"], 1])
    assert.deepStrictEqual(yield* listed(tenantId, other), [["a", "a2"], 2])
    assert.include((yield* drainedEvents(tenantId))[2]!, "a2")
  })

  test("queues history and replays only for a carrier's own shipments", function*({ subscriptions, tenantId }) {
    yield* letSee(tenantId, "one", one)
    yield* threeShipments(tenantId)
    yield* subscribe(tenantId, { n: 1, client: "one", shipmentIds: ["A", "B", "N"] })
    yield* subscribe(tenantId, { n: 2, client: "one" })
    yield* subscriptions.replay(tenantId, idOf(2), { from: 0, to: undefined, shipmentIds: undefined })
    assert.deepStrictEqual(yield* drainedEvents(tenantId), { 1: ["a"], 2: ["a"] })
  })

  test("finds a carrier's own shipment by a number that several carriers use", function*({ statuses, tenantId }) {
    yield* threeShipments(tenantId)
    yield* report(tenantId, [
      { shipmentId: "A", keys: ["k"], pickupAt: occurredAt },
      { shipmentId: "B", keys: ["k"], pickupAt: occurredAt + 1 },
      { shipmentId: "N", keys: ["k"], pickupAt: occurredAt + 2 }
    ], { accounts: ["X"] })
    assert.deepStrictEqual(yield* statuses.resolve(tenantId, ["k", "unknown"], one), ["A", undefined])
    assert.deepStrictEqual(yield* statuses.resolve(tenantId, ["k"], other), ["B"])
    assert.deepStrictEqual(yield* statuses.resolve(tenantId, ["k"]), ["N"])
    yield* claimFor(tenantId, [{ shipmentId: "B", carrier: one }])
    assert.deepStrictEqual(yield* statuses.resolve(tenantId, ["k"], one), ["B"])
    yield* report(tenantId, [{ shipmentId: "A", keys: ["k", "same"] }, { shipmentId: "B", keys: ["k", "same"] }])
    assert.deepStrictEqual(yield* statuses.resolve(tenantId, ["same"], one), ["B"])
    yield* claimFor(tenantId, [{ shipmentId: "B", carrier: other }])
    const [found] = yield* statuses.find(tenantId, [{ key: "k", own: one }])
    assert.strictEqual(found?.own === true ? textOf(found.verified) : undefined, "verified A")
    const range = { account: "X", from: 0, to: occurredAt + 9, limit: 9, bytes: 1e9 }
    assert.deepStrictEqual((yield* statuses.findPickedUp(tenantId, { ...range, carrier: other })).map(textOf), ["verified B"])
    assert.deepStrictEqual((yield* statuses.findPickedUp(tenantId, { ...range, limit: 1, carrier: other })).map(textOf), ["verified B"])
    assert.strictEqual((yield* statuses.findPickedUp(tenantId, range)).length, 3)
    assert.deepStrictEqual((yield* statuses.record(tenantId, "B"))!.carrier, other)
    assert.deepStrictEqual((yield* statuses.record(tenantId, "B"))!.accounts, ["X"])
    assert.deepStrictEqual((yield* statuses.record(tenantId, "N"))!.carrier, [])
  })

  test("knows only the accounts of a carrier's own shipments", function*({ statuses, tenantId }) {
    yield* letSee(tenantId, "client", ["K"])
    yield* claimFor(tenantId, [{ shipmentId: "A", carrier: one, accounts: ["X"] }, { shipmentId: "B", carrier: other, accounts: ["Y"] }])
    const known = (carrier?: ReadonlyArray<string>) => Effect.forEach(["X", "Y", "K"], (account) => statuses.accountKnown(tenantId, account, carrier))
    assert.deepStrictEqual(yield* known(one), [true, false, false])
    assert.deepStrictEqual(yield* known(other), [false, true, false])
    assert.deepStrictEqual(yield* known(), [true, true, true])
  })

  test("notifies a carrier only about its own shipments, for every subscribed reference", function*({ tenantId }) {
    yield* letSee(tenantId, "one", one)
    yield* letSee(tenantId, "other", other)
    yield* follow(tenantId, { n: 1, client: "one", references: ["R"] })
    yield* follow(tenantId, { n: 2, client: "other", references: ["R"] })
    yield* claimFor(tenantId, [{ shipmentId: "A", carrier: one }, { shipmentId: "B", carrier: other }])
    yield* report(tenantId, [{ shipmentId: "A", references: ["R"] }, { shipmentId: "B", references: ["R"] }], {
      notices: [{ shipmentId: "A", sequence: 1 }, { shipmentId: "B", sequence: 1 }]
    })
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/1"], 2: ["B/1"] })
  })

  test("isolates tenants whose carriers share numbers", function*() {
    const [mine, others] = [freshTenant(), freshTenant()]
    yield* threeShipments(mine)
    assert.deepStrictEqual(yield* carriers(others, "A", "B"), {})
    assert.deepStrictEqual(yield* listed(others, one), [[], 0])
    assert.deepStrictEqual(yield* write(others, ["B"], one), [1])
    assert.deepStrictEqual(yield* carriers(mine, "B"), { B: other })
  })
})
