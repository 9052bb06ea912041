import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Finished, Hopeless } from "../../src/delivery/HeldDestination.ts"
import { UnwrittenOutcomes } from "../../src/delivery/UnwrittenOutcomes.ts"

const ended = (state: "delivered" | "waiting") => ({ verdict: { state } }) as Finished

/** Whether whoever writes is called within so many milliseconds from now. */
const isCalledWithin = (millis: number, outcomes: UnwrittenOutcomes) =>
  Effect.gen(function*() {
    const waiting = yield* Effect.forkChild(outcomes.until, { startImmediately: true })
    yield* TestClock.adjust(millis)
    const called = waiting.pollUnsafe() !== undefined
    yield* Fiber.interrupt(waiting)
    return called
  })

describe("outcomes that are not written yet", () => {
  it.effect("are written at once where a delivery arrived or a destination may be given back", () =>
    Effect.gen(function*() {
      const outcomes = new UnwrittenOutcomes()
      assert.isFalse(yield* isCalledWithin(1e9, outcomes))
      outcomes.add(ended("delivered"))
      assert.isTrue(yield* isCalledWithin(0, outcomes))
      outcomes.take()
      assert.isFalse(yield* isCalledWithin(1e9, outcomes))
      outcomes.wake()
      assert.isTrue(yield* isCalledWithin(0, outcomes))
    }))

  it.effect("wait 25 ms for others where the attempt failed, and not for longer", () =>
    Effect.gen(function*() {
      const outcomes = new UnwrittenOutcomes()
      const writing = yield* Effect.forkChild(outcomes.until, { startImmediately: true })
      outcomes.add(ended("waiting"))
      yield* TestClock.adjust(20)
      outcomes.add(ended("waiting"))
      yield* TestClock.adjust(4)
      assert.isUndefined(writing.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.isDefined(writing.pollUnsafe())
      assert.strictEqual(outcomes.take().finished.length, 2)
    }))

  it.effect("that failed go along with the first that arrived", () =>
    Effect.gen(function*() {
      const outcomes = new UnwrittenOutcomes()
      outcomes.add(ended("waiting"))
      outcomes.add(ended("delivered"))
      assert.isTrue(yield* isCalledWithin(0, outcomes))
      assert.strictEqual(outcomes.take().finished.length, 2)
      assert.isFalse(yield* isCalledWithin(1e9, outcomes), "nothing is left to wait for")
    }))

  it("that could not be written come first the next time", () => {
    const outcomes = new UnwrittenOutcomes()
    const [first, second] = [ended("delivered"), ended("delivered")]
    const hopeless = {} as Hopeless
    outcomes.add(first)
    outcomes.giveUp(hopeless)
    const taken = outcomes.take()
    outcomes.add(second)
    outcomes.putBack(taken)
    const again = outcomes.take()
    assert.deepStrictEqual([again.finished.map((each) => [first, second].indexOf(each)), again.hopeless.length], [[0, 1], 1])
    assert.strictEqual(outcomes.attempts, 0)
  })

  it.effect("are gathered as long as more come in the same breath", () =>
    Effect.gen(function*() {
      const outcomes = new UnwrittenOutcomes()
      const land = Effect.andThen(Effect.sync(() => outcomes.add(ended("delivered"))), Effect.yieldNow)
      yield* Effect.forkChild(Effect.repeat(land, { times: 3 }), { startImmediately: true })
      yield* outcomes.gather(() => true)
      assert.strictEqual(outcomes.take().finished.length, 4)
      yield* Effect.forkChild(Effect.repeat(land, { times: 3 }), { startImmediately: true })
      yield* outcomes.gather(() => false)
      assert.strictEqual(outcomes.take().finished.length, 1, "nothing is under way that others could come from")
    }))
})
