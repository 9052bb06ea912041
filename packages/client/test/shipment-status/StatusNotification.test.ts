import { describe, expect, it } from "vitest"
import { isDeliveryUpdate, parseStatusNotification } from "../../src/shipment-status/index.ts"
import { bytesOf, deliveryInformation, deliveryUpdate } from "../samples.ts"

describe("parseStatusNotification", () => {
  it("reads and distinguishes both kinds", () => {
    for (const notification of [deliveryUpdate, deliveryInformation]) expect(parseStatusNotification(bytesOf(notification))).toEqual(notification)
    expect(isDeliveryUpdate(parseStatusNotification(bytesOf(deliveryUpdate)))).toBe(true)
    expect(isDeliveryUpdate(parseStatusNotification(bytesOf(deliveryInformation)))).toBe(false)
  })

  it("passes unknown fields through", () => {
    const later = { ...deliveryUpdate, shipmentMilestoneStatus: "On a Drone", altitude: 100, trailerNumber: undefined }
    expect(parseStatusNotification(bytesOf(later))).toEqual({ ...deliveryUpdate, shipmentMilestoneStatus: "On a Drone", altitude: 100, trailerNumber: undefined })
  })

  const malformed: ReadonlyArray<readonly [string, unknown, string]> = [
    ["no JSON", "{", ""],
    ["a list", [deliveryUpdate], ""],
    ["null", null, ""],
    ["no proNumber", { ...deliveryUpdate, proNumber: undefined }, "/proNumber"],
    ["a number as proNumber", { ...deliveryUpdate, proNumber: 41 }, "/proNumber"],
    ["no reference numbers", { ...deliveryUpdate, shipmentReferenceNumbers: null }, "/shipmentReferenceNumbers"],
    ["no milestone", { ...deliveryUpdate, shipmentMilestoneStatus: "" }, "/shipmentMilestoneStatus"],
    ["neither shape", { ...deliveryUpdate, shipmentMilestoneStatus: undefined }, "/shipmentMilestoneStatus"],
    ["no message", { ...deliveryInformation, deliveryInformation_messages: [] }, "/deliveryInformation_messages"]
  ]
  it.each(malformed)("reports the location of an error: %s", (_, value, pointer) => {
    expect(() => parseStatusNotification(bytesOf(value))).toThrow(expect.objectContaining({ name: "StatusNotificationMalformed", pointer }))
  })
})
