import { assert, describe, it } from "@effect/vitest"
import { CallingClient } from "@waybill/core"
import { Deferred, Effect, Fiber, Semaphore } from "effect"
import type { PgConnection } from "../../src/client/PgConnection.ts"
import { HighPriority, type PgLending, withReservedConnection } from "../../src/client/PgLending.ts"

/** A pool without a database: what matters is how many connections are lent. */
const poolOf = (maxConnections: number) => {
  const connections = Semaphore.makeUnsafe(maxConnections)
  const connection = {} as PgConnection
  const lending: PgLending = {
    borrower: (use) => connections.withPermit(use(connection)),
    acquirer: Effect.as(connections.takeScoped(1), connection)
  }
  return withReservedConnection(maxConnections, lending)
}

const yields = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow)

/** Uses of connections that last until `end`; `opened` counts those that got a connection. */
const opening = (useOf: (lending: PgLending, use: Effect.Effect<void>) => Effect.Effect<void, unknown>) =>
  Effect.fnUntraced(function*(lending: PgLending, client: string | undefined, count: number) {
    const end = yield* Deferred.make<void>()
    let opened = 0
    const use = useOf(lending, Effect.andThen(Effect.sync(() => opened += 1), Deferred.await(end)))
    const fiber = yield* Effect.forkChild(
      Effect.all(Array.from({ length: count }, () => Effect.provideService(use, CallingClient, client)), { concurrency: "unbounded" })
    )
    yield* yields
    return { opened: () => opened, end: Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(fiber)), interrupt: Fiber.interrupt(fiber) }
  })

/** Transactions of a client that stay open. */
const openTransactions = opening(({ acquirer }, use) => Effect.scoped(Effect.andThen(acquirer, use)))

/** Single statements of a client that get no answer. */
const openStatements = opening(({ borrower }, use) => borrower(() => use))

describe("the connections of a pool", () => {
  it.effect.each([["transactions", openTransactions], ["statements", openStatements]] as const)("are not all taken by the %s of two clients, which get theirs one after the other", ([, open]) =>
    Effect.gen(function*() {
      const lending = poolOf(10)
      const many = yield* open(lending, "acme tms", 40)
      assert.strictEqual(many.opened(), 6)
      const others = yield* open(lending, "rival tms", 40)
      assert.strictEqual(others.opened(), 2)
      assert.strictEqual(yield* Effect.provideService(lending.borrower(() => Effect.succeed("answered")), CallingClient, "quiet shop"), "answered")
      const shop = yield* openTransactions(lending, "quiet shop", 1)
      assert.strictEqual(shop.opened(), 1)
      yield* shop.end
      yield* many.end
      yield* others.end
      assert.deepStrictEqual([many.opened(), others.opened()], [40, 40])
    }))

  it.effect("go to the client that holds fewest, and then to the one that waited longest", () =>
    Effect.gen(function*() {
      const lending = poolOf(5)
      const order: Array<string> = []
      const held = yield* openTransactions(lending, undefined, 4)
      const calls = yield* Effect.forEach(["a", "a", "a", "b", "c", undefined], (client) => {
        const call = lending.borrower(() => Effect.andThen(Effect.sync(() => order.push(client ?? "service")), yields))
        return Effect.forkChild(Effect.provideService(call, CallingClient, client), { startImmediately: true })
      })
      assert.deepStrictEqual(order, [])
      yield* held.end
      yield* Effect.forEach(calls, Fiber.join)
      assert.deepStrictEqual(order, ["a", "b", "c", "service", "a", "a"])
    }))

  it.effect("are all there again after transactions and those that waited are interrupted", () =>
    Effect.gen(function*() {
      const lending = poolOf(10)
      const many = yield* openTransactions(lending, "acme tms", 40)
      yield* many.interrupt
      const statements = yield* openStatements(lending, "acme tms", 40)
      yield* statements.interrupt
      const again = yield* openTransactions(lending, "acme tms", 6)
      assert.strictEqual(again.opened(), 6)
      yield* again.interrupt
    }))

  it.effect("have no share for work of the service, and one is reserved for high priority", () =>
    Effect.gen(function*() {
      const lending = poolOf(10)
      const work = yield* openTransactions(lending, undefined, 20)
      assert.strictEqual(work.opened(), 9)
      assert.strictEqual(yield* Effect.provideService(lending.borrower(() => Effect.succeed("taken")), HighPriority, true), "taken")
      yield* work.end
    }))
})
