import { assert, describe, it } from "@effect/vitest"
import { RateExceeded } from "@waybill/core"
import { Clock, Effect, Fiber, Latch, Schema, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { readBody, streamBody } from "../../src/shared/RequestBody.ts"

const text = "{\"pieces\":2}"
const spec = { schema: Schema.Struct({ pieces: Schema.Number }) }

const requestWith = (body: ReadableStream<Uint8Array>, headers: Readonly<Record<string, string>>) => {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body, duplex: "half" }
  return HttpServerRequest.fromWeb(new Request("http://waybill.test/", init as RequestInit))
}

/** A request whose body arrives in two pieces. */
const requestOf = (headers: Readonly<Record<string, string>>) =>
  requestWith(
    new ReadableStream({
      start(controller) {
        for (const piece of [text.slice(0, 4), text.slice(4)]) controller.enqueue(new TextEncoder().encode(piece))
        controller.close()
      }
    }),
    headers
  )

describe("the bytes of a body", () => {
  it.effect("are counted at once if their number is declared", Effect.fnUntraced(function*() {
    const taken: Array<number> = []
    const body = yield* readBody(requestOf({ "content-length": "12" }), spec, 1_000, (bytes) => Effect.sync(() => void taken.push(bytes)))
    assert.deepStrictEqual([body, taken], [{ pieces: 2 }, [12]])
  }))

  it.effect("are counted as they arrive if no number is declared, as in HTTP/2", Effect.fnUntraced(function*() {
    for (const headers of [{}, { "transfer-encoding": "chunked" }, { "content-length": "-1000000" }, { "content-length": "many" }]) {
      const taken: Array<number> = []
      const body = yield* readBody(requestOf(headers), spec, 1_000, (bytes) => Effect.sync(() => void taken.push(bytes)))
      assert.deepStrictEqual([body, taken], [{ pieces: 2 }, [4, 8]])
    }
  }))

  it.effect("end the request when the caller has too many, before the rest arrives", Effect.fnUntraced(function*() {
    const tooMany = new RateExceeded({ quota: "bodyBytesPerClient", limit: 1, retryAfterSeconds: 5 })
    const taken: Array<number> = []
    const refuse = (bytes: number) => Effect.suspend(() => (taken.push(bytes), Effect.fail(tooMany)))
    assert.strictEqual(yield* Effect.flip(readBody(requestOf({}), spec, 1_000, refuse)), tooMany)
    assert.deepStrictEqual(taken, [4])
  }))

  it.effect("may arrive while the clock is set", () =>
    Clock.clockWith((clock) => {
      let ahead = 0
      const now = () => clock.currentTimeMillisUnsafe() + ahead
      const arrives = Effect.flatMap(streamBody(requestOf({}), spec, 1_000), (body) => Stream.runForEach(body, () => Effect.sync(() => void (ahead += 3_600_000))))
      return Effect.provideService(arrives, Clock.Clock, { ...clock, currentTimeMillisUnsafe: now, currentTimeMillis: Effect.sync(now) })
    }))

  it.effect("take little memory while few of them have arrived", Effect.fnUntraced(function*() {
    const count = 300
    const begun = yield* Latch.make()
    let taken = 0
    const take = () => Effect.suspend(() => ++taken === count ? Effect.asVoid(begun.open) : Effect.void)
    const before = process.memoryUsage().arrayBuffers
    const first = () => new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([123])) })
    const requests = Array.from({ length: count }, () => requestWith(first(), {}))
    const reading = yield* Effect.forkChild(Effect.forEach(requests, (request) => readBody(request, spec, 60_000, take), { concurrency: "unbounded" }))
    yield* begun.await
    assert.isBelow((process.memoryUsage().arrayBuffers - before) / count, 16 * 1024)
    yield* Fiber.interrupt(reading)
  }))

  it.effect("are none where a web request has no body", Effect.fnUntraced(function*() {
    const request = HttpServerRequest.fromWeb(new Request("http://waybill.test/", { method: "POST" }))
    assert.deepStrictEqual(yield* readBody(request, { ...spec, optional: true }, 1_000), {})
  }))
})
