/** Conformance of `Wakeups`. Hints may be lost, so each is given until it arrives. */
import { Wakeups } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { storeSuite } from "../StoreSuite.ts"

export const suite = storeSuite("Wakeups", Wakeups, (test) => {
  /** Waits until a waiting fiber was woken for this tenant. */
  const wokenFor = (tenantId: string) =>
    Effect.flatMap(Wakeups, (wakeups) => Effect.repeat(wakeups.next, { until: (tenantIds) => tenantIds.has(tenantId) }))

  const waking = (tenantId: string) =>
    Effect.flatMap(Wakeups, (wakeups) => Effect.repeat(wakeups.wake(tenantId), Schedule.spaced("20 millis")))

  test("wakes all waiting fibers, and names the tenants", function*({ tenantId }) {
    const sleeper = yield* Effect.forkChild(wokenFor(tenantId))
    yield* Effect.raceFirst(Fiber.join(sleeper), waking(tenantId))
    assert.isTrue((yield* Fiber.join(sleeper)).has(tenantId))
  }, 20_000)

  test("keeps hints that arrive while no fiber waits", function*({ other, store: wakeups, tenantId: one }) {
    // the listener stands once the first hint came through
    yield* Effect.raceFirst(wokenFor(one), waking(one))
    yield* wakeups.wake(other)
    assert.isTrue((yield* wokenFor(other)).has(other))
  }, 20_000)

  test("wakes fibers of a process that serves the tenant alone", function*({ other, store: wakeups, tenantId }) {
    yield* Effect.raceFirst(wokenFor(other), waking(other))
    yield* wakeups.serve(() => Effect.succeed(true))
    yield* wakeups.wake(tenantId)
    assert.isTrue((yield* wokenFor(tenantId)).has(tenantId))
  }, 20_000)

  test("wakes every waiting fiber", function*({ tenantId }) {
    const sleepers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(wokenFor(tenantId)))
    const woken = yield* Effect.raceFirst(Effect.forEach(sleepers, Fiber.join), Effect.andThen(waking(tenantId), Effect.never))
    assert.deepStrictEqual(woken.map((tenantIds) => tenantIds.has(tenantId)), [true, true, true])
  }, 20_000)
})
