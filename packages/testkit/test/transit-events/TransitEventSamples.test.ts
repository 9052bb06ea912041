import { assert, describe, it } from "@effect/vitest"
import { parseInstant } from "@waybill/core"
import { ReportedEvent } from "@waybill/core/transit-events"
import { Schema } from "effect"
import { arbitraryReportedEvent, ltlJourney, reportedEvent } from "../../src/index.ts"

const isReported = Schema.is(ReportedEvent)

describe("samples of transit events", () => {
  it("are valid", () => {
    assert.isTrue(isReported(reportedEvent("S")))
    assert.isTrue(isReported(reportedEvent("S", { eventId: "e", sequence: 3, accounts: ["A"], type: "DELAY", more: { notes: "x" } })))
  })

  it.prop("are valid for all random draws", [arbitraryReportedEvent], ([event]) => assert.isTrue(isReported(event)))

  it("cover a journey from pickup to proof of delivery, in order of time", () => {
    const journey = ltlJourney("S", { accounts: ["A"], start: 0 })
    assert.isTrue(journey.every((event) => isReported(event)))
    assert.deepStrictEqual([journey[1]!.type, journey.at(-1)!.type], ["PICKED_UP", "PROOF_OF_DELIVERY"])
    const instants = journey.map((event) => parseInstant(event.occurredAt)!)
    assert.deepStrictEqual(instants, instants.toSorted((a, b) => a - b))
    assert.strictEqual(instants[1], 0)
  })
})
