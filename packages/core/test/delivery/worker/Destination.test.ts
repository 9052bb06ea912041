import { assert, describe, it } from "@effect/vitest"
import { breakerThreshold, waitingPerDestination } from "@waybill/core/delivery"
import * as Arbitrary from "effect/Arbitrary"
import { attemptsBegin, begun, changeWritten, type Destination, failed, foundBy, insertWaiting, isFailing, loadInto, needsLoad, pause, planOf, settled, signalled, succeeded, takeFromOf } from "../../../src/delivery/worker/Destination.ts"
import { int, listOf, oneOf } from "../../arbitraries.ts"
import { Life, makeLoaded, newDestination } from "./DestinationLife.ts"

const now = 1_763_600_000_000

/** A loaded destination with entries to send. */
const ready = (loaded = makeLoaded()): Destination => {
  const destination = newDestination()
  loadInto(destination, loaded, { since: 1, now, storeAhead: 0 })
  signalled(destination, "A", 1)
  return destination
}

const waiting = (deliveryId: string, dueAt: number) => ({ deliveryId, dueAt })

/** What a take found in a destination without entries. */
const noEntries = { destinationId: "destination", version: 1, sends: true, after: undefined, more: false, blocked: false, unseenKeys: [], unseenDeliveries: [], earlier: [] }

/** Steps that happen without a call. */
const course = ["publish", "publish", "publish", "ask", "ask", "ask", "hear", "run", "run", "answer", "answer", "answer", "answer", "accept", "accept", "fail", "pass"] as const

const stepsOf = (does: ReadonlyArray<string>) => listOf(Arbitrary.all({ does: oneOf(does), n: int(0, 1000) }), 1, 160)

const live = (life: Life, { does, n }: { readonly does: string; readonly n: number }): void => {
  switch (does) {
    case "publish":
      return life.store.publish("ABCDEFGHIJKL"[n % 12]!)
    case "ask":
      return void life.ask(1 + n % 6)
    case "hear":
      return life.hear()
    case "run":
      return life.run(n)
    case "answer":
      return life.answer(n)
    case "accept":
      return life.end(n, true)
    case "fail":
      return life.end(n, false)
    case "lose":
      return life.lose(n)
    case "retry":
      return life.retry(n)
    case "pause":
      return life.pause()
    case "resume":
      return life.resume()
    case "pass":
      life.now += n * 10
  }
}

describe("a destination", () => {
  const forgetsNothing = (steps: ReadonlyArray<{ readonly does: string; readonly n: number }>): void => {
    const life = new Life()
    for (const each of steps) live(life, each)
    life.settleDown()
    assert.deepStrictEqual(life.store.entries, [])
    assert.deepStrictEqual([...life.store.deliveries.values()].filter(({ state }) => state !== "ended"), [])
  }
  const often = { arbitrary: { runs: 1000, size: 160, maxShrinks: 2000 } }

  it.prop("loses no entry under any order of publications, takes, outcomes and loads", [stepsOf(course)], ([steps]) => forgetsNothing(steps), often)

  it.prop(
    "forgets nothing where operators change it, or answers of takes are lost",
    [stepsOf([...course, ...course, "lose", "lose", "retry", "retry", "pause", "resume"])],
    ([steps]) => forgetsNothing(steps),
    often
  )

  it("takes nothing before it is loaded", () => {
    const destination = newDestination()
    signalled(destination, "A", 1)
    assert.deepStrictEqual(planOf(destination, now, 10), { again: [], batches: 0, lookAt: undefined })
  })

  it("takes retries first, then new deliveries up to the limit", () => {
    const destination = ready(makeLoaded({}, { waiting: [waiting("one", now - 2), waiting("two", now - 1), waiting("later", now + 500)] }))
    destination.window = 5
    const plan = planOf(destination, now, 10)
    assert.deepStrictEqual([plan.again.map(({ deliveryId }) => deliveryId), plan.batches, plan.lookAt], [["one", "two"], 3, now + 500])
  })

  it("is scheduled for its next retry", () => {
    const destination = newDestination()
    loadInto(destination, makeLoaded({}, { waiting: [waiting("later", now + 500)] }), { since: 1, now, storeAhead: 0 })
    assert.deepStrictEqual(planOf(destination, now, 10), { again: [], batches: 0, lookAt: now + 500 })
  })

  it("takes again if a delivery that entries wait for is gone after a load, because a crash of the store may have lost its outcome", () => {
    const later = waiting("later", now + 500)
    const destination = ready(makeLoaded({}, { waiting: [later] }))
    destination.behind = false
    destination.ahead = false
    destination.blocked = true
    loadInto(destination, makeLoaded({}, { waiting: [later] }), { since: 2, now, storeAhead: 0 })
    assert.strictEqual(planOf(destination, now, 1).batches, 0)
    loadInto(destination, makeLoaded(), { since: 3, now, storeAhead: 0 })
    assert.strictEqual(planOf(destination, now, 1).batches, 1)
  })

  it("names deliveries in flight only if the take reads their keys again", () => {
    const destination = ready()
    destination.inFlight.set("early", { lastKey: "B", first: true }).set("late", { lastKey: "F", first: true }).set("again", { lastKey: "F", first: false })
    destination.cursor = "C"
    destination.ahead = true
    assert.deepStrictEqual(takeFromOf(destination, { again: [], batches: 1, lookAt: undefined }, 1).inFlight, ["late"])
    assert.deepStrictEqual(takeFromOf(destination, { again: [waiting("retry", now)], batches: 1, lookAt: undefined }, 1).inFlight, ["early", "late"])
    destination.cursor = undefined
    assert.deepStrictEqual(takeFromOf(destination, { again: [], batches: 1, lookAt: undefined }, 1).inFlight, ["early", "late"])
  })

  it("takes a retry again a second later if it waits for another delivery of its shipment", () => {
    const destination = ready(makeLoaded({}, { waiting: [waiting("left", now)] }))
    const asked = takeFromOf(destination, planOf(destination, now, 1), 1)
    foundBy(destination, {
      asked,
      found: noEntries,
      now,
      since: 2,
      taken: new Set()
    })
    assert.deepStrictEqual(destination.waiting, [{ ...waiting("left", now + 1000), since: 0, leftOut: true }])
  })

  it("is loaded again when a retry has ended, if deliveries of its shipment wait behind it, also if it ended during the last load", () => {
    const destination = ready(makeLoaded({}, { waiting: [waiting("first", now)], holdsBack: true }))
    begun(destination, "new", { lastKey: "B", first: true })
    settled(destination, "new", undefined, 3)
    begun(destination, "first", { lastKey: "A", first: false })
    assert.isFalse(needsLoad(destination, now))
    settled(destination, "first", undefined, 4)
    assert.isTrue(needsLoad(destination, now))
    loadInto(destination, makeLoaded({}, { waiting: [waiting("first", now + 1)], holdsBack: true }), { since: 3, now, storeAhead: 0 })
    assert.isTrue(needsLoad(destination, now))
    loadInto(destination, makeLoaded({}, { waiting: [waiting("second", now + 1)], holdsBack: true }), { since: 5, now, storeAhead: 0 })
    assert.isFalse(needsLoad(destination, now))
  })

  it("is loaded again when all named deliveries that are due were taken and more wait, also if one of them failed", () => {
    const destination = ready(makeLoaded({}, { waiting: [waiting("first", now - 1), waiting("last", now)], moreWaiting: true }))
    for (const deliveryId of ["first", "last"]) {
      assert.isFalse(needsLoad(destination, now))
      const asked = takeFromOf(destination, planOf(destination, now, 1), 1)
      foundBy(destination, { asked, found: noEntries, now, since: 2, taken: new Set([deliveryId]) })
      begun(destination, deliveryId, { lastKey: "A", first: false })
      if (deliveryId === "first") settled(destination, deliveryId, waiting(deliveryId, now + 1000), 3)
    }
    assert.isTrue(needsLoad(destination, now))
  })

  it("is loaded again when those that the load did not name may be due", () => {
    const destination = ready(makeLoaded({}, { waiting: [waiting("named", now + 1000)], moreWaiting: true }))
    settled(destination, "own", waiting("own", now + 5000), 2)
    assert.strictEqual(planOf(destination, now, 1).lookAt, now + 1000)
    foundBy(destination, { asked: takeFromOf(destination, planOf(destination, now + 1000, 1), 1), found: noEntries, now: now + 1000, since: 2, taken: new Set(["named"]) })
    assert.isTrue(needsLoad(destination, now + 1000))
  })

  it("is loaded again if one was retried by an operator before its outcome was known as written, and is then due at once", () => {
    const destination = ready()
    begun(destination, "one", { lastKey: "A", first: true })
    const retried = makeLoaded({}, { waiting: [waiting("one", now)] })
    loadInto(destination, retried, { since: 2, now, storeAhead: 0 })
    settled(destination, "one", waiting("one", now + 3_600_000), 3)
    assert.isTrue(needsLoad(destination, now))
    loadInto(destination, retried, { since: 4, now, storeAhead: 0 })
    assert.deepStrictEqual(planOf(destination, now, 1).again.map(({ deliveryId }) => deliveryId), ["one"])
  })

  it("keeps a limited number of deliveries that wait in memory, and is loaded again when others may be due", () => {
    const destination = ready()
    for (let n = 0; n < 10 * waitingPerDestination; n++) settled(destination, `d${n}`, waiting(`d${n}`, now + n), n + 2)
    assert.isAtMost(destination.waiting.length, 2 * waitingPerDestination)
    const last = destination.waitingUntil
    destination.waiting = destination.waiting.filter(({ dueAt }) => dueAt > last)
    assert.deepStrictEqual([needsLoad(destination, last - 1), needsLoad(destination, last)], [false, true])
  })
})

describe("keys", () => {
  /** Sorts after the emoji by UTF-16 unit, before it by code point. */
  const [early, late] = ["\uff5e", "🚚"]

  it("of deliveries in flight are compared with the cursor in the store's order", () => {
    const destination = newDestination()
    destination.cursor = early
    destination.ahead = true
    destination.inFlight.set("a", { lastKey: late, first: true })
    destination.inFlight.set("b", { lastKey: early, first: true })
    assert.deepStrictEqual(takeFromOf(destination, { again: [], batches: 1, lookAt: undefined }, 1).inFlight, ["a"])
  })

  it("of publications are compared with the cursor in the store's order", () => {
    const [before, beyond] = [newDestination(), newDestination()]
    before.cursor = late
    signalled(before, early, 1)
    beyond.cursor = early
    signalled(beyond, late, 1)
    assert.deepStrictEqual([before.behind, beyond.behind], [true, false])
  })
})

describe("a pause by an answer 410", () => {
  it("is not for any endpoint after one by a dead letter was written", () => {
    const destination = ready()
    pause(destination, { reason: "dead", always: true })
    const written = destination.pause
    pause(destination, { reason: "gone", always: false })
    changeWritten(destination, written)
    assert.isNotTrue(destination.pause?.always)
    pause(destination, { reason: "gone", always: false })
    assert.deepStrictEqual(destination.pause, { reason: "gone", always: false })
  })
})

describe("a load with another endpoint", () => {
  it("discards a pause that the one before caused, unless a dead letter did", () => {
    for (const always of [false, true]) {
      const destination = ready()
      const pending = { reason: "The receiver answered 410 Gone.", always }
      for (const [since, endpointUrl] of [[2, makeLoaded().endpointUrl], [3, "https://new.example/"]] as const) {
        pause(destination, pending)
        loadInto(destination, makeLoaded({}, { endpointUrl }), { since, now, storeAhead: 0 })
        assert.strictEqual(destination.pause, since === 2 || always ? pending : undefined)
      }
    }
  })
})

describe("the window", () => {
  it("grows by one with every success up to the destination's share, and halves with every failure down to one", () => {
    const destination = ready()
    const sizes = [destination.window]
    for (let n = 0; n < 4; n++) {
      succeeded(destination, 5)
      sizes.push(destination.window)
    }
    for (let n = 0; n < 3; n++) {
      failed(destination, now, 1000)
      sizes.push(destination.window)
    }
    assert.deepStrictEqual(sizes, [2, 3, 4, 5, 5, 2, 1, 1])
  })

  it("counts attempts until the receiver answers, not until their outcomes are written", () => {
    const destination = ready()
    destination.window = 4
    begun(destination, "one", { lastKey: "A", first: true })
    attemptsBegin(destination, now, 1)
    assert.strictEqual(planOf(destination, now, 10).batches, 3)
    assert.strictEqual(planOf(destination, now, 2).batches, 2)
    destination.running -= 1
    assert.strictEqual(planOf(destination, now, 10).batches, 4)
  })

  it("is reset for another endpoint", () => {
    const destination = ready()
    for (let n = 0; n < breakerThreshold; n++) failed(destination, now, 60_000)
    loadInto(destination, makeLoaded({}, { endpointUrl: "https://moved.example/hook" }), { since: 1, now, storeAhead: 0 })
    assert.deepStrictEqual([destination.window, isFailing(destination), destination.breaker.failures], [2, false, 0])
    assert.strictEqual(planOf(destination, now, 10).batches, 2)
  })

  it("is not changed by other settings", () => {
    const destination = ready()
    for (let n = 0; n < breakerThreshold; n++) failed(destination, now, 60_000)
    loadInto(destination, makeLoaded({ maxAttempts: 3 }), { since: 1, now, storeAhead: 0 })
    assert.deepStrictEqual([destination.window, isFailing(destination), destination.breaker.failures], [1, true, breakerThreshold])
  })
})

describe("the breaker", () => {
  const broken = (): Destination => {
    const destination = ready()
    destination.window = 16
    for (let n = 0; n < breakerThreshold; n++) failed(destination, now, 60_000)
    return destination
  }

  it("permits nothing while it is open, and returns when it permits a probe", () => {
    assert.deepStrictEqual(planOf(broken(), now + 59_999, 10), { again: [], batches: 0, lookAt: now + 60_000 })
  })

  it("permits one probe after that time", () => {
    const destination = broken()
    destination.window = 16
    const plan = planOf(destination, now + 60_000, 10)
    assert.strictEqual(plan.again.length + plan.batches, 1)
  })

  it("permits no probe until the outcome of the one before is written, even without an attempt", () => {
    const destination = broken()
    const planned = () => planOf(destination, now + 60_000, 1).batches
    begun(destination, "one", { lastKey: "A", first: true })
    assert.strictEqual(planned(), 0)
    settled(destination, "one", undefined, 2)
    assert.strictEqual(planned(), 1)
  })

  it("uses a due retry as the probe", () => {
    const destination = broken()
    insertWaiting(destination, { ...waiting("retry", now + 60_000), since: 0, leftOut: false })
    const plan = planOf(destination, now + 60_000, 1)
    assert.deepStrictEqual([plan.again.map(({ deliveryId }) => deliveryId), plan.batches], [["retry"], 0])
  })
})

describe("the rate", () => {
  const limits = oneOf([1, 2, 7, 60, 600])
  const lives = listOf(
    Arbitrary.all({ does: oneOf(["send", "send", "send", "send", "killed", "stopped"]), after: oneOf([0, 1, 100, 999, 5000, 30_000, 59_999, 60_000]), wanted: oneOf([1, 2, 50]) }),
    1,
    60
  )

  it.prop("is never exceeded in any sixty seconds, across owners of the destination", [limits, lives], ([rateLimitPerMinute, steps]) => {
    const policy = { rateLimitPerMinute }
    const sent: Array<number> = []
    let at = now
    let destination = ready(makeLoaded(policy))
    for (const { after, does, wanted } of steps) {
      at += after
      if (does === "send") {
        destination.window = wanted
        const { batches } = planOf(destination, at, wanted)
        attemptsBegin(destination, at, batches)
        for (let n = 0; n < batches; n++) sent.push(at)
        continue
      }
      // a killed owner leaves no mark; a stopped one hands its mark over
      const { rateMark } = destination
      destination = newDestination(does === "killed" ? at : undefined)
      loadInto(destination, makeLoaded(policy, { rateMark: does === "killed" ? undefined : rateMark }), { since: 1, now: at, storeAhead: 0 })
      signalled(destination, "A", 1)
    }
    for (const [n, from] of sent.entries()) assert.isAtMost(sent.slice(n).filter((each) => each < from + 60_000).length, rateLimitPerMinute)
  }, { arbitrary: { runs: 300, size: 60 } })

  it("returns when the next attempt is permitted", () => {
    const destination = ready(makeLoaded({ rateLimitPerMinute: 1 }))
    attemptsBegin(destination, now, 1)
    assert.deepStrictEqual(planOf(destination, now, 10), { again: [], batches: 0, lookAt: now + 60_000 })
  })
})

describe("a pause", () => {
  it("is requested until its latest request is written", () => {
    const destination = ready()
    const [first, second] = [{ reason: "The receiver answered 410 Gone.", always: false }, { reason: "The receiver answered 410 Gone.", always: false }]
    destination.pause = first
    assert.strictEqual(planOf(destination, now, 1).batches, 0)
    destination.pause = second
    changeWritten(destination, first)
    assert.strictEqual(destination.pause, second)
    changeWritten(destination, second)
    assert.isUndefined(destination.pause)
    assert.strictEqual(planOf(destination, now, 1).batches, 1)
  })
})
