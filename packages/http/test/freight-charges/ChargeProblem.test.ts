import { fault, InvalidInput, NotPermitted, StorageError, Unauthenticated } from "@waybill/core"
import { describe, expect, it } from "vitest"
import { chargeProblem } from "../../src/freight-charges/ChargeProblem.ts"
import type { Problem } from "../../src/shared/ProblemDetails.ts"
import { internalProblem, problemOf } from "../../src/shared/ProblemOf.ts"
import { bodyTooLarge, methodNotAllowed, unknownPath } from "../../src/shared/Refused.ts"

const written = (problem: Problem) => JSON.parse(chargeProblem.write(problem))

describe("an error of area E", () => {
  it("names the path of the invalid field", () => {
    expect(written(problemOf(InvalidInput.of(fault(["webhookUrl"], "Must be a valid URI.", "invalid"))))).toEqual({
      code: "INVALID_REQUEST",
      message: "webhookUrl: Must be a valid URI.",
      details: { field: "webhookUrl", error: "Must be a valid URI." }
    })
    const fieldOf = (...path: ReadonlyArray<PropertyKey>) => written(problemOf(InvalidInput.of(fault(path, "Wrong.")))).details.field
    expect([fieldOf("dataOptions", "eventType"), fieldOf("accounts", 3), fieldOf(), fieldOf("a/b", "c~d")])
      .toEqual(["dataOptions.eventType", "accounts[3]", "body", "a/b.c~d"])
  })

  it("names every invalid field", () => {
    expect(written(problemOf(InvalidInput.of(fault(["webhookUrl"], "Missing."), fault(["accounts"], "Empty.")))).details).toEqual({
      field: "webhookUrl",
      error: "Missing.",
      errors: [{ field: "webhookUrl", error: "Missing." }, { field: "accounts", error: "Empty." }]
    })
  })

  it("has one code per status (SPEC-GAP-E30)", () => {
    const codeOf = (problem: Problem) => written(problem).code
    expect([
      codeOf(problemOf(new Unauthenticated({ presented: true }))),
      codeOf(problemOf(new NotPermitted({ needed: "customer" }))),
      codeOf(unknownPath.problem),
      codeOf(problemOf(new StorageError({ operation: "x", cause: undefined }))),
      codeOf(internalProblem),
      codeOf(methodNotAllowed("PUT", "GET").problem),
      codeOf(bodyTooLarge(1).problem)
    ]).toEqual(["UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND", "UNAVAILABLE", "INTERNAL_ERROR", "METHOD_NOT_ALLOWED", "BODY_TOO_LARGE"])
  })

  it("has details only when there are any", () => {
    expect(Object.keys(written(problemOf(new Unauthenticated({ presented: false }))))).toEqual(["code", "message"])
  })
})
