import { assert, describe, it } from "@effect/vitest"
import {
  DelayReasonCode,
  delayReason,
  delayReasonCodes,
  LimitedAccessType,
  ShipmentMilestoneStatus,
  TimeCriticalType,
  unstatedDelay
} from "@waybill/core/shipment-status"
import { Schema } from "effect"

const takes = (schema: Schema.Codec<string, unknown>) => Schema.is(schema)

describe("code lists (SPEC-GAP-A25)", () => {
  it("accept every published delay reason, and any sub code of a published basic code", () => {
    const takesCode = takes(DelayReasonCode)
    assert.lengthOf(delayReasonCodes, 39)
    for (const code of [...delayReasonCodes, "310-0", "310-999", "460-77"]) assert.isTrue(takesCode(code), code)
    for (const code of ["310", "310-", "310-1000", "310-01", "999-1", "31-01", "310-2 ", "", "Weather"]) assert.isFalse(takesCode(code), code)
  })

  it("give the published texts of a code", () => {
    assert.deepStrictEqual(delayReason("310-2"), {
      generalDescription: "Carrier not able to service",
      carrierSpecificDescription: "Equipment Breakdown",
      responsibleParty: "Carrier Action",
      majorStatusCategory: "Reschedule"
    })
    assert.deepStrictEqual(delayReason("330-77"), {
      generalDescription: "Consignee Closed",
      carrierSpecificDescription: undefined,
      responsibleParty: undefined,
      majorStatusCategory: undefined
    })
    // 390 is weather and civil events
    assert.isUndefined(delayReason("390-77"))
    assert.isUndefined(delayReason("toString"))
    assert.isTrue(takes(DelayReasonCode)(unstatedDelay))
  })

  it("accept a limited access group with or without a number", () => {
    for (const type of ["Farm", "Farm-87", "Other-999"]) assert.isTrue(takes(LimitedAccessType)(type), type)
    for (const type of ["FARM", "Farm-", "Farm-1000", "Office", "Farm-87 - Winery"]) assert.isFalse(takes(LimitedAccessType)(type), type)
  })

  it("refuse unknown values of a closed list", () => {
    for (const milestone of ["Picked Up", "In-Transit", "delivered", "", null]) assert.isFalse(takes(ShipmentMilestoneStatus)(milestone))
    assert.deepStrictEqual(["Deliver By Date", "deliver by date"].map(takes(TimeCriticalType)), [true, false])
  })
})
