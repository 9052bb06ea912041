import { assert, describe, it } from "@effect/vitest"
import { dataOptionsOf } from "@waybill/core/freight-charges"

describe("dataOptionsOf", () => {
  it("accepts every pair, and completes one with the published defaults (SPEC-GAP-E2)", () => {
    const [data, events] = [["revenue_impacts_only", "all_monitored_events"], ["revenue_impacts_only", "all_impacts", "no_events"]] as const
    for (const shipmentDataType of data) {
      for (const eventType of events) assert.deepStrictEqual(dataOptionsOf({ shipmentDataType, eventType }), { shipmentDataType, eventType })
    }
    assert.deepStrictEqual(dataOptionsOf({}), { shipmentDataType: "revenue_impacts_only", eventType: "revenue_impacts_only" })
    assert.deepStrictEqual(dataOptionsOf({ shipmentDataType: "all_monitored_events" }), { shipmentDataType: "all_monitored_events", eventType: "revenue_impacts_only" })
    assert.deepStrictEqual(dataOptionsOf({ eventType: "all_impacts" }), { shipmentDataType: "revenue_impacts_only", eventType: "all_impacts" })
  })
})
