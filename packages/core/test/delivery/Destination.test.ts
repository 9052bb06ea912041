import { assert, describe, it } from "@effect/vitest"
import { makeDestination, signalled, takeFromOf } from "../../src/delivery/Destination.ts"

/** Sorts after the emoji by UTF-16 unit, before it by code point. */
const [early, late] = ["\uff5e", "🚚"]

const destination = () => makeDestination({ tenantId: "t", destinationId: "00000000-0000-7000-8000-000000000001", partition: 1, othersUntil: undefined })

describe("Destination", () => {
  it("names deliveries in flight with keys after the cursor, as the store orders them", () => {
    const own = destination()
    own.cursor = early
    own.ahead = true
    own.inFlight.set("a", { lastKey: late, first: true })
    own.inFlight.set("b", { lastKey: early, first: true })
    assert.deepStrictEqual(takeFromOf(own, { again: [], batches: 1, lookAt: undefined }).inFlight, ["a"])
  })

  it("looks behind the cursor for what was published there, as the store orders keys", () => {
    const [before, beyond] = [destination(), destination()]
    before.cursor = late
    signalled(before, early, 1)
    beyond.cursor = early
    signalled(beyond, late, 1)
    assert.deepStrictEqual([before.behind, beyond.behind], [true, false])
  })
})
