import { assert, describe, it } from "@effect/vitest"
import { TenantLimits, Tenants } from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { largeAnswersPerClient, makeClientQuotas, maxBodyBytesPerClient, maxBodyBytesPerProcess, ownBodyBytesPerClient, readsPerClient, type QuotaClient, quotaClientOf } from "../../src/server/ClientQuotas.ts"

const clientOf = (client: string, role: "carrier" | "customer" = "customer", tenantId = "acme"): QuotaClient =>
  quotaClientOf({ tenantId, client, roles: [role], accounts: [], origin: "key" })

const withLimits = <A, E, R>(change: object, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    yield* (yield* Tenants).put("acme", { name: "Acme" })
    yield* (yield* TenantLimits).put("acme", change)
    return yield* effect
  }).pipe(Effect.provide(TestWaybill.layer()))

describe("the request quota", () => {
  const admitted = (quotas: Effect.Success<typeof makeClientQuotas>, of: QuotaClient, times: number) =>
    Effect.map(Effect.all(Array.from({ length: times }, () => Effect.exit(quotas.admit(of)))), (exits) => exits.filter(Exit.isSuccess).length)

  it.effect("admits a burst of two seconds, and then the configured rate", () =>
    withLimits({ requestsPerSecondPerCustomer: 10 }, Effect.gen(function*() {
      const quotas = yield* makeClientQuotas
      assert.strictEqual(yield* admitted(quotas, clientOf("one"), 50), 20)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* admitted(quotas, clientOf("one"), 50), 5)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* admitted(quotas, clientOf("one"), 50), 20)
    })))

  it.effect("counts each client of each tenant, by role", () =>
    withLimits({ requestsPerSecondPerCustomer: 1, requestsPerSecondPerCarrier: 3 }, Effect.gen(function*() {
      const quotas = yield* makeClientQuotas
      assert.strictEqual(yield* admitted(quotas, clientOf("one"), 10), 2)
      assert.strictEqual(yield* admitted(quotas, clientOf("two"), 10), 2)
      assert.strictEqual(yield* admitted(quotas, clientOf("tms", "carrier"), 10), 6)
      assert.strictEqual(yield* admitted(quotas, clientOf("one", "customer", "bolt"), 10), 10)
    })))

  it.effect("refuses with the quota's name and the seconds until the next request", () =>
    withLimits({ requestsPerSecondPerCustomer: 1, requestsPerSecondPerCarrier: 0 }, Effect.gen(function*() {
      const quotas = yield* makeClientQuotas
      yield* admitted(quotas, clientOf("one"), 2)
      const refused = yield* Effect.flip(quotas.admit(clientOf("one")))
      assert.deepInclude(refused, { _tag: "RateExceeded", quota: "requestsPerSecondPerCustomer", limit: 1, retryAfterSeconds: 1 })
      assert.deepInclude(yield* Effect.flip(quotas.admit(clientOf("tms", "carrier"))), { quota: "requestsPerSecondPerCarrier", retryAfterSeconds: 60 })
    })))
})

describe("the upload quota", () => {
  it.effect("has a slot per upload, which is released after success, failure, defect and interruption", () =>
    withLimits({ uploadsPerClient: 1 }, Effect.gen(function*() {
      const quotas = yield* makeClientQuotas
      const one = clientOf("one")
      for (const end of [Effect.void, Effect.fail("broken"), Effect.die("defect")]) {
        yield* Effect.exit(quotas.withUploadSlot(one, end))
        const begun = yield* Deferred.make<void>()
        const held = yield* Effect.forkChild(quotas.withUploadSlot(one, Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)))
        yield* Deferred.await(begun)
        assert.deepInclude(yield* Effect.flip(quotas.withUploadSlot(one, Effect.void)), { _tag: "RateExceeded", quota: "uploadsPerClient", limit: 1 })
        yield* quotas.withUploadSlot(clientOf("two"), Effect.void)
        yield* Fiber.interrupt(held)
      }
      yield* quotas.withUploadSlot(one, Effect.void)
    })))
})

describe("reads with a large answer", () => {
  it.effect("run a few at a time for each client, in their order, after any end of earlier ones", () =>
    withLimits({}, Effect.gen(function*() {
      const quotas = yield* makeClientQuotas
      const [one, two] = [clientOf("one"), clientOf("two")]
      const begun: Array<number> = []
      const read = (at: number) => quotas.withLargeAnswer(one, Effect.andThen(Effect.sync(() => begun.push(at)), Effect.never))
      const running = yield* Effect.forEach(Array.from({ length: readsPerClient + 3 }, (_, at) => at), (at) => Effect.forkChild(read(at), { startImmediately: true }))
      const first = Array.from({ length: readsPerClient }, (_, at) => at)
      assert.deepStrictEqual(begun, first)
      yield* quotas.withLargeAnswer(two, Effect.void)
      yield* Fiber.interrupt(running[readsPerClient]!)
      yield* Fiber.interrupt(running[readsPerClient - 1]!)
      yield* Fiber.interrupt(running[0]!)
      yield* Effect.yieldNow
      assert.deepStrictEqual(begun, [...first, readsPerClient + 1, readsPerClient + 2])
      for (const fiber of running) yield* Fiber.interrupt(fiber)
      for (const end of [Effect.fail("broken"), Effect.die("defect")]) {
        yield* Effect.all(Array.from({ length: 20 }, () => Effect.exit(quotas.withLargeAnswer(one, end))))
      }
      yield* quotas.withLargeAnswer(one, Effect.void)
    })))

  it.effect("are refused beyond a number that run and wait, until one of them ends", () =>
    withLimits({}, Effect.gen(function*() {
      const quotas = yield* makeClientQuotas
      const one = clientOf("one")
      const running = yield* Effect.forEach(Array.from({ length: largeAnswersPerClient }), () => Effect.forkChild(quotas.withLargeAnswer(one, Effect.never), { startImmediately: true }))
      const refused = yield* Effect.flip(quotas.withLargeAnswer(one, Effect.never))
      assert.deepInclude(refused, { _tag: "RateExceeded", quota: "largeAnswersPerClient", limit: 100, retryAfterSeconds: 5 })
      yield* quotas.withLargeAnswer(clientOf("two"), Effect.void)
      for (const ended of [running.at(-1)!, running[0]!]) {
        yield* Fiber.interrupt(ended)
        const another = yield* Effect.forkChild(quotas.withLargeAnswer(one, Effect.never), { startImmediately: true })
        assert.isUndefined(another.pollUnsafe())
        assert.deepInclude(yield* Effect.flip(quotas.withLargeAnswer(one, Effect.never)), { quota: "largeAnswersPerClient" })
      }
    })))
})

describe("the quota of body bytes", () => {
  const half = maxBodyBytesPerClient / 2

  it.effect("counts what the requests of a client take, until they end in any way", () =>
    withLimits({}, Effect.gen(function*() {
      const quotas = yield* makeClientQuotas
      const one = clientOf("one")
      for (const end of [Effect.void, Effect.fail("broken"), Effect.die("defect")]) {
        yield* Effect.exit(quotas.withBodyBytes(one, (take) => Effect.andThen(take(half), end)))
        const begun = yield* Deferred.make<void>()
        const held = yield* Effect.forkChild(
          quotas.withBodyBytes(one, (take) => Effect.all([take(half), take(half), Deferred.succeed(begun, undefined), Effect.never]))
        )
        yield* Deferred.await(begun)
        assert.deepInclude(yield* Effect.flip(quotas.withBodyBytes(one, (take) => take(1))), { _tag: "RateExceeded", quota: "bodyBytesPerClient", limit: maxBodyBytesPerClient })
        yield* quotas.withBodyBytes(clientOf("two"), (take) => take(half))
        yield* Fiber.interrupt(held)
      }
      yield* quotas.withBodyBytes(one, (take) => take(2 * half))
    })))

  it.effect("counts what the requests of all clients take together, until they end", () =>
    withLimits({}, Effect.gen(function*() {
      const quotas = yield* makeClientQuotas
      const held = yield* Effect.forEach(Array.from({ length: maxBodyBytesPerProcess / half }, (_, n) => n), (n) =>
        Effect.forkChild(quotas.withBodyBytes(clientOf(`client ${n}`), (take) => Effect.andThen(take(half), Effect.never)), { startImmediately: true }))
      const one = clientOf("one")
      const large = ownBodyBytesPerClient + 1
      assert.deepInclude(yield* Effect.flip(quotas.withBodyBytes(one, (take) => take(large))), { _tag: "RateExceeded", quota: "bodyBytesPerProcess", limit: maxBodyBytesPerProcess })
      yield* Fiber.interrupt(held[0]!)
      yield* quotas.withBodyBytes(one, (take) => take(half))
      yield* Fiber.interruptAll(held)
      yield* quotas.withBodyBytes(one, (take) => take(2 * half))
    })))

  it.effect("never refuses a client's small bodies for what others hold", () =>
    withLimits({}, Effect.gen(function*() {
      const quotas = yield* makeClientQuotas
      for (const name of ["first", "second"]) {
        yield* Effect.forkChild(quotas.withBodyBytes(clientOf(name), (take) => Effect.andThen(take(maxBodyBytesPerClient), Effect.never)), { startImmediately: true })
      }
      const one = clientOf("one")
      yield* quotas.withBodyBytes(one, (take) => Effect.andThen(take(1), take(ownBodyBytesPerClient - 1)))
      yield* Effect.forkChild(quotas.withBodyBytes(one, (take) => Effect.andThen(take(ownBodyBytesPerClient), Effect.never)), { startImmediately: true })
      assert.deepInclude(yield* Effect.flip(quotas.withBodyBytes(one, (take) => take(1))), { quota: "bodyBytesPerProcess" })
      yield* quotas.withBodyBytes(clientOf("two"), (take) => take(ownBodyBytesPerClient))
    })))
})
