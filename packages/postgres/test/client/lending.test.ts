import { assert, describe, it } from "@effect/vitest"
import { CallingClient } from "@waybill/core"
import { Deferred, Effect, Fiber, Semaphore } from "effect"
import type { PgConnection } from "../../src/client/PgConnection.ts"
import { type ConnectionSource, HighPriority, type PgLending, withReservedConnection } from "../../src/client/PgLending.ts"

/** A pool without a database: what matters is how many connections are lent. */
const poolOf = (maxConnections: number) => {
  const connections = Semaphore.makeUnsafe(maxConnections)
  const connection = {} as PgConnection
  const source: ConnectionSource = {
    borrower: (use) => connections.withPermit(use(connection)),
    acquirer: Effect.as(connections.takeScoped(1), connection)
  }
  return withReservedConnection(maxConnections, source)
}

const yields = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow)

/** Transactions of a client that stay open; `opened` counts those that got a connection. */
const openTransactions = Effect.fnUntraced(function*({ transactionBorrower }: PgLending, client: string | undefined, count: number) {
  const end = yield* Deferred.make<void>()
  let opened = 0
  const transaction = transactionBorrower(() => Effect.andThen(Effect.sync(() => opened += 1), Deferred.await(end)))
  const fiber = yield* Effect.forkChild(
    Effect.all(Array.from({ length: count }, () => Effect.provideService(transaction, CallingClient, client)), { concurrency: "unbounded" })
  )
  yield* yields
  return { opened: () => opened, end: Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(fiber)), interrupt: Fiber.interrupt(fiber) }
})

describe("the connections of a pool", () => {
  it.effect("are not all taken by the transactions of one client, which get theirs one after the other", Effect.fnUntraced(function*() {
    const lending = poolOf(10)
    const many = yield* openTransactions(lending, "acme tms", 40)
    assert.strictEqual(many.opened(), 7)
    const other = yield* openTransactions(lending, "rival tms", 2)
    assert.strictEqual(other.opened(), 2)
    yield* other.end
    assert.strictEqual(yield* lending.borrower(() => Effect.succeed("answered")), "answered")
    yield* many.end
    assert.strictEqual(many.opened(), 40)
  }))

  it.effect("are all there again after transactions and those that waited are interrupted", Effect.fnUntraced(function*() {
    const lending = poolOf(10)
    const many = yield* openTransactions(lending, "acme tms", 40)
    yield* many.interrupt
    const again = yield* openTransactions(lending, "acme tms", 7)
    assert.strictEqual(again.opened(), 7)
    yield* again.interrupt
  }))

  it.effect("have no share for work of the service, and one is reserved for high priority", Effect.fnUntraced(function*() {
    const lending = poolOf(10)
    const work = yield* openTransactions(lending, undefined, 20)
    assert.strictEqual(work.opened(), 9)
    assert.strictEqual(yield* Effect.provideService(lending.borrower(() => Effect.succeed("taken")), HighPriority, true), "taken")
    yield* work.end
  }))
})
