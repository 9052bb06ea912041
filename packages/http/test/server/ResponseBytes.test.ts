import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { makeResponseBytes, maxResponseBytesPerClient, maxResponseBytesPerProcess, type ResponseBytes } from "../../src/server/ResponseBytes.ts"
import { holding } from "../../src/shared/HeldBytes.ts"

const mib = 1024 ** 2
const half = maxResponseBytesPerClient / 2

/** Its body has one byte, so that the test does not need the memory. */
const holds = (bytes: number) => holding(bytes, HttpServerResponse.stream(Stream.make(new Uint8Array(1))))

const bodyOf = (response: HttpServerResponse.HttpServerResponse): Stream.Stream<Uint8Array, unknown> =>
  response.body._tag === "Stream" ? response.body.stream : Stream.empty

/** A response whose reader took a piece and reads no more, until the scope ends. */
const stalled = (responses: ResponseBytes, caller: string, bytes: number) =>
  Effect.flatMap(responses.countedOrRefused(caller, holds(bytes)), (response) =>
    Effect.flatMap(Stream.toPull(bodyOf(response)), (pull) => Effect.orDie(pull)))

describe("responses that are not read", () => {
  it.effect("count for their caller until they are read, fail or are left", () => Effect.gen(function*() {
    const responses = makeResponseBytes()
    const left = yield* Scope.make()
    yield* Scope.provide(stalled(responses, "one", half), left)
    yield* Scope.provide(stalled(responses, "one", half), left)
    assert.deepInclude(yield* Effect.flip(responses.countedOrRefused("one", holds(mib))), {
      _tag: "RateExceeded", quota: "responseBytesPerClient", limit: 134_217_728, retryAfterSeconds: 5
    })
    assert.deepInclude(yield* Effect.flip(responses.admit("one")), { quota: "responseBytesPerClient" })
    yield* responses.admit("two")
    yield* Scope.close(left, Exit.void)
    yield* responses.admit("one")
    for (const stream of [Stream.make(new Uint8Array(1)), Stream.fail("broken"), Stream.die("defect")]) {
      const response = yield* responses.countedOrRefused("one", holding(maxResponseBytesPerClient, HttpServerResponse.stream(stream)))
      yield* Effect.exit(Stream.runDrain(bodyOf(response)))
    }
    yield* Effect.scoped(stalled(responses, "one", maxResponseBytesPerClient))
  }))

  it.effect("refuse a large read that they leave no space for, before it reads", () => Effect.scoped(Effect.gen(function*() {
    const responses = makeResponseBytes()
    yield* stalled(responses, "one", 3 * half / 2 - mib)
    yield* responses.admitLarge("one")
    yield* stalled(responses, "one", mib)
    assert.deepInclude(yield* Effect.flip(responses.admitLarge("one")), { quota: "responseBytesPerClient" })
    yield* Effect.andThen(responses.admit("one"), responses.admitLarge("two"))
  })))

  it.effect("count for nobody when they are never sent", () => Effect.gen(function*() {
    const responses = makeResponseBytes()
    for (let count = 0; count < 10; count++) yield* responses.countedOrRefused("one", holds(half))
  }))

  it.effect("refuse nobody the first one, of any size, and are limited for the process", () => Effect.scoped(Effect.gen(function*() {
    const responses = makeResponseBytes()
    for (let at = 0; at * half < maxResponseBytesPerProcess; at++) yield* stalled(responses, `caller ${at}`, half)
    yield* stalled(responses, "another", 10 * maxResponseBytesPerClient)
    assert.deepInclude(yield* Effect.flip(responses.countedOrRefused("caller 0", holds(mib))), { quota: "responseBytesPerProcess", limit: 268_435_456 })
  })))

  it.effect("are counted beside each other only when they are large", () => Effect.scoped(Effect.gen(function*() {
    const responses = makeResponseBytes()
    yield* stalled(responses, "one", maxResponseBytesPerClient)
    const small = HttpServerResponse.text("small")
    assert.strictEqual(yield* responses.countedOrRefused("one", small), small)
  })))

  it.effect("of a write are counted, and never refused", () => Effect.scoped(Effect.gen(function*() {
    const responses = makeResponseBytes()
    yield* stalled(responses, "one", half)
    yield* Stream.toPull(bodyOf(responses.counted("one", holds(maxResponseBytesPerClient)))).pipe(Effect.flatMap(Effect.orDie))
    assert.deepInclude(yield* Effect.flip(responses.admit("one")), { quota: "responseBytesPerClient" })
  })))
})

describe("a large response from memory", () => {
  it.effect.each([["text", HttpServerResponse.text("é".repeat(100_000))], ["bytes", HttpServerResponse.uint8Array(Buffer.from("é".repeat(100_000)))]] as const)(
    "is sent in pieces, with its type and length: %s", ([, given]) => Effect.gen(function*() {
      const response = yield* makeResponseBytes().countedOrRefused("one", given)
      const pieces = yield* Stream.runCollect(bodyOf(response))
      assert.strictEqual(Buffer.concat(pieces).toString(), "é".repeat(100_000))
      assert.isAtMost(Math.max(...pieces.map(({ length }) => length)), 65_536)
      assert.deepInclude(response.body, { contentLength: 200_000, contentType: given.headers["content-type"] })
    }))
})
