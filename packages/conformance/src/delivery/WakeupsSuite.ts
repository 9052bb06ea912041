/** What `Wakeups` promises. Hints may be lost, so each is given until it arrives. */
import type { StoragePorts } from "@waybill/core"
import { Wakeups } from "@waybill/core/delivery"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, type Layer, Schedule } from "effect"
import { freshTenant } from "../StorageFixtures.ts"

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: Wakeups`, (it) => {
    /** Waits until somebody was woken for this tenant. */
    const wokenFor = (tenantId: string) =>
      Effect.flatMap(Wakeups, (wakeups) => Effect.repeat(wakeups.next, { until: (tenantIds) => tenantIds.has(tenantId) }))

    const waking = (tenantId: string) =>
      Effect.flatMap(Wakeups, (wakeups) => Effect.repeat(wakeups.wake(tenantId), Schedule.spaced("20 millis")))

    it.effect("wakes all waiting fibers, and names the tenants", Effect.fnUntraced(function*() {
      const tenantId = freshTenant()
      const sleeper = yield* Effect.forkChild(wokenFor(tenantId))
      yield* Effect.raceFirst(Fiber.join(sleeper), waking(tenantId))
      assert.isTrue((yield* Fiber.join(sleeper)).has(tenantId))
    }), 20_000)

    it.effect("keeps hints that arrive while no fiber waits", Effect.fnUntraced(function*() {
      const wakeups = yield* Wakeups
      const [one, other] = [freshTenant(), freshTenant()]
      // the listener stands once the first hint came through
      yield* Effect.raceFirst(wokenFor(one), waking(one))
      yield* wakeups.wake(other)
      assert.isTrue((yield* wokenFor(other)).has(other))
    }), 20_000)

    it.effect("wakes fibers of a process that serves the tenant alone", Effect.fnUntraced(function*() {
      const wakeups = yield* Wakeups
      const [other, tenantId] = [freshTenant(), freshTenant()]
      yield* Effect.raceFirst(wokenFor(other), waking(other))
      yield* wakeups.serve(() => Effect.succeed(true))
      yield* wakeups.wake(tenantId)
      assert.isTrue((yield* wokenFor(tenantId)).has(tenantId))
    }), 20_000)

    it.effect("wakes every waiting fiber", Effect.fnUntraced(function*() {
      const tenantId = freshTenant()
      const sleepers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(wokenFor(tenantId)))
      yield* Effect.raceFirst(Effect.forEach(sleepers, Fiber.join), waking(tenantId))
    }), 20_000)
  })
