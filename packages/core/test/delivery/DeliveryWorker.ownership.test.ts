/** Workers that share the partitions of one tenant: who owns what, and what happens to it when one comes, stops, dies or sleeps. */
import { assert, describe, it } from "@effect/vitest"
import { partitionOf, partitionsPerTenant, StorageError } from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Latch } from "effect"
import * as Clock from "effect/Clock"
import { account, answering, engineBy, makeEngine, outOfOrder, storeCalls, workerOn } from "./Engine.ts"

const inEngine = engineBy("fibers")

/** As in production: a lease, and five seconds. */
const takeover = 25_000

/** A tenant with a destination in every partition, and so many at least, each of which gets every event. */
const makeSceneOf = Effect.fnUntraced(function*(least: number) {
  const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
  const urls: Array<string> = []
  const partitions = new Set<number>()
  while (partitions.size < partitionsPerTenant || urls.length < least) {
    const endpointUrl = `https://receiver-${urls.length}.example/`
    const { id } = yield* TestWaybill.subscribe(engine.tenant, engine.tenant.customer(`client ${urls.length}`, [account]), { endpointUrl, delivery: { batchMaxSize: 1 } })
    urls.push(endpointUrl)
    partitions.add(partitionOf(id))
  }
  let published = 0
  const publish = Effect.suspend(() => engine.publish(`S${published++ % 3}`))
  /** Everything published so far has arrived everywhere, in order; once, or where it may have been sent before, at least once. */
  const arrived = Effect.fnUntraced(function*(how: "once" | "at least once") {
    for (const url of urls) {
      const names = yield* engine.delivered(url)
      assert.strictEqual(new Set(names).size, published, url)
      if (how === "once") assert.lengthOf(names, published)
      assert.deepStrictEqual(outOfOrder(names), [])
    }
  })
  return { ...engine, urls, publish, arrived }
})

const makeScene = makeSceneOf(partitionsPerTenant)

/** A worker whose partitions are known, and that can be killed. */
const startWorker = Effect.gen(function*() {
  const owned = new Set<number>()
  let isDead = false
  const died = new StorageError({ operation: "DeliveryStore", cause: "the process was killed" })
  const worker = yield* workerOn((store) => {
    const own = answering(store, (_, answer) => Effect.suspend(() => isDead ? Effect.fail(died) : answer))
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

type Worker = Effect.Success<typeof startWorker>

const sharesOf = (workers: ReadonlyArray<Worker>): ReadonlyArray<number> => workers.map(({ owned }) => owned.size).toSorted((a, b) => b - a)

/** Events go on for so many seconds. */
const goesOn = (publish: Effect.Effect<unknown, unknown>, seconds: number) =>
  Effect.forEach(Array.from({ length: seconds }), () => Effect.andThen(Effect.orDie(publish), TestWaybill.pass(1000)), { discard: true })

const options = { pollMillis: 1000, drainMillis: 0 }

describe("workers that share a tenant's partitions", () => {
  it.effect("have the same of them under load, as one becomes eight and eight become one, and send nothing twice", () =>
    inEngine(
      Effect.scoped(Effect.gen(function*() {
        const { arrived, publish } = yield* makeScene
        const workers: Array<Worker> = []
        for (const count of [1, 2, 4, 8]) {
          while (workers.length < count) workers.push(yield* startWorker)
          yield* goesOn(publish, 25)
          assert.deepStrictEqual(sharesOf(workers), Array.from({ length: count }, () => partitionsPerTenant / count))
        }
        for (const count of [4, 2, 1]) {
          while (workers.length > count) yield* workers.pop()!.stop
          yield* goesOn(publish, 25)
          assert.deepStrictEqual(sharesOf(workers), Array.from({ length: count }, () => partitionsPerTenant / count))
        }
        yield* arrived("once")
      })),
      options
    ), 30_000)

  it.effect("own each partition once, none more than its share, where they do not divide", () =>
    inEngine(
      Effect.scoped(Effect.gen(function*() {
        const { arrived, publish } = yield* makeScene
        const workers: Array<Worker> = []
        for (const count of [3, 5, 6, 7]) {
          while (workers.length < count) workers.push(yield* startWorker)
          yield* goesOn(publish, 25)
          const shares = sharesOf(workers)
          assert.strictEqual(shares.reduce((sum, each) => sum + each, 0), partitionsPerTenant)
          assert.isAtMost(shares[0]!, Math.ceil(partitionsPerTenant / count))
        }
        yield* arrived("once")
      })),
      options
    ), 30_000)

  it.effect("give a new one its share within a renewal", () =>
    inEngine(
      Effect.scoped(Effect.gen(function*() {
        const { publish } = yield* makeScene
        const first = yield* startWorker
        yield* goesOn(publish, 10)
        assert.strictEqual(first.owned.size, partitionsPerTenant)
        const second = yield* startWorker
        yield* goesOn(publish, 8)
        assert.deepStrictEqual([first.owned.size, second.owned.size], [4, 4])
      })),
      options
    ))

  it.effect("take over what a killed one had within a lease and five seconds, the rest going on meanwhile", () =>
    inEngine(
      Effect.scoped(Effect.gen(function*() {
        const { arrived, delivered, publish, urls } = yield* makeScene
        const victim = yield* startWorker
        yield* startWorker
        yield* goesOn(publish, 25)
        yield* victim.kill
        yield* publish
        yield* TestWaybill.pass(1000)
        const during = yield* Effect.forEach(urls, (url) => Effect.map(delivered(url), ({ length }) => length))
        assert.deepStrictEqual([...new Set(during)].toSorted(), [25, 26])
        yield* TestWaybill.pass(takeover - 1000)
        yield* arrived("at least once")
      })),
      options
    ))

  it.effect("go on at once with what a stopped one gave back", () =>
    inEngine(
      Effect.scoped(Effect.gen(function*() {
        const { arrived, publish } = yield* makeScene
        const [first, second] = [yield* startWorker, yield* startWorker]
        yield* goesOn(publish, 25)
        yield* first.stop
        yield* publish
        yield* TestWaybill.pass(100)
        assert.strictEqual(second.owned.size, partitionsPerTenant)
        yield* arrived("once")
      })),
      options
    ))

  it.effect("own nothing of a tenant for which nothing is to be done, and come back when something is", () =>
    inEngine(
      Effect.scoped(Effect.gen(function*() {
        const { arrived, publish } = yield* makeScene
        const worker = yield* startWorker
        yield* goesOn(publish, 3)
        assert.strictEqual(worker.owned.size, partitionsPerTenant)
        yield* TestWaybill.pass("30 seconds")
        assert.strictEqual(worker.owned.size, 0)
        yield* publish
        yield* TestWaybill.pass(100)
        assert.strictEqual(worker.owned.size, partitionsPerTenant)
        yield* arrived("once")
      })),
      options
    ))
})

describe("a worker that sleeps for a minute", () => {
  /** A machine that is put to sleep: no timer rings, and no answer is heard before it wakes. */
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
      const heard = answering(store, (_, answer) => Effect.tap(answer, () => awake.await))
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
      /** Right after the store did what the next take asks. */
      fallAsleep: Effect.sync(() => {
        sleepsAtTake = takes + 1
      }),
      wake: Effect.sync(() => {
        sleepsAtTake = Infinity
        awake.openUnsafe()
      })
    }
  })

  it.effect("sends nothing of what another one took over, and shares the work again", () =>
    inEngine(
      Effect.scoped(Effect.gen(function*() {
        const { arrived, publish } = yield* makeSceneOf(40)
        const sleeper = yield* startSleeper
        yield* goesOn(publish, 3)
        yield* arrived("once")
        yield* sleeper.fallAsleep
        yield* publish
        const other = yield* startWorker
        yield* TestWaybill.pass("1 minute")
        yield* arrived("once")
        yield* sleeper.wake
        yield* goesOn(publish, 20)
        assert.strictEqual(other.owned.size, partitionsPerTenant / 2)
        yield* arrived("once")
      })),
      options
    ))
})

describe("a lost answer", () => {
  for (const fault of ["before", "after"] as const) {
    it.effect(`of a release that failed ${fault} the write keeps nobody waiting longer than a lease and five seconds`, () =>
      inEngine(
        Effect.scoped(Effect.gen(function*() {
          const { arrived, publish } = yield* makeScene
          yield* Effect.scoped(Effect.gen(function*() {
            const { faults, run } = yield* TestWaybill.worker()
            yield* run
            yield* goesOn(publish, 3)
            yield* faults.break("release", fault, Infinity)
          }))
          yield* publish
          yield* startWorker
          yield* TestWaybill.pass(takeover)
          yield* arrived("once")
        })),
        options
      ))

    it.effect(`of every take, and of the reclaims that failed ${fault} the write, loses nothing and sends nothing twice`, () =>
      inEngine(
        Effect.scoped(Effect.gen(function*() {
          const { arrived, publish } = yield* makeScene
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
        })),
        options
      ))
  }

  it.effect("of an acquisition leaves the partition with the worker that asked for it", () =>
    inEngine(
      Effect.scoped(Effect.gen(function*() {
        const { arrived, publish } = yield* makeScene
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
      })),
      options
    ))
})

describe("a worker whose store crashed and was started again", () => {
  it.effect("sends what it believes to be written, and was lost", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
      let startedAt = 0
      let losesOutcomes = true
      const worker = yield* workerOn((store) => ({
        ...store,
        renew: (lease) => Effect.map(store.renew(lease), (answer) => ({ ...answer, startedAt })),
        settle: (request) => losesOutcomes ? Effect.succeed(request.owned.map(({ partition }) => partition)) : store.settle(request)
      }))
      yield* Effect.forkScoped(worker.run)
      yield* engine.publish("S")
      yield* TestWaybill.pass("1 second")
      assert.deepStrictEqual(yield* engine.delivered(), ["S/1"])
      assert.deepStrictEqual((yield* engine.list()).map(({ state }) => state), ["sending"])
      losesOutcomes = false
      startedAt = 1
      // by the next renewal; a quiet partition would be given back and acquired anew only later
      yield* TestWaybill.pass("8 seconds")
      assert.deepStrictEqual(yield* engine.delivered(), ["S/1", "S/1"])
      assert.deepStrictEqual((yield* engine.list()).map(({ state }) => state), ["delivered"])
    }).pipe(Effect.scoped)))
})
