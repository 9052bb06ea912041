/** What the state of a subscription means for its customer. */
import type { PortalSubscription } from "@waybill/client/portal"
import { countText } from "../model/trouble.ts"
import { plural, type Tone } from "../model/words.ts"

export interface StateInWords {
  readonly tone: Tone
  /** A few words. */
  readonly short: string
  /** One or two sentences. */
  readonly detail: string
}

export const stateInWords = (subscription: PortalSubscription): StateInWords => {
  const { breaker, dead, held, inFlight, lastAttempt, pausedBy, reason, state, waiting } = subscription
  const why = reason === null ? "" : ` ${reason}`
  const waits = waiting === 0 ? "New entries wait." : `${plural(waiting, "entry", "entries").replace(/^1,000 /, "1,000 or more ")} ${waiting === 1 ? "waits" : "wait"}.`
  if (held) return { tone: "bad", short: "no access", detail: "You have no access at present, so nothing is sent. Entries wait until your access is back." }
  if (state === "paused" && pausedBy === "operator") {
    return { tone: "bad", short: "paused by the operator", detail: `Nothing is sent. Only the operator can resume it.${why} ${waits}` }
  }
  if (state === "paused" && pausedBy === "client") return { tone: "careful", short: "paused by you", detail: `Nothing is sent until you resume it. ${waits}` }
  if (state === "paused") return { tone: "bad", short: "paused by the service", detail: `Nothing is sent.${why} Correct the cause, send a test event, and resume it. ${waits}` }
  if (state === "inactive") return { tone: "plain", short: "inactive", detail: "No new entries are queued." }
  const deadLetters = dead === 0 ? "" : ` ${dead === 1 ? "1 dead letter: send it" : `${countText(dead)} dead letters: send them`} again when the endpoint works.`
  const goOn = inFlight + waiting === 0 ? "" : " Attempts go on by themselves."
  if (breaker.state !== "closed") {
    return { tone: "bad", short: "failing", detail: `${plural(breaker.failures, "attempt")} in a row failed, so attempts are less frequent.${goOn}${deadLetters}` }
  }
  if (breaker.failures > 0) return { tone: "careful", short: "last attempt failed", detail: `${plural(breaker.failures, "attempt")} in a row failed.${goOn}${deadLetters}` }
  if (dead === 0 && lastAttempt === null) return { tone: "plain", short: "nothing sent yet", detail: "A test event shows whether the endpoint works." }
  return dead > 0 ? { tone: "careful", short: dead === 1 ? "1 dead letter" : `${countText(dead)} dead letters`, detail: `The endpoint accepts deliveries now.${deadLetters}` } : { tone: "good", short: "works", detail: "Deliveries are sent and accepted." }
}
