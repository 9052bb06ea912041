import { assert, describe, it } from "@effect/vitest"
import { DeliveryOptions } from "@waybill/core"
import { Agenda } from "../../src/delivery/Agenda.ts"
import { AttemptRoom } from "../../src/delivery/AttemptRoom.ts"
import type { HeldDestination } from "../../src/delivery/HeldDestination.ts"
import { lookAgainAfter, mayRelease, refillable } from "../../src/delivery/DestinationTurns.ts"

const destination = (over: Partial<HeldDestination> = {}): HeldDestination => ({
  tenantId: "acme",
  destinationId: "1",
  client: "client",
  token: 1,
  since: 0,
  endpointUrl: "https://receiver.example/hook",
  storeAhead: 0,
  arrivals: 0,
  breaker: { failures: 0, openUntil: undefined },
  breakerChanged: false,
  rateMark: 0,
  underWay: 0,
  busy: false,
  settled: false,
  more: true,
  notBefore: 0,
  lookAgainAt: 0,
  pause: undefined,
  lost: false,
  doubtful: false,
  ...over
})

/** Whether it is asked for more at 100, and when it is looked at next otherwise. */
const asked = (over: Partial<HeldDestination>) => {
  const agenda = new Agenda()
  agenda.nextPoll = 10_000
  const destinations = refillable([destination(over)], { tenantId: "acme", now: 100, room: new AttemptRoom(DeliveryOptions.defaults), agenda })
  return destinations.length === 1 ? "now" : agenda.nextPoll
}

describe("a destination that a worker holds", () => {
  it("is asked for more where something waits and nothing is under way", () => {
    assert.strictEqual(asked({}), "now")
    assert.strictEqual(asked({ more: false }), 10_000)
    assert.strictEqual(asked({ tenantId: "other" }), 10_000)
    assert.strictEqual(asked({ notBefore: 101 }), 10_000)
    for (const doubt of [{ lost: true }, { busy: true }, { doubtful: true }, { pause: "410" }]) assert.strictEqual(asked(doubt), 10_000)
  })

  it("is looked at again where its attempts hang, and not before", () => {
    assert.strictEqual(asked({ underWay: 1, more: false }), 200)
    assert.strictEqual(asked({ underWay: 1, more: false, since: -100 }), "now")
    assert.strictEqual(asked({ underWay: 1, since: -100, lookAgainAt: 150 }), 150)
    assert.strictEqual(lookAgainAfter(destination({ underWay: 1 }), 100), 300)
    assert.strictEqual(lookAgainAfter(destination({ underWay: 1, breaker: { failures: 9, openUntil: 50 } }), 100), 5_100)
  })

  it("is asked for nothing where it has all the attempts under way that it may have", () => {
    assert.strictEqual(asked({ underWay: DeliveryOptions.defaults.destinationConcurrency, since: -100 }), 10_000)
  })

  it("is given back unless something is under way or it can be handed more", () => {
    const released = (over: Partial<HeldDestination>, isWanted = true) => mayRelease(destination(over), { isWanted, now: 100 })
    assert.isTrue(released({ more: false }))
    assert.isFalse(released({}))
    assert.isTrue(released({}, false))
    assert.isTrue(released({ notBefore: 101 }))
    assert.isTrue(released({ doubtful: true }))
    assert.isTrue(released({ pause: "410" }))
    for (const kept of [{ underWay: 1 }, { lost: true }, { busy: true }]) assert.isFalse(released({ more: false, ...kept }, false))
  })
})
