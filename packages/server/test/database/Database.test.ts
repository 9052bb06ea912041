import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { createServer, type AddressInfo } from "node:net"
import { openDatabase } from "../../src/database/Database.ts"

/** A port on which nobody listens. */
const deadPort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})

describe("a database that was given", () => {
  it.effect("is waited for for half a minute, and then told to be missing without its password", () =>
    Effect.gen(function*() {
      const port = yield* deadPort
      const databaseUrl = Redacted.make(`postgres://waybill:hunter2@127.0.0.1:${port}/freight`)
      const opening = yield* Effect.forkChild(Effect.flip(Effect.scoped(openDatabase({ databaseUrl, dataDir: "/nowhere" }))))
      let seconds = 0
      for (; opening.pollUnsafe() === undefined; seconds += 0.5) {
        yield* TestClock.adjust("500 millis")
        // the refusal itself comes from the system, in its own time
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
      }
      const error = yield* Fiber.join(opening)
      assert.isAtLeast(seconds, 30)
      assert.strictEqual(
        error.message,
        `The database at 127.0.0.1:${port}/freight did not answer within 30 seconds: connect ECONNREFUSED 127.0.0.1:${port}. Start it, or correct WAYBILL_DATABASE_URL.`
      )
    }))
})
