/** Calls that wait for the carrier, and how many do so at the same time. */
import { assert, describe, it } from "@effect/vitest"
import { pickupRequest } from "@waybill/testkit"
import { Effect, Fiber, type Option } from "effect"
import { TestClock } from "effect/testing"
import { makePickupWaits, maxWaitingPickups, maxWaitingPickupsPerClient } from "../../src/pickups/PickupWaits.ts"

/** Calls that wait until they are interrupted, where the store never answers. Those that do not wait have ended when this returns. */
const makeCalls = (findById: Effect.Effect<Option.Option<never>> = Effect.never) => {
  const waits = makePickupWaits({ findById: () => findById } as never, { listen: () => Effect.succeed(Effect.never) } as never, { announced: (_: unknown, answer: unknown) => answer } as never)
  return Effect.fnUntraced(function*(count: number, client: string, tenantId = "tenant") {
    const waiting = { pickupId: "pickup", waiting: { id: "request", request: pickupRequest() } } as never
    const calls = yield* Effect.forEach(Array.from({ length: count }), () => Effect.forkChild(waits.answer({ tenantId, client, roles: ["customer"], accounts: [], origin: "key" }, waiting, 1000)))
    yield* TestClock.adjust(0)
    return { calls, waiting: calls.filter((call) => call.pollUnsafe() === undefined).length }
  })
}

describe("calls that wait for the carrier", () => {
  it.effect("are limited for each client of a tenant, and one waits again when another has ended (SPEC-GAP-C35)", Effect.fnUntraced(function*() {
    const call = makeCalls()
    const first = yield* call(maxWaitingPickupsPerClient + 2, "shipper")
    assert.strictEqual(first.waiting, maxWaitingPickupsPerClient)
    for (const [client, tenantId] of [["other", "tenant"], ["shipper", "other tenant"]] as const) assert.strictEqual((yield* call(1, client, tenantId)).waiting, 1)
    yield* Fiber.interrupt(first.calls[0]!)
    assert.strictEqual((yield* call(2, "shipper")).waiting, 1)
  }))

  it.effect("are limited for the process, and one waits again when another has ended (SPEC-GAP-C35)", Effect.fnUntraced(function*() {
    const call = makeCalls()
    const clients = Array.from({ length: maxWaitingPickups / maxWaitingPickupsPerClient }, (_, n) => `client ${n}`)
    const calls = yield* Effect.forEach(clients, (client) => call(maxWaitingPickupsPerClient, client))
    assert.strictEqual(calls.reduce((sum, { waiting }) => sum + waiting, 0), maxWaitingPickups)
    assert.strictEqual((yield* call(1, "late")).waiting, 0)
    yield* Fiber.interrupt(calls[0]!.calls[0]!)
    assert.strictEqual((yield* call(2, "late")).waiting, 1)
  }))

  it.effect("are answered when their pickup was removed meanwhile", Effect.fnUntraced(function*() {
    const { calls } = yield* makeCalls(Effect.succeedNone)(1, "shipper")
    assert.strictEqual((yield* Fiber.join(calls[0]!)).pickupStatus, "Call us")
  }))
})
