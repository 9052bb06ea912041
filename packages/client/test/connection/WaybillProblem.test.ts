import { describe, expect, it } from "vitest"
import { WaybillProblem } from "../../src/connection/index.ts"

const problemOf = (body: unknown, headers: HeadersInit = {}) =>
  new WaybillProblem({ method: "GET", url: "https://waybill.test/x" }, { status: 400, headers: new Headers(headers), body: JSON.stringify(body) })

describe("WaybillProblem", () => {
  it("reads problem details", () => {
    const body = { status: 400, title: "Invalid input", detail: "One field is wrong.", code: "invalid_input", errors: [{ detail: "no", pointer: "/a" }] }
    expect(problemOf(body)).toMatchObject({ ...body, details: undefined, message: expect.stringMatching(/answered 400: One field is wrong\.$/) })
  })

  it("reads the single message of shipment status", () => {
    expect(problemOf({ message: "No such shipment." })).toMatchObject({
      title: "No such shipment.", detail: "No such shipment.", code: "", errors: [], details: undefined
    })
  })

  it("reads code, message and details of freight charges", () => {
    expect(problemOf({ code: "NOT_FOUND", message: "No subscription s.", details: { resource: "subscription", value: "s" } })).toMatchObject({
      detail: "No subscription s.", code: "NOT_FOUND", errors: [], details: { resource: "subscription", value: "s" }
    })
  })

  it("reads the codes of invoices and documents, and the message from their header", () => {
    const detail = "invoiceHeader.invoiceAmount.value: value is a decimal number as text."
    expect(problemOf(["300", "500"], { "x-waybill-detail": detail })).toMatchObject({
      codes: ["300", "500"], detail, title: detail, code: "", errors: [], details: undefined, message: expect.stringMatching(/answered 400: invoiceHeader/)
    })
    expect(problemOf(["700"])).toMatchObject({ codes: ["700"], detail: undefined, title: "HTTP 400" })
    expect(problemOf([300, null, "500", ["600"]])).toMatchObject({ codes: ["500"] })
    for (const body of [{ codes: ["300"] }, "300", null]) expect(problemOf(body)).toMatchObject({ codes: [] })
  })

  it("reads errors from details, whatever else they contain", () => {
    expect(problemOf({ message: "m", details: { error: "No body." } }).errors).toEqual([{ detail: "No body." }])
    expect(problemOf({ message: "m", details: { errors: [null, 1, {}, { error: "" }, { field: 1, error: "a" }, { field: "b", error: "c" }] } }).errors)
      .toEqual([{ detail: "a" }, { field: "b", detail: "c" }])
    for (const details of [null, [], "x", 1]) expect(problemOf({ message: "m", details })).toMatchObject({ details: undefined, errors: [] })
  })

  it("prefers problem details where both are present", () => {
    expect(problemOf({ title: "T", detail: "D", message: "M", errors: [{ detail: "E" }], details: { error: "F" } })).toMatchObject({
      title: "T", detail: "D", errors: [{ detail: "E" }]
    })
  })
})
