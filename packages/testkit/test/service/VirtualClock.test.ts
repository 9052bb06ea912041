import { Effect, Fiber } from "effect"
import * as Clock from "effect/Clock"
import { expect, it } from "vitest"
import { makeVirtualClock } from "../../src/service/VirtualClock.ts"

const settle = () => Effect.runPromise(Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true }))

it("stops at every time that a fiber sleeps until, in order, including new ones", async () => {
  const clock = makeVirtualClock(1000)
  const woken: Array<readonly [string, number]> = []
  const sleeper = (name: string, ...millis: ReadonlyArray<number>) =>
    Effect.forEach(millis, (each) => Effect.andThen(Effect.sleep(each), Effect.map(Clock.currentTimeMillis, (now) => void woken.push([name, now]))))
  const fibers = [sleeper("long", 50), sleeper("twice", 10, 20), sleeper("beyond", 1000)].map((each) =>
    Effect.runFork(Effect.provideService(each, Clock.Clock, clock)))
  await clock.turnTo(1100, settle)
  expect(woken).toEqual([["twice", 1010], ["twice", 1030], ["long", 1050]])
  expect(clock.currentTimeMillisUnsafe()).toBe(1100)
  expect(clock.monotonicTimeNanosUnsafe()).toBe(100_000_000n)
  await clock.turnTo(500, settle)
  expect(clock.currentTimeMillisUnsafe()).toBe(1100)
  for (const fiber of fibers) await Effect.runPromise(Fiber.interrupt(fiber))
  await clock.turnTo(3000, settle)
  expect(woken).toHaveLength(3)
})
