import { describe, expect, it } from "vitest"
import { byTrouble, countText, troubleOf } from "../../../dashboard/model/trouble.ts"
import { idOf, laneSample } from "../StandIn.ts"

describe("lanes by their trouble", () => {
  it("go from those that send nothing, through those with dead letters, to those that nobody needs", () => {
    const closed = (failures: number) => ({ state: "closed", failures, until: null })
    const lanes = [
      laneSample(1),
      laneSample(2, { state: "inactive", dead: 9 }),
      laneSample(3, { dead: 1 }),
      laneSample(4, { breaker: closed(2) }),
      laneSample(5, { state: "inactive" }),
      laneSample(6, { state: "paused" }),
      laneSample(7, { breaker: { state: "open", failures: 5, until: null }, waiting: 4 }),
      laneSample(8, { breaker: { state: "half-open", failures: 5, until: null }, dead: 1 }),
      laneSample(9, { waiting: 1 })
    ]
    expect(byTrouble(lanes).map(({ subscriptionId }) => parseInt(subscriptionId.slice(-4), 16))).toEqual([8, 7, 6, 2, 3, 4, 9, 1, 5])
    expect(lanes.map((lane) => troubleOf(lane).signs.join("; "))).toEqual([
      "", "inactive; 9 dead letters", "1 dead letter", "2 attempts in a row failed", "inactive", "paused", "breaker open", "breaker probing; 1 dead letter", ""
    ])
    expect([countText(999), countText(1000)]).toEqual(["999", "1000+"])
  })

  it("have the same order every time", () => {
    const lanes = Array.from({ length: 20 }, (_, n) => laneSample(n))
    expect(byTrouble(lanes.toReversed())).toEqual(lanes)
    expect(byTrouble(lanes).map(({ subscriptionId }) => subscriptionId)).toEqual(lanes.map((_, n) => idOf(n)))
  })
})
