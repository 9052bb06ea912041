import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { stopWithin } from "../../src/shared/StopDeadline.ts"

const stopping = (stop: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const lines: Array<unknown> = []
    const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
    return { lines, fiber: yield* Effect.forkChild(Effect.provide(stopWithin(8_000, stop), logger), { startImmediately: true }) }
  })

it.effect("a stop waits for last writes, and says nothing when they end in time", () =>
  Effect.gen(function*() {
    const { fiber, lines } = yield* stopping(Effect.sleep("5 seconds"))
    yield* TestClock.adjust("4 seconds")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.isDefined(fiber.pollUnsafe())
    assert.deepStrictEqual(lines, [])
  }))

it.effect("a stop ends at its deadline when last writes do not end, and logs it", () =>
  Effect.gen(function*() {
    const { fiber, lines } = yield* stopping(Effect.uninterruptible(Effect.never))
    yield* TestClock.adjust("7 seconds")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 second")
    assert.isDefined(fiber.pollUnsafe())
    assert.deepStrictEqual(lines, [["Stop not complete within 8 s, the database does not answer. Leases expire, then deliveries are sent again."]])
  }))
