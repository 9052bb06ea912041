/** Sends a body that is no object to every call with a body. The calls come from the contracts, so new calls are covered. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { runningService } from "../TestService.ts"
import { callOf, contentTypeOf, targetOf } from "./Calls.ts"
import { operations } from "./Operations.ts"
import { keysOf } from "./Requests.ts"
import { subjectNamed } from "./Subject.ts"
import { faultOf } from "./Verdict.ts"

const subject = subjectNamed("none", { tenantId: "acme", accounts: ["A1"], dot: "1000001", mc: "MC-2000001" })
const service = await runningService({ logLevel: "Error" })
const acme = await service.tenant("acme")
const customer = await acme.customer("shop", ["A1"])
const keys = { carrier: acme.carrier, customer, others: [customer] }

const withBody = operations.filter(({ endpoint }) => endpoint.body !== undefined)

describe.each(withBody.map((operation) => [operation.id, operation] as const))("%s", (_, operation) => {
  const { endpoint, template } = operation
  const isList = endpoint.body!.items !== undefined

  it.each(["5", "null", "true", "\"text\"", ...(isList ? [] : ["[]", "[{}]"])])("names itself and the JSON object that it expects, when the body is %s", async (body) => {
    const target = targetOf(operation, callOf(operation, subject, new SeededRandom(1), { full: true }))
    const headers = { ...keysOf(operation, keys).right, "content-type": contentTypeOf(operation) }
    const answer = await service.send(endpoint.method, target, { headers, body })
    expect([answer.status, faultOf(operation, endpoint.method, target.split("?", 1)[0]!, answer)]).toEqual([400, undefined])
    expect(`${answer.headers.get("x-waybill-detail") ?? ""} ${answer.text}`).toContain(`${endpoint.method} ${template.replace(/\/$/, "")} expects a JSON object`)
  })
})
