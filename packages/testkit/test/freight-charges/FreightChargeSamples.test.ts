import { assert, describe, it } from "@effect/vitest"
import { BillChangeReport, BillRemovalReport, PreliminaryFreightCharge, ReportedCharge } from "@waybill/core/freight-charges"
import { Schema } from "effect"
import { arbitraryFreightCharge, billChange, billJourney, freightCharge } from "../../src/index.ts"

const isCharge = Schema.is(ReportedCharge)
const isChange = Schema.is(BillChangeReport)
const isRemoval = Schema.is(BillRemovalReport)

describe("samples of freight charges", () => {
  it("are valid", () => {
    assert.isTrue(isCharge(freightCharge("U1")))
    assert.isTrue(Schema.is(PreliminaryFreightCharge)(freightCharge("U1", { version: 3 })))
    assert.isTrue(isChange(billChange("created", "U1", { accounts: ["A", "B"], total: 1 })))
    assert.isTrue(isRemoval(billChange("removed", "U1", { version: 2 })))
  })

  it.prop("are valid for all random draws", [arbitraryFreightCharge], ([charge]) => assert.isTrue(isCharge(charge)))

  it("cover a bill from its entry to its invoice", () => {
    const journey = billJourney("U1", { account: "B" })
    assert.deepStrictEqual(journey.map((each) => each.change), ["created", "updated", "updated", "final"])
    assert.isTrue(journey.every((each) => isChange(each)))
  })
})
