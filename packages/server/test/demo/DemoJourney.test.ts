import { assert, describe, it } from "@effect/vitest"
import { ReportedEvent } from "@waybill/core"
import { Schema } from "effect"
import { journeyFrom, tickMillis } from "../../src/demo/DemoJourney.ts"

const startedAt = Date.UTC(2026, 10, 20, 7, 15)

describe("the demo's journey", () => {
  it("brings three shipments from pickup to proof of delivery, one event at a time", () => {
    const scenes = journeyFrom(startedAt)
    const shipments = new Set(scenes.map(({ event }) => event.shipment.shipmentId))
    assert.strictEqual(shipments.size, 3)
    for (const shipmentId of shipments) {
      const own = scenes.filter(({ event }) => event.shipment.shipmentId === shipmentId)
      assert.strictEqual(own[0]!.event.type, "PICKUP_SCHEDULED")
      assert.strictEqual(own.at(-1)!.event.type, "PROOF_OF_DELIVERY")
    }
    assert.deepStrictEqual(scenes.map(({ at }) => at), scenes.map((_, index) => startedAt + index * tickMillis))
  })

  it("is made of events that the service takes", () => {
    for (const { event } of journeyFrom(startedAt)) Schema.decodeUnknownSync(ReportedEvent)(event)
  })

  it("is the same whenever it is told from the same beginning, and another from another", () => {
    assert.deepStrictEqual(journeyFrom(startedAt), journeyFrom(startedAt))
    const ids = new Set([...journeyFrom(startedAt), ...journeyFrom(startedAt + 60_000)].map(({ event }) => event.eventId))
    assert.strictEqual(ids.size, 2 * journeyFrom(startedAt).length)
  })
})
