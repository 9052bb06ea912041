/** Conformance of `DeliveryStore` for each source: access is checked at the moment of sending, of new and repeated deliveries. */
import { noticeSource, NoticeStore, type StoragePorts } from "@waybill/core"
import { DeliveryStore } from "@waybill/core/delivery"
import { ChargeSubscriptionStore } from "@waybill/core/freight-charges"
import { pickupBatchEnvelope, pickupSource, PickupStore, PickupSubscriptionStore } from "@waybill/core/pickups"
import { assert } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { publishBills, subscribeToCharges } from "../freight-charges/ChargeFixtures.ts"
import { historyEntry, pickupRow } from "../pickups/PickupFixtures.ts"
import { follow, report } from "../shipment-status/StatusFixtures.ts"
import { bytesOf, destinationSettings, eventually, idOf, letSee, letSeeAll, occurredAt, openWith, publish, seed, textOf } from "../StorageFixtures.ts"
import { acquire, byDestination, drainedBodies, drop, end, find, from, release, stateOf, take, takeFrom, takeOne } from "../WorkerFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

type Step = (tenantId: string) => Effect.Effect<unknown, unknown, StoragePorts>

interface Source {
  readonly name: string
  /** Gives the client access to what `queue` queues. */
  readonly see: Step
  /** Takes it away, and leaves the client live. */
  readonly lose: Step
  /** Stores something else of the source, which the client sees after `lose`. */
  readonly others: Step
  /** Queues one entry for destination 1. */
  readonly queue: Step
}

const byAccount = { see: (tenantId: string) => letSee(tenantId, "client", ["A"]), lose: (tenantId: string) => letSee(tenantId, "client", ["B"]) }

const otherBill = (tenantId: string) => publishBills(tenantId, [{ billId: "other", accounts: ["B"] }])

const otherShipment = (tenantId: string) => report(tenantId, [{ shipmentId: "other", references: ["other"] }], { accounts: ["B"], notices: [{ shipmentId: "other", sequence: 1 }] })

const otherPickup = (tenantId: string) =>
  Effect.flatMap(PickupStore, (pickups) =>
    pickups.insert(tenantId, pickupRow(2, { carrier: [" dot 2"] }), historyEntry(2), { body: bytesOf("{\"n\":2}"), traceparent: undefined }))

/** Clients that see what `client` does not see. */
const otherClients = (tenantId: string) => Effect.andThen(letSeeAll(tenantId, "all"), letSee(tenantId, "other", ["A", " dot 1"]))

/** A pickup that the carrier with this number has decided. */
const orderPickup = Effect.fnUntraced(function*(tenantId: string) {
  const pickups = yield* PickupStore
  const record = { id: idOf(1), client: "client", doc: "{}", createdAt: occurredAt, updatedAt: occurredAt, matched: true }
  const destination = { ...destinationSettings(), source: pickupSource, envelope: pickupBatchEnvelope }
  yield* openWith(tenantId, destination, PickupSubscriptionStore.use((store) => store.insert(tenantId, record)))
  yield* pickups.insert(tenantId, pickupRow(1, { carrier: [" dot 1"] }), historyEntry(1), { body: bytesOf("{}"), traceparent: undefined })
})

const closeWindow = Effect.fnUntraced(function*(tenantId: string) {
  const [store, now] = [yield* ChargeSubscriptionStore, yield* Clock.currentTimeMillis]
  yield* subscribeToCharges(tenantId, { source: "freight-charge-windows" })
  yield* publishBills(tenantId, [{ billId: "B" }, { billId: "C" }], { window: () => ({ closesAt: now + 100, following: now + 600_000 }) })
  yield* eventually(store.closeWindows(tenantId), ({ closed }) => closed > 0)
})

/** A closed window of another client, with a bill of account B. */
const otherWindow = Effect.fnUntraced(function*(tenantId: string) {
  yield* letSee(tenantId, "owner", ["B"])
  yield* subscribeToCharges(tenantId, { n: 2, client: "owner", accounts: ["B"], source: "freight-charge-windows" })
  yield* publishBills(tenantId, [{ billId: "other", accounts: ["B"] }], { window: (now) => ({ closesAt: now - 1, following: now + 600_000 }) })
  yield* Effect.flatMap(ChargeSubscriptionStore, (store) => store.closeWindows(tenantId))
})

const sources: ReadonlyArray<Source> = [
  {
    name: "transit events",
    ...byAccount,
    others: (tenantId) => publish(tenantId, [{ shipmentId: "other" }], { accounts: ["B"] }),
    queue: (tenantId) => seed(tenantId, { S: 1 })
  },
  {
    name: "shipment status",
    ...byAccount,
    others: otherShipment,
    queue: (tenantId) =>
      Effect.andThen(
        follow(tenantId, { references: ["r"] }),
        report(tenantId, [{ shipmentId: "S", references: ["r"] }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence: 1 }] })
      )
  },
  {
    name: "pickups, by a carrier's number",
    see: (tenantId) => letSee(tenantId, "client", [" dot 1"]),
    lose: (tenantId) => letSee(tenantId, "client", [" dot 2"]),
    others: otherPickup,
    queue: orderPickup
  },
  {
    name: "pickups, by a carrier of everything",
    see: (tenantId) => letSeeAll(tenantId, "client"),
    lose: (tenantId) => letSee(tenantId, "client", [" dot 2"]),
    others: otherPickup,
    queue: orderPickup
  },
  {
    name: "freight charges",
    ...byAccount,
    others: otherBill,
    queue: (tenantId) => Effect.andThen(subscribeToCharges(tenantId), publishBills(tenantId, [{ billId: "B" }]))
  },
  { name: "windows of freight charges", ...byAccount, others: otherWindow, queue: closeWindow }
]

export const suite = storeSuite("DeliveryStore, access to each source", DeliveryStore, (test) => {
  // the first test: a storage may number the contents of each source from 1
  test("sends each source its own content, also if contents of several have one number", function*({ queue, tenantId }) {
    const notices = yield* NoticeStore
    yield* seed(tenantId, { S: 1 })
    yield* follow(tenantId, { n: 2, references: ["r"] })
    yield* report(tenantId, [{ shipmentId: "S", references: ["r"] }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence: 1, body: "status" }] })
    yield* subscribeToCharges(tenantId, { n: 3 })
    yield* publishBills(tenantId, [{ billId: "B", body: "bill" }])
    yield* queue.openDestination(tenantId, { ...destinationSettings({ n: 4 }), source: noticeSource, envelope: { open: "", close: "" } })
    yield* notices.queue(tenantId, { webhookId: idOf(4), subscriptionId: idOf(1), noticeId: "failing.1", body: bytesOf("notice"), traceparent: undefined })
    const bodies = { 1: [JSON.stringify({ eventId: "S/1", sequence: 1 })], 2: ["status"], 3: ["bill"], 4: ["notice"] }
    const worker = yield* acquire(tenantId)
    const { deliveries } = yield* take(worker, { from: [1, 2, 3, 4].map((n) => from(n)) })
    assert.deepStrictEqual(byDestination(deliveries, ({ body }) => [textOf(body)]), bodies)
    yield* end(worker, deliveries, { state: "waiting" })
    yield* letSee(tenantId, "client", ["B"])
    yield* drop(worker, { deliveries })
    yield* letSee(tenantId, "client", ["A"])
    yield* release(worker, false)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), bodies)
  })

  for (const { lose, name, others, queue, see } of sources) {
    test(`sends ${name} again while the client may see them, withdraws them when it may not, and sends what it may see once more`, function*({ queue: destinations, tenantId }) {
      yield* otherClients(tenantId)
      yield* destinations.openDestination(tenantId, { ...destinationSettings({ n: 0, client: "other" }), source: noticeSource })
      yield* others(tenantId)
      yield* see(tenantId)
      yield* queue(tenantId)
      const worker = yield* acquire(tenantId)
      const first = yield* takeOne(worker)
      const id = first.deliveryId
      assert.deepStrictEqual((yield* find(tenantId, id)).body, first.body)
      yield* end(worker, [first], { state: "waiting" })
      const second = yield* takeOne(worker, 1, { again: [id] })
      assert.strictEqual(second.deliveryId, id)
      yield* end(worker, [second], { state: "waiting" })
      assert.strictEqual((yield* drop(worker, { deliveries: [first] })).dropped, 0)
      assert.strictEqual(yield* stateOf(tenantId, id), "waiting")

      yield* lose(tenantId)
      const { deliveries, found } = yield* takeFrom(worker, 1, { again: [id] })
      assert.deepStrictEqual([deliveries, found!.unseenDeliveries], [[], [id]])
      yield* drop(worker, { deliveries: [first] })
      assert.strictEqual(yield* stateOf(tenantId, id), "cancelled")
      const unseen = yield* takeFrom(worker)
      assert.deepStrictEqual([unseen.deliveries, unseen.found!.unseenKeys.length], [[], 1])
      const request = { keys: unseen.found!.unseenKeys.map((key) => ({ destinationId: idOf(1), key })) }

      yield* see(tenantId)
      assert.strictEqual((yield* drop(worker, request)).dropped, 0)
      const last = yield* takeOne(worker)
      assert.deepStrictEqual([last.deliveryId === id, last.body], [false, first.body])
      yield* end(worker, [last], { state: "waiting" })
      yield* lose(tenantId)
      yield* drop(worker, { deliveries: [last] })
      assert.strictEqual((yield* drop(worker, request)).dropped, 1)
      assert.deepStrictEqual((yield* takeFrom(worker)).deliveries, [])
    })
  }
})
