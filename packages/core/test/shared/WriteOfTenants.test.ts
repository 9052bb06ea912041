/** What a process gathered of one tenant is written, whatever the writes of others do. */
import { assert, it } from "@effect/vitest"
import { StorageError } from "@waybill/core"
import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { logUnwritten, writeOfTenants } from "../../src/shared/WriteOfTenants.ts"

const failure = new StorageError({ operation: "Store.add", cause: "broken" })

it.effect("writes what was gathered of all tenants but those whose write fails or is blocked", () => {
  const lines: Array<unknown> = []
  const logger = Logger.layer([Logger.map(Logger.formatStructured, ({ annotations, message }) => void lines.push([[message].flat()[0], annotations]))])
  return Effect.gen(function*() {
    const written: Array<string> = []
    const tenants = ["a-fails", "b-blocked", "c-blocked", "d-blocked", "e-blocked", "f-blocked", "g", "h"]
    const writing = yield* Effect.forkChild(writeOfTenants(tenants.map((tenantId) => [tenantId, 1] as const), (tenantId) =>
      tenantId.endsWith("fails") ? Effect.fail(failure) : tenantId.endsWith("blocked") ? Effect.never : Effect.sync(() => written.push(tenantId))))
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual(written, ["g", "h"])
    yield* TestClock.adjust("10 seconds")
    const unwritten = yield* Fiber.join(writing)
    assert.deepStrictEqual(unwritten.map(({ tenantId }) => tenantId), tenants.slice(0, 6))
    // a sentence, because the log shows the stack of an error in it
    assert.strictEqual(unwritten[1]!.error.cause, "No response within 10 seconds. Another transaction may hold locks.")
    yield* logUnwritten(unwritten, (error) => Effect.logWarning("Counts not written.", error))
    yield* logUnwritten([], (error) => Effect.logWarning("Counts not written.", error))
    assert.deepStrictEqual(lines, [["Counts not written.", { tenant: "a-fails", tenants: 6 }]])
  }).pipe(Effect.provide(logger))
})
