import { expect, it } from "vitest"
import { attemptText, noneText, totalText, verdictText } from "../../../dashboard/model/words.ts"

it("an empty page says whether the search goes on", () => {
  expect(noneText("delivery", "0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10")).toBe("No delivery on this page matches. The next page searches on.")
  expect(noneText("dead letter", null)).toBe("No dead letter matches.")
})

it("a total says where the count stopped", () => {
  expect(totalText(1, "dead letter")).toBe("1 dead letter")
  expect(totalText(10_000, "dead letter")).toBe("10,000 or more dead letters")
})

it("an attempt has its status once", () => {
  expect([["accepted", 200], ["gone", 410], ["http_429", 429], ["http_5xx", 503], ["http_3xx", 302], ["timeout", null]].map(([outcome, status]) => attemptText({ outcome: outcome as string, status: status as number | null }))).toEqual([
    "accepted (200)", "410 Gone: the receiver was removed", "too many requests (429)", "server error (503)", "redirect (302), not followed", "timeout"
  ])
})

it("a verdict is a sentence, and an unknown one is shown as it is", () => {
  expect(verdictText("waiting", "breaker")).toBe("Waiting for the circuit breaker of the endpoint")
  expect(verdictText("dropped", null)).toBe("Dropped: removed without being sent")
  expect(verdictText("later", null)).toBe("later")
})
