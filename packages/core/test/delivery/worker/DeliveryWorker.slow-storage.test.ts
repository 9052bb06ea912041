import { assert, describe, it } from "@effect/vitest"
import { settledWithout } from "@waybill/conformance/fixtures"
import { Deliveries, partitionOf, type TakeRequest, wrapCalls } from "@waybill/core/delivery"
import { TransitEvents, TransitSubscriptions } from "@waybill/core/transit-events"
import { Receiver, reportedEvent, ScriptedReceivers, type SeededTenant, type StoreCall, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import * as Clock from "effect/Clock"
import { clockAhead, workerOver } from "../Engine.ts"

const endpointUrl = "https://customer.example/hook"

/** A worker whose takes respond this long after they have run. */
const slowWorker = (millis: () => number) =>
  workerOver((store) => ({ take: (request) => Effect.tap(store.take(request), () => Effect.sleep(millis())) }))

/** A worker whose takes from these destinations respond five seconds after they have run. */
const slowTakesFrom = (ids: ReadonlyArray<string>) =>
  workerOver((store) => ({
    take: (request) => Effect.tap(store.take(request), () => request.from.some(({ destinationId }) => ids.includes(destinationId)) ? Effect.sleep(5_000) : Effect.void)
  }))

const publish = (tenant: SeededTenant, shipmentId: string, number: number) =>
  Effect.flatMap(TransitEvents, (events) =>
    Effect.orDie(events.append(tenant.carrier, [reportedEvent(shipmentId, { eventId: `${shipmentId}/${number}`, accounts: ["A"] })])))

const healthy = "https://healthy.example/hook"

const delivered = Effect.flatMap(ScriptedReceivers, (receivers) =>
  Effect.map(receivers.deliveredEvents(endpointUrl), (events) => events.map(({ eventId }) => eventId)))

/** Publishes for another customer while the take of the first event lasts five seconds. */
const goesPast = (tenant: SeededTenant) =>
  Effect.gen(function*() {
    const events = yield* TransitEvents
    const receivers = yield* ScriptedReceivers
    yield* Effect.orDie(events.append(tenant.carrier, [reportedEvent("T", { accounts: ["B"] })]))
    yield* TestWaybill.pass(100)
    assert.lengthOf(yield* receivers.delivered(healthy), 1)
    assert.deepStrictEqual(yield* delivered, [])
    yield* TestWaybill.pass(5_000)
    assert.deepStrictEqual(yield* delivered, ["S/1"])
  })

describe("a worker whose storage is slow", () => {
  it.effect("sends entries that an outcome unblocked during a take", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
    yield* receivers.script(endpointUrl, Receiver.delay(200))
    yield* slowWorker(() => 100)
    yield* publish(tenant, "S", 1)
    yield* TestWaybill.pass(150)
    // from now on the attempt in flight blocks S, and the next take finds nothing to send
    yield* publish(tenant, "S", 2)
    for (let millis = 0; millis < 10_000; millis += 10) yield* TestWaybill.pass(10)
    assert.deepStrictEqual(yield* delivered, ["S/1", "S/2"])
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("sends rate-limited entries when the take lasted longer than the wait", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { rateLimitPerMinute: 1 } })
    let slowness = 0
    yield* slowWorker(() => slowness)
    yield* publish(tenant, "S", 1)
    yield* TestWaybill.pass(1_000)
    slowness = 61_000
    yield* publish(tenant, "T", 1)
    yield* TestWaybill.pass(62_000)
    slowness = 0
    yield* TestWaybill.pass("5 minutes")
    assert.deepStrictEqual(yield* delivered, ["S/1", "T/1"])
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { leaseMillis: 600_000 } }))))

  it.effect("sends new entries while a take of due retries is pending", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { initialBackoffSeconds: 1 } })
    yield* TestWaybill.subscribe(tenant, tenant.customer("other", ["B"]), { endpointUrl: healthy })
    yield* receivers.script(endpointUrl, [Receiver.fail(503), Receiver.accept()])
    const sendsAgain = ({ from }: TakeRequest) => from.some(({ again }) => again.length > 0)
    let retries = 0
    yield* workerOver((store) => ({
      take: (request) =>
        Effect.tap(store.take(request), () => {
          if (!sendsAgain(request)) return Effect.void
          retries += 1
          return Effect.sleep(5_000)
        })
    }))
    yield* publish(tenant, "S", 1)
    yield* TestWaybill.pass(2_000)
    assert.strictEqual(retries, 1, "the retry is taken, and its take is pending")
    yield* goesPast(tenant)
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("sends new entries while a take from the destinations that signals named is pending", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const events = yield* TransitEvents
    const receivers = yield* ScriptedReceivers
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
    yield* TestWaybill.subscribe(tenant, tenant.customer("other", ["B"]), { endpointUrl: healthy })
    yield* receivers.script(endpointUrl, [Receiver.delay(8_000), Receiver.accept()])
    let slowness = 0
    yield* workerOver((store) => ({ take: (request) => Effect.tap(store.take(request), () => slowness > 0 && request.from.length > 0 ? Effect.sleep(slowness) : Effect.void) }))
    // while an attempt is in flight, no take returns other deliveries of its destination unless it names the destination
    yield* publish(tenant, "R", 1)
    yield* TestWaybill.pass(1_000)
    slowness = 5_000
    yield* publish(tenant, "S", 1)
    yield* TestWaybill.pass(100)
    yield* Effect.orDie(events.append(tenant.carrier, [reportedEvent("T", { accounts: ["B"] })]))
    yield* TestWaybill.pass(100)
    const others = yield* receivers.delivered(healthy)
    yield* TestWaybill.pass(10_000)
    assert.lengthOf(others, 1)
    assert.deepStrictEqual(yield* delivered, ["S/1", "R/1"])
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("sends entries of another tenant while all takes from destinations that signals of one name are slow", Effect.fnUntraced(function*() {
    const [tenant, another] = [yield* TestWaybill.tenant(), yield* TestWaybill.tenant("another")]
    const receivers = yield* ScriptedReceivers
    yield* receivers.script(endpointUrl, Receiver.delay(10_000))
    const accounts = Array.from({ length: 8 }, (_, n) => `A${n}`)
    for (const account of accounts) yield* TestWaybill.subscribe(tenant, tenant.customer(account, [account]), { endpointUrl })
    yield* TestWaybill.subscribe(another, another.customer("other", ["A"]), { endpointUrl: healthy })
    let slowness = 0
    yield* workerOver((store) => ({
      take: (request) => Effect.tap(store.take(request), () => slowness > 0 && request.tenantId === tenant.tenantId && request.from.length > 0 ? Effect.sleep(slowness) : Effect.void)
    }))
    const publishTo = (account: string) =>
      Effect.flatMap(TransitEvents, (events) => Effect.orDie(events.append(tenant.carrier, [reportedEvent(`${account}-${slowness}`, { accounts: [account] })])))
    for (const account of accounts) yield* publishTo(account)
    yield* TestWaybill.pass(1_000)
    slowness = 5_000
    for (const account of accounts) {
      yield* publishTo(account)
      yield* TestWaybill.pass(10)
    }
    yield* publish(another, "T", 1)
    yield* TestWaybill.pass(100)
    const others = yield* receivers.delivered(healthy)
    yield* TestWaybill.pass("2 minutes")
    assert.lengthOf(others, 1)
    assert.lengthOf(yield* delivered, 16)
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("sends new entries while a take from destinations with large batches is pending", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const large = { batchMaxSize: 200 }
    const slow: Array<string> = []
    for (const client of ["shipper", "second"]) {
      const url = client === "shipper" ? endpointUrl : `${endpointUrl}/second`
      slow.push((yield* TestWaybill.subscribe(tenant, tenant.customer(client, ["A"]), { endpointUrl: url, delivery: large })).id)
    }
    yield* TestWaybill.subscribe(tenant, tenant.customer("other", ["B"]), { endpointUrl: healthy, delivery: large })
    yield* slowTakesFrom(slow)
    yield* publish(tenant, "S", 1)
    yield* TestWaybill.pass(1_000)
    yield* goesPast(tenant)
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { maxBytesInFlight: 1024 * 1024 } }))))

  it.effect("sends new entries while a take of a large backlog is pending", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { batchMaxSize: 1, rateLimitPerMinute: 60_000 } })
    yield* TestWaybill.subscribe(tenant, tenant.customer("other", ["B"]), { endpointUrl: healthy })
    const isLarge = ({ from }: TakeRequest) => from.some(({ batches }) => batches > 20)
    let isSlow = false
    yield* workerOver((store) => ({
      take: (request) =>
        Effect.tap(store.take(request), () => {
          if (!isSlow || !isLarge(request)) return Effect.void
          isSlow = false
          return Effect.sleep(5_000)
        })
    }))
    // the window grows with every accepted delivery
    for (let number = 0; number < 40; number++) yield* publish(tenant, `early ${number}`, 1)
    yield* TestWaybill.pass(1_000)
    assert.lengthOf(yield* delivered, 40)
    isSlow = true
    for (let number = 0; number < 40; number++) yield* publish(tenant, `S${number}`, 1)
    yield* TestWaybill.pass(100)
    const during = (yield* delivered).length
    yield* Effect.flatMap(TransitEvents, (events) => Effect.orDie(events.append(tenant.carrier, [reportedEvent("T", { accounts: ["B"] })])))
    yield* TestWaybill.pass(100)
    assert.lengthOf(yield* (yield* ScriptedReceivers).delivered(healthy), 1)
    assert.lengthOf(yield* delivered, during)
    yield* TestWaybill.pass(5_000)
    assert.lengthOf(yield* delivered, 80)
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { concurrency: 512, destinationConcurrency: 64 } }))))

  it.effect("takes again while the attempts of the take before begin", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    yield* Effect.forEach(Array.from({ length: 700 }, (_, n) => tenant.customer(`client ${n}`, ["A"])), (customer) =>
      TestWaybill.subscribe(tenant, customer, { endpointUrl, delivery: { batchMaxSize: 1 } }))
    yield* publish(tenant, "S", 1)
    let taken = 0
    /** Deliveries whose attempts have not begun, at each large take. */
    const behind: Array<number> = []
    yield* workerOver((store) => ({
      take: (request) =>
        Effect.gen(function*() {
          if (request.from.length > 100) behind.push(taken - (yield* receivers.requests(endpointUrl)).length)
          const answer = yield* store.take(request)
          taken += answer.deliveries.length
          return answer
        })
    }))
    yield* TestWaybill.pass(1_000)
    assert.lengthOf(yield* delivered, 700)
    // one of them beside a take of signals
    assert.isAbove(behind.filter((count) => count > 100).length, 1)
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("begins the attempt of a retry while hundreds of other attempts begin", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    const failing = yield* Effect.forEach(Array.from({ length: 140 }, (_, n) => tenant.customer(`client ${n}`, ["A"])), (customer) =>
      TestWaybill.subscribe(tenant, customer, { endpointUrl, delivery: { batchMaxSize: 1, initialBackoffSeconds: 1 } }))
    yield* TestWaybill.subscribe(tenant, tenant.customer("other", ["B"]), { endpointUrl: healthy, delivery: { initialBackoffSeconds: 15 } })
    yield* receivers.script(endpointUrl, [...failing.map(() => Receiver.fail(503)), Receiver.accept()])
    yield* receivers.script(healthy, [Receiver.fail(503), Receiver.accept()])
    // the first take has the retries that are due first, the second one nearly all others; that of the other customer becomes due during the second one
    const sendsAgain = ({ from }: TakeRequest) => from.filter(({ again }) => again.length > 0).length > 1
    yield* workerOver((store) => ({ take: (request) => Effect.tap(store.take(request), () => sendsAgain(request) ? Effect.sleep(10_000) : Effect.void) }))
    yield* publish(tenant, "S", 1)
    yield* Effect.flatMap(TransitEvents, (events) => Effect.orDie(events.append(tenant.carrier, [reportedEvent("T", { accounts: ["B"] })])))
    yield* TestWaybill.pass(60_000)
    const urls = (yield* receivers.requests()).map(({ url }) => url)
    assert.lengthOf(urls, 282)
    // the last 135 or more belong to one take, after which it would be; which turns of the event loop they need depends on the machine
    assert.isBelow(urls.lastIndexOf(healthy), 250)
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("takes at once what one call published for a hundred customers", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const accounts = Array.from({ length: 100 }, (_, n) => `A${n}`)
    for (const account of accounts) yield* TestWaybill.subscribe(tenant, tenant.customer(account, [account]), { endpointUrl })
    const taken: Array<number> = []
    yield* workerOver((store) => ({ take: (request) => Effect.tap(store.take(request), ({ deliveries }) => Effect.sync(() => taken.push(deliveries.length))) }))
    const events = yield* TransitEvents
    for (const call of ["first", "second"]) {
      taken.length = 0
      yield* Effect.orDie(events.append(tenant.carrier, accounts.map((account) => reportedEvent(`${call} ${account}`, { accounts: [account] }))))
      yield* TestWaybill.pass(1_000)
    }
    assert.lengthOf(yield* delivered, 200)
    assert.deepStrictEqual(taken.filter((deliveries) => deliveries > 0), [100])
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("takes about a thousand events at once from a destination with many, and nothing from others", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { batchMaxSize: 100, rateLimitPerMinute: 60_000 } })
    yield* TestWaybill.subscribe(tenant, tenant.customer("other", ["B"]), { endpointUrl: healthy })
    const asked: Array<{ readonly destinations: number; readonly events: number; readonly signals: number }> = []
    yield* workerOver((store) => ({
      take: (request) =>
        Effect.tap(store.take(request), ({ deliveries }) =>
          Effect.sync(() => asked.push({ destinations: request.from.length, events: deliveries.reduce((sum, { events }) => sum + events, 0), signals: request.signals })))
    }))
    const events = yield* TransitEvents
    const publishMany = (first: number, count: number) =>
      Effect.orDie(events.append(tenant.carrier, Array.from({ length: count }, (_, n) => reportedEvent(`S${first + n}`, { accounts: ["A"] }))))
    // the window grows with every accepted delivery
    for (let round = 0; round < 20; round++) {
      yield* publishMany(round * 200, 200)
      yield* TestWaybill.pass(1_000)
    }
    asked.length = 0
    for (let round = 20; round < 26; round++) yield* publishMany(round * 1_000, 1_000)
    yield* Effect.orDie(events.append(tenant.carrier, [reportedEvent("T", { accounts: ["B"] })]))
    yield* TestWaybill.pass(5_000)
    assert.lengthOf(yield* (yield* ScriptedReceivers).delivered(healthy), 1)
    assert.lengthOf(yield* delivered, 20 * 200 + 6_000)
    const large = asked.filter((each) => each.events > 200)
    assert.isNotEmpty(large)
    for (const { destinations, events: taken, signals } of large) assert.deepStrictEqual([destinations, signals, taken <= 1_100], [1, 0, true])
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { concurrency: 512, destinationConcurrency: 64 } }))))

  it.effect("sends what it took of a destination that was idle while others of the take are loaded", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    const idle = yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
    /** A subscription in the same partition. */
    const besides = Effect.fnUntraced(function*(name: string, url: string, delivery = {}) {
      for (let n = 0;; n++) {
        const { id } = yield* TestWaybill.subscribe(tenant, tenant.customer(`${name} ${n}`, [`${name} ${n}`]), { endpointUrl: url, delivery })
        if (partitionOf(id) === partitionOf(idle.id)) return `${name} ${n}`
      }
    })
    const publishTo = (...accounts: ReadonlyArray<string>) =>
      Effect.flatMap(TransitEvents, (events) => Effect.orDie(events.append(tenant.carrier, [reportedEvent(accounts.join(), { accounts })])))
    let slowness = 0
    yield* workerOver((store) => ({ load: (...request) => Effect.tap(store.load(...request), () => Effect.sleep(slowness)) }))
    // its retry keeps the partition owned
    yield* receivers.script(`${endpointUrl}/failing`, Receiver.fail(503))
    yield* publishTo(yield* besides("failing", `${endpointUrl}/failing`, { initialBackoffSeconds: 3_600 }))
    yield* publishTo("A")
    // just before an idle destination is forgotten
    yield* TestWaybill.pass("14 minutes")
    yield* TestWaybill.pass("59 seconds")
    slowness = 8_000
    yield* publishTo("A", yield* besides("unknown", healthy))
    yield* TestWaybill.pass(10_000)
    assert.lengthOf(yield* receivers.deliveredEvents(healthy), 1)
    assert.lengthOf(yield* delivered, 2)
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("gives no partition to another worker while the answer of a take may name its deliveries", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const accounts = Array.from({ length: 32 }, (_, n) => `${n}`)
    for (const account of accounts) yield* TestWaybill.subscribe(tenant, tenant.customer(account, [account]), { endpointUrl })
    const publishToAll = Effect.flatMap(TransitEvents, (events) =>
      Effect.orDie(events.append(tenant.carrier, accounts.map((account) => reportedEvent(account, { accounts: [account] })))))
    let slowness = 0
    let released = 0
    yield* workerOver((store) => ({
      take: (request) => Effect.tap(store.take(request), () => Effect.sleep(slowness)),
      release: (...partitions) => Effect.suspend(() => (released += 1, store.release(...partitions)))
    }))
    yield* publishToAll
    yield* TestWaybill.pass("1 second")
    slowness = 9_000
    yield* publishToAll
    yield* TestWaybill.pass(100)
    yield* workerOver(() => ({}))
    yield* TestWaybill.pass("1 minute")
    assert.isAtLeast(released, 1)
    const attempts = (yield* (yield* Deliveries).list(tenant.tenantId, {})).data.map(({ attempts }) => attempts.map(({ attempt }) => attempt))
    assert.deepStrictEqual(attempts, Array.from({ length: 2 * accounts.length }, () => [1]))
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("times out calls without a response, and continues", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
    const silent = new Set<StoreCall>()
    yield* workerOver((store) => wrapCalls(store, (call, answer) => Effect.suspend(() => silent.delete(call) ? Effect.never : answer)))
    const expected: Array<string> = []
    for (const [number, call] of (["look", "acquire", "load", "take", "settle", "renew"] as const).entries()) {
      silent.add(call)
      yield* publish(tenant, `S${number}`, 1)
      expected.push(`S${number}/1`)
      // half a lease, the rest of the lease, and the pauses between
      yield* TestWaybill.pass("1 minute")
      assert.deepStrictEqual(yield* delivered, expected, call)
    }
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("sends to others while a transaction has locked a destination, and writes its outcomes afterwards", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    const { id } = yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { batchMaxSize: 1, initialBackoffSeconds: 1 } })
    yield* TestWaybill.subscribe(tenant, tenant.customer("another", ["A"]), { endpointUrl: healthy })
    yield* receivers.script(endpointUrl, [Receiver.fail(503), Receiver.accept()])
    let isLocked = true
    yield* workerOver((store) => ({ settle: (request) => isLocked ? Effect.map(store.settle(settledWithout(request, id)), (answer) => ({ ...answer, locked: [id] })) : store.settle(request) }))
    for (let number = 1; number <= 20; number++) {
      yield* publish(tenant, "S", number)
      yield* TestWaybill.pass("1 second")
      assert.lengthOf(yield* receivers.deliveredEvents(healthy), number)
    }
    assert.deepStrictEqual([(yield* receivers.requests(endpointUrl)).length, yield* delivered], [1, []])
    isLocked = false
    yield* TestWaybill.pass("30 seconds")
    assert.deepStrictEqual(yield* delivered, Array.from({ length: 20 }, (_, n) => `S/${n + 1}`))
    const states = yield* Effect.flatMap(Deliveries, (deliveries) => Effect.orDie(deliveries.list(tenant.tenantId, { subscriptionId: id })))
    assert.deepStrictEqual(new Set(states.data.map(({ state }) => state)), new Set(["delivered"]))
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("owns the partitions of other tenants while those of one cannot be acquired", Effect.fnUntraced(function*() {
    const stuck = yield* TestWaybill.tenant("a-stuck-one")
    const tenant = yield* TestWaybill.tenant()
    yield* TestWaybill.subscribe(stuck, stuck.customer("shipper", ["A"]), { endpointUrl: healthy })
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
    for (const each of [stuck, tenant]) yield* publish(each, "S", 1)
    let isStuck = true
    yield* workerOver((store) => ({ acquire: (worker, tenantId, partitions) => isStuck && tenantId === stuck.tenantId ? Effect.never : store.acquire(worker, tenantId, partitions) }))
    yield* TestWaybill.pass("2 seconds")
    assert.deepStrictEqual(yield* delivered, ["S/1"])
    isStuck = false
    yield* TestWaybill.pass("1 minute")
    assert.lengthOf(yield* (yield* ScriptedReceivers).deliveredEvents(healthy), 1)
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("loads a forgotten destination once for its next event, while other loops look for work", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
    yield* TestWaybill.subscribe(tenant, tenant.customer("other", ["B"]), { endpointUrl: healthy })
    let loads = 0
    yield* workerOver((store) => ({
      load: (tenantId, ids) =>
        Effect.suspend(() => {
          loads += 1
          return Effect.delay(store.load(tenantId, ids), 100)
        })
    }))
    // a take returns unrequested deliveries only while the worker knows a destination of their area
    const sendAgain = Effect.fnUntraced(function*(name: string) {
      for (let minute = 0; minute < 20; minute++) {
        yield* publish(tenant, `${name}-${minute}`, 1)
        yield* TestWaybill.pass("1 minute")
      }
      loads = 0
      yield* Effect.flatMap(TransitEvents, (events) => Effect.orDie(events.append(tenant.carrier, [reportedEvent(name, { accounts: ["B"] })])))
      yield* TestWaybill.pass("1 second")
      assert.strictEqual(loads, 1)
    })
    yield* sendAgain("T")
    yield* sendAgain("U")
    assert.lengthOf(yield* (yield* ScriptedReceivers).delivered(healthy), 2)
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("starts no attempts while storage is slow to write outcomes", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { batchMaxSize: 1 } })
    let written = 0
    const expected = Array.from({ length: 100 }, (_, number) => `S${number}/1`)
    for (const eventId of expected) yield* publish(tenant, eventId.slice(0, -2), 1)
    yield* workerOver((store) => ({
      settle: (request) =>
        Effect.andThen(Effect.sleep(3_000), store.settle(request)).pipe(
          Effect.tap(() => Effect.sync(() => {
            written += request.outcomes.length
          }))
        )
    }))
    for (let second = 0; second < 120; second++) {
      yield* TestWaybill.pass("1 second")
      assert.isAtMost((yield* delivered).length - written, 20)
    }
    assert.sameMembers([...yield* delivered], expected)
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { concurrency: 10, destinationConcurrency: 10 } }))))

  for (const millis of [-330_000, 330_000]) {
    it.effect(`uses the store's clock for timestamps, ${millis / 1000} seconds off its own`, Effect.fnUntraced(function*() {
      const tenant = yield* TestWaybill.tenant()
      const receivers = yield* ScriptedReceivers
      yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
      yield* receivers.script(endpointUrl, [Receiver.fail(503), Receiver.accept()])
      const own = yield* Clock.clockWith(Effect.succeed)
      yield* workerOver((store) => wrapCalls(store, (_, answer) => Effect.provideService(answer, Clock.Clock, clockAhead(own, () => millis))))
      yield* publish(tenant, "S", 1)
      yield* TestWaybill.pass("1 minute")
      const requests = yield* receivers.requests(endpointUrl)
      assert.deepStrictEqual(
        requests.map(({ headers }) => Number(headers["webhook-timestamp"])),
        requests.map(({ at }) => Math.floor((at + millis) / 1000))
      )
      assert.lengthOf(requests, 2)
    }, Effect.scoped, Effect.provide(TestWaybill.layer())))
  }

  it.effect("writes a pause with the outcome that caused it, if another attempt ends before the write begins", Effect.fnUntraced(function*() {
    const events = yield* TransitEvents
    const receivers = yield* ScriptedReceivers
    const subscriptions = yield* TransitSubscriptions
    const tenants = yield* Effect.forEach(["a", "b", "c", "d", "e", "f"], TestWaybill.tenant)
    yield* receivers.script(healthy, Receiver.delay(100))
    for (const tenant of tenants) yield* TestWaybill.subscribe(tenant, tenant.customer("other", ["A"]), { endpointUrl: healthy })
    const closed = yield* TestWaybill.tenant("closed")
    const customer = closed.customer("shipper", ["A"])
    const { id } = yield* TestWaybill.subscribe(closed, customer, { endpointUrl, delivery: { batchMaxSize: 1 } })
    yield* receivers.script(endpointUrl, [Receiver.delay(100, Receiver.gone), Receiver.delay(7_000, Receiver.gone)])
    // the outcomes of four tenants are written at a time: those of the first one from 100 ms on, of the next four from 5,100, of the others from 10,100
    yield* workerOver((store) => ({ settle: (request) => Effect.tap(store.settle(request), () => Effect.sleep(5_000)) }))
    for (const tenant of tenants) yield* publish(tenant, "S", 1)
    yield* Effect.orDie(events.append(closed.carrier, ["S", "T"].map((shipmentId) => reportedEvent(shipmentId, { accounts: ["A"] }))))
    yield* TestWaybill.pass("1 minute")
    assert.lengthOf(yield* receivers.requests(endpointUrl), 2)
    assert.strictEqual((yield* subscriptions.get(customer, id)).status, "paused")
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))
})
