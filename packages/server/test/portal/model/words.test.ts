import { describe, expect, it } from "vitest"
import { stateInWords } from "../../../dashboard/portal/words.ts"
import { subscriptionSample } from "../../dashboard/FakeOperatorApi.ts"

const words = (changes: Parameters<typeof subscriptionSample>[1]) => stateInWords(subscriptionSample(1, changes))

describe("stateInWords", () => {
  it("says who paused a subscription, why, and what waits", () => {
    expect(words({ state: "paused", pausedBy: "operator", reason: "Unpaid.", waiting: 1 })).toMatchObject({ tone: "bad", short: "paused by the operator", detail: "Nothing is sent. Only the operator can resume it. Unpaid. 1 entry waits." })
    expect(words({ state: "paused", pausedBy: "client", waiting: 1000 })).toMatchObject({ tone: "careful", short: "paused by you", detail: "Nothing is sent until you resume it. 1,000 or more entries wait." })
    expect(words({ state: "paused", pausedBy: "service", reason: "The receiver answered 410 Gone." }).detail).toBe(
      "Nothing is sent. The receiver answered 410 Gone. Correct the cause, send a test event, and resume it. New entries wait."
    )
    // the service also pauses a subscription whose secret was given away, and its endpoint is well
    expect(words({ state: "paused", pausedBy: "service", reason: "The signing secret main no longer belongs to this client." }).short).toBe("paused by the service")
  })

  it("says how serious failures are", () => {
    expect(words({ breaker: { state: "open", failures: 7, until: null }, dead: 2 })).toMatchObject({
      tone: "bad",
      short: "failing",
      detail: "7 attempts in a row failed, so attempts are less frequent. 2 dead letters: send them again when the endpoint works."
    })
    expect(words({ breaker: { state: "open", failures: 7, until: null }, inFlight: 1 }).detail).toBe("7 attempts in a row failed, so attempts are less frequent. Attempts go on by themselves.")
    expect(words({ breaker: { state: "closed", failures: 1, until: null } })).toMatchObject({ tone: "careful", short: "last attempt failed" })
    expect(words({ breaker: { state: "closed", failures: 1, until: null }, waiting: 1 }).detail).toBe("1 attempt in a row failed. Attempts go on by themselves.")
    expect(words({ breaker: { state: "closed", failures: 3, until: null }, dead: 1 }).detail).toBe("3 attempts in a row failed. 1 dead letter: send it again when the endpoint works.")
    expect(words({ dead: 1000 })).toMatchObject({ tone: "careful", short: "1,000+ dead letters" })
    expect(words({ held: true })).toMatchObject({ tone: "bad", short: "no access" })
    expect(words({ state: "inactive" })).toMatchObject({ tone: "plain", short: "inactive" })
    expect(words({ lastAttempt: null })).toEqual({ tone: "plain", short: "nothing sent yet", detail: "A test event shows whether the endpoint works." })
    expect(words({})).toEqual({ tone: "good", short: "works", detail: "Deliveries are sent and accepted." })
  })
})
