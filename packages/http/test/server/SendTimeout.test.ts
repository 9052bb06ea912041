import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { sendTimeoutMillis, withSendTimeout } from "../../src/server/SendTimeout.ts"

const pieces = (count: number, each: Effect.Effect<unknown> = Effect.void) =>
  Stream.mapEffect(Stream.range(1, count), (n) => Effect.as(each, new Uint8Array([n])))

const bodyOf = ({ body }: HttpServerResponse.HttpServerResponse): Stream.Stream<Uint8Array, unknown> => body._tag === "Stream" ? body.stream : Stream.empty

/** Sends this body to a reader that takes so long for each piece. */
const sentTo = (body: Stream.Stream<Uint8Array>, read: Effect.Effect<unknown>) => Effect.gen(function*() {
  const [seen, ended] = [{ pieces: 0, late: 0 }, { value: false }]
  const response = withSendTimeout(
    HttpServerResponse.stream(Stream.ensuring(body, Effect.sync(() => void (ended.value = true)))),
    Effect.sync(() => void (seen.late += 1))
  )
  const writer = yield* Effect.forkChild(Stream.runForEach(bodyOf(response), () => {
    seen.pieces += 1
    return read
  }), { startImmediately: true })
  return { writer, seen, ended }
})

describe("a response", () => {
  it.effect("whose reader takes nothing for five minutes ends, and what it holds is released", () => Effect.gen(function*() {
    const { ended, seen, writer } = yield* sentTo(pieces(3), Effect.never)
    yield* TestClock.adjust(sendTimeoutMillis - 1)
    assert.deepStrictEqual([seen, ended.value, writer.pollUnsafe()], [{ pieces: 1, late: 0 }, false, undefined])
    yield* TestClock.adjust(1)
    assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(writer)))
    assert.deepStrictEqual([seen, ended.value], [{ pieces: 1, late: 1 }, true])
  }))

  it.effect("is sent to the end to a reader that takes a piece now and then", () => Effect.gen(function*() {
    const { seen, writer } = yield* sentTo(pieces(20), Effect.sleep(sendTimeoutMillis - 1))
    yield* TestClock.adjust(20 * sendTimeoutMillis)
    yield* Fiber.join(writer)
    assert.deepStrictEqual(seen, { pieces: 20, late: 0 })
  }))

  it.effect("is sent to the end when its body takes long for a piece", () => Effect.gen(function*() {
    const { seen, writer } = yield* sentTo(pieces(3, Effect.sleep(2.5 * sendTimeoutMillis)), Effect.sleep(sendTimeoutMillis / 2))
    yield* TestClock.adjust(20 * sendTimeoutMillis)
    yield* Fiber.join(writer)
    assert.deepStrictEqual(seen, { pieces: 3, late: 0 })
  }))
})
