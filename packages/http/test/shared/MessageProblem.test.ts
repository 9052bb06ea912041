import { fault, InvalidInput, NotPermitted, TenantSuspended } from "@waybill/core"
import { describe, expect, it } from "vitest"
import { ShipmentStatusContract } from "../../src/shipment-status/ShipmentStatusContract.ts"
import { problemOf } from "../../src/shared/ProblemOf.ts"

const written = (...faults: ReadonlyArray<ReturnType<typeof fault>>) =>
  ShipmentStatusContract.shape.write(problemOf(InvalidInput.of(...faults), (name) => name === "startDate"))

describe("an error of area A", () => {
  it("is one message that names the location of every error (SPEC-GAP-A30)", () => {
    expect(written(fault(["startDate"], "Give a date."), fault(["referenceNumbers", 3], "Must not be empty."))).toBe(
      "{\"message\":\"startDate: Give a date. referenceNumbers.3: Must not be empty.\"}"
    )
    expect(written(fault(["startDate"], "startDate is after endDate."))).toBe("{\"message\":\"startDate is after endDate.\"}")
    expect(written(fault([], "Send an object."))).toBe("{\"message\":\"Send an object.\"}")
  })

  it("has at most a few thousand characters", () => {
    const many = Array.from({ length: 100 }, (_, index) => fault(["referenceNumbers", index], "x".repeat(900)))
    expect(JSON.parse(written(...many)).message.length).toBe(4096)
  })

  it("is 401 for callers without access, and 403 for those of a suspended tenant (SPEC-GAP-A32)", () => {
    const problem = problemOf(new NotPermitted({ needed: "carrier" }), undefined, ShipmentStatusContract.statuses)
    expect(problem).toMatchObject({ status: 401, code: "not_permitted" })
    expect(problemOf(new NotPermitted({ needed: "carrier" })).status).toBe(403)
    expect(problemOf(new TenantSuspended({ tenantId: "acme" }), undefined, ShipmentStatusContract.statuses).status).toBe(403)
  })
})
