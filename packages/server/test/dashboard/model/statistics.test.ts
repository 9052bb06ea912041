import type { StatisticsPoint } from "@waybill/client"
import { describe, expect, it } from "vitest"
import { axisTop, chartRange, chartRanges, failureLevel, failureShare, percentText, pointText, rangeQuery, runsOf, stripText, summaryOf } from "../../../dashboard/model/statistics.ts"

const point = (parts: Partial<StatisticsPoint> = {}): StatisticsPoint =>
  ({ at: "2026-11-20T07:00:00.000Z", deliveries: 0, failures: 0, meanMillis: null, maxMillis: null, waiting: null, ...parts })

describe("the ranges of charts", () => {
  it("have whole steps, at most 120 points, and steps of hours beyond a day", () => {
    for (const { seconds, step } of chartRanges) {
      expect(Number.isInteger(seconds / step) && seconds / step <= 120).toBe(true)
      expect(step % (seconds > 86_400 ? 3600 : 60)).toBe(0)
    }
    expect(chartRange("6h").step).toBe(300)
    expect(chartRange("nonsense").name).toBe("1h")
  })

  it("end with the step of now", () => {
    const { from, step, to } = rangeQuery({ seconds: 3600, step: 300 }, Date.parse("2026-11-20T07:01:30Z"))
    expect([from.toISOString(), to.toISOString(), step]).toEqual(["2026-11-20T06:05:00.000Z", "2026-11-20T07:05:00.000Z", 300])
  })
})

describe("the words of a chart", () => {
  it("give totals, the share of failures, the slowest attempt and the largest backlog", () => {
    expect(summaryOf([point({ deliveries: 1998, failures: 1, maxMillis: 400 }), point({ failures: 1, maxMillis: 2500, waiting: 12 }), point({ waiting: 3 })]))
      .toBe("1,998 deliveries, 2 failed attempts (0.1 %), the slowest took 2.5 s, at most 12 entries waiting.")
    expect(summaryOf([point()])).toBe("No attempts.")
  })

  it("give one point", () => {
    expect(pointText(point({ deliveries: 1, meanMillis: 20, maxMillis: 20, waiting: 1 }))).toBe("2026-11-20 07:00 UTC: 1 delivery, 0 failed attempts, mean 20 ms, slowest 20 ms, 1 entry waiting")
    expect(pointText(point())).toBe("2026-11-20 07:00 UTC: 0 deliveries, 0 failed attempts")
  })

  it("give the hours with failures of a strip", () => {
    expect(stripText([point({ deliveries: 3 }), point({ failures: 1 }), point()])).toBe("3 deliveries, 1 failed attempt (25 %) in 24 hours, failures in 1 hour")
    expect(stripText([point()])).toBe("No attempts in 24 hours")
  })
})

describe("the share of failures", () => {
  it("is unknown without attempts, and is never shown as zero while something failed", () => {
    expect(failureShare(point())).toBeUndefined()
    expect(percentText(failureShare(point({ deliveries: 99_999, failures: 1 }))!)).toBe("below 0.1 %")
    expect([0, 0.01, 0.05, 0.2, 0.5, 1].map(failureLevel)).toEqual([0, 1, 2, 3, 4, 4])
  })
})

describe("lines", () => {
  it("reach below a round number", () => expect([0, 1, 1.5, 3, 7, 12, 500, 501].map(axisTop)).toEqual([1, 1, 2, 5, 10, 20, 500, 1000]))

  it("have a gap where there is no value, unless values are samples", () => {
    expect(runsOf([1, null, 2, 3], false)).toEqual([[[0, 1]], [[2, 2], [3, 3]]])
    expect(runsOf([null, 1, null, 2], true)).toEqual([[[1, 1], [3, 2]]])
    expect(runsOf([null], true)).toEqual([])
  })
})
