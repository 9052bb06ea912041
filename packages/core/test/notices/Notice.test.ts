import { assert, describe, it } from "@effect/vitest"
import { defaultPolicy, type DestinationOverview, overviewCount } from "@waybill/core/delivery"
import { mailOf, type Notice, webhookBodyOf } from "../../src/notices/Notice.ts"

const at = Date.UTC(2026, 10, 20, 8, 15)
const hour = 3_600_000

const destination: DestinationOverview = {
  destinationId: "018f0000-0000-7000-8000-000000000001",
  client: "key:shipper",
  source: "transit-events",
  endpointUrl: "https://shipper.example/hook",
  hmacSecretId: "main",
  policy: defaultPolicy,
  whenDead: "continue",
  status: { state: "active", reason: undefined, pausedBy: undefined, since: at },
  held: false,
  breaker: { failures: 5, openUntil: undefined },
  waiting: 0,
  oldestWaitingAt: undefined,
  inFlight: 0,
  dead: 0,
  dropped: 0,
  dueAt: undefined,
  lastAttempt: undefined
}

const notice = (of: Partial<DestinationOverview>, parts: Partial<Notice> = {}): Notice =>
  ({ kind: "failing", destination: { ...destination, ...of }, lastAttemptAt: undefined, waitingDays: 7, ...parts })

/** The lines between the endpoint and what to do. */
const said = (of: Notice): ReadonlyArray<string> => mailOf(of).text.split("\n\n")[1]!.split("\n")

describe("the mail of a notice", () => {
  it("counts what waits, and says when the oldest entry is removed and the last attempt is made", () => {
    const waiting = { inFlight: 1, waiting: 2, oldestWaitingAt: at, dead: 3 }
    assert.deepStrictEqual(said(notice(waiting, { lastAttemptAt: at + hour })), [
      "The endpoint does not accept deliveries.",
      "1 delivery is being sent or waits for the next attempt.",
      "2 entries wait to be sent, the oldest since 2026-11-20T08:15:00.000Z.",
      "Entries that wait for 7 days are removed: the oldest at 2026-11-27T08:15:00.000Z.",
      "3 dead letters: all attempts failed.",
      "The last attempt of the oldest delivery is at about 2026-11-20T09:15:00.000Z. If it fails, the delivery ends as a dead letter."
    ])
    const many = notice({ inFlight: overviewCount, waiting: overviewCount - 1, whenDead: "pause" }, { lastAttemptAt: at })
    assert.deepStrictEqual(said(many), [
      "The endpoint does not accept deliveries.",
      "1,000 or more deliveries are being sent or wait for the next attempt.",
      "999 entries wait to be sent.",
      "The last attempt of the oldest delivery is at about 2026-11-20T08:15:00.000Z. If it fails, the subscription is paused."
    ])
    assert.deepStrictEqual(said(notice({})), ["The endpoint does not accept deliveries."])
  })

  it("says since when and why a subscription is paused", () => {
    const paused = (reason: string | undefined) => notice({ status: { state: "paused", reason, pausedBy: "service", since: at } }, { kind: "paused", lastAttemptAt: at })
    assert.deepStrictEqual(said(paused("The receiver answered 410 Gone.")), ["The subscription is paused since 2026-11-20T08:15:00.000Z. The receiver answered 410 Gone."])
    assert.deepStrictEqual(said(paused(undefined)), ["The subscription is paused since 2026-11-20T08:15:00.000Z."])
    assert.strictEqual(mailOf(paused(undefined)).subject, "Your webhook is paused")
  })
})

describe("the webhook of a notice", () => {
  const body = (of: Notice): unknown => JSON.parse(new TextDecoder().decode(webhookBodyOf(of, "notice-1", at)))

  it("has the same facts as the mail", () => {
    const failing = notice({ inFlight: 1, waiting: 2, oldestWaitingAt: at - hour, dead: 3, whenDead: "pause" }, { lastAttemptAt: at + hour })
    assert.deepStrictEqual(body(failing), {
      type: "notice.failing",
      noticeId: "notice-1",
      createdAt: "2026-11-20T08:15:00.000Z",
      subscriptionId: destination.destinationId,
      area: "transit-events",
      endpointUrl: destination.endpointUrl,
      inFlight: 1,
      waiting: 2,
      oldestWaitingAt: "2026-11-20T07:15:00.000Z",
      removedAt: "2026-11-27T07:15:00.000Z",
      deadLetters: 3,
      lastAttemptAt: "2026-11-20T09:15:00.000Z",
      afterLastAttempt: "paused",
      pausedAt: null,
      reason: null
    })
  })

  it("has null where there is nothing to say", () => {
    const paused = notice({ status: { state: "paused", reason: "The receiver answered 410 Gone.", pausedBy: "service", since: at } }, { kind: "paused" })
    const { lastAttemptAt, oldestWaitingAt, pausedAt, reason, removedAt } = body(paused) as Record<string, unknown>
    assert.deepStrictEqual([oldestWaitingAt, removedAt, lastAttemptAt, pausedAt, reason], [null, null, null, "2026-11-20T08:15:00.000Z", "The receiver answered 410 Gone."])
  })
})
