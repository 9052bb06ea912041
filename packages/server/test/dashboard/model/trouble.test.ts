import { describe, expect, it } from "vitest"
import { byTrouble, countText, isInTrouble, troubleOf } from "../../../dashboard/model/trouble.ts"
import { idOf, subscriptionSample } from "../FakeOperatorApi.ts"

describe("subscriptions sorted by trouble", () => {
  it("start with those that send nothing, then those with dead letters, then those without problems", () => {
    const closed = (failures: number) => ({ state: "closed", failures, until: null })
    const subscriptions = [
      subscriptionSample(1),
      subscriptionSample(2, { state: "inactive", dead: 9 }),
      subscriptionSample(3, { dead: 1 }),
      subscriptionSample(4, { breaker: closed(2) }),
      subscriptionSample(5, { state: "inactive" }),
      subscriptionSample(6, { state: "paused" }),
      subscriptionSample(7, { breaker: { state: "open", failures: 5, until: null }, waiting: 4 }),
      subscriptionSample(8, { breaker: { state: "half-open", failures: 5, until: null }, dead: 1 }),
      subscriptionSample(9, { waiting: 1 }),
      subscriptionSample(10, { held: true })
    ]
    expect(byTrouble(subscriptions).map(({ subscriptionId }) => parseInt(subscriptionId.slice(-4), 16))).toEqual([8, 7, 6, 10, 2, 3, 4, 9, 1, 5])
    expect(subscriptions.map((subscription) => troubleOf(subscription).signs.join("; "))).toEqual([
      "", "inactive; 9 dead letters", "1 dead letter", "2 attempts in a row failed", "inactive", "paused", "breaker open", "breaker probing; 1 dead letter", "", "no access"
    ])
    expect(subscriptions.filter(isInTrouble).map(({ subscriptionId }) => parseInt(subscriptionId.slice(-4), 16))).toEqual([2, 3, 6, 7, 8])
    expect(isInTrouble(subscriptionSample(1, { state: "paused", pausedBy: "client" }))).toBe(false)
    expect([countText(999), countText(1000)]).toEqual(["999", "1,000+"])
  })

  it("have a stable order", () => {
    const subscriptions = Array.from({ length: 20 }, (_, n) => subscriptionSample(n))
    expect(byTrouble(subscriptions.toReversed())).toEqual(subscriptions)
    expect(byTrouble(subscriptions).map(({ subscriptionId }) => subscriptionId)).toEqual(subscriptions.map((_, n) => idOf(n)))
  })
})
