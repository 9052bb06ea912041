import { assert, describe, it } from "@effect/vitest"
import {
  type Attempt,
  AttemptOutcome,
  bytesOfBody,
  closedBreaker,
  defaultPolicy,
  DeliveryOptions,
  Hmac,
  type LoadedDestination,
  parseSecret,
  type TakenDelivery,
  type Verdict,
  verdictOf,
  type WebhookRequest,
  type WebhookSender,
  wrap
} from "@waybill/core/delivery"
import { eventBatchEnvelope } from "@waybill/core/transit-events"
import { HmacNode, verifySignature } from "@waybill/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AttemptsInFlight } from "../../../src/delivery/worker/AttemptsInFlight.ts"
import { quietly } from "../Engine.ts"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const older = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

const destination: LoadedDestination = {
  destinationId: "destination",
  client: "client",
  source: "transit-events",
  version: 1,
  endpointUrl: "https://receiver.example/hook",
  hmacSecretId: "main",
  secrets: [],
  bodySignature: false,
  isActive: true,
  secretRefused: false,
  signing: "required",
  whenDead: "continue",
  policy: defaultPolicy,
  envelope: eventBatchEnvelope,
  breaker: closedBreaker,
  rateMark: undefined,
  waiting: [],
  moreWaiting: false,
  holdsBack: false
}

const taken: TakenDelivery = {
  destinationId: destination.destinationId,
  deliveryId: "0199c5a1-0000-7000-8000-000000000001",
  flight: "0199c5a1-0000-7000-8000-000000000000",
  sentAt: 0,
  attempt: 1,
  tries: 1,
  events: 1,
  body: new TextEncoder().encode("{}"),
  lastKey: "S1",
  traceparent: undefined
}

const attempt = (parts: Partial<Attempt> = {}, numbers: Partial<TakenDelivery> = {}): Attempt => ({
  tenantId: "acme",
  destination,
  taken: { ...taken, ...numbers },
  keys: [parseSecret(secret)!],
  storeAhead: 0,
  ...parts
})

/** Whether a request is signed with this secret. */
const isSigned = (key: string, request: WebhookRequest) => verifySignature(key, { headers: request.headers, body: bytesOfBody(request.body) })

const accepted = AttemptOutcome.Accepted({ status: 204, excerpt: "" })
const failed = AttemptOutcome.Failed({ failure: "http_5xx", status: 503, detail: "The receiver answered 503.", excerpt: "busy" })

type Start = WebhookSender["Service"]["start"]

const accepting: Start = (_request, settle) => {
  settle(accepted)
  return () => {}
}

/** Begins one attempt by a sender. Its verdict is there as soon as it ended. */
const begun = Effect.fnUntraced(function*(each: Attempt, start: Start) {
  const attempts = new AttemptsInFlight({ sender: { start, refusal: () => undefined }, hmac: yield* Hmac, options: DeliveryOptions.defaults }, yield* Effect.context<never>())
  const verdicts: Array<Verdict> = []
  attempts.begin(each, (verdict) => verdicts.push(verdict))
  return { attempts, verdicts }
})

/** Runs one attempt, and returns the request and the verdict. */
const sent = Effect.fnUntraced(function*(each: Attempt, start = accepting) {
  const requests: Array<WebhookRequest> = []
  const { verdicts } = yield* begun(each, (request, settle) => {
    requests.push(request)
    return start(request, settle)
  })
  return { verdict: verdicts[0]!, requests, request: requests[0] }
})

describe("AttemptsInFlight", () => {
  it.effect("signs what it sends, with the time of this attempt", Effect.fnUntraced(function*() {
    yield* TestClock.setTime(1_763_626_500_900)
    const { request } = yield* sent(attempt())
    assert.deepStrictEqual(
      { ...request!, headers: { ...request!.headers, "webhook-signature": "" } },
      {
        owner: "acme\nclient",
        url: "https://receiver.example/hook",
        headers: {
          "content-type": "application/json",
          "webhook-id": taken.deliveryId,
          "webhook-timestamp": "1763626500",
          "webhook-signature": ""
        },
        body: wrap(eventBatchEnvelope, taken.deliveryId, taken.sentAt, taken.body),
        deadlineMillis: 15_000
      }
    )
    assert.isTrue(isSigned(secret, request!))
    assert.isFalse(isSigned(older, request!))
  }, Effect.provide(HmacNode.layer)))

  it.effect("does not count what this process could not send, and pauses the destination for the first backoff", Effect.fnUntraced(function*() {
    const unsent: Start = (_request, settle) => {
      settle(AttemptOutcome.Interrupted({ unsent: "No connection." }))
      return () => {}
    }
    const { verdict } = yield* sent(attempt({}, { tries: defaultPolicy.maxAttempts }), unsent)
    const { dueInMillis, health, notCounted, record: { detail, outcome }, state } = verdict
    assert.deepStrictEqual({ dueInMillis, health, notCounted, detail, outcome, state }, { dueInMillis: 5000, health: "down", notCounted: true, detail: "No connection.", outcome: "interrupted", state: "waiting" })
  }, Effect.provide(HmacNode.layer)))

  it.effect("uses the store's clock when the clock of this process is wrong", Effect.fnUntraced(function*() {
    yield* TestClock.setTime(1_763_626_500_900)
    for (const [storeAhead, timestamp] of [[-330_000, "1763626170"], [330_000, "1763626830"]] as const) {
      const { request, verdict } = yield* sent(attempt({ storeAhead }))
      assert.strictEqual(request!.headers["webhook-timestamp"], timestamp)
      assert.isTrue(isSigned(secret, request!))
      assert.strictEqual(verdict.record.at, 1_763_626_500_900 + storeAhead)
    }
  }, Effect.provide(HmacNode.layer)))

  it.effect("signs with every live key", Effect.fnUntraced(function*() {
    const { request } = yield* sent(attempt({ keys: [parseSecret(secret)!, parseSecret(older)!] }))
    assert.isTrue(isSigned(secret, request!) && isSigned(older, request!))
    assert.lengthOf(request!.headers["webhook-signature"]!.split(" "), 2)
  }, Effect.provide(HmacNode.layer)))

  it.effect("adds the older signature of the body where the secret asks for it", Effect.fnUntraced(function*() {
    const { request } = yield* sent(attempt({ destination: { ...destination, bodySignature: true } }))
    assert.match(request!.headers["x-signature"]!, /^[A-Za-z0-9+/]{43}=$/)
    assert.notProperty((yield* sent(attempt())).request!.headers, "x-signature")
  }, Effect.provide(HmacNode.layer)))

  it.effect("fails the attempt without a key, and sends nothing unsigned", Effect.fnUntraced(function*() {
    const { requests, verdict } = yield* sent(attempt({ keys: [] }))
    assert.deepStrictEqual([requests, verdict.state, verdict.record.outcome], [[], "waiting", "signing"])
  }, Effect.provide(HmacNode.layer)))

  it.effect("sends unsigned deliveries until an optional secret is registered, and signed ones from then on", Effect.fnUntraced(function*() {
    const free = { ...destination, signing: "whenRegistered" as const, bodySignature: true }
    const unsigned = yield* sent(attempt({ destination: free, keys: [] }))
    assert.strictEqual(unsigned.verdict.state, "delivered")
    assert.sameMembers(Object.keys(unsigned.request!.headers), ["content-type", "webhook-id", "webhook-timestamp"])
    assert.containsAllKeys((yield* sent(attempt({ destination: free }))).request!.headers, ["webhook-signature", "x-signature"])
  }, Effect.provide(HmacNode.layer)))

  it.effect("measures the duration of the attempt", Effect.fnUntraced(function*() {
    yield* TestClock.setTime(5000)
    const answers: Array<(outcome: AttemptOutcome) => void> = []
    const { verdicts } = yield* begun(attempt(), (_request, settle) => {
      answers.push(settle)
      return () => {}
    })
    yield* TestClock.adjust(1234)
    assert.deepStrictEqual(verdicts, [])
    answers[0]!(accepted)
    assert.deepStrictEqual(verdicts.map(({ record: { at, durationMillis } }) => [at, durationMillis]), [[5000, 1234]])
  }, Effect.provide(HmacNode.layer)))

  it.effect("counts a defect of the sender as a failed attempt, so that retries end", Effect.fnUntraced(function*() {
    const defective: Start = () => {
      throw new Error("a bug in the transport")
    }
    const { verdict } = yield* sent(attempt(), defective)
    assert.deepStrictEqual([verdict.state, verdict.notCounted, verdict.record.outcome], ["waiting", false, "protocol"])
    assert.isAbove(verdict.dueInMillis, 0)
    assert.notInclude(JSON.stringify(verdict.record), "a bug")
    const { verdict: last } = yield* sent(attempt({}, { attempt: 12, tries: 12 }), defective)
    assert.strictEqual(last.state, "dead")
  }, quietly, Effect.provide(HmacNode.layer)))

  it.effect("aborts attempts that are interrupted, does not count them, and ignores late outcomes", Effect.fnUntraced(function*() {
    const aborted: Array<() => void> = []
    const { attempts, verdicts } = yield* begun(attempt(), (_request, settle) => () => void aborted.push(() => settle(accepted)))
    attempts.interruptAll()
    assert.lengthOf(aborted, 1)
    aborted[0]!()
    attempts.interruptAll()
    assert.deepStrictEqual(
      verdicts.map(({ dueInMillis, notCounted, record, state }) => [state, dueInMillis, notCounted, record.outcome]),
      [["waiting", 0, true, "interrupted"]]
    )
  }, Effect.provide(HmacNode.layer)))
})

describe("verdictOf", () => {
  const verdict = (outcome: AttemptOutcome, numbers: Partial<TakenDelivery> = {}, parts: Partial<Attempt> = {}) => verdictOf(attempt(parts, numbers), outcome, 1000, 1250, 0.5)

  it("takes any 2xx as acceptance (SPEC-GAP-D2)", () => {
    for (const status of [200, 201, 202, 204, 299]) {
      const each = verdict(AttemptOutcome.Accepted({ status, excerpt: "ok" }))
      assert.deepStrictEqual([each.state, each.health, each.pause], ["delivered", "up", undefined])
      assert.deepStrictEqual(each.record, { attempt: 1, at: 1000, durationMillis: 250, outcome: "accepted", status, excerpt: "ok" })
    }
  })

  it("schedules a retry after a failure, and counts the failure for the circuit breaker", () => {
    const each = verdict(failed)
    assert.deepStrictEqual([each.state, each.dueInMillis, each.health, each.notCounted], ["waiting", 5000, "down", false])
    assert.deepStrictEqual(each.record, {
      attempt: 1,
      at: 1000,
      durationMillis: 250,
      outcome: "http_5xx",
      status: 503,
      detail: "The receiver answered 503.",
      excerpt: "busy"
    })
  })

  it("gives up by the attempts since the last manual retry, not by all attempts", () => {
    assert.strictEqual(verdict(failed, { attempt: 40, tries: 11 }).state, "waiting")
    assert.strictEqual(verdict(failed, { attempt: 40, tries: 12 }).state, "dead")
    assert.strictEqual(verdict(failed, { attempt: 40, tries: 12 }).record.attempt, 40)
  })

  it("pauses a destination after a dead letter if it is configured so, and no other", () => {
    const pausing = { destination: { ...destination, whenDead: "pause" as const } }
    assert.strictEqual(verdict(failed, { tries: 12 }, pausing).pause, "A delivery was not accepted in 12 attempts.")
    assert.isUndefined(verdict(failed, { tries: 11 }, pausing).pause)
    assert.isUndefined(verdict(failed, { tries: 12 }).pause)
  })

  it("pauses the subscription on 410 with the reason, and keeps the delivery (SPEC-GAP-D25)", () => {
    const each = verdict(AttemptOutcome.Gone({ status: 410, excerpt: "" }), { tries: 12 })
    assert.deepStrictEqual([each.state, each.health, each.record.outcome], ["waiting", "unknown", "gone"])
    assert.match(each.pause!, /410/)
  })

  it("waits for Retry-After, within bounds (SPEC-GAP-D24)", () => {
    const asked = (retryAfterSeconds: number) => verdict(AttemptOutcome.Failed({ failure: "http_429", status: 429, detail: "Slow down.", retryAfterSeconds })).dueInMillis
    assert.deepStrictEqual([0, 60, 3600, 1e9, -5, NaN].map(asked), [5000, 60_000, 3_600_000, 3_600_000, 5000, 5000])
  })

  it("never measures a negative duration when the clock goes back", () => {
    assert.strictEqual(verdictOf(attempt(), accepted, 2000, 1000, 0.5).record.durationMillis, 0)
  })
})
