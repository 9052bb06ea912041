import { assert, describe, it } from "@effect/vitest"
import { grantOf, markAfter } from "@waybill/core/delivery"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf, oneOf } from "../../arbitraries.ts"

const limit = oneOf([1, 2, 3, 7, 10, 59, 60, 61, 600, 601, 6000, 6_000_000])

/** Successive requests: the time since the previous one, and the number of attempts. */
const requests = listOf(
  Arbitrary.all({ after: oneOf([0, 0, 1, 7, 99, 100, 101, 999, 1000, 5000, 30_000, 59_999, 60_000, 60_001, 300_000]), wanted: oneOf([1, 1, 2, 5, 50, 1000]) }),
  1,
  60
)

/** The times of POSTs, if everything that is granted is sent. */
const sent = (perMinute: number, wishes: ReadonlyArray<{ readonly after: number; readonly wanted: number }>): ReadonlyArray<number> => {
  const instants: Array<number> = []
  let now = 1_763_600_000_000
  let mark: number | undefined
  for (const { after, wanted } of wishes) {
    now += after
    const grant = grantOf(perMinute, mark, now, wanted)
    assert.isTrue(Number.isInteger(grant.granted) && grant.granted >= 0 && grant.granted <= wanted)
    mark = markAfter(perMinute, mark, now, grant.granted)
    for (let n = 0; n < grant.granted; n++) instants.push(now)
  }
  return instants
}

const busiest = (instants: ReadonlyArray<number>): number => {
  let most = 0
  let first = 0
  for (let last = 0; last < instants.length; last++) {
    while (instants[last]! - instants[first]! >= 60_000) first += 1
    most = Math.max(most, last - first + 1)
  }
  return most
}

describe("grantOf", () => {
  it.prop("never exceeds the limit in any sixty seconds, for any request times (SPEC-GAP-D21)", [limit, requests], ([perMinute, wishes]) => {
    assert.isAtMost(busiest(sent(perMinute, wishes)), perMinute)
  })

  it.prop("never exceeds the limit in any sixty seconds if every wait is used to the millisecond", [limit, int(1, 400)], ([perMinute, turns]) => {
    const instants: Array<number> = []
    let now = 1_763_600_000_000
    let mark: number | undefined
    for (let turn = 0; turn < turns; turn++) {
      const grant = grantOf(perMinute, mark, now, 1000)
      for (let n = 0; n < grant.granted; n++) instants.push(now)
      mark = markAfter(perMinute, mark, now, grant.granted)
      now += grant.waitMillis
    }
    assert.isAtMost(busiest(instants), perMinute)
  })

  it.prop("grants a whole burst one by one as well as at once", [limit], ([perMinute]) => {
    const now = 1_763_626_500_123
    const burst = grantOf(perMinute, undefined, now, 1_000_000).granted
    let mark: number | undefined
    let granted = 0
    for (let turn = 0; turn < Math.min(burst, 700); turn++) {
      const grant = grantOf(perMinute, mark, now, 1)
      granted += grant.granted
      mark = markAfter(perMinute, mark, now, grant.granted)
    }
    assert.strictEqual(granted, Math.min(burst, 700))
  })

  it.prop("grants an attempt after the returned wait, which is 0 only if everything was granted", [limit, requests], ([perMinute, wishes]) => {
    let now = 0
    let mark: number | undefined
    for (const { after, wanted } of wishes) {
      now += after
      const grant = grantOf(perMinute, mark, now, wanted)
      if (grant.granted < wanted) assert.isAbove(grant.waitMillis, 0)
      mark = markAfter(perMinute, mark, now, grant.granted)
      assert.isAtLeast(grantOf(perMinute, mark, now + grant.waitMillis, 1).granted, 1)
    }
  })

  it("reaches nine tenths of the limit under constant demand", () => {
    for (const perMinute of [10, 60, 600, 6000]) {
      let now = 0
      let mark: number | undefined
      let count = 0
      while (now < 3_600_000) {
        const grant = grantOf(perMinute, mark, now, 1000)
        count += grant.granted
        mark = markAfter(perMinute, mark, now, grant.granted)
        now += Math.max(1, grant.waitMillis)
      }
      assert.isAtLeast(count / 60, perMinute * 0.89)
    }
  })

  it("grants at least one POST to a destination that never sent", () => {
    for (const perMinute of [1, 2, 600]) assert.isAtLeast(grantOf(perMinute, undefined, 0, 1).granted, 1)
  })

  it("grants nothing if nothing is requested", () => {
    assert.deepStrictEqual(grantOf(600, 500, 1000, 0), { granted: 0, waitMillis: 0 })
  })
})
