import { assert, describe, it } from "@effect/vitest"
import { faultsIn, reportOfUpdate, StatusUpdate } from "@waybill/core/shipment-status"
import { Schema } from "effect"

const faults = (update: StatusUpdate) => faultsIn(update, ["updates", 0]).map(({ code, pointer }) => `${pointer} ${code}`)

describe("a status update", () => {
  it("is a delivery update or a delivery information, and names a shipment", () => {
    assert.deepStrictEqual(faults({ proNumber: "1", shipmentMilestoneStatus: "In Transit" }), [])
    assert.deepStrictEqual(faults({ shipmentId: "S", deliveryInformation_messages: "Noted reweigh" }), [])
    assert.deepStrictEqual(faults({}), ["/updates/0/proNumber required", "/updates/0/shipmentMilestoneStatus required"])
    assert.deepStrictEqual(faults({ proNumber: "1", shipmentMilestoneStatus: "In Transit", deliveryInformation_messages: "Noted late" }), [
      "/updates/0/deliveryInformation_messages conflict"
    ])
  })

  it("counts stops only while out for delivery", () => {
    assert.deepStrictEqual(faults({ proNumber: "1", shipmentMilestoneStatus: "Out for Delivery", countsToDelivery: 3 }), [])
    assert.deepStrictEqual(faults({ proNumber: "1", shipmentMilestoneStatus: "In Transit", countsToDelivery: 3 }), ["/updates/0/countsToDelivery not_allowed"])
  })

  it("accepts null for unknown values, like the notification", () => {
    const update = { proNumber: "1", shipmentMilestoneStatus: "Picked-up", TimeZoneOfShipment: null, trailerNumber: null, UpdatedPro: null, terminalAddress: null, customsStatus: null }
    assert.isTrue(Schema.is(StatusUpdate)(update))
  })

  it("has no value where a sender writes a blank", () => {
    const update = Schema.decodeUnknownSync(StatusUpdate)({ proNumber: "1", shipmentMilestoneStatus: "Interline", notificationMessage: " ", UpdatedPro: "", PartnerCarrierName: "", PartnerCarrierSCAC: " " })
    assert.deepStrictEqual(update, { proNumber: "1", shipmentMilestoneStatus: "Interline", notificationMessage: null, UpdatedPro: null, PartnerCarrierName: null, PartnerCarrierSCAC: null })
  })

  it("converts to a report in this area's terms", () => {
    const report = reportOfUpdate(
      {
        proNumber: "1",
        occurredAt: "2026-11-20T08:15:00-06:00",
        shipmentMilestoneStatus: "In Transit",
        terminalStatus: "Reconsigned",
        terminalAddress: { City: "Dallas" },
        UpdatedPro: "P-2",
        PartnerCarrierSCAC: "OTHR",
        UpdatedETA: null
      },
      "u1",
      0
    )
    assert.deepStrictEqual(report, {
      occurredAt: "2026-11-20T08:15:00-06:00",
      at: Date.UTC(2026, 10, 20, 14, 15),
      source: { kind: "update", id: "u1" },
      milestone: "In Transit",
      exceptions: ["Reconsigned"],
      terminal: { info: { TerminalID: null, City: "Dallas" } },
      updatedPro: "P-2",
      partner: { name: null, scac: "OTHR" }
    })
  })

  it("is undated and happens now if it has no time", () => {
    const report = reportOfUpdate({ proNumber: "1", deliveryInformation_messages: "POD available" }, "u1", 1_000)
    assert.deepInclude(report, { at: 1_000, occurredAt: "1970-01-01T00:00:01.000Z", undated: true })
  })
})
