import { describe, expect, it } from "vitest"
import { Schema } from "effect"
import { type QueryParameters, readQuery } from "../../src/shared/QueryText.ts"
import { runningService } from "../TestService.ts"

const text = (kind: "text" | "list") => ({ kind, schema: Schema.String, description: "" }) as const

const faultsOf = (parameters: QueryParameters, search: string) => readQuery(parameters, search).faults.map(({ detail }) => detail)

describe("an unknown query parameter (SPEC-GAP-X4)", () => {
  it("is refused with the nearest known one", () => {
    const parameters = { invoiceNumber: text("text"), fileIds: text("list") }
    expect(readQuery(parameters, "invoiceNumber=1&fileIds[0]=a&fileIds[]=b&")).toEqual({ values: { invoiceNumber: "1", fileIds: ["a", "b"] }, faults: [] })
    expect(faultsOf(parameters, "ids=a&invoicenumber=1&invoiceNumber[0]=1")).toEqual([
      "This call has no query parameter ids. Did you mean fileIds?",
      "This call has no query parameter invoicenumber. Did you mean invoiceNumber?",
      "This call has no query parameter invoiceNumber[0]. Did you mean invoiceNumber?"
    ])
    expect(faultsOf({}, "a=1")).toEqual(["This call has no query parameter a. It has none."])
    expect(faultsOf(parameters, Array.from({ length: 1000 }, (_, n) => `n${n}=1`).join("&"))).toHaveLength(100)
  })

  it("is ignored when the host names it, unless the call has a parameter of that name", () => {
    const parameters = { page: text("text"), token: text("text") }
    expect(readQuery(parameters, "page=1&access_token=%ff&token=t", new Set(["access_token", "token"]))).toEqual({ values: { page: "1", token: "t" }, faults: [] })
    expect(readQuery(parameters, "Access_token=1", new Set(["access_token"])).faults).toHaveLength(1)
    const whole = { kind: "pairs", schema: Schema.String, description: "", isPart: () => true } as const
    expect(readQuery({ whole }, "a=1&access_token=x", new Set(["access_token"])).values).toEqual({ whole: [["a", "1"]] })
  })

  it("is accepted where it is a spelling of a value that is the whole query", () => {
    const comments = { kind: "pairs", schema: Schema.String, description: "", isPart: (name: string) => name.startsWith("comment") } as const
    expect(readQuery({ comments }, "commentText=a")).toEqual({ values: { comments: [["commentText", "a"]] }, faults: [] })
    expect(faultsOf({ comments }, "text=a")).toEqual(["This call has no query parameter text. It has comments."])
  })

  it("is refused by a call of every area in the format of the area, and ignored by probes", async () => {
    const service = await runningService()
    const acme = await service.tenant("acme")
    const calls = [
      ["GET", "/in-transit/v1/shipment/pro/1/public"],
      ["GET", "/in-transit/v1/shipment/pro/1/verified"],
      ["DELETE", "/in-transit/v1/notifications/unsubscribe/1"],
      ["GET", "/invoicing/invoices"],
      ["DELETE", "/invoicing/documents/1"],
      ["PUT", "/invoicing/invoices/1"],
      ["GET", "/pickup/v1/pickups"],
      ["GET", "/visibility/v1/subscriptions"],
      ["DELETE", "/pfc/v1/subscriptions/1"],
      ["POST", "/intake/v1/transit-events"]
    ] as const
    for (const [method, path] of calls) {
      const answer = await service.send(method, `${path}?verbose=1`, { key: acme.carrier })
      expect([path, answer.status, answer.text + answer.headers.get("x-waybill-detail")]).toEqual([path, 400, expect.stringContaining("verbose")])
    }
    expect((await service.send("GET", "/healthz?verbose=1")).status).toBe(200)
  })
})
