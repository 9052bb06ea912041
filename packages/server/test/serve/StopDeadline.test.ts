import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { scopeClosedWithin } from "../../src/serve/StopDeadline.ts"

const closing = (finalizer: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const lines: Array<unknown> = []
    const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
    const scope = yield* Scope.make()
    const working = yield* Scope.provide(scopeClosedWithin(8_000), scope)
    yield* Scope.addFinalizer(working, finalizer)
    return { lines, fiber: yield* Effect.forkChild(Effect.provide(Scope.close(scope, Exit.void), logger), { startImmediately: true }) }
  })

it.effect("a stop waits for last writes, and says nothing when they end in time", Effect.fnUntraced(function*() {
  const { fiber, lines } = yield* closing(Effect.sleep("5 seconds"))
  yield* TestClock.adjust("4 seconds")
  assert.isUndefined(fiber.pollUnsafe())
  yield* TestClock.adjust("1 second")
  yield* Fiber.join(fiber)
  assert.deepStrictEqual(lines, [])
}))

it.effect("a stop ends at its deadline when last writes do not end, and logs it", Effect.fnUntraced(function*() {
  const { fiber, lines } = yield* closing(Effect.never)
  yield* TestClock.adjust("7 seconds")
  assert.isUndefined(fiber.pollUnsafe())
  yield* TestClock.adjust("1 second")
  yield* Fiber.join(fiber)
  assert.deepStrictEqual(lines, [["Stop not complete within 8 s, the database does not answer. Leases expire, then deliveries are sent again."]])
}))
