import { assert, describe, it } from "@effect/vitest"
import { dataOptionsOf } from "@waybill/core"

const data = [undefined, "revenue_impacts_only", "all_monitored_events"] as const
const events = [undefined, "revenue_impacts_only", "all_impacts", "no_events"] as const

describe("dataOptionsOf", () => {
  it("accepts four pairs, and completes a pair with defaults (SPEC-GAP-E2)", () => {
    const offered = data.flatMap((shipmentDataType) =>
      events.flatMap((eventType) => {
        const pair = dataOptionsOf({ ...(shipmentDataType === undefined ? {} : { shipmentDataType }), ...(eventType === undefined ? {} : { eventType }) })
        return [`${shipmentDataType ?? "-"} + ${eventType ?? "-"}: ${pair === undefined ? "refused" : `${pair.shipmentDataType} + ${pair.eventType}`}`]
      }))
    assert.deepStrictEqual(offered, [
      "- + -: revenue_impacts_only + revenue_impacts_only",
      "- + revenue_impacts_only: revenue_impacts_only + revenue_impacts_only",
      "- + all_impacts: all_monitored_events + all_impacts",
      "- + no_events: revenue_impacts_only + no_events",
      "revenue_impacts_only + -: revenue_impacts_only + revenue_impacts_only",
      "revenue_impacts_only + revenue_impacts_only: revenue_impacts_only + revenue_impacts_only",
      "revenue_impacts_only + all_impacts: refused",
      "revenue_impacts_only + no_events: revenue_impacts_only + no_events",
      "all_monitored_events + -: all_monitored_events + all_impacts",
      "all_monitored_events + revenue_impacts_only: refused",
      "all_monitored_events + all_impacts: all_monitored_events + all_impacts",
      "all_monitored_events + no_events: all_monitored_events + no_events"
    ])
  })
})
