import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Ended, enoughOf, gatherMillisOf, OutcomeBuffer } from "../../../src/delivery/worker/OutcomeBuffer.ts"
import { int } from "../../arbitraries.ts"
import { newDestination } from "./DestinationLife.ts"

const destination = newDestination()

const ended = (n: number): Ended => ({
  destination,
  outcome: { destinationId: "destination", deliveryId: `${n}`, flight: "flight", attempt: 1, state: "delivered", dueInMillis: 0, notCounted: false, record: undefined },
  sent: undefined
})

describe("a gathering of outcomes", () => {
  it("lasts four times as long as a write, within its limits", () => {
    assert.deepStrictEqual([0, 1, 2.5, 3, 20, 25, 26, 30_000].map(gatherMillisOf), [10, 10, 10, 12, 80, 100, 100, 100])
  })

  it.prop("is enough with two thirds of all attempts, or a full write", [int(0, 3000), int(0, 3000)], ([unwritten, inFlight]) => {
    const all = unwritten + inFlight
    const enough = enoughOf(unwritten, inFlight)
    if (enough < 512) assert.isAtMost(Math.abs(enough - 2 * (all - enough)), 2)
    else assert.isAtLeast(2 * all, 3 * 511)
    assert.isAtMost(enough, Math.min(512, all))
  })

  /** A gathering of so many outcomes, with others in flight. */
  const gathering = (unwritten: number, { inFlight, writeMillis }: { readonly inFlight: number; readonly writeMillis: number }) =>
    Effect.gen(function*() {
      const outcomes = new OutcomeBuffer()
      const add = (count: number) => {
        for (let n = 0; n < count; n++) outcomes.add(ended(n), false)
      }
      add(unwritten)
      const begin = Effect.map(Effect.forkChild(outcomes.gather(() => inFlight, writeMillis), { startImmediately: true }), (fiber) =>
        Effect.map(Effect.yieldNow, () => fiber.pollUnsafe() !== undefined))
      return { outcomes, add, begin, isOver: yield* begin }
    })

  it.effect("ends with its time if many come in", () =>
    Effect.gen(function*() {
      const { add, isOver } = yield* gathering(1, { inFlight: 299, writeMillis: 10 })
      yield* TestClock.adjust(9)
      add(49)
      yield* TestClock.adjust(30)
      assert.isFalse(yield* isOver)
      yield* TestClock.adjust(1)
      assert.isTrue(yield* isOver)
    }))

  it.effect("ends after ten milliseconds if few come in", () =>
    Effect.gen(function*() {
      const { add, isOver } = yield* gathering(1, { inFlight: 299, writeMillis: 10 })
      add(48)
      yield* TestClock.adjust(9)
      assert.isFalse(yield* isOver)
      yield* TestClock.adjust(1)
      assert.isTrue(yield* isOver)
    }))

  it.effect("ends with enough outcomes, and the next one begins again", () =>
    Effect.gen(function*() {
      const { add, begin, isOver, outcomes } = yield* gathering(1, { inFlight: 89, writeMillis: 10 })
      add(58)
      assert.isFalse(yield* isOver)
      add(1)
      assert.isTrue(yield* isOver)
      assert.lengthOf(outcomes.take().ended, 60)
      assert.isFalse(yield* yield* begin)
    }))

  it.effect("does not begin when two thirds of the attempts have ended", () =>
    Effect.gen(function*() {
      const { isOver } = yield* gathering(160, { inFlight: 80, writeMillis: 10 })
      assert.isTrue(yield* isOver)
    }))
})
