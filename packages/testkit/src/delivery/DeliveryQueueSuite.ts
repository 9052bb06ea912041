/** What a `DeliveryQueue` promises: destinations and claims here, what becomes of deliveries in `DeliveryOutcomesSuite.ts`. */
import { type ClaimedDestination, DeliveryQueue, SecretStore, type StoragePorts, Transaction } from "@waybill/core"
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
  destinationSettings,
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

const orderOf = (destination: { readonly waiting: ReadonlyArray<{ readonly orderId: string }> }) => destination.waiting.map((entry) => entry.orderId)

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: DeliveryQueue`, (it) => {
    it.effect("opens a destination that is due as soon as something arrives", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, {})
        assert.isFalse(yield* hasTurn(tenantId))
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
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
        assert.deepStrictEqual((yield* claim(tenantId, { only: "due" })).destinations, [])
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(first)] })
        const turns = yield* queue.tenantsDue(100_000)
        assert.deepStrictEqual([turns.due.includes(tenantId), turns.arrived.includes(tenantId)], [true, true])
        const due = yield* claimOne(tenantId, { only: "due" })
        assert.deepStrictEqual([due.destinationId, orderOf(due)], [idOf(1), ["S/1", "T/1"]])
        assert.notInclude((yield* queue.tenantsDue(100_000)).due, tenantId)
        const arrived = yield* claimOne(tenantId, { only: "arrived" })
        assert.deepStrictEqual([arrived.destinationId, orderOf(arrived)], [idOf(2), ["T/1"]])
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

    it.effect("forgets nothing that arrived for more destinations than are leased", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (const n of [1, 2, 3]) yield* subscribe(tenantId, { n })
        yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        const claimed = (yield* claim(tenantId, { maxDestinations: 1, only: "arrived" })).destinations.map(({ destinationId }) => destinationId)
        assert.lengthOf(claimed, 1)
        for (const only of ["arrived", "due"] as const) claimed.push(...(yield* claim(tenantId, { only })).destinations.map(({ destinationId }) => destinationId))
        assert.sameMembers(claimed, [idOf(1), idOf(2), idOf(3)])
      }))

    it.effect("hands out a destination with everything that is needed to send", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const policy = { maxAttempts: 7, initialBackoffSeconds: 2, maxBackoffSeconds: 90, batchMaxSize: 3, rateLimitPerMinute: 11 }
        yield* letSee(tenantId, "client", ["A"])
        yield* subscribe(tenantId, { policy, endpointUrl: "https://receiver.example/a?b=ä" })
        const before = yield* Clock.currentTimeMillis
        yield* publish(tenantId, [{ shipmentId: "S \"1\"", body: "{\"ä\":\"船\"}" }], { accounts: ["A"] })
        const { destinations: [destination], now } = yield* queue.claim({ tenantId, maxDestinations: 1, refill: [], leaseMillis: 60_000, deliveriesPerDestination: 1, bytesPerDestination: 1000 })
        assert.isBelow(Math.abs(now - before), 120_000)
        assert.deepStrictEqual(destination!.policy, policy)
        assert.strictEqual(destination!.endpointUrl, "https://receiver.example/a?b=ä")
        assert.strictEqual(destination!.hmacSecretId, "main")
        assert.strictEqual(destination!.client, destinationSettings().client)
        assert.deepStrictEqual(destination!.envelope, destinationSettings().envelope)
        assert.deepStrictEqual(destination!.breaker, { failures: 0, openUntil: undefined })
        assert.strictEqual(destination!.rateMark, undefined)
        assert.deepStrictEqual([destination!.secrets, destination!.bodySignature], [[], false])
        assert.deepStrictEqual([destination!.due, destination!.more], [[], false])
        const [entry] = destination!.waiting
        assert.deepStrictEqual([entry!.key, entry!.sequence, entry!.orderId, entry!.size], ["S \"1\"", 1, "S \"1\"/1", 12])
        assert.strictEqual(textOf(entry!.payload), "{\"ä\":\"船\"}")
      }))

    it.effect("hands out live versions of the destination's secret, newest first", () =>
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
        const destination = yield* claimOne(tenantId)
        assert.deepStrictEqual(destination.secrets.map((each) => textOf(each.sealed)), ["new", "old"])
        assert.deepStrictEqual(destination.secrets.map((each) => each.signsUntil), [undefined, now + 86_400_000])
        assert.isTrue(destination.bodySignature)
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
        const destination = yield* claimOne(tenantId, { deliveriesPerDestination: 3 })
        assert.deepStrictEqual([orderOf(destination), destination.more], [["A/1", "A/2", "A/3", "A/4", "B/1", "B/2"], true])
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination)] })
        const again = yield* claimOne(tenantId, { deliveriesPerDestination: 7 })
        assert.deepStrictEqual([again.waiting.length, again.more], [12, false])
      }))

    it.effect("hands out one delivery of a destination whose breaker is not closed, and says that there are more", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 1, C: 1, D: 1, E: 1, F: 1 }, { policy: { batchMaxSize: 2 } })
        const destination = yield* claimOne(tenantId)
        const ids = [idOf(101), idOf(102), idOf(103)]
        yield* queue.freeze(tenantId, [freezeOf(destination, {
          fresh: ids.map((deliveryId, n) => ({ deliveryId, sentAt: occurredAt, entries: [destination.waiting[n]!], traceparent: undefined }))
        })])
        const breaker = { failures: 5, openUntil: occurredAt }
        yield* queue.settle(tenantId, {
          deliveries: ids.map((deliveryId) => settlementOf(destination, deliveryId, { state: "waiting", dueInMillis: 0 })),
          destinations: [releaseOf(destination, { breaker })]
        })
        const probing = yield* claimOne(tenantId)
        assert.deepStrictEqual([probing.due.map((each) => each.deliveryId), orderOf(probing), probing.more], [[idOf(101)], ["D/1", "E/1"], true])
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(probing, { breaker: { failures: 0, openUntil: undefined } })] })
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
        const destination = yield* claimOne(tenantId, { bytesPerDestination: 3500 })
        assert.isTrue(destination.more)
        assert.isAtLeast(destination.waiting.length, 3)
        assert.isAtMost(destination.waiting.length, 4)
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination)] })
        const tight = yield* claimOne(tenantId, { bytesPerDestination: 1 })
        assert.deepStrictEqual([tight.waiting.length, tight.more], [1, true])
      }))

    it.effect("looks on from after the cursor, and wraps round", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 2, C: 1, D: 1 }, { policy: { batchMaxSize: 1 } })
        let destination = yield* claimOne(tenantId, { deliveriesPerDestination: 2 })
        assert.deepStrictEqual(orderOf(destination), ["A/1", "B/1"])
        yield* queue.freeze(tenantId, [freezeOf(destination, { cursor: "B", deliveryId: idOf(101) })])
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101))], destinations: [releaseOf(destination)] })
        destination = yield* claimOne(tenantId, { deliveriesPerDestination: 2 })
        assert.deepStrictEqual([orderOf(destination), destination.more], [["C/1", "D/1"], true])
        yield* queue.freeze(tenantId, [freezeOf(destination, { cursor: "C" })])
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination)] })
        destination = yield* claimOne(tenantId, { deliveriesPerDestination: 9 })
        assert.deepStrictEqual([orderOf(destination), destination.more], [["D/1", "B/2", "C/1"], false])
      }))

    it.effect("leaves out shipments of deliveries that have not ended", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { "A": 3, "B ä\"{}": 2, "C": 1 })
        const destination = yield* claimOne(tenantId)
        const first = (key: string) => destination.waiting.find((entry) => entry.key === key)!
        const fresh = [["A", 101], ["B ä\"{}", 102]] as const
        yield* queue.freeze(tenantId, [freezeOf(destination, {
          fresh: fresh.map(([key, n]) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [first(key)], traceparent: undefined }))
        })])
        const [refilled] = (yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })).destinations
        assert.deepStrictEqual([orderOf(refilled!), refilled!.more], [["C/1"], false])
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(destination, idOf(101)), settlementOf(destination, idOf(102), { state: "waiting", dueInMillis: 600_000 })],
          destinations: []
        })
        const [later] = (yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })).destinations
        assert.deepStrictEqual(orderOf(later!), ["A/2", "A/3", "C/1"])
      }))

    it.effect("freezes nothing twice: where an entry is no longer there, nothing of it happens", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const destination = yield* claimOne(tenantId)
        const freezing = (number: number, entries: ClaimedDestination["waiting"]) =>
          queue.freeze(tenantId, [freezeOf(destination, { fresh: [{ deliveryId: idOf(number), sentAt: occurredAt, entries, traceparent: undefined }] })])
        assert.deepStrictEqual([...yield* freezing(101, destination.waiting.slice(0, 1))], [destination.destinationId])
        assert.isTrue(Exit.isFailure(yield* Effect.exit(freezing(102, destination.waiting))))
        assert.isTrue(Option.isNone(yield* queue.find(tenantId, idOf(102))))
        const [refilled] = (yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })).destinations
        assert.deepStrictEqual(orderOf(refilled!), ["T/1"])
      }))

    it.effect("gives every lease a higher token, and hands a leased destination to nobody else", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        assert.isFalse(yield* hasTurn(tenantId))
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        assert.isTrue(yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination, { progress: false })] }))
        assert.isAbove((yield* claimOne(tenantId)).token, destination.token)
      }))

    it.effect("never hands one destination to two of many that claim at once", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (let n = 1; n <= 20; n++) yield* subscribe(tenantId, { n })
        yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        const claims = yield* Effect.all(Array.from({ length: 8 }, () => claim(tenantId, { maxDestinations: 5 })), { concurrency: "unbounded" })
        const rest = yield* eventually(claim(tenantId, { maxDestinations: 100 }), () => true)
        const destinationIds = [...claims, rest].flatMap(({ destinations }) => destinations.map((destination) => destination.destinationId))
        assert.deepStrictEqual(destinationIds.toSorted(), Array.from({ length: 20 }, (_, n) => idOf(n + 1)))
        assert.isTrue(claims.every(({ destinations }) => destinations.length <= 5))
      }))

    it.effect("lets every destination have its turn when few are asked for at a time", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (let n = 1; n <= 5; n++) yield* subscribe(tenantId, { n, policy: { batchMaxSize: 1 } })
        yield* publish(tenantId, Array.from({ length: 20 }, () => ({ shipmentId: "S" })), { accounts: ["A"] })
        const turns: Array<string> = []
        for (let turn = 0; turn < 15; turn++) {
          const destination = yield* claimOne(tenantId, { maxDestinations: 1, deliveriesPerDestination: 1 })
          turns.push(destination.destinationId)
          yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination)] })
        }
        for (let n = 1; n <= 5; n++) assert.lengthOf(turns.filter((destinationId) => destinationId === idOf(n)), 3)
      }))

    it.effect("hands a destination that is held more of what waits, under the same token", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        const { destinations } = yield* claim(tenantId, { refill: [destination] })
        assert.deepStrictEqual(destinations.map((each) => [each.token, orderOf(each)]), [[destination.token, ["S/1", "T/1"]]])
        assert.notStrictEqual(destinations[0]!.arrivals, destination.arrivals)
        assert.deepStrictEqual((yield* claim(tenantId, { refill: [{ destinationId: destination.destinationId, token: destination.token - 1 }] })).destinations, [])
        assert.deepStrictEqual((yield* claim(tenantId, { refill: [{ destinationId: idOf(99), token: 1 }] })).destinations, [])
      }))

    it.effect("hands a destination whose lease ran out to the next, and what its holder left behind", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 2, T: 1 })
        const dead = yield* claimOne(tenantId, { leaseMillis: 20 })
        yield* queue.freeze(tenantId, [freezeOf(dead, {
          fresh: [{ deliveryId: idOf(101), sentAt: occurredAt, entries: dead.waiting.slice(0, 2), traceparent: undefined }]
        })])
        const { destinations: [destination] } = yield* eventually(claim(tenantId), ({ destinations }) => destinations.length > 0)
        assert.isAbove(destination!.token, dead.token)
        assert.deepStrictEqual(orderOf(destination!), ["T/1"])
        const [orphan] = destination!.due
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
        const { destinations } = yield* claim(tenantId, { leaseMillis: 100 })
        const kept = destinations.find((destination) => destination.destinationId === idOf(1))!
        assert.deepStrictEqual([...yield* queue.heartbeat(tenantId, [kept, { destinationId: idOf(2), token: -1 }, { destinationId: idOf(99), token: 1 }], 600_000)], [idOf(1)])
        const after = yield* eventually(claim(tenantId), (claimed) => claimed.destinations.length > 0)
        assert.deepStrictEqual(after.destinations.map((destination) => destination.destinationId), [idOf(2)])
        assert.deepStrictEqual([...yield* queue.heartbeat(tenantId, destinations, 60_000)], [idOf(1)])
      }))

    it.effect("holds what comes for a paused destination, and has it due once it is active", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        for (const state of ["paused", "inactive"] as const) {
          const tenantId = freshTenant()
          yield* seed(tenantId, { S: 1 }, { state })
          assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
          yield* publish(tenantId, [{ shipmentId: "S" }])
          assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
          yield* queue.changeDestination(tenantId, destinationSettings({ state: "active" }))
          assert.isTrue(yield* hasTurn(tenantId))
          assert.deepStrictEqual(orderOf(yield* claimOne(tenantId)), ["S/1", "S/2"])
        }
      }))

    it.effect("shows what was changed with the next claim, and keeps what a destination was opened for", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const policy = { maxAttempts: 2, initialBackoffSeconds: 3, maxBackoffSeconds: 4, batchMaxSize: 5, rateLimitPerMinute: 6 }
        const changed = { ...destinationSettings({ endpointUrl: "https://other.example/" }), hmacSecretId: "other", policy }
        yield* queue.changeDestination(tenantId, { ...changed, envelope: { open: "<", close: ">" }, source: "elsewhere", signing: "whenRegistered", whenDead: "pause" })
        const destination = yield* claimOne(tenantId)
        assert.deepStrictEqual([destination.endpointUrl, destination.hmacSecretId, destination.policy], ["https://other.example/", "other", policy])
        assert.deepStrictEqual([destination.envelope, destination.signing, destination.whenDead], [destinationSettings().envelope, "required", "goOn"])
        assert.deepStrictEqual(orderOf(destination), ["S/1"])
      }))

    it.effect("hands out with a destination whether it must be signed, and what a dead letter means for it", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const settings = [["required", "goOn"], ["required", "pause"], ["whenRegistered", "goOn"], ["whenRegistered", "pause"]] as const
        yield* letSee(tenantId, "client", ["A"])
        for (const [at, [signing, whenDead]] of settings.entries()) {
          const destination = { ...destinationSettings({ n: at + 1, state: "paused" }), signing, whenDead }
          yield* queue.openDestination(tenantId, destination)
          yield* queue.changeDestination(tenantId, { ...destination, state: "active" })
        }
        const { destinations } = yield* claim(tenantId)
        const handedOut = destinations.toSorted((a, b) => a.destinationId < b.destinationId ? -1 : 1).map(({ signing, whenDead }) => [signing, whenDead])
        assert.deepStrictEqual(handedOut, settings.map((each) => [...each]))
      }))

    it.effect("says since when a destination is in its state, and why when the engine put it there", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const status = Effect.map(queue.destinationStatus(tenantId, idOf(1)), Option.getOrThrow)
        yield* seed(tenantId, { S: 1 })
        const opened = yield* status
        assert.deepStrictEqual([opened.state, opened.reason], ["active", undefined])
        const destination = yield* claimOne(tenantId)
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination, { pause: "The receiver answered 410 Gone." })] })
        const paused = yield* status
        assert.deepStrictEqual([paused.state, paused.reason], ["paused", "The receiver answered 410 Gone."])
        assert.isAtLeast(paused.since, opened.since)
        yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused", endpointUrl: "https://other.example/" }))
        assert.deepStrictEqual(yield* status, paused)
        yield* queue.changeDestination(tenantId, destinationSettings({ state: "inactive" }))
        assert.deepStrictEqual([(yield* status).state, (yield* status).reason], ["inactive", undefined])
      }))

    it.effect("counts the live destinations of a client by source, and those of the tenant", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const transaction = yield* Transaction
        const tenantId = freshTenant()
        const open = (n: number, client: string, source = "transit-events") => queue.openDestination(tenantId, { ...destinationSettings({ n, client }), source })
        assert.deepStrictEqual([yield* open(1, "one"), yield* open(2, "one"), yield* open(3, "other"), yield* open(4, "one", "shipment-status")], [1, 2, 1, 1])
        assert.strictEqual(yield* queue.countDestinations(tenantId, 1_000_000), 4)
        yield* queue.closeDestination(tenantId, idOf(1))
        yield* queue.closeDestination(tenantId, idOf(1))
        yield* queue.closeDestination(tenantId, idOf(9))
        assert.strictEqual(yield* queue.countDestinations(tenantId, 1), 3)
        assert.strictEqual(yield* open(5, "one"), 2)
        yield* Effect.ignore(transaction.run(Effect.andThen(open(6, "one"), Effect.fail("rolled back"))))
        assert.strictEqual(yield* open(7, "one"), 3)
        assert.strictEqual(yield* queue.countDestinations(tenantId, 5), 5)
        assert.strictEqual(yield* queue.countDestinations(freshTenant(), 1_000_000), 0)
      }))

    it.effect("gives the last place of a client or tenant to one of those who ask at once", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const transaction = yield* Transaction
        const places = 3
        const within = (tenantId: string, n: number, client: string) =>
          Effect.exit(transaction.run(Effect.gen(function*() {
            const ofClient = yield* queue.openDestination(tenantId, destinationSettings({ n, client }))
            yield* Effect.yieldNow
            const ofTenant = yield* queue.countDestinations(tenantId, places)
            if (Math.max(ofClient, ofTenant) > places) return yield* Effect.fail("no place")
          })))
        for (const clientOf of [() => "one", (n: number) => `client ${n}`]) {
          const tenantId = freshTenant()
          const tried = yield* Effect.all(Array.from({ length: 8 }, (_, at) => within(tenantId, at + 1, clientOf(at))), { concurrency: "unbounded" })
          assert.lengthOf(tried.filter(Exit.isSuccess), places)
          assert.strictEqual(yield* queue.countDestinations(tenantId, places), places)
        }
      }))

    it.effect("knows no state of destinations that are not there", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        assert.isTrue(Option.isNone(yield* queue.destinationStatus(tenantId, idOf(1))))
        yield* seed(tenantId, {})
        yield* queue.closeDestination(tenantId, idOf(1))
        assert.isTrue(Option.isNone(yield* queue.destinationStatus(tenantId, idOf(1))))
        yield* queue.changeDestination(tenantId, destinationSettings())
        yield* queue.closeDestination(tenantId, idOf(1))
        assert.isTrue(Option.isNone(yield* queue.destinationStatus(tenantId, idOf(1))))
      }))

    it.effect("leaves a resumed destination to whoever holds it, and has it due when it is given back", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const destination = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(destination, {
          fresh: [{ deliveryId: idOf(101), sentAt: occurredAt, entries: destination.waiting.slice(0, 1), traceparent: undefined }]
        })])
        yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
        yield* queue.changeDestination(tenantId, destinationSettings({ state: "active" }))
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        const due = yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101))], destinations: [releaseOf(destination, { progress: false })] })
        assert.isTrue(due)
        assert.deepStrictEqual(orderOf(yield* claimOne(tenantId)), ["T/1"])
      }))

    it.effect("lets attempts of a destination that is paused meanwhile end as they end", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const destination = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(destination, {
          fresh: [{ deliveryId: idOf(101), sentAt: occurredAt, entries: destination.waiting.slice(0, 1), traceparent: undefined }]
        })])
        yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
        assert.deepStrictEqual((yield* claim(tenantId, { refill: [destination] })).destinations, [])
        const due = yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101))], destinations: [releaseOf(destination)] })
        assert.isFalse(due)
        assert.strictEqual(Option.getOrThrow(yield* queue.find(tenantId, idOf(101))).state, "delivered")
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        yield* queue.changeDestination(tenantId, destinationSettings({ state: "active" }))
        assert.deepStrictEqual(orderOf(yield* claimOne(tenantId)), ["T/1"])
      }))

    it.effect("forgets the breaker when the destination gets another address, and only then", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const open = { failures: 5, openUntil: occurredAt + 0.5 }
        let destination = yield* claimOne(tenantId)
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination, { breaker: open })] })
        yield* queue.changeDestination(tenantId, destinationSettings({ policy: { maxAttempts: 2 } }))
        destination = yield* claimOne(tenantId)
        assert.deepStrictEqual(destination.breaker, open)
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination, { breaker: open })] })
        yield* queue.changeDestination(tenantId, destinationSettings({ endpointUrl: "https://other.example/" }))
        assert.deepStrictEqual((yield* claimOne(tenantId)).breaker, { failures: 0, openUntil: undefined })
      }))

    it.effect("names tenants with something due, and says when the next destination will be", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const { arrived, due } = yield* queue.tenantsDue(1)
        assert.isAtMost(Math.max(arrived.length, due.length), 1)
        assert.isAtLeast(arrived.length + due.length, 1)
        const destination = yield* claimOne(tenantId, { leaseMillis: 60_000 })
        const { nextDueInMillis } = yield* queue.tenantsDue(100_000)
        assert.isAtMost(nextDueInMillis!, 60_000)
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination, { notBeforeMillis: 40_000 })] })
        assert.isFalse(yield* hasTurn(tenantId))
        assert.isAtMost((yield* queue.tenantsDue(100_000)).nextDueInMillis!, 40_000)
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
      }))

    it.effect("drops what waits in a destination that is closed, cancels what has not ended, and keeps the rest to be seen", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 1, C: 1, D: 1 })
        const destination = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(destination, {
          fresh: [0, 1, 2].map((n) => ({ deliveryId: idOf(101 + n), sentAt: occurredAt, entries: [destination.waiting[n]!], traceparent: undefined }))
        })])
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(destination, idOf(101)), settlementOf(destination, idOf(102), { state: "waiting" })],
          destinations: []
        })
        yield* queue.closeDestination(tenantId, idOf(1))
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(103))], destinations: [releaseOf(destination)] })
        const listed = yield* queue.list(tenantId, { state: undefined, destinationId: idOf(1), since: undefined, order: "oldest", after: undefined, limit: 10 })
        assert.deepStrictEqual(listed.map((each) => [each.state, each.attempts.length, each.settledAt !== undefined, each.dueAt]), [
          ["delivered", 1, true, undefined],
          ["cancelled", 1, true, undefined],
          ["cancelled", 1, true, undefined]
        ])
        assert.strictEqual(Option.getOrThrow(yield* queue.find(tenantId, idOf(103))).endpointUrl, "https://receiver.example/hook")
        assert.isFalse(yield* hasTurn(tenantId))
        assert.deepStrictEqual((yield* claim(tenantId, { refill: [destination] })).destinations, [])
        assert.deepStrictEqual([...yield* queue.freeze(tenantId, [freezeOf(destination, { rateMark: 1 })])], [])
        assert.deepStrictEqual([...yield* queue.heartbeat(tenantId, [destination], 1000)], [])
      }))

    it.effect("keeps tenants apart, whatever ids they share", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const [one, other] = [freshTenant(), freshTenant()]
        yield* seed(one, { S: 2 })
        yield* seed(other, {})
        assert.deepStrictEqual((yield* claim(other)).destinations, [])
        const destination = yield* claimOne(one)
        assert.deepStrictEqual((yield* claim(other, { refill: [destination] })).destinations, [])
        assert.deepStrictEqual([...yield* queue.heartbeat(other, [destination], 1)], [])
        assert.deepStrictEqual([...yield* queue.freeze(other, [freezeOf(destination, { rateMark: 5 })])], [])
        yield* queue.freeze(one, [freezeOf(destination, { deliveryId: idOf(101) })])
        yield* queue.settle(other, { deliveries: [settlementOf(destination, idOf(101))], destinations: [releaseOf(destination, { pause: "other" })] })
        yield* queue.changeDestination(other, destinationSettings({ state: "paused" }))
        assert.isTrue(Option.isNone(yield* queue.find(other, idOf(101))))
        assert.isTrue(Option.isNone(yield* queue.retry(other, idOf(101))))
        assert.deepStrictEqual(yield* queue.list(other, { state: undefined, destinationId: undefined, since: undefined, order: "oldest", after: undefined, limit: 10 }), [])
        yield* queue.closeDestination(other, idOf(1))
        assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(one, idOf(1))).state, "active")
        yield* queue.settle(one, { deliveries: [settlementOf(destination, idOf(101), { state: "dead" })], destinations: [releaseOf(destination)] })
        assert.strictEqual(yield* queue.recover(other, idOf(1), 0), 0)
        assert.strictEqual(yield* queue.prune(other, Number.MAX_SAFE_INTEGER / 4), 0)
        const detail = Option.getOrThrow(yield* queue.find(one, idOf(101)))
        assert.deepStrictEqual([detail.state, detail.attempts.length], ["dead", 1])
      }))
  })
