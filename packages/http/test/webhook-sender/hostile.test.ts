import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { vi } from "vitest"
import type { AttemptOutcome, WebhookRequest } from "@waybill/core/delivery"
import { hostileBehaviours, type HostileBehaviourName, startHostileReceiver } from "@waybill/conformance/hostile"
import { endAfterwards } from "../endAfterwards.ts"
import type { WebhookSenderHttpOptions } from "../../src/webhook-sender/index.ts"
import { assertInert, codes, until, wanted } from "./Hostile.ts"
import { loopbackSender, send, shortDeadline, summary } from "./Sending.ts"

const hostile = await startHostileReceiver()
endAfterwards(() => hostile.stop())

/** With a sender that trusts the receiver's valid certificates. */
const sending = <A, E, R>(effect: Effect.Effect<A, E, R>, options: WebhookSenderHttpOptions = {}) =>
  Effect.suspend(() => Effect.provide(effect, loopbackSender({ ca: [hostile.ca], ...options })))

const attempt = (name: HostileBehaviourName, request: Partial<WebhookRequest> = {}) => send(hostile.url(name), request)

const retryAfterOf = (outcome: AttemptOutcome) => outcome._tag === "Failed" ? outcome.retryAfterSeconds : undefined

/** Data behind a response arrives while no request is in flight, so the connection must be closed before the next one. */
const givenUp: ReadonlyArray<HostileBehaviourName> = [
  "answers-before-request", "second-answer", "second-answer-error", "second-answer-chunked", "second-answer-in-pieces", "second-answer-later",
  "hundred-answers", "interim-behind", "half-answer-behind", "bytes-behind", "closes-and-goes-on"
]

/** They do not notice that a connection is closed. */
const unread: ReadonlyArray<HostileBehaviourName> = ["reads-nothing", "tls-silent"]

const large = [new Uint8Array(8 * 1024 * 1024).fill(0x20)]

describe("WebhookSenderHttp and a receiver that", () => {
  for (const { does, ends, name, next, outcome, unsent } of hostileBehaviours) {
    it.live(`${name}: ${does}`, Effect.fnUntraced(function*() {
      const seen = hostile.requests(name).length
      const deadline = ends === "deadline" ? shortDeadline : {}
      const [took, first] = yield* Effect.timed(attempt(name, { ...deadline, headers: { "webhook-id": "one" } }))
      wanted(first, outcome)
      assert.include(codes[name].split("|"), summary(first))
      assertInert(first)
      if (ends === "deadline") {
        assert.isAtLeast(Duration.toMillis(took), shortDeadline.deadlineMillis - 10)
        assert.isAtMost(Duration.toMillis(took), 5000)
      }
      if (givenUp.includes(name) || ends === "deadline" && !unread.includes(name)) yield* until(() => hostile.connections(name).open === 0)

      const silent = name === "silent-when-reused" || name === "accepts-before-body"
      const second = yield* attempt(name, { ...deadline, ...(silent ? shortDeadline : {}), headers: { "webhook-id": "two" } })
      wanted(second, next ?? outcome)
      assertInert(second)
      if (givenUp.includes(name) && name !== "answers-before-request") {
        assert.deepStrictEqual(second, { _tag: "Accepted", status: 200, excerpt: `correct ${seen + 1}` })
      }

      // Each was sent at most once, and the second request contains nothing of the first response.
      const heads = hostile.requests(name).slice(seen).map(({ head }) => head.replace(/^POST /, "").replace(/^webhook-id: (?:one|two)$/m, ""))
      assert.isAtMost(heads.length, unsent === true ? 0 : 2)
      assert.isAtMost(new Set(heads).size, 1)
      assert.strictEqual(hostile.inside.connections(), 0)
    }, sending), 30_000)
  }
})

describe("WebhookSenderHttp", () => {
  it.live("reads nothing or a bounded number of seconds from any Retry-After", Effect.fnUntraced(function*() {
    const tenYears = 315_360_000
    const expected: Partial<Record<HostileBehaviourName, number | undefined>> = {
      "retry-after-negative": undefined,
      "retry-after-huge": tenYears,
      "retry-after-longer": tenYears,
      "retry-after-past": 0,
      "retry-after-9999": tenYears,
      "retry-after-nan": undefined,
      "retry-after-float": undefined,
      "retry-after-twice": 1,
      "retry-after-empty": undefined,
      "trailers": undefined
    }
    for (const [name, seconds] of Object.entries(expected)) {
      assert.strictEqual(retryAfterOf(yield* attempt(name as HostileBehaviourName)), seconds, name)
    }
  }, sending))

  it.live("gives no forged response to requests that wait for the connection", () =>
    sending(Effect.gen(function*() {
      for (const name of ["second-answer", "second-answer-error", "second-answer-chunked", "hundred-answers", "half-answer-behind", "closes-and-goes-on"] as const) {
        const fresh = yield* Effect.acquireRelease(
          Effect.promise(() => startHostileReceiver({ behaviours: [name] })),
          (receiver) => Effect.promise(() => receiver.stop())
        )
        const outcomes = yield* Effect.all(Array.from({ length: 5 }, () => send(fresh.url(name))), { concurrency: "unbounded" })
        assert.deepStrictEqual(
          outcomes.map((outcome) => outcome._tag === "Accepted" ? outcome.excerpt : outcome._tag).sort(),
          ["correct 1", "correct 2", "correct 3", "correct 4", "first"],
          name
        )
      }
    }), { requestsPerOrigin: 1 }))

  it.live("times out when a receiver does not read a large body", Effect.fnUntraced(function*() {
    assert.strictEqual(summary(yield* attempt("reads-nothing", { body: large, ...shortDeadline })), "timeout")
    assert.strictEqual(summary(yield* attempt("resets-before-body", { body: large })), "protocol")
  }, sending))

  it.live("writes no request behind the rest of one that was answered before it was read", Effect.fnUntraced(function*() {
    for (const name of ["refuses-before-body", "accepts-before-body"] as const) {
      const seen = hostile.requests(name).length
      const before = hostile.connections(name).all
      for (let n = 0; n < 3; n++) wanted(yield* attempt(name, { body: large }), name === "refuses-before-body" ? "failed" : "either")
      const heads = hostile.requests(name).slice(seen).map(({ head }) => head.slice(0, 5))
      assert.deepStrictEqual(heads, ["POST ", "POST ", "POST "])
      assert.strictEqual(hostile.connections(name).all - before, 3)
    }
  }, sending))

  it.live("returns only the beginning of a redirect target", Effect.fnUntraced(function*() {
    const outcome = yield* attempt("redirect-long")
    assert.include(outcome._tag === "Failed" ? outcome.detail : "", `points to https://a.example/${"a".repeat(150)}`)
    assertInert(outcome)
  }, sending))

  it.live("copies a body a few times at most, however many chunks it has", Effect.fnUntraced(function*() {
    const copied = vi.spyOn(Buffer.prototype, "copy")
    yield* Effect.addFinalizer(() => Effect.sync(() => copied.mockRestore()))
    assert.strictEqual(summary(yield* attempt("endless-chunks")), "Accepted 200")
    const bytes = copied.mock.results.reduce((sum, { value }) => sum + Number(value), 0)
    assert.isAbove(bytes, 4095)
    assert.isBelow(bytes, 3 * 4096)
  }, sending))
})
