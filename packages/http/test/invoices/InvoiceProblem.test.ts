import { InvalidInput, NotPermitted, StorageError, TenantSuspended, Unauthenticated } from "@waybill/core"
import { InvoiceNotYours } from "@waybill/core/invoices"
import { describe, expect, it } from "vitest"
import { headerText, invoiceProblem, maxDetailLength } from "../../src/invoices/InvoiceProblem.ts"
import { PickupsContract } from "../../src/pickups/PickupsContract.ts"
import { internalProblem, problemOf } from "../../src/shared/ProblemOf.ts"
import { bodyBroken, bodyTooLarge, stopping, unknownPath } from "../../src/shared/Refused.ts"

const invalid = (...codes: ReadonlyArray<"invalid" | "conflict" | "required">) =>
  problemOf(new InvalidInput({ faults: codes.map((code, at) => ({ pointer: `/a/${at}`, detail: `Fault ${at}.`, code })) }))

describe("an error of area B (SPEC-GAP-B30)", () => {
  it.each([
    ["bad data", invalid("invalid", "required"), ["300"]],
    ["a broken rule", invalid("conflict"), ["500"]],
    ["both", invalid("invalid", "conflict", "invalid"), ["300", "500"]],
    ["another carrier's number", problemOf(new InvoiceNotYours({ numbers: "DOT 1" })), ["600"]],
    ["no credentials", problemOf(new Unauthenticated({ presented: false })), ["500"]],
    ["no business of the caller's", problemOf(new NotPermitted({ needed: "carrier" })), ["500"]],
    ["a suspended tenant", problemOf(new TenantSuspended({ tenantId: "acme" })), ["500"]],
    ["a body that is too large", bodyTooLarge(1).problem, ["300"]],
    ["a body that breaks off", bodyBroken.problem, ["400"]],
    ["a path that is none", unknownPath.problem, ["400"]],
    ["storage that fails", problemOf(new StorageError({ operation: "x", cause: undefined })), ["700"]],
    ["a defect", internalProblem, ["700"]],
    ["a process that stops", stopping.problem, ["700"]]
  ])("for %s has its codes", (_what, problem, codes) => expect(JSON.parse(invoiceProblem.write(problem))).toEqual(codes))

  it("names every error with its location in the header", () => {
    expect(invoiceProblem.headers.write(invalid("invalid", "conflict"))).toEqual({ "x-waybill-detail": "a.0: Fault 0. a.1: Fault 1." })
  })

  it("keeps the header printable and short", () => {
    expect(headerText("né\u0000\r\nset-cookie: x 😀")).toBe("n????set-cookie: x ?")
    expect([headerText("x".repeat(maxDetailLength)).length, headerText("x".repeat(5000)).length]).toEqual([maxDetailLength, maxDetailLength])
  })
})

describe("an error of area C", () => {
  it("is a message, and has no body for 404", () => {
    expect(PickupsContract.shape.write(invalid("invalid"))).toBe("{\"message\":\"a.0: Fault 0.\"}")
    expect(PickupsContract.shape.bodiless).toEqual([404])
  })
})
