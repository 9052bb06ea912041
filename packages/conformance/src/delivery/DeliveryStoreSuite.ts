/** Conformance of `DeliveryStore`: takes and loads in order, in batches, without keys in flight. */
import { deliveryIdOf, DeliveryStore, flightOf, pauseByOperator, type TakenDelivery, waitingPerDestination } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { bytesOf, destinationSettings, freshTenant, idOf, publish, seed, single, storedSecret, textOf } from "../StorageFixtures.ts"
import { acquire, changeOf, end, eventIdsOf, find, from, load, outcomeOf, seededWorker, settle, take, takeAgain, takeFrom, takeOne } from "../WorkerFixtures.ts"
import { allOf, storeSuite } from "../StoreSuite.ts"

const idsOf = (deliveries: ReadonlyArray<TakenDelivery>) => deliveries.map(eventIdsOf)

const takes = storeSuite("DeliveryStore, take", DeliveryStore, (test) => {
  test("freezes entries into a delivery with fixed bytes and order", function*({ queue, tenantId }) {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    yield* seed(tenantId, { B: 1 })
    yield* publish(tenantId, [{ shipmentId: "A \"1\"", body: "{\"ä\":\"船\"}" }], { accounts: ["A"], traceparent })
    const delivery = yield* takeOne(yield* acquire(tenantId))
    assert.strictEqual(textOf(delivery.body), "{\"ä\":\"船\"},{\"eventId\":\"B/1\",\"sequence\":1}")
    assert.deepStrictEqual(
      [delivery.destinationId, delivery.deliveryId, delivery.flight, delivery.attempt, delivery.tries, delivery.events, delivery.lastKey, delivery.traceparent],
      [idOf(1), deliveryIdOf(delivery.flight, 0), flightOf(delivery.deliveryId), 1, 1, 2, "B", traceparent]
    )
    const found = Option.getOrThrow(yield* queue.find(tenantId, delivery.deliveryId))
    assert.deepStrictEqual(
      [found.state, found.sentAt, found.createdAt, found.events, found.attempts, found.dueAt, found.settledAt],
      ["sending", delivery.sentAt, delivery.sentAt, 2, [], undefined, undefined]
    )
    assert.strictEqual(textOf(found.body), textOf(delivery.body))
    assert.deepStrictEqual([found.endpointUrl, found.envelope], ["https://receiver.example/hook", destinationSettings().envelope])
  })

  test("takes entries by shipment, number and id", function*({ tenantId }) {
    yield* seed(tenantId, {})
    yield* publish(tenantId, [
      { shipmentId: "T", sequence: 2, eventId: "t2" },
      { shipmentId: "S", sequence: 10, eventId: "s10" },
      { shipmentId: "T", sequence: 1, eventId: "t1" },
      { shipmentId: "S", sequence: 9, eventId: "s9" }
    ], { accounts: ["A"] })
    yield* publish(tenantId, [{ shipmentId: "S", sequence: 1, eventId: "s1 late" }])
    assert.deepStrictEqual(eventIdsOf(yield* takeOne(yield* acquire(tenantId))), ["s1 late", "s9", "s10", "t1", "t2"])
  })

  test("compares keys by code points", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { "Z": 1, "a": 1, "ä": 1, "\uff5e": 1, "🚚": 1 }, single)
    const { deliveries, found } = yield* takeFrom(worker)
    assert.deepStrictEqual([deliveries.map(({ lastKey }) => lastKey), found!.after], [["Z", "a", "ä", "\uff5e", "🚚"], "🚚"])
    yield* publish(tenantId, [{ shipmentId: "\uff5f" }])
    assert.lengthOf((yield* takeFrom(worker, 1, { after: "🚚" })).deliveries, 0)
  })

  test("limits batches by count, and continues after the last key", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1, D: 1, E: 1 }, { policy: { batchMaxSize: 2 } })
    const first = yield* takeFrom(worker, 1, { batches: 1 })
    assert.deepStrictEqual([idsOf(first.deliveries), first.found!.after, first.found!.more, first.found!.blocked], [[["A/1", "B/1"]], "B", true, false])
    const second = yield* takeFrom(worker, 1, { after: "B", batches: 4 })
    assert.deepStrictEqual([idsOf(second.deliveries), second.found!.after, second.found!.more], [[["C/1", "D/1"], ["E/1"]], "E", false])
    assert.deepStrictEqual(second.deliveries.map(({ deliveryId, flight }) => deliveryId === deliveryIdOf(flight, 1)), [false, true])
    const third = yield* takeFrom(worker, 1, { after: "E" })
    assert.deepStrictEqual([third.deliveries, third.found!.more, third.found!.blocked], [[], false, false])
  })

  test("leaves further events of a shipment that is in a batch", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 5, B: 3, C: 1 }, { policy: { batchMaxSize: 2 } })
    const { deliveries, found } = yield* takeFrom(worker, 1, { batches: 2 })
    const keys = deliveries.flatMap((delivery) => [...new Set(eventIdsOf(delivery).map((id) => id[0]))])
    assert.deepStrictEqual([keys.length, eventIdsOf(deliveries[0]!), found!.blocked], [new Set(keys).size, ["A/1", "A/2"], true])
    yield* end(worker, deliveries)
    assert.deepStrictEqual(eventIdsOf((yield* takeFrom(worker)).deliveries[0]!), ["A/3", "A/4"])
  })

  test("reports further entries at the last key", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 3, B: 1 }, { policy: { batchMaxSize: 2 } })
    const { deliveries, found } = yield* takeFrom(worker, 1, { batches: 1 })
    assert.deepStrictEqual([idsOf(deliveries), found!.after, found!.more, found!.blocked], [[["A/1", "A/2"]], "A", true, true])
    const rest = yield* takeFrom(worker, 1, { after: "A" })
    assert.deepStrictEqual([idsOf(rest.deliveries), rest.found!.more], [[["B/1"]], false])
  })

  test("keeps a batch below its bytes unless one event is larger than half of them", function*({ tenantId }) {
    yield* seed(tenantId, {})
    const sizes = [300, 900, 20, 450, 450, 5000, 30, 30, 499, 499]
    const body = (size: number) => JSON.stringify("x".repeat(size - 2))
    yield* publish(tenantId, sizes.map((size, at) => ({ shipmentId: `S${at}`, body: body(size) })), { accounts: ["A"] })
    const worker = yield* acquire(tenantId)
    const found: Array<number> = []
    for (let turn = 0; found.length < sizes.length && turn < 10; turn++) {
      const { deliveries } = yield* take(worker, { from: [from(1, { batches: 3 })], maxBatchBytes: 1000 })
      assert.isAtMost(deliveries.length, 3)
      assert.isAtLeast(deliveries.length, 1)
      for (const { body, events } of deliveries) {
        const own = textOf(body).split(",").map((text) => text.length)
        assert.isTrue(own.reduce((sum, size) => sum + size, 0) <= 1000 || own.some((size) => size > 500), `${own}`)
        assert.lengthOf(own, events)
        found.push(...own)
      }
      yield* end(worker, deliveries)
    }
    assert.deepStrictEqual(found, sizes)
  })

  test("reads no further event of a destination beyond the requested bytes, and one in any case", function*({ tenantId }) {
    yield* seed(tenantId, {})
    const body = JSON.stringify("x".repeat(98))
    yield* publish(tenantId, ["A", "B", "C", "D", "E"].map((shipmentId) => ({ shipmentId, body })), { accounts: ["A"] })
    const worker = yield* acquire(tenantId)
    const unrequested = yield* take(worker, { unrequested: 1, unrequestedBytes: 200 })
    const two = yield* takeFrom(worker, 1, { bytes: 101, inFlight: unrequested.deliveries.map(({ deliveryId }) => deliveryId) })
    const one = yield* takeFrom(worker, 1, { bytes: 1, after: two.found!.after })
    assert.deepStrictEqual([{ ...unrequested, found: unrequested.from[0] }, two, one].map(({ deliveries, found }) => [deliveries.map(({ events }) => events), found!.after, found!.more]), [
      [[2], "B", true],
      [[2], "D", true],
      [[1], "E", false]
    ])
  })

  test("counts no bytes of events that it skips", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 2, B: 1 }, single)
    const first = yield* takeOne(worker, 1, { batches: 1 })
    const { deliveries } = yield* takeFrom(worker, 1, { bytes: 1, inFlight: [first.deliveryId] })
    assert.deepStrictEqual(idsOf(deliveries), [["B/1"]])
  })

  test("skips no shipment of another destination, and none of a delivery that ended, although its flight has not", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1 }, { ...single, numbers: [1, 9] })
    const { deliveries: [a, b, c] } = yield* takeFrom(worker, 1)
    yield* settle(worker, { outcomes: [outcomeOf(b!, { state: "waiting", dueInMillis: 600_000 }), outcomeOf(c!)] })
    assert.deepStrictEqual(idsOf((yield* takeFrom(worker, 9)).deliveries), [["A/1"], ["B/1"], ["C/1"]])
    yield* publish(tenantId, ["A", "B", "C"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
    assert.deepStrictEqual(idsOf((yield* takeFrom(worker, 1, { inFlight: [a!.deliveryId] })).deliveries), [["C/2"]])
  })

  test("skips shipments in flight and of waiting deliveries, and reports this", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { "A": 1, "B ä\"{}": 1, "C": 1 }, single)
    const { deliveries: [a, b] } = yield* takeFrom(worker, 1, { batches: 2 })
    yield* publish(tenantId, [{ shipmentId: "A" }, { shipmentId: "B ä\"{}" }])
    yield* settle(worker, { outcomes: [outcomeOf(b!, { state: "waiting", dueInMillis: 600_000 })] })
    const { deliveries, found } = yield* takeFrom(worker, 1, { inFlight: [a!.deliveryId] })
    assert.deepStrictEqual([idsOf(deliveries), found!.after, found!.more, found!.blocked], [[["C/1"]], "C", false, true])
    yield* settle(worker, { outcomes: [outcomeOf(a!)] })
    assert.deepStrictEqual(idsOf((yield* takeFrom(worker)).deliveries), [["A/2"]])
  })

  test("skips shipments of several flights, and writes their outcomes at once", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 2, B: 2, C: 2 }, single)
    const sent: Array<TakenDelivery> = []
    for (let n = 0; n < 3; n++) sent.push(yield* takeOne(worker, 1, { batches: 1, inFlight: sent.map(({ deliveryId }) => deliveryId) }))
    assert.deepStrictEqual((yield* takeFrom(worker, 1, { inFlight: sent.map(({ deliveryId }) => deliveryId) })).deliveries, [])
    const states = ["delivered", "dead", "delivered"] as const
    yield* settle(worker, { outcomes: sent.map((each, n) => outcomeOf(each, { state: states[n]! })) })
    for (const [n, { body, deliveryId }] of sent.entries()) {
      const found = yield* find(tenantId, deliveryId)
      assert.deepStrictEqual([found.state, textOf(found.body)], [states[n]!, textOf(body)])
    }
  })

  test("scans at most the requested number of entries", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1 }, single)
    const { deliveries } = yield* takeFrom(worker, 1, { batches: 2 })
    yield* end(worker, deliveries, { state: "waiting", dueInMillis: 600_000 })
    yield* publish(tenantId, ["A", "A", "A", "B", "B", "B"].map((shipmentId) => ({ shipmentId })))
    const turns: Array<readonly [after: string | undefined, blocked: boolean, ...events: ReadonlyArray<string>]> = []
    for (let more = true; more && turns.length < 4;) {
      const { deliveries, from: [found] } = yield* take(worker, { from: [from(1, { after: turns.at(-1)?.[0] })], lookAt: 3 })
      turns.push([found!.after, found!.blocked, ...deliveries.flatMap(eventIdsOf)])
      more = found!.more
    }
    assert.deepStrictEqual(turns, [["A", true], ["B", true], ["C", false, "C/1"]])
  })

  test("takes from several destinations at once, of owned partitions only", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1, T: 1 }, { numbers: [1, 2, 3, 9] })
    const owned = worker.owned.filter(({ partition }) => partition !== 2)
    const { deliveries, from: found, owned: held } = yield* take({ ...worker, owned }, { from: [1, 2, 3, 9].map((n) => from(n)) })
    assert.deepStrictEqual([...held].sort(), owned.map(({ partition }) => partition))
    assert.deepStrictEqual(deliveries.map(({ destinationId }) => destinationId).sort(), [idOf(1), idOf(3), idOf(9)])
    assert.deepStrictEqual(new Set(deliveries.map(({ deliveryId }) => deliveryId)).size, 3)
    assert.deepStrictEqual(found.map(({ destinationId }) => destinationId), [idOf(1), idOf(3), idOf(9)])
    assert.deepStrictEqual(idsOf((yield* takeFrom(worker, 2)).deliveries), [["S/1", "T/1"]])
    assert.deepStrictEqual((yield* take({ ...worker, owned }, { from: [from(2)], signals: 0 })).from, [])
  })

  test("takes nothing from a destination that is not active, and leaves out one that is closed", function*({ queue }) {
    for (const state of ["paused", "inactive"] as const) {
      const tenantId = freshTenant()
      const worker = yield* seededWorker(tenantId, { S: 1 }, { state })
      const { deliveries, found } = yield* takeFrom(worker)
      assert.deepStrictEqual([deliveries, found!.sends], [[], false])
      yield* publish(tenantId, [{ shipmentId: "S" }])
      yield* queue.changeDestination(tenantId, destinationSettings({ state: "active" }))
      assert.deepStrictEqual(idsOf((yield* takeFrom(worker)).deliveries), [["S/1", "S/2"]])
      yield* queue.closeDestination(tenantId, idOf(1))
      assert.deepStrictEqual((yield* take(worker, { from: [from(1)] })).from, [])
    }
  })

  test("answers the store's clock, and the version of a destination that was loaded", function*({ store, queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    const before = yield* load(tenantId)
    const taken = yield* take(worker, { from: [from(1)] })
    assert.strictEqual(taken.from[0]!.version, before.version)
    const { now } = yield* store.renew({ workerId: worker.workerId, leaseMillis: 600_000 })
    assert.closeTo(taken.now, now, 60_000)
    assert.closeTo(now, yield* Clock.currentTimeMillis, 120_000)
    yield* queue.changeDestination(tenantId, destinationSettings())
    const after = yield* load(tenantId)
    assert.deepStrictEqual([(yield* takeFrom(worker)).found!.version, after.version > before.version], [after.version, true])
  })

  test("takes nothing twice", function*({ tenantId }) {
    const count = 60
    const worker = yield* seededWorker(tenantId, Object.fromEntries(Array.from({ length: count }, (_, n) => [`S${n}`, 1])), single)
    const takes = yield* Effect.all(Array.from({ length: 8 }, () => takeFrom(worker)), { concurrency: "unbounded" })
    const rest = yield* takeFrom(worker, 1, { batches: count })
    const ids = [...takes, rest].flatMap(({ deliveries }) => deliveries.flatMap(eventIdsOf))
    assert.deepStrictEqual([ids.length, new Set(ids).size], [count, count])
  })

  test("isolates tenants that share ids", function*({ other, queue, tenantId: one }) {
    yield* seed(one, { S: 2 })
    yield* seed(other, {})
    const [owner, stranger] = [yield* acquire(one), yield* acquire(other)]
    const nothing = yield* take(stranger, { from: [from(1)], unrequested: 10 })
    assert.deepStrictEqual([nothing.deliveries, nothing.signals], [[], []])
    const delivery = yield* takeOne(owner)
    yield* settle(stranger, { outcomes: [outcomeOf(delivery)], ended: [{ partition: 1, flight: delivery.flight }], destinations: [changeOf(1, { pause: "other" })] })
    yield* queue.changeDestination(other, destinationSettings({ state: "paused" }))
    assert.isTrue(Option.isNone(yield* queue.find(other, delivery.deliveryId)))
    assert.isTrue(Option.isNone(yield* queue.retry(other, delivery.deliveryId)))
    yield* queue.closeDestination(other, idOf(1))
    assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(one, idOf(1))).state, "active")
    yield* end(owner, [delivery], { state: "dead" })
    // the destination of the other tenant alone
    assert.deepStrictEqual([yield* queue.recover(other, idOf(1), 0), yield* queue.prune(other, Number.MAX_SAFE_INTEGER / 4)], [0, 1])
    const found = Option.getOrThrow(yield* queue.find(one, delivery.deliveryId))
    assert.deepStrictEqual([found.state, found.attempts.length], ["dead", 1])
  })
})

const loads = storeSuite("DeliveryStore, load", DeliveryStore, (test) => {
  test("returns everything that sending needs, and leaves out closed and unknown destinations", function*({ store, queue, tenantId }) {
    const policy = { maxAttempts: 7, initialBackoffSeconds: 2, maxBackoffSeconds: 90, batchMaxSize: 3, rateLimitPerMinute: 11 }
    const settings = { ...destinationSettings({ endpointUrl: "https://receiver.example/a?b=ä" }), policy, signing: "whenRegistered" as const, whenDead: "pause" as const }
    yield* queue.openDestination(tenantId, settings)
    for (const n of [2, 3]) yield* queue.openDestination(tenantId, destinationSettings({ n, state: "paused" }))
    yield* queue.closeDestination(tenantId, idOf(3))
    const loaded = yield* store.load(tenantId, [1, 2, 3, 9].map(idOf))
    assert.deepStrictEqual(loaded.map(({ destinationId }) => destinationId).sort(), [idOf(1), idOf(2)])
    const { state: _, ...expected } = settings
    const own = loaded.find(({ destinationId }) => destinationId === idOf(1))!
    assert.deepStrictEqual(own, {
      ...expected,
      isActive: true,
      version: own.version,
      secrets: [],
      secretRefused: false,
      bodySignature: false,
      breaker: { failures: 0, openUntil: undefined },
      rateMark: undefined,
      waiting: [],
      moreWaiting: false,
      holdsBack: false
    })
    assert.deepStrictEqual(yield* store.load(freshTenant(), [idOf(1)]), [])
  })

  test("says whether a destination is active, also after it was paused", function*({ control, queue, store, tenantId }) {
    yield* queue.openDestination(tenantId, destinationSettings())
    yield* queue.openDestination(tenantId, destinationSettings({ n: 2, state: "paused" }))
    const isActive = (n: number) => Effect.map(store.load(tenantId, [idOf(n)]), ([loaded]) => loaded!.isActive)
    assert.deepStrictEqual([yield* isActive(1), yield* isActive(2)], [true, false])
    yield* control.pause(tenantId, idOf(1), pauseByOperator("moving"))
    assert.isFalse(yield* isActive(1))
  })

  test("returns changed settings, and keeps those that are fixed at opening", function*({ queue, tenantId }) {
    yield* seed(tenantId, {})
    const before = yield* load(tenantId)
    const policy = { maxAttempts: 2, initialBackoffSeconds: 3, maxBackoffSeconds: 4, batchMaxSize: 5, rateLimitPerMinute: 6 }
    const changed = { ...destinationSettings({ endpointUrl: "https://other.example/" }), hmacSecretId: "other", policy }
    yield* queue.changeDestination(tenantId, { ...changed, envelope: { open: "<", close: ">" }, source: "elsewhere", signing: "whenRegistered", whenDead: "pause" })
    const loaded = yield* load(tenantId)
    assert.isAbove(loaded.version, before.version)
    assert.deepStrictEqual(loaded, { ...before, endpointUrl: "https://other.example/", hmacSecretId: "other", policy, version: loaded.version })
  })

  test("returns the active versions of the secret, newest first", function*({ secrets, tenantId }) {
    const now = yield* Clock.currentTimeMillis
    const versions = [
      { sealed: bytesOf("new"), signsUntil: undefined },
      { sealed: bytesOf("old"), signsUntil: now + 86_400_000 },
      { sealed: bytesOf("older"), signsUntil: now - 86_400_000 }
    ]
    for (const other of ["a", "z"]) yield* secrets.put(tenantId, other, storedSecret(versions.slice(2)))
    yield* secrets.put(tenantId, "main", storedSecret(versions, { bodySignature: true }))
    yield* seed(tenantId, {})
    const loaded = yield* load(tenantId)
    assert.deepStrictEqual(loaded.secrets.map(({ sealed, signsUntil }) => [textOf(sealed), signsUntil]), [["new", undefined], ["old", now + 86_400_000]])
    assert.isTrue(loaded.bodySignature)
  })

  test("returns waiting deliveries by due time, and reports that there are more", function*({ tenantId }) {
    const count = waitingPerDestination + 2
    const worker = yield* seededWorker(tenantId, Object.fromEntries(Array.from({ length: count }, (_, n) => [`S${n}`, 1])), single)
    const { deliveries } = yield* takeFrom(worker, 1, { batches: count })
    const dueIn = (at: number) => 1000 + (at * 7 % count) * 1000
    yield* settle(worker, { outcomes: deliveries.map((each, at) => outcomeOf(each, { state: "waiting", dueInMillis: dueIn(at) })) })
    const loaded = yield* load(tenantId)
    const expected = deliveries.map(({ deliveryId }, at) => ({ deliveryId, due: dueIn(at) })).toSorted((a, b) => a.due - b.due)
    assert.deepStrictEqual(loaded.waiting.map(({ deliveryId }) => deliveryId), expected.slice(0, waitingPerDestination).map(({ deliveryId }) => deliveryId))
    assert.isTrue(loaded.moreWaiting)
    assert.strictEqual(loaded.waiting[1]!.dueAt - loaded.waiting[0]!.dueAt, 1000)
  })

  test("returns no waiting delivery that an older one of its shipment holds back, or one that is being sent again, and reports that there are some", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 3, T: 1 }, single)
    const ids: Array<string> = []
    for (let n = 0; n < 4; n++) {
      const delivery = yield* takeOne(worker, 1, { batches: 1 })
      ids.push(delivery.deliveryId)
      yield* settle(worker, { outcomes: [outcomeOf(delivery, { state: "dead" })] })
    }
    yield* queue.recover(tenantId, idOf(1), 0)
    const waiting = () => Effect.map(load(tenantId), ({ holdsBack, moreWaiting, waiting }) => ({ ids: waiting.map(({ deliveryId }) => deliveryId), moreWaiting, holdsBack }))
    assert.deepStrictEqual(yield* waiting(), { ids: [ids[0], ids[3]], moreWaiting: false, holdsBack: true })
    const [first] = yield* takeAgain(worker, [ids[0]!])
    assert.deepStrictEqual(yield* waiting(), { ids: [ids[3]], moreWaiting: false, holdsBack: true })
    yield* settle(worker, { outcomes: [outcomeOf(first!)] })
    assert.deepStrictEqual(yield* waiting(), { ids: [ids[1], ids[3]], moreWaiting: false, holdsBack: true })
    yield* settle(worker, { outcomes: (yield* takeAgain(worker, [ids[1]!])).map((each) => outcomeOf(each)) })
    assert.deepStrictEqual(yield* waiting(), { ids: [ids[2], ids[3]], moreWaiting: false, holdsBack: false })
  })
})

export const suite = allOf(takes, loads)
