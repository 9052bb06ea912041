/** What a `DeliveryQueue` promises: lanes and claims here, what becomes of deliveries in `DeliveryOutcomesSuite.ts`. */
import { type ClaimedLane, DeliveryQueue, SecretStore, type StoragePorts, Transaction } from "@waybill/core"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, type Layer, Option } from "effect"
import * as Clock from "effect/Clock"
import {
  bytesOf,
  claim,
  claimOne,
  eventually,
  freezeOf,
  freshTenant,
  hasTurn,
  idOf,
  laneSettings,
  letSee,
  occurredAt,
  publish,
  releaseOf,
  seed,
  settlementOf,
  storedSecret,
  subscribe,
  textOf
} from "../StorageFixtures.ts"

const orderOf = (lane: { readonly waiting: ReadonlyArray<{ readonly orderId: string }> }) => lane.waiting.map((entry) => entry.orderId)

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: DeliveryQueue`, (it) => {
    it.effect("opens a lane that is due as soon as something arrives", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, {})
        assert.isFalse(yield* hasTurn(tenantId))
        assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
        yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        assert.isTrue(yield* hasTurn(tenantId))
        assert.deepStrictEqual(orderOf(yield* claimOne(tenantId)), ["S/1"])
      }))

    it.effect("leases what arrived, or what is due, where only that is asked for", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        yield* subscribe(tenantId, { n: 1 })
        yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        const first = yield* claimOne(tenantId)
        yield* subscribe(tenantId, { n: 2 })
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        // the first learned of it under its lease, and is due at once when it is given back
        assert.deepStrictEqual((yield* claim(tenantId, { only: "due" })).lanes, [])
        yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(first)] })
        const turns = yield* queue.tenantsDue(100_000)
        assert.deepStrictEqual([turns.due.includes(tenantId), turns.arrived.includes(tenantId)], [true, true])
        const due = yield* claimOne(tenantId, { only: "due" })
        assert.deepStrictEqual([due.laneId, orderOf(due)], [idOf(1), ["S/1", "T/1"]])
        assert.notInclude((yield* queue.tenantsDue(100_000)).due, tenantId)
        const arrived = yield* claimOne(tenantId, { only: "arrived" })
        assert.deepStrictEqual([arrived.laneId, orderOf(arrived)], [idOf(2), ["T/1"]])
        assert.isFalse(yield* hasTurn(tenantId))
      }))

    it.effect("tells of those first for whom something arrived first", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenants = Array.from({ length: 5 }, freshTenant)
        for (const tenantId of tenants) yield* seed(tenantId, {})
        for (const tenantId of tenants.toReversed()) yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        const { arrived } = yield* queue.tenantsDue(100_000)
        assert.deepStrictEqual(arrived.filter((tenantId) => tenants.includes(tenantId)), tenants.toReversed())
      }))

    it.effect("forgets nothing that arrived for more lanes than are leased", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (const n of [1, 2, 3]) yield* subscribe(tenantId, { n })
        yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        const claimed = (yield* claim(tenantId, { maxLanes: 1, only: "arrived" })).lanes.map(({ laneId }) => laneId)
        assert.lengthOf(claimed, 1)
        for (const only of ["arrived", "due"] as const) claimed.push(...(yield* claim(tenantId, { only })).lanes.map(({ laneId }) => laneId))
        assert.sameMembers(claimed, [idOf(1), idOf(2), idOf(3)])
      }))

    it.effect("hands out a lane with everything that is needed to send", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const policy = { maxAttempts: 7, initialBackoffSeconds: 2, maxBackoffSeconds: 90, batchMaxSize: 3, rateLimitPerMinute: 11 }
        yield* letSee(tenantId, "client", ["A"])
        yield* subscribe(tenantId, { policy, endpointUrl: "https://receiver.example/a?b=ä" })
        const before = yield* Clock.currentTimeMillis
        yield* publish(tenantId, [{ shipmentId: "S \"1\"", body: "{\"ä\":\"船\"}" }], { accounts: ["A"] })
        const { lanes: [lane], now } = yield* queue.claim({ tenantId, maxLanes: 1, refill: [], leaseMillis: 60_000, deliveriesPerLane: 1, bytesPerLane: 1000 })
        assert.isBelow(Math.abs(now - before), 120_000)
        assert.deepStrictEqual(lane!.policy, policy)
        assert.strictEqual(lane!.endpointUrl, "https://receiver.example/a?b=ä")
        assert.strictEqual(lane!.hmacSecretId, "main")
        assert.strictEqual(lane!.client, laneSettings().client)
        assert.deepStrictEqual(lane!.envelope, laneSettings().envelope)
        assert.deepStrictEqual(lane!.breaker, { failures: 0, openUntil: undefined })
        assert.strictEqual(lane!.rateMark, undefined)
        assert.deepStrictEqual([lane!.secrets, lane!.bodySignature], [[], false])
        assert.deepStrictEqual([lane!.due, lane!.more], [[], false])
        const [entry] = lane!.waiting
        assert.deepStrictEqual([entry!.key, entry!.sequence, entry!.orderId, entry!.size], ["S \"1\"", 1, "S \"1\"/1", 12])
        assert.strictEqual(textOf(entry!.payload), "{\"ä\":\"船\"}")
      }))

    it.effect("hands out live versions of the lane's secret, newest first", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        const secrets = yield* SecretStore
        const now = yield* Clock.currentTimeMillis
        const versions = [
          { sealed: bytesOf("new"), signsUntil: undefined },
          { sealed: bytesOf("old"), signsUntil: now + 86_400_000 },
          { sealed: bytesOf("older"), signsUntil: now - 86_400_000 }
        ]
        yield* secrets.put(tenantId, "main", storedSecret(versions, { bodySignature: true }))
        yield* seed(tenantId, { S: 1 })
        const lane = yield* claimOne(tenantId)
        assert.deepStrictEqual(lane.secrets.map((each) => textOf(each.sealed)), ["new", "old"])
        assert.deepStrictEqual(lane.secrets.map((each) => each.signsUntil), [undefined, now + 86_400_000])
        assert.isTrue(lane.bodySignature)
      }))

    it.effect("hands out what waits by shipment, number and id", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        yield* subscribe(tenantId)
        yield* publish(tenantId, [
          { shipmentId: "T", sequence: 2, eventId: "t2" },
          { shipmentId: "S", sequence: 10, eventId: "s10" },
          { shipmentId: "T", sequence: 1, eventId: "t1" },
          { shipmentId: "S", sequence: 9, eventId: "s9" }
        ], { accounts: ["A"] })
        yield* publish(tenantId, [{ shipmentId: "S", sequence: 1, eventId: "s1 late" }])
        assert.deepStrictEqual(orderOf(yield* claimOne(tenantId)), ["s1 late", "s9", "s10", "t1", "t2"])
      }))

    it.effect("hands out as many entries as the deliveries may hold, and says that there are more", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 4, B: 4, C: 4 }, { policy: { batchMaxSize: 2 } })
        const lane = yield* claimOne(tenantId, { deliveriesPerLane: 3 })
        assert.deepStrictEqual([orderOf(lane), lane.more], [["A/1", "A/2", "A/3", "A/4", "B/1", "B/2"], true])
        yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(lane)] })
        const again = yield* claimOne(tenantId, { deliveriesPerLane: 7 })
        assert.deepStrictEqual([again.waiting.length, again.more], [12, false])
      }))

    it.effect("hands out one delivery of a lane whose breaker is not closed, and says that there are more", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 1, C: 1, D: 1, E: 1, F: 1 }, { policy: { batchMaxSize: 2 } })
        const lane = yield* claimOne(tenantId)
        const ids = [idOf(101), idOf(102), idOf(103)]
        yield* queue.freeze(tenantId, [freezeOf(lane, {
          fresh: ids.map((deliveryId, n) => ({ deliveryId, sentAt: occurredAt, entries: [lane.waiting[n]!], traceparent: undefined }))
        })])
        const breaker = { failures: 5, openUntil: occurredAt }
        yield* queue.settle(tenantId, {
          deliveries: ids.map((deliveryId) => settlementOf(lane, deliveryId, { state: "waiting", dueInMillis: 0 })),
          lanes: [releaseOf(lane, { breaker })]
        })
        const probing = yield* claimOne(tenantId)
        assert.deepStrictEqual([probing.due.map((each) => each.deliveryId), orderOf(probing), probing.more], [[idOf(101)], ["D/1", "E/1"], true])
        yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(probing, { breaker: { failures: 0, openUntil: undefined } })] })
        const closed = yield* claimOne(tenantId)
        assert.deepStrictEqual([closed.due.length, orderOf(closed), closed.more], [3, ["D/1", "E/1", "F/1"], false])
      }))

    it.effect("hands out about as many bytes as asked, and one entry however large it is", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        yield* subscribe(tenantId)
        const body = JSON.stringify("x".repeat(998))
        yield* publish(tenantId, Array.from({ length: 10 }, () => ({ shipmentId: "S", body })), { accounts: ["A"] })
        const lane = yield* claimOne(tenantId, { bytesPerLane: 3500 })
        assert.isTrue(lane.more)
        assert.isAtLeast(lane.waiting.length, 3)
        assert.isAtMost(lane.waiting.length, 4)
        yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(lane)] })
        const tight = yield* claimOne(tenantId, { bytesPerLane: 1 })
        assert.deepStrictEqual([tight.waiting.length, tight.more], [1, true])
      }))

    it.effect("looks on from after the cursor, and wraps round", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 2, C: 1, D: 1 }, { policy: { batchMaxSize: 1 } })
        let lane = yield* claimOne(tenantId, { deliveriesPerLane: 2 })
        assert.deepStrictEqual(orderOf(lane), ["A/1", "B/1"])
        yield* queue.freeze(tenantId, [freezeOf(lane, { cursor: "B", deliveryId: idOf(101) })])
        yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(101))], lanes: [releaseOf(lane)] })
        lane = yield* claimOne(tenantId, { deliveriesPerLane: 2 })
        assert.deepStrictEqual([orderOf(lane), lane.more], [["C/1", "D/1"], true])
        yield* queue.freeze(tenantId, [freezeOf(lane, { cursor: "C" })])
        yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(lane)] })
        lane = yield* claimOne(tenantId, { deliveriesPerLane: 9 })
        assert.deepStrictEqual([orderOf(lane), lane.more], [["D/1", "B/2", "C/1"], false])
      }))

    it.effect("leaves out shipments of deliveries that have not ended", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { "A": 3, "B ä\"{}": 2, "C": 1 })
        const lane = yield* claimOne(tenantId)
        const first = (key: string) => lane.waiting.find((entry) => entry.key === key)!
        const fresh = [["A", 101], ["B ä\"{}", 102]] as const
        yield* queue.freeze(tenantId, [freezeOf(lane, {
          fresh: fresh.map(([key, n]) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [first(key)], traceparent: undefined }))
        })])
        const [refilled] = (yield* claim(tenantId, { maxLanes: 0, refill: [lane] })).lanes
        assert.deepStrictEqual([orderOf(refilled!), refilled!.more], [["C/1"], false])
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(lane, idOf(101)), settlementOf(lane, idOf(102), { state: "waiting", dueInMillis: 600_000 })],
          lanes: []
        })
        const [later] = (yield* claim(tenantId, { maxLanes: 0, refill: [lane] })).lanes
        assert.deepStrictEqual(orderOf(later!), ["A/2", "A/3", "C/1"])
      }))

    it.effect("freezes nothing twice: where an entry is no longer there, nothing of it happens", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const lane = yield* claimOne(tenantId)
        const freezing = (number: number, entries: ClaimedLane["waiting"]) =>
          queue.freeze(tenantId, [freezeOf(lane, { fresh: [{ deliveryId: idOf(number), sentAt: occurredAt, entries, traceparent: undefined }] })])
        assert.deepStrictEqual([...yield* freezing(101, lane.waiting.slice(0, 1))], [lane.laneId])
        assert.isTrue(Exit.isFailure(yield* Effect.exit(freezing(102, lane.waiting))))
        assert.isTrue(Option.isNone(yield* queue.find(tenantId, idOf(102))))
        const [refilled] = (yield* claim(tenantId, { maxLanes: 0, refill: [lane] })).lanes
        assert.deepStrictEqual(orderOf(refilled!), ["T/1"])
      }))

    it.effect("gives every lease a higher token, and hands a leased lane to nobody else", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const lane = yield* claimOne(tenantId)
        assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
        assert.isFalse(yield* hasTurn(tenantId))
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
        assert.isTrue(yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(lane, { progress: false })] }))
        assert.isAbove((yield* claimOne(tenantId)).token, lane.token)
      }))

    it.effect("never hands one lane to two of many that claim at once", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (let n = 1; n <= 20; n++) yield* subscribe(tenantId, { n })
        yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        const claims = yield* Effect.all(Array.from({ length: 8 }, () => claim(tenantId, { maxLanes: 5 })), { concurrency: "unbounded" })
        const rest = yield* eventually(claim(tenantId, { maxLanes: 100 }), () => true)
        const laneIds = [...claims, rest].flatMap(({ lanes }) => lanes.map((lane) => lane.laneId))
        assert.deepStrictEqual(laneIds.toSorted(), Array.from({ length: 20 }, (_, n) => idOf(n + 1)))
        assert.isTrue(claims.every(({ lanes }) => lanes.length <= 5))
      }))

    it.effect("lets every lane have its turn when few are asked for at a time", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (let n = 1; n <= 5; n++) yield* subscribe(tenantId, { n, policy: { batchMaxSize: 1 } })
        yield* publish(tenantId, Array.from({ length: 20 }, () => ({ shipmentId: "S" })), { accounts: ["A"] })
        const turns: Array<string> = []
        for (let turn = 0; turn < 15; turn++) {
          const lane = yield* claimOne(tenantId, { maxLanes: 1, deliveriesPerLane: 1 })
          turns.push(lane.laneId)
          yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(lane)] })
        }
        for (let n = 1; n <= 5; n++) assert.lengthOf(turns.filter((laneId) => laneId === idOf(n)), 3)
      }))

    it.effect("hands a lane that is held more of what waits, under the same token", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const lane = yield* claimOne(tenantId)
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        const { lanes } = yield* claim(tenantId, { refill: [lane] })
        assert.deepStrictEqual(lanes.map((each) => [each.token, orderOf(each)]), [[lane.token, ["S/1", "T/1"]]])
        assert.notStrictEqual(lanes[0]!.arrivals, lane.arrivals)
        assert.deepStrictEqual((yield* claim(tenantId, { refill: [{ laneId: lane.laneId, token: lane.token - 1 }] })).lanes, [])
        assert.deepStrictEqual((yield* claim(tenantId, { refill: [{ laneId: idOf(99), token: 1 }] })).lanes, [])
      }))

    it.effect("hands a lane whose lease ran out to the next, and what its holder left behind", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 2, T: 1 })
        const dead = yield* claimOne(tenantId, { leaseMillis: 20 })
        yield* queue.freeze(tenantId, [freezeOf(dead, {
          fresh: [{ deliveryId: idOf(101), sentAt: occurredAt, entries: dead.waiting.slice(0, 2), traceparent: undefined }]
        })])
        const { lanes: [lane] } = yield* eventually(claim(tenantId), ({ lanes }) => lanes.length > 0)
        assert.isAbove(lane!.token, dead.token)
        assert.deepStrictEqual(orderOf(lane!), ["T/1"])
        const [orphan] = lane!.due
        assert.deepStrictEqual(
          [orphan!.deliveryId, orphan!.orphaned, orphan!.attempt, orphan!.tries, orphan!.events, orphan!.sentAt],
          [idOf(101), true, 1, 1, 2, occurredAt]
        )
        assert.strictEqual(orphan!.payloads.map(textOf).join(","), dead.waiting.slice(0, 2).map((entry) => textOf(entry.payload)).join(","))
      }))

    it.effect("keeps leases that are given a sign of life", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        yield* subscribe(tenantId, { n: 1 })
        yield* subscribe(tenantId, { n: 2 })
        yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        const { lanes } = yield* claim(tenantId, { leaseMillis: 100 })
        const kept = lanes.find((lane) => lane.laneId === idOf(1))!
        assert.deepStrictEqual([...yield* queue.heartbeat(tenantId, [kept, { laneId: idOf(2), token: -1 }, { laneId: idOf(99), token: 1 }], 600_000)], [idOf(1)])
        const after = yield* eventually(claim(tenantId), (claimed) => claimed.lanes.length > 0)
        assert.deepStrictEqual(after.lanes.map((lane) => lane.laneId), [idOf(2)])
        assert.deepStrictEqual([...yield* queue.heartbeat(tenantId, lanes, 60_000)], [idOf(1)])
      }))

    it.effect("holds what comes for a paused lane, and has it due once it is active", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        for (const state of ["paused", "inactive"] as const) {
          const tenantId = freshTenant()
          yield* seed(tenantId, { S: 1 }, { state })
          assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
          yield* publish(tenantId, [{ shipmentId: "S" }])
          assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
          yield* queue.changeLane(tenantId, laneSettings({ state: "active" }))
          assert.isTrue(yield* hasTurn(tenantId))
          assert.deepStrictEqual(orderOf(yield* claimOne(tenantId)), ["S/1", "S/2"])
        }
      }))

    it.effect("shows what was changed with the next claim, and keeps what a lane was opened for", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const policy = { maxAttempts: 2, initialBackoffSeconds: 3, maxBackoffSeconds: 4, batchMaxSize: 5, rateLimitPerMinute: 6 }
        const changed = { ...laneSettings({ endpointUrl: "https://other.example/" }), hmacSecretId: "other", policy }
        yield* queue.changeLane(tenantId, { ...changed, envelope: { open: "<", close: ">" }, source: "elsewhere", signing: "whenRegistered", whenDead: "pause" })
        const lane = yield* claimOne(tenantId)
        assert.deepStrictEqual([lane.endpointUrl, lane.hmacSecretId, lane.policy], ["https://other.example/", "other", policy])
        assert.deepStrictEqual([lane.envelope, lane.signing, lane.whenDead], [laneSettings().envelope, "required", "goOn"])
        assert.deepStrictEqual(orderOf(lane), ["S/1"])
      }))

    it.effect("hands out with a lane whether it must be signed, and what a dead letter means for it", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const settings = [["required", "goOn"], ["required", "pause"], ["whenRegistered", "goOn"], ["whenRegistered", "pause"]] as const
        yield* letSee(tenantId, "client", ["A"])
        for (const [at, [signing, whenDead]] of settings.entries()) {
          const lane = { ...laneSettings({ n: at + 1, state: "paused" }), signing, whenDead }
          yield* queue.openLane(tenantId, lane)
          yield* queue.changeLane(tenantId, { ...lane, state: "active" })
        }
        const { lanes } = yield* claim(tenantId)
        const handedOut = lanes.toSorted((a, b) => a.laneId < b.laneId ? -1 : 1).map(({ signing, whenDead }) => [signing, whenDead])
        assert.deepStrictEqual(handedOut, settings.map((each) => [...each]))
      }))

    it.effect("says since when a lane is in its state, and why when the engine put it there", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const status = Effect.map(queue.laneStatus(tenantId, idOf(1)), Option.getOrThrow)
        yield* seed(tenantId, { S: 1 })
        const opened = yield* status
        assert.deepStrictEqual([opened.state, opened.reason], ["active", undefined])
        const lane = yield* claimOne(tenantId)
        yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(lane, { pause: "The receiver answered 410 Gone." })] })
        const paused = yield* status
        assert.deepStrictEqual([paused.state, paused.reason], ["paused", "The receiver answered 410 Gone."])
        assert.isAtLeast(paused.since, opened.since)
        yield* queue.changeLane(tenantId, laneSettings({ state: "paused", endpointUrl: "https://other.example/" }))
        assert.deepStrictEqual(yield* status, paused)
        yield* queue.changeLane(tenantId, laneSettings({ state: "inactive" }))
        assert.deepStrictEqual([(yield* status).state, (yield* status).reason], ["inactive", undefined])
      }))

    it.effect("counts the live lanes of a client by source, and those of the tenant", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const transaction = yield* Transaction
        const tenantId = freshTenant()
        const open = (n: number, client: string, source = "transit-events") => queue.openLane(tenantId, { ...laneSettings({ n, client }), source })
        assert.deepStrictEqual([yield* open(1, "one"), yield* open(2, "one"), yield* open(3, "other"), yield* open(4, "one", "shipment-status")], [1, 2, 1, 1])
        assert.strictEqual(yield* queue.countLanes(tenantId, 1_000_000), 4)
        yield* queue.closeLane(tenantId, idOf(1))
        yield* queue.closeLane(tenantId, idOf(1))
        yield* queue.closeLane(tenantId, idOf(9))
        assert.strictEqual(yield* queue.countLanes(tenantId, 1), 3)
        assert.strictEqual(yield* open(5, "one"), 2)
        yield* Effect.ignore(transaction.run(Effect.andThen(open(6, "one"), Effect.fail("rolled back"))))
        assert.strictEqual(yield* open(7, "one"), 3)
        assert.strictEqual(yield* queue.countLanes(tenantId, 5), 5)
        assert.strictEqual(yield* queue.countLanes(freshTenant(), 1_000_000), 0)
      }))

    it.effect("gives the last place of a client or tenant to one of those who ask at once", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const transaction = yield* Transaction
        const places = 3
        const within = (tenantId: string, n: number, client: string) =>
          Effect.exit(transaction.run(Effect.gen(function*() {
            const ofClient = yield* queue.openLane(tenantId, laneSettings({ n, client }))
            yield* Effect.yieldNow
            const ofTenant = yield* queue.countLanes(tenantId, places)
            if (Math.max(ofClient, ofTenant) > places) return yield* Effect.fail("no place")
          })))
        for (const clientOf of [() => "one", (n: number) => `client ${n}`]) {
          const tenantId = freshTenant()
          const tried = yield* Effect.all(Array.from({ length: 8 }, (_, at) => within(tenantId, at + 1, clientOf(at))), { concurrency: "unbounded" })
          assert.lengthOf(tried.filter(Exit.isSuccess), places)
          assert.strictEqual(yield* queue.countLanes(tenantId, places), places)
        }
      }))

    it.effect("knows no state of lanes that are not there", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        assert.isTrue(Option.isNone(yield* queue.laneStatus(tenantId, idOf(1))))
        yield* seed(tenantId, {})
        yield* queue.closeLane(tenantId, idOf(1))
        assert.isTrue(Option.isNone(yield* queue.laneStatus(tenantId, idOf(1))))
        yield* queue.changeLane(tenantId, laneSettings())
        yield* queue.closeLane(tenantId, idOf(1))
        assert.isTrue(Option.isNone(yield* queue.laneStatus(tenantId, idOf(1))))
      }))

    it.effect("leaves a resumed lane to whoever holds it, and has it due when it is given back", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const lane = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(lane, {
          fresh: [{ deliveryId: idOf(101), sentAt: occurredAt, entries: lane.waiting.slice(0, 1), traceparent: undefined }]
        })])
        yield* queue.changeLane(tenantId, laneSettings({ state: "paused" }))
        yield* queue.changeLane(tenantId, laneSettings({ state: "active" }))
        assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
        const due = yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(101))], lanes: [releaseOf(lane, { progress: false })] })
        assert.isTrue(due)
        assert.deepStrictEqual(orderOf(yield* claimOne(tenantId)), ["T/1"])
      }))

    it.effect("lets attempts of a lane that is paused meanwhile end as they end", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const lane = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(lane, {
          fresh: [{ deliveryId: idOf(101), sentAt: occurredAt, entries: lane.waiting.slice(0, 1), traceparent: undefined }]
        })])
        yield* queue.changeLane(tenantId, laneSettings({ state: "paused" }))
        assert.deepStrictEqual((yield* claim(tenantId, { refill: [lane] })).lanes, [])
        const due = yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(101))], lanes: [releaseOf(lane)] })
        assert.isFalse(due)
        assert.strictEqual(Option.getOrThrow(yield* queue.find(tenantId, idOf(101))).state, "delivered")
        assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
        yield* queue.changeLane(tenantId, laneSettings({ state: "active" }))
        assert.deepStrictEqual(orderOf(yield* claimOne(tenantId)), ["T/1"])
      }))

    it.effect("forgets the breaker when the lane gets another address, and only then", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const open = { failures: 5, openUntil: occurredAt + 0.5 }
        let lane = yield* claimOne(tenantId)
        yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(lane, { breaker: open })] })
        yield* queue.changeLane(tenantId, laneSettings({ policy: { maxAttempts: 2 } }))
        lane = yield* claimOne(tenantId)
        assert.deepStrictEqual(lane.breaker, open)
        yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(lane, { breaker: open })] })
        yield* queue.changeLane(tenantId, laneSettings({ endpointUrl: "https://other.example/" }))
        assert.deepStrictEqual((yield* claimOne(tenantId)).breaker, { failures: 0, openUntil: undefined })
      }))

    it.effect("names tenants with something due, and says when the next lane will be", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const { arrived, due } = yield* queue.tenantsDue(1)
        assert.isAtMost(Math.max(arrived.length, due.length), 1)
        assert.isAtLeast(arrived.length + due.length, 1)
        const lane = yield* claimOne(tenantId, { leaseMillis: 60_000 })
        const { nextDueInMillis } = yield* queue.tenantsDue(100_000)
        assert.isAtMost(nextDueInMillis!, 60_000)
        yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(lane, { notBeforeMillis: 40_000 })] })
        assert.isFalse(yield* hasTurn(tenantId))
        assert.isAtMost((yield* queue.tenantsDue(100_000)).nextDueInMillis!, 40_000)
        assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
      }))

    it.effect("drops what waits in a lane that is closed, cancels what has not ended, and keeps the rest to be seen", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 1, C: 1, D: 1 })
        const lane = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(lane, {
          fresh: [0, 1, 2].map((n) => ({ deliveryId: idOf(101 + n), sentAt: occurredAt, entries: [lane.waiting[n]!], traceparent: undefined }))
        })])
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(lane, idOf(101)), settlementOf(lane, idOf(102), { state: "waiting" })],
          lanes: []
        })
        yield* queue.closeLane(tenantId, idOf(1))
        yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(103))], lanes: [releaseOf(lane)] })
        const listed = yield* queue.list(tenantId, { state: undefined, laneId: idOf(1), since: undefined, order: "oldest", after: undefined, limit: 10 })
        assert.deepStrictEqual(listed.map((each) => [each.state, each.attempts.length, each.settledAt !== undefined, each.dueAt]), [
          ["delivered", 1, true, undefined],
          ["cancelled", 1, true, undefined],
          ["cancelled", 1, true, undefined]
        ])
        assert.strictEqual(Option.getOrThrow(yield* queue.find(tenantId, idOf(103))).endpointUrl, "https://receiver.example/hook")
        assert.isFalse(yield* hasTurn(tenantId))
        assert.deepStrictEqual((yield* claim(tenantId, { refill: [lane] })).lanes, [])
        assert.deepStrictEqual([...yield* queue.freeze(tenantId, [freezeOf(lane, { rateMark: 1 })])], [])
        assert.deepStrictEqual([...yield* queue.heartbeat(tenantId, [lane], 1000)], [])
      }))

    it.effect("keeps tenants apart, whatever ids they share", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const [one, other] = [freshTenant(), freshTenant()]
        yield* seed(one, { S: 2 })
        yield* seed(other, {})
        assert.deepStrictEqual((yield* claim(other)).lanes, [])
        const lane = yield* claimOne(one)
        assert.deepStrictEqual((yield* claim(other, { refill: [lane] })).lanes, [])
        assert.deepStrictEqual([...yield* queue.heartbeat(other, [lane], 1)], [])
        assert.deepStrictEqual([...yield* queue.freeze(other, [freezeOf(lane, { rateMark: 5 })])], [])
        yield* queue.freeze(one, [freezeOf(lane, { deliveryId: idOf(101) })])
        yield* queue.settle(other, { deliveries: [settlementOf(lane, idOf(101))], lanes: [releaseOf(lane, { pause: "other" })] })
        yield* queue.changeLane(other, laneSettings({ state: "paused" }))
        assert.isTrue(Option.isNone(yield* queue.find(other, idOf(101))))
        assert.isTrue(Option.isNone(yield* queue.retry(other, idOf(101))))
        assert.deepStrictEqual(yield* queue.list(other, { state: undefined, laneId: undefined, since: undefined, order: "oldest", after: undefined, limit: 10 }), [])
        yield* queue.closeLane(other, idOf(1))
        assert.strictEqual(Option.getOrThrow(yield* queue.laneStatus(one, idOf(1))).state, "active")
        yield* queue.settle(one, { deliveries: [settlementOf(lane, idOf(101), { state: "dead" })], lanes: [releaseOf(lane)] })
        assert.strictEqual(yield* queue.recover(other, idOf(1), 0), 0)
        assert.strictEqual(yield* queue.prune(other, Number.MAX_SAFE_INTEGER / 4), 0)
        const detail = Option.getOrThrow(yield* queue.find(one, idOf(101)))
        assert.deepStrictEqual([detail.state, detail.attempts.length], ["dead", 1])
      }))
  })
