import { describe, expect, it } from "vitest"
import { Workload, type Subscriber } from "./Workload.ts"
import { Ledger } from "./Ledger.ts"
import { shortPlan } from "./Plan.ts"
import { Resumes } from "./Resumes.ts"
import type { Rule } from "./Rules.ts"
import type { Starvation } from "./Starvation.ts"

const workload = new Workload(shortPlan)
/** Receives every event of shipment 0. */
const subscriber = workload.subscribers.find((each) => workload.receives(each, { shipment: 0, number: 1 }) && each.eventTypes === undefined && each.batchMaxSize >= 3)!
const event = (number: number, sequence = number) => ({ eventId: workload.eventId({ shipment: 0, number }), sequence })

/** Rules that a sequence of calls violates, after three acknowledged events of shipment 0. */
const foundIn = (story: (ledger: Ledger) => void): ReadonlyArray<Rule> => {
  const ledger = new Ledger(workload)
  for (const number of [1, 2, 3]) ledger.acknowledge({ shipment: 0, number }, number)
  story(ledger)
  return [...ledger.violations.keys()]
}

const arrives = (ledger: Ledger, id: string, ...events: ReadonlyArray<{ readonly eventId: string; readonly sequence: number }>) => {
  ledger.arrive(subscriber, id, `sha of ${id}`, events)
  ledger.accept(subscriber, events)
}

describe("the ledger of a chaos run", () => {
  it("accepts repeats of a delivery, however late", () => {
    expect(foundIn((ledger) => {
      ledger.arrive(subscriber, "a", "sha of a", [event(1), event(2)])
      arrives(ledger, "a", event(1), event(2))
      arrives(ledger, "b", event(3))
      arrives(ledger, "a", event(1), event(2))
      expect(ledger.duplicates).toBe(2)
    })).toEqual([])
  })

  it.each<[Rule, (ledger: Ledger) => void]>([
    ["no event is lost", (ledger) => ledger.judgeLosses()],
    ["every event is finally accepted", (ledger) => {
      for (const each of workload.entitled({ shipment: 0, number: 1 })) ledger.arrive(each, `a${each.index}`, "sha", [event(1)])
      ledger.judgeLosses()
    }],
    ["every event is finally accepted", (ledger) => {
      for (const each of workload.entitled({ shipment: 0, number: 1 })) {
        ledger.arrive(each, `a${each.index}`, "sha", [event(1)])
        ledger.accept(each, [event(2), event(3)])
      }
      ledger.judgeLosses()
    }],
    ["an event is in one delivery per subscription", (ledger) => {
      arrives(ledger, "a", event(1))
      arrives(ledger, "b", event(1))
    }],
    ["every attempt of a delivery has the same body", (ledger) => {
      arrives(ledger, "a", event(1))
      ledger.arrive(subscriber, "a", "another sha", [event(1)])
    }],
    ["events of a body are in order of sequence", (ledger) => arrives(ledger, "a", event(2), event(1))],
    ["first arrivals are in order", (ledger) => arrives(ledger, "a", event(2))],
    ["an event is sent after the previous one is accepted", (ledger) => {
      ledger.arrive(subscriber, "a", "sha", [event(1)])
      ledger.arrive(subscriber, "b", "sha", [event(2)])
    }],
    ["a receiver gets only its own events", (ledger) => arrives(ledger, "a", { eventId: workload.eventId({ shipment: 1, number: 1 }), sequence: 1 })],
    ["an event has one sequence", (ledger) => arrives(ledger, "a", event(1, 7))],
    ["sequences follow the order of publication", (ledger) => ledger.acknowledge({ shipment: 0, number: 4 }, 3)],
    ["a batch is not larger than batchMaxSize", (ledger) => arrives(ledger, "a", ...Array.from({ length: subscriber.batchMaxSize + 1 }, () => event(1)))]
  ])("detects a violation of: %s", (rule, story) => expect(foundIn(story)).toContain(rule))
})

describe("the recovery time of a subscription", () => {
  const slow = (factor: number) => ({ factorSince: () => factor }) as unknown as Starvation

  /** Whether it is a violation when a held subscription recovers after that time. */
  const isTooLong = (millis: number, factor: number, then: (resumes: Resumes, destination: Subscriber, since: number) => void = () => {}) => {
    const violations: Array<Rule> = []
    const resumes = new Resumes(shortPlan, slow(factor), (rule) => violations.push(rule))
    const since = Date.now() - millis
    resumes.await(subscriber, "a kill", since, false)
    then(resumes, subscriber, since)
    resumes.accepted(subscriber, Date.now())
    expect(resumes.measured).toBe(1)
    return violations.length > 0
  }
  const allowed = (shortPlan.leaseSeconds + shortPlan.resumeSeconds) * 1000

  it("is at most the lease and five seconds, on an idle machine", () => {
    expect(isTooLong(allowed - 100, 1)).toBe(false)
    expect(isTooLong(allowed + 100, 1)).toBe(true)
    expect(isTooLong(allowed + 100, 2)).toBe(false)
    expect(isTooLong(allowed * 2, 2)).toBe(true)
  })

  it("starts at the second takeover if the first worker failed too", () => {
    const lease = shortPlan.leaseSeconds * 1000
    /** Consecutive leases, the last one just now; each expires or is released. */
    const taken = (times: number, runsOut: boolean) => (resumes: Resumes) => {
      for (let left = times; left >= 0; left--) {
        const ownedSince = Date.now() - left * lease
        resumes.saw(subscriber.index, { worker: String(times - left), ownedSince, until: runsOut ? ownedSince + lease : undefined })
      }
    }
    expect(isTooLong(allowed * 2, 1, taken(1, true))).toBe(true)
    expect(isTooLong(allowed * 2, 1, taken(2, true))).toBe(false)
    expect(isTooLong(allowed * 2, 1, taken(5, false))).toBe(true)
  })

  it("ignores responses to earlier requests", () => {
    const resumes = new Resumes(shortPlan, slow(1), () => {})
    resumes.await(subscriber, "a kill", Date.now(), false)
    resumes.accepted(subscriber, Date.now() - 1_000)
    expect(resumes.measured).toBe(0)
  })
})
