/** Workers that share the partitions of one tenant: ownership when a worker starts, stops, crashes or sleeps. */
import { assert, describe, it } from "@effect/vitest"
import { lastWritesMillis, StorageError } from "@waybill/core"
import { type DeliveryOutcome, DeliveryStore, partitionOf, partitionsPerTenant, type SettleRequest, Wakeups, wrapCalls } from "@waybill/core/delivery"
import { TransitEvents } from "@waybill/core/transit-events"
import { Receiver, reportedEvent, StorageCrash, TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Latch } from "effect"
import * as Clock from "effect/Clock"
import { account, eventsOf, hook, inEngine, inEngineWith, makeEngine, outOfOrder, startEngine, storeCalls, workerOn } from "../Engine.ts"

/** The guaranteed maximum: a lease and five seconds. */
const takeover = 25_000

/** A tenant with at least `least` destinations, in every partition, which all receive every event. */
const makeTenantOf = Effect.fnUntraced(function*(least: number) {
  const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
  const urls: Array<string> = []
  const partitions: Array<number> = []
  while (new Set(partitions).size < partitionsPerTenant || urls.length < least) {
    const endpointUrl = `https://receiver-${urls.length}.example/`
    const { id } = yield* TestWaybill.subscribe(engine.tenant, engine.tenant.customer(`client ${urls.length}`, [account]), { endpointUrl, delivery: { batchMaxSize: 1 } })
    urls.push(endpointUrl)
    partitions.push(partitionOf(id))
  }
  let published = 0
  const publish = Effect.suspend(() => engine.publish(`S${published++ % 3}`))
  /** Asserts that every receiver got all events so far in order, once or at least once. */
  const arrived = Effect.fnUntraced(function*(how: "once" | "at least once") {
    for (const url of urls) {
      const names = yield* engine.delivered(url)
      assert.strictEqual(new Set(names).size, published, url)
      if (how === "once") assert.lengthOf(names, published)
      assert.deepStrictEqual(outOfOrder(names), [])
    }
  })
  return { ...engine, urls, partitions, publish, arrived }
})

const makeTenant = makeTenantOf(partitionsPerTenant)

/** A worker that records its partitions and can be killed. */
const startWorker = Effect.fnUntraced(function*(changes: (store: DeliveryStore["Service"]) => Partial<DeliveryStore["Service"]> = () => ({})) {
  const owned = new Set<number>()
  let isDead = false
  const died = new StorageError({ operation: "DeliveryStore", cause: "the process was killed" })
  const worker = yield* workerOn((store) => {
    const own = wrapCalls({ ...store, ...changes(store) }, (_, answer) => Effect.suspend(() => isDead ? Effect.fail(died) : answer))
    return {
      ...own,
      acquire: (who, tenantId, partitions) =>
        Effect.tap(own.acquire(who, tenantId, partitions), (acquired) => Effect.sync(() => {
          for (const { partition } of acquired.partitions) owned.add(partition)
        })),
      release: (tenantId, partitions, marks) =>
        Effect.tap(own.release(tenantId, partitions, marks), () => Effect.sync(() => {
          for (const { partition } of partitions) owned.delete(partition)
        }))
    }
  })
  const fiber = yield* Effect.forkScoped(worker.run)
  return {
    owned,
    stop: Fiber.interrupt(fiber),
    kill: Effect.sync(() => {
      isDead = true
      owned.clear()
    })
  }
})

type Worker = Effect.Success<ReturnType<typeof startWorker>>

const sharesOf = (workers: ReadonlyArray<Worker>): ReadonlyArray<number> => workers.map(({ owned }) => owned.size).toSorted((a, b) => b - a)

/** Publishes one event per second. */
const publishEverySecond = (publish: Effect.Effect<unknown, unknown>, seconds: number) =>
  Effect.forEach(Array.from({ length: seconds }), () => Effect.andThen(Effect.orDie(publish), TestWaybill.pass(1000)), { discard: true })

const options = { pollMillis: 1000, drainMillis: 0 }

/** A way to start workers, and for each running one whether it alone can serve a tenant now. */
const watchedWorkers = Effect.gen(function*() {
  const wakeups = yield* Wakeups
  const running = new Set<(tenantId: string) => Effect.Effect<boolean>>()
  const watching: Wakeups["Service"] = {
    ...wakeups,
    serve: (servesAlone) => Effect.asVoid(Effect.acquireRelease(Effect.sync(() => running.add(servesAlone)), () => Effect.sync(() => running.delete(servesAlone))))
  }
  return {
    start: Effect.provideService(startWorker(), Wakeups, watching),
    alone: (tenantId: string) => Effect.forEach(running, (servesAlone) => servesAlone(tenantId))
  }
})

describe("workers that share a tenant's partitions", () => {
  it.effect("one serves the tenant alone only while it owns all of them and its leases last", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { publish, tenant: { tenantId } } = yield* makeTenant
      const { alone, start } = yield* watchedWorkers
      const first = yield* start
      yield* publishEverySecond(publish, 5)
      assert.deepStrictEqual(yield* alone(tenantId), [true])
      assert.deepStrictEqual(yield* alone("another tenant"), [false])
      const second = yield* start
      yield* publishEverySecond(publish, 25)
      assert.deepStrictEqual(yield* alone(tenantId), [false, false])
      yield* second.stop
      yield* publishEverySecond(publish, 25)
      assert.deepStrictEqual(yield* alone(tenantId), [true])
      yield* first.kill
      yield* TestWaybill.pass(takeover)
      assert.deepStrictEqual(yield* alone(tenantId), [false])
    }))), 60_000)

  it.effect("own equal numbers under load while one becomes eight and eight become one, and send nothing twice", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { arrived, publish } = yield* makeTenant
      const workers: Array<Worker> = []
      for (const count of [1, 2, 4, 8]) {
        while (workers.length < count) workers.push(yield* startWorker())
        yield* publishEverySecond(publish, 25)
        assert.deepStrictEqual(sharesOf(workers), Array.from({ length: count }, () => partitionsPerTenant / count))
      }
      for (const count of [4, 2, 1]) {
        while (workers.length > count) yield* workers.pop()!.stop
        yield* publishEverySecond(publish, 25)
        assert.deepStrictEqual(sharesOf(workers), Array.from({ length: count }, () => partitionsPerTenant / count))
      }
      yield* arrived("once")
    }))), 30_000)

  it.effect("own each partition once and at most their share, if the number is not divisible", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { arrived, publish } = yield* makeTenant
      const workers: Array<Worker> = []
      for (const count of [3, 5, 6, 7]) {
        while (workers.length < count) workers.push(yield* startWorker())
        yield* publishEverySecond(publish, 25)
        const shares = sharesOf(workers)
        assert.strictEqual(shares.reduce((sum, each) => sum + each, 0), partitionsPerTenant)
        assert.isAtMost(shares[0]!, Math.ceil(partitionsPerTenant / count))
      }
      yield* arrived("once")
    }))), 30_000)

  it.effect("give a new worker its share within one renewal", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { publish } = yield* makeTenant
      const first = yield* startWorker()
      yield* publishEverySecond(publish, 10)
      assert.strictEqual(first.owned.size, partitionsPerTenant)
      const second = yield* startWorker()
      yield* publishEverySecond(publish, 8)
      assert.deepStrictEqual([first.owned.size, second.owned.size], [4, 4])
    }))))

  it.effect("give a new worker its share while takes of the other partitions never pause", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { publish } = yield* makeTenant
      let pending = 0
      const first = yield* startWorker((store) => ({
        take: (request) => Effect.suspend(() => {
          pending += 1
          return Effect.ensuring(Effect.tap(store.take(request), () => Effect.sleep(500)), Effect.sync(() => pending -= 1))
        })
      }))
      const publishOften = (times: number) =>
        Effect.forEach(Array.from({ length: times }), () => Effect.andThen(Effect.orDie(publish), TestWaybill.pass(50)), { discard: true })
      yield* publishOften(40)
      const second = yield* startWorker()
      let looks = 0
      for (; looks < 200 && second.owned.size < partitionsPerTenant / 2; looks++) {
        yield* publishOften(1)
        assert.isAbove(pending, 0)
      }
      // a renewal, the take that was pending, and a look
      assert.isBelow(looks * 50, 9_000)
      assert.deepStrictEqual([first.owned.size, second.owned.size], [4, 4])
    }))), 30_000)

  it.effect("take over partitions of a killed worker within a lease and five seconds, and serve the others meanwhile", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { arrived, delivered, publish, urls } = yield* makeTenant
      const victim = yield* startWorker()
      yield* startWorker()
      yield* publishEverySecond(publish, 25)
      yield* victim.kill
      yield* publish
      yield* TestWaybill.pass(1000)
      const during = yield* Effect.forEach(urls, (url) => Effect.map(delivered(url), ({ length }) => length))
      assert.deepStrictEqual([...new Set(during)].toSorted(), [25, 26])
      yield* TestWaybill.pass(takeover - 1000)
      yield* arrived("at least once")
    }))))

  it.effect("serve partitions that a stopped worker released without a delay", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { arrived, publish } = yield* makeTenant
      const [first, second] = [yield* startWorker(), yield* startWorker()]
      yield* publishEverySecond(publish, 25)
      yield* first.stop
      yield* publish
      yield* TestWaybill.pass(100)
      assert.strictEqual(second.owned.size, partitionsPerTenant)
      yield* arrived("once")
    }))))

  it.effect("serve partitions of a stopping worker at once, except those with attempts in flight, whose leases last", () =>
    inEngineWith({ ...options, drainMillis: 30_000 })(Effect.scoped(Effect.gen(function*() {
      const { arrived, delivered, partitions, publish, receivers, urls } = yield* makeTenant
      const [first, second] = [yield* startWorker(), yield* startWorker()]
      yield* publishEverySecond(publish, 26)
      const busy = [...first.owned][0]!
      const others = urls.filter((_, n) => partitions[n] !== busy)
      const slow = urls.find((_, n) => partitions[n] === busy)!
      yield* receivers.script(slow, [Receiver.delay(14_900), Receiver.accept()])
      yield* publish
      yield* TestWaybill.pass(100)
      const stopping = yield* Effect.forkChild(first.stop)
      yield* TestWaybill.pass(100)
      yield* publish
      yield* TestWaybill.pass(500)
      for (const url of others) assert.lengthOf(yield* delivered(url), 28)
      assert.deepStrictEqual([[...first.owned], second.owned.size], [[busy], partitionsPerTenant - 1])
      yield* TestWaybill.pass(16_000)
      assert.isDefined(stopping.pollUnsafe(), "it has stopped")
      yield* TestWaybill.pass(1_000)
      yield* arrived("once")
    }))))

  const ofOneTenant = { fails: (stuck: string) => Effect.fail(new StorageError({ operation: "DeliveryStore", cause: stuck })), "does not end": () => Effect.never }
  for (const [call, fault] of (["release", "settle"] as const).flatMap((call) => (["fails", "does not end"] as const).map((fault) => [call, fault] as const))) {
    it.effect(`serve those of all other tenants at once when a stopped worker's ${call} of one tenant ${fault}`, () =>
      inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
        const { arrived, publish } = yield* makeTenant
        const stuck = yield* TestWaybill.tenant("a-stuck-one")
        yield* TestWaybill.subscribe(stuck, stuck.customer("client", [account]), { endpointUrl: "https://stuck.example/" })
        const events = yield* TransitEvents
        yield* events.append(stuck.carrier, [reportedEvent("S", { accounts: [account] })])
        const isStuck = (tenantId: string) => tenantId === stuck.tenantId
        let isStopping = false
        const first = yield* startWorker((store) => ({
          release: (tenantId, ...rest) => call === "release" && isStuck(tenantId) ? ofOneTenant[fault](tenantId) : store.release(tenantId, ...rest),
          settle: (request) => call === "settle" && isStopping && isStuck(request.tenantId) ? ofOneTenant[fault](request.tenantId) : store.settle(request)
        }))
        yield* publishEverySecond(publish, 3)
        isStopping = true
        yield* events.append(stuck.carrier, [reportedEvent("S", { accounts: [account] })])
        yield* TestWaybill.pass(100)
        const stopping = yield* Effect.forkChild(first.stop)
        yield* TestWaybill.pass(lastWritesMillis)
        assert.isDefined(stopping.pollUnsafe(), "it has stopped")
        yield* publish
        yield* startWorker()
        yield* TestWaybill.pass(1000)
        yield* arrived("once")
      }))))
  }

  it.effect("keep the rate of what a killed worker sent, when the next one is stopped before it sends there", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { events, receivers, tenant } = yield* makeEngine()
      const subscribe = (name: string, rateLimitPerMinute: number) =>
        TestWaybill.subscribe(tenant, tenant.customer(name, [name]), { endpointUrl: `https://${name}.example/`, delivery: { batchMaxSize: 1, rateLimitPerMinute } })
      const publish = (...accounts: ReadonlyArray<string>) => events.append(tenant.carrier, accounts.map((each) => reportedEvent(`S of ${each}`, { accounts: [each] })))
      const arrivals = Effect.map(receivers.requests("https://slow.example/"), (all) => all.map(({ at }) => at))
      const slow = yield* subscribe("slow", 1)
      let other = "other"
      while (partitionOf((yield* subscribe(other, 600)).id) !== partitionOf(slow.id)) other += "r"
      const killed = yield* startWorker()
      yield* publish("slow")
      yield* TestWaybill.pass(1000)
      yield* killed.kill
      yield* publish(other)
      const stopped = yield* startWorker()
      yield* TestWaybill.pass(takeover)
      assert.lengthOf(yield* receivers.requests(`https://${other}.example/`), 1)
      yield* stopped.stop
      yield* startWorker()
      yield* publish("slow")
      yield* TestWaybill.pass("3 minutes")
      const [first, second] = yield* arrivals
      assert.isAtLeast(second! - first!, 60_000)
    }))))

  it.effect("send nothing of a take whose answer comes after the partition was lost and acquired again", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { publish, receivers } = yield* makeEngine()
      let isCut = false
      const failure = Effect.fail(new StorageError({ operation: "DeliveryStore.renew", cause: "connection lost" }))
      yield* startWorker((store) => ({
        renew: (worker) => Effect.suspend(() => isCut ? failure : store.renew(worker)),
        take: (request) => Effect.tap(store.take(request), ({ deliveries }) => isCut && deliveries.length > 0 ? Effect.sleep(9_000) : Effect.void)
      }))
      yield* publish("A")
      yield* TestWaybill.pass(1000)
      isCut = true
      yield* TestWaybill.pass(15_000)
      yield* publish("A")
      yield* TestWaybill.pass(3_000)
      const second = yield* startWorker()
      yield* TestWaybill.pass(3_500)
      assert.strictEqual(second.owned.size, 1)
      yield* second.stop
      isCut = false
      yield* publish("B")
      yield* TestWaybill.pass("1 minute")
      assert.deepStrictEqual((yield* receivers.requests(hook)).flatMap(eventsOf), ["A/1", "A/2", "B/1"])
    }))))

  it.effect("own no partition of a tenant without work, and acquire one when there is work", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { arrived, publish } = yield* makeTenant
      const worker = yield* startWorker()
      yield* publishEverySecond(publish, 3)
      assert.strictEqual(worker.owned.size, partitionsPerTenant)
      yield* TestWaybill.pass("30 seconds")
      assert.strictEqual(worker.owned.size, 0)
      yield* publish
      yield* TestWaybill.pass(100)
      assert.strictEqual(worker.owned.size, partitionsPerTenant)
      yield* arrived("once")
    }))))
})

describe("a worker that sleeps for a minute", () => {
  /** A suspended machine: no timer fires and no response arrives before it resumes. */
  const startSleeper = Effect.gen(function*() {
    const awake = Latch.makeUnsafe(true)
    const clock = yield* Clock.clockWith(Effect.succeed)
    const own: Clock.Clock = {
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
      currentTimeMillis: clock.currentTimeMillis,
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
      currentTimeNanos: clock.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => Effect.andThen(clock.sleep(duration), awake.await)
    }
    let takes = 0
    let sleepsAtTake = Infinity
    const worker = yield* workerOn((store) => {
      const heard = wrapCalls(store, (_, answer) => Effect.tap(answer, () => awake.await))
      return {
        ...heard,
        take: (request) =>
          Effect.tap(store.take(request), ({ deliveries }) => {
            if (deliveries.length > 0 && ++takes >= sleepsAtTake) awake.closeUnsafe()
            return awake.await
          })
      }
    })
    yield* Effect.forkScoped(Effect.provideService(worker.run, Clock.Clock, own))
    yield* Effect.addFinalizer(() => awake.open)
    return {
      /** Immediately after the store has run the next take. */
      fallAsleep: Effect.sync(() => {
        sleepsAtTake = takes + 1
      }),
      wake: Effect.sync(() => {
        sleepsAtTake = Infinity
        awake.openUnsafe()
      })
    }
  })

  it.effect("sends nothing from partitions that another worker took over, and gets its share again", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { arrived, publish } = yield* makeTenantOf(40)
      const sleeper = yield* startSleeper
      yield* publishEverySecond(publish, 3)
      yield* arrived("once")
      yield* sleeper.fallAsleep
      yield* publish
      const other = yield* startWorker()
      yield* TestWaybill.pass("1 minute")
      yield* arrived("once")
      yield* sleeper.wake
      yield* publishEverySecond(publish, 20)
      assert.strictEqual(other.owned.size, partitionsPerTenant / 2)
      yield* arrived("once")
    }))))
})

describe("partitions without an owner that are more than one look returns", () => {
  it.effect("are looked for once a poll while others acquire them", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      let looks = 0
      yield* startWorker(() => ({
        look: (_, limit) => Effect.sync(() => {
          looks += 1
          return { signalled: [], free: Array.from({ length: limit }, (_, n) => ({ tenantId: `tenant ${n}`, partition: 0 })) }
        }),
        acquire: () => Effect.map(Clock.currentTimeMillis, (now) => ({ now, partitions: [] }))
      }))
      yield* TestWaybill.pass("5 seconds")
      assert.isAtMost(looks, 10)
    }))))
})

describe("a lost response", () => {
  for (const fault of ["before", "after"] as const) {
    it.effect(`to a release that failed ${fault} the write delays deliveries by at most a lease and five seconds`, () =>
      inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
        const { arrived, publish } = yield* makeTenant
        yield* Effect.scoped(Effect.gen(function*() {
          const { faults, run } = yield* TestWaybill.worker()
          yield* run
          yield* publishEverySecond(publish, 3)
          yield* faults.break("release", fault, Infinity)
        }))
        yield* publish
        yield* startWorker()
        yield* TestWaybill.pass(takeover)
        yield* arrived("once")
      }))))

    it.effect(`to every take, and to the reclaims that failed ${fault} the write, loses nothing and sends nothing twice`, () =>
      inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
        const { arrived, publish } = yield* makeTenant
        const { faults, run } = yield* TestWaybill.worker()
        yield* run
        for (let round = 0; round < 5; round++) {
          yield* faults.break("take", "after", 3)
          yield* faults.break("reclaim", fault, 2)
          yield* publish
          yield* TestWaybill.pass(10_000)
        }
        yield* TestWaybill.pass("1 minute")
        yield* arrived("once")
      }))))
  }

  it.effect("to a take leaves the partition with its worker if a renewal that was sent before the reclaim is answered after it", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { delivered, publish, receivers } = yield* makeEngine({ policy: { batchMaxSize: 1 } })
      yield* receivers.script(hook, [Receiver.delay(12_000), Receiver.accept()])
      let [isSlow, isLost] = [false, false]
      yield* startWorker((store) => ({
        renew: (worker) => Effect.tap(store.renew(worker), () => isSlow ? Effect.sleep(1_000) : Effect.void),
        take: (request) => Effect.tap(store.take(request), ({ signals }) => {
          if (!isLost || signals.length === 0) return Effect.void
          isLost = false
          return Effect.fail(new StorageError({ operation: "DeliveryStore.take", cause: "connection lost" }))
        })
      }))
      yield* publish("A")
      yield* TestWaybill.pass(6_000)
      isSlow = isLost = true
      // the second renewal comes after a third of 20 seconds
      yield* TestWaybill.pass(800)
      yield* publish("B")
      yield* TestWaybill.pass(2_000)
      isSlow = false
      yield* TestWaybill.pass(18_000)
      assert.isFalse(isLost)
      assert.deepStrictEqual(yield* delivered(), ["B/1", "A/1"])
    }))))

  it.effect("to the take that consumed the signal of a resume does not leave the subscription without deliveries", () =>
    inEngineWith({ ...options, concurrency: 16, attemptTimeoutMillis: 50_000, leaseMillis: 60_000 })(Effect.scoped(Effect.gen(function*() {
      const { delivered, events, patch, publish, receivers, tenant } = yield* makeEngine()
      const { faults, run } = yield* TestWaybill.worker()
      // a tenant with more than an eighth of the slots in use gets nothing that its worker did not request
      for (const name of ["b", "c"]) {
        yield* TestWaybill.subscribe(tenant, tenant.customer(name, ["B"]), { endpointUrl: `https://${name}.example/`, delivery: { batchMaxSize: 1 } })
        yield* receivers.script(`https://${name}.example/`, Receiver.hang)
      }
      yield* run
      yield* events.append(tenant.carrier, ["S", "T"].map((shipmentId) => reportedEvent(shipmentId, { accounts: ["B"] })))
      yield* patch({ status: "paused" })
      yield* TestWaybill.pass(2_000)
      yield* faults.break("take", "after", 1)
      yield* patch({ status: "active" })
      yield* TestWaybill.pass(2_000)
      yield* publish("A")
      yield* TestWaybill.pass(2_000)
      assert.deepStrictEqual(yield* delivered(), ["A/1"])
    }))))

  it.effect("to an acquisition leaves the partition with the worker that requested it", () =>
    inEngineWith(options)(Effect.scoped(Effect.gen(function*() {
      const { arrived, publish } = yield* makeTenant
      const { faults, run } = yield* TestWaybill.worker()
      yield* faults.break("acquire", "after", 2)
      yield* publish
      yield* run
      yield* TestWaybill.pass(10_000)
      yield* arrived("once")
      for (const call of storeCalls) yield* faults.break(call, "after", 1)
      yield* publish
      yield* TestWaybill.pass("1 minute")
      yield* arrived("at least once")
    }))))
})

describe("a worker whose store crashed", () => {
  const crash = Effect.flatMap(StorageCrash, (crash) => crash())

  it.effect("has every change that it could not miss by an outcome of the same destination", () =>
    inEngine(Effect.gen(function*() {
      const { subscription: { id: destinationId }, tenant: { tenantId } } = yield* makeEngine()
      const store = yield* DeliveryStore
      const { partitions: owned } = yield* store.acquire({ workerId: "worker", leaseMillis: 60_000 }, tenantId, [0, 1, 2, 3, 4, 5, 6, 7])
      const lose = Effect.fnUntraced(function*(failures: number, request: Pick<SettleRequest, "owned" | "outcomes">) {
        const breaker = { failures, openUntil: undefined }
        yield* store.settle({ tenantId, ended: [], destinations: [{ destinationId, endpointUrl: hook, breaker, pause: undefined, always: false }], ...request })
        yield* crash
        return (yield* store.load(tenantId, [destinationId])).map((each) => each.breaker.failures)
      })
      const own = owned.filter(({ partition }) => partition === partitionOf(destinationId))
      const outcome: DeliveryOutcome = { destinationId, deliveryId: "unknown", flight: "unknown", attempt: 1, state: "delivered", dueInMillis: 0, notCounted: false, record: undefined }
      assert.deepStrictEqual(yield* lose(1, { owned: own, outcomes: [outcome] }), [0])
      assert.deepStrictEqual(yield* lose(2, { owned: own, outcomes: [] }), [2])
      // of another one in the same partition, which may be locked
      assert.deepStrictEqual(yield* lose(3, { owned: own, outcomes: [{ ...outcome, destinationId: destinationId.replace(/^./, (first) => first === "0" ? "1" : "0") }] }), [3])
    })))

  it.effect("sends deliveries again whose outcomes were lost", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1 } })
      yield* engine.publish("S")
      yield* TestWaybill.pass(100)
      assert.deepStrictEqual((yield* engine.list()).map(({ state }) => state), ["delivered"])
      yield* crash
      assert.deepStrictEqual((yield* engine.list()).map(({ state }) => state), ["sending"])
      // nothing else is to do, so the worker notices it when it releases the idle partition
      yield* TestWaybill.pass("1 minute")
      assert.deepStrictEqual(yield* engine.delivered(), ["S/1", "S/1"])
      assert.deepStrictEqual((yield* engine.list()).map(({ state }) => state), ["delivered"])
    })))

  it.effect("loses no delivery of a flight whose other deliveries end after the crash", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
      // the first window of a destination has two attempts
      yield* engine.receivers.script(hook, [Receiver.fail(503), Receiver.delay(500), Receiver.accept()])
      yield* TestWaybill.run
      yield* engine.publish("A", "B")
      yield* TestWaybill.pass(200)
      assert.deepStrictEqual((yield* engine.list()).map(({ state }) => state).toSorted(), ["sending", "waiting"])
      yield* crash
      yield* TestWaybill.pass("1 minute")
      assert.deepStrictEqual((yield* engine.list()).map(({ state }) => state), ["delivered", "delivered"])
      assert.deepStrictEqual([...new Set(yield* engine.delivered())].toSorted(), ["A/1", "B/1"])
    })))

  it.effect("sends no event before the shipment's previous one, whose failure was lost", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1, initialBackoffSeconds: 5 }, answers: [Receiver.fail(503), Receiver.accept()] })
      yield* engine.publish("A")
      yield* TestWaybill.pass(200)
      yield* crash
      yield* engine.publish("A")
      // the partition is acquired again at once, not by the next renewal, and what was in flight is due
      yield* TestWaybill.pass("1 second")
      assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/2"])
    })))
})
