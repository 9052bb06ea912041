import { Invoices } from "@waybill/core/invoices"
import { invoiceSample } from "@waybill/testkit"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { movingShipment } from "../shipment-status/ShipmentSamples.ts"
import { type Answer, operatorKey, runningService } from "../TestService.ts"

let numbers = 0

const service = await runningService()
const acme = await service.tenant("acme")
const debtor = await acme.customer("debtor", ["A1"])

const call = (method: string, path: string, key?: string, body?: unknown) =>
  service.send(method, `/invoicing${path}`, { key, headers: { "x-request-id": "same" }, ...(body === undefined ? {} : { body }) })

const create = (body: unknown, key: string | undefined = acme.carrier) => call("POST", "/invoices", key, body)

/** A new invoice. */
const fresh = (overrides: Parameters<typeof invoiceSample>[0] = {}) => {
  const uniqueID = `INV-${++numbers}`
  return invoiceSample({ uniqueID, invoiceNumber: `N-${numbers}`, shipmentID: `SHP-${numbers}`, accounts: ["A1"], ...overrides })
}

const refusal = ({ headers, json, status }: Answer) => [status, headers.get("content-type"), json]

const detail = ({ headers }: Answer) => headers.get("x-waybill-detail")

/** Every call of the area, for an invoice with this id. */
const everyCall = (invoice: ReturnType<typeof invoiceSample>): ReadonlyArray<readonly [string, string, unknown?]> => [
  ["GET", `/invoices/${invoice.uniqueID}`],
  ["PUT", `/invoices/${invoice.uniqueID}`, invoice],
  ["DELETE", `/invoices/${invoice.uniqueID}`]
]

describe("creating an invoice", () => {
  it("answers 200 with a message, and again for the same content", async () => {
    const invoice = fresh()
    for (let n = 0; n < 2; n++) {
      const answer = await create(invoice)
      expect([answer.status, answer.json, answer.headers.get("x-waybill-warning")]).toEqual([200, { message: `Invoice ${invoice.uniqueID} was created.` }, null])
    }
    expect(refusal(await create({ ...invoice, shipmentID: "other" }))).toEqual([400, "application/json", ["500"]])
  })

  it("keeps every member unchanged, amounts to the last digit", async () => {
    const value = "12345678901234567890.1234567890"
    const invoice = fresh({ costs: [value], total: value, more: { note: { deep: ["é", "\u2028", null] }, comments: [{ id: 1, commentText: "x" }] } })
    await create(invoice)
    const answer = await call("GET", `/invoices/${invoice.uniqueID}`, debtor)
    expect([answer.status, answer.headers.get("content-type"), answer.text]).toEqual([200, "application/json", JSON.stringify(invoice)])
  })

  it("accepts an invoice that does not add up, with a warning in a header, then and later", async () => {
    const invoice = fresh({ costs: ["1.00"], total: "2.00" })
    const created = await create(invoice)
    expect([created.status, created.headers.get("x-waybill-warning")]).toEqual([200, expect.stringMatching(/\S/)])
    expect((await call("GET", `/invoices/${invoice.uniqueID}`, debtor)).headers.get("x-waybill-warning")).toBe(created.headers.get("x-waybill-warning"))
  })

  it.each([
    ["nothing", {}, ["300"], "uniqueID"],
    ["no charges", { ...invoiceSample(), invoiceCharges: undefined }, ["300"], "invoiceCharges"],
    ["money as a number", invoiceSample({ more: { invoiceCharges: [{ chargeType: "BASE_CHARGE", chargeCode: "A", chargeUnitCode: "FLAT", cost: { currencyCode: "USD", value: 1 } }] } }), ["300"], "invoiceCharges"],
    ["money of 33 characters", invoiceSample({ total: "1".repeat(33) }), ["300"], "invoiceHeader.invoiceAmount.value"],
    ["no carrier", invoiceSample({ DOT: "", MC: "" }), ["300"], "DOT"],
    ["an array", [], ["300"], "invoice"],
    ["half of JSON", "{", ["400"], "JSON"]
  ])("refuses %s, names the location in a header, and stores nothing", async (_what, body, codes, place) => {
    const before = (await call("GET", "/invoices", acme.carrier)).text
    const answer = await create(body)
    expect(refusal(answer)).toEqual([400, "application/json", codes])
    expect(detail(answer)).toContain(place)
    expect((await call("GET", "/invoices", acme.carrier)).text).toBe(before)
  })

  it("has a short header of printable ASCII, whatever the error contains", async () => {
    const answer = await create(fresh({ more: { attributes: Array.from({ length: 90 }, () => ({ id: "é😀" })) } }))
    expect(answer.status).toBe(400)
    expect(detail(answer)).toMatch(/^[\x20-\x7e]{900,1000}$/)
  })

  it("refuses invalid JSON, large bodies, and other media types", async () => {
    expect(refusal(await create({ ...fresh(), note: "x".repeat(3 * 1024 * 1024) }))).toEqual([413, "application/json", ["300"]])
    const text = await service.send("POST", "/invoicing/invoices", { key: acme.carrier, body: "{}", headers: { "content-type": "text/plain" } })
    expect(refusal(text)).toEqual([415, "application/json", ["400"]])
    expect(refusal(await call("PATCH", "/invoices", acme.carrier, {}))).toEqual([405, "application/json", ["400"]])
    expect(refusal(await call("GET", "/nothing", acme.carrier))).toEqual([404, "application/json", ["400"]])
  })

  it("requires a carrier, and its own numbers", async () => {
    const bound = await acme.carrierOf("bound", { dot: "7654321" })
    expect((await create(fresh({ DOT: "USDOT 07654321" }), bound)).status).toBe(200)
    const other = await create(fresh(), bound)
    expect([refusal(other), detail(other)]).toEqual([[403, "application/json", ["600"]], expect.stringContaining("7654321")])
    expect(refusal(await create(fresh(), debtor))).toEqual([403, "application/json", ["500"]])
    expect(refusal(await create(fresh(), operatorKey))).toEqual([403, "application/json", ["500"]])
    for (const key of [undefined, "wrong"]) expect(refusal(await call("POST", "/invoices", key, fresh()))).toEqual([401, "application/json", ["500"]])
  })

  it("logs the details that the codes cannot express, with the correlation id", async () => {
    const before = service.log.length
    await call("GET", "/invoices/nothing-here", debtor)
    const line = service.log.slice(before).find(({ annotations }) => annotations["problem"] !== undefined)
    expect([line?.level, line?.annotations["correlationId"], line?.annotations["problem"]]).toEqual(["INFO", "same", "invoice_not_found"])
    expect(JSON.stringify(line?.message)).toContain("No invoice")
  })
})

describe("replacing an invoice", () => {
  it("answers 200, and replaces the whole invoice", async () => {
    const invoice = fresh({ more: { note: "old" } })
    await create(invoice)
    const { note: _, ...next } = invoice as Record<string, unknown>
    const answer = await call("PUT", `/invoices/${invoice.uniqueID}`, acme.carrier, { ...next, shipmentID: "new" })
    expect([answer.status, answer.json]).toEqual([200, { message: `Invoice ${invoice.uniqueID} was replaced.` }])
    expect((await call("GET", `/invoices/${invoice.uniqueID}`, debtor)).json).toEqual({ ...next, shipmentID: "new" })
  })

  it("requires equal ids in path and body, and an existing invoice", async () => {
    const invoice = fresh()
    await create(invoice)
    const answer = await call("PUT", "/invoices/other", acme.carrier, invoice)
    expect([refusal(answer), detail(answer)]).toEqual([[400, "application/json", ["500"]], expect.stringContaining("differ")])
    const unknown = fresh()
    expect(refusal(await call("PUT", `/invoices/${unknown.uniqueID}`, acme.carrier, unknown))).toEqual([404, "application/json", ["300"]])
  })

  it.each([
    ["as JSON of a list", `comments=${encodeURIComponent("[{\"id\":1,\"commentText\":\"why, é\"}]")}`, [{ id: 1, commentText: "why, é" }]],
    ["as JSON of objects, repeated", `comments=${encodeURIComponent("{\"commentText\":\"a\"}")}&comments=${encodeURIComponent("{\"commentText\":\"b\"}")}`, [{ commentText: "a" }, { commentText: "b" }]],
    ["as an object that explodes", "id=7&commentText=why+not", [{ id: 7, commentText: "why not" }]],
    ["with places in brackets", "comments%5B0%5D%5BcommentText%5D=a&comments[0][id]=1&comments[1][commentText]=b", [{ id: 1, commentText: "a" }, { commentText: "b" }]],
    ["with dots", "comments.commentText=a&comments.id=2", [{ id: 2, commentText: "a" }]],
    ["as plain text", "comments=because", [{ commentText: "because" }]],
    ["not at all", "", []]
  ])("accepts comments %s, as deleting does", async (_what, query, comments) => {
    const invoice = fresh()
    await create(invoice)
    expect((await call("PUT", `/invoices/${invoice.uniqueID}?${query}`, acme.carrier, invoice)).status).toBe(200)
    expect((await call("DELETE", `/invoices/${invoice.uniqueID}?${query}`, acme.carrier)).status).toBe(200)
    const principal = { tenantId: "acme", client: "auditor", roles: ["carrier"], accounts: [], origin: "token" } as const
    const history = await service.run(Effect.flatMap(Invoices, (all) => all.history(principal, invoice.uniqueID, { DOT: invoice.DOT, MC: invoice.MC })))
    expect(history.map(({ action, client, comments: said }) => [action, client, said])).toEqual([
      ["created", "key:carrier", []],
      ["replaced", "key:carrier", comments],
      ["deleted", "key:carrier", comments]
    ])
  })

  it("refuses invalid comments", async () => {
    const invoice = fresh()
    await create(invoice)
    for (const query of ["id=one", "comments=%ff", "comments=[object%20Object]"]) {
      expect(refusal(await call("DELETE", `/invoices/${invoice.uniqueID}?${query}`, acme.carrier))).toEqual([400, "application/json", ["300"]])
    }
    expect((await call("GET", `/invoices/${invoice.uniqueID}`, acme.carrier)).status).toBe(200)
  })

  it("corrects a DOT or MC number, which its reader then finds it by", async () => {
    const invoice = fresh()
    await create(invoice)
    const corrected = { ...invoice, MC: "765432" }
    expect((await call("PUT", `/invoices/${invoice.uniqueID}`, acme.carrier, corrected)).status).toBe(200)
    expect((await call("GET", `/invoices?uniqueID=${invoice.uniqueID}`, acme.carrier)).json).toEqual([corrected])
    const other = await call("PUT", `/invoices/${invoice.uniqueID}`, acme.carrier, { ...invoice, DOT: "8", MC: "9" })
    expect(refusal(other)).toEqual([400, "application/json", ["500"]])
  })

  it("stores one of two concurrent replacements completely", async () => {
    const invoice = fresh()
    await create(invoice)
    const versions = Array.from({ length: 10 }, (_, n) => ({ ...invoice, shipmentID: `S-${n}`, invoiceCharges: Array.from({ length: 20 }, () => ({ ...invoice.invoiceCharges[0]!, chargeCode: `C-${n}` })) }))
    await Promise.all(versions.map((version) => call("PUT", `/invoices/${invoice.uniqueID}`, acme.carrier, version)))
    const { json } = await call("GET", `/invoices/${invoice.uniqueID}`, acme.carrier)
    expect(versions).toContainEqual(json)
  })
})

describe("deleting an invoice", () => {
  it("answers 200 with a message (SPEC-GAP-B32), and removes it", async () => {
    const invoice = fresh()
    await create(invoice)
    const answer = await call("DELETE", `/invoices/${invoice.uniqueID}`, acme.carrier)
    expect([answer.status, answer.json]).toEqual([200, { message: `Invoice ${invoice.uniqueID} was deleted.` }])
    for (const [method, path, body] of everyCall(invoice)) expect(refusal(await call(method, path, acme.carrier, body))).toEqual([404, "application/json", ["300"]])
  })
})

describe("listing invoices", () => {
  it("applies all filters, sorts by id, and returns an empty list for no match", async () => {
    const bolt = await service.tenant("bolt")
    const [one, two, three] = [
      invoiceSample({ uniqueID: "L1", invoiceNumber: "N1", shipmentID: "S1", DOT: "1", MC: "11" }),
      invoiceSample({ uniqueID: "L2", invoiceNumber: "N1", shipmentID: "S2", DOT: "2", MC: "22" }),
      invoiceSample({ uniqueID: "L3", invoiceNumber: "N3", shipmentID: "S1", DOT: "1", MC: "11" })
    ]
    for (const invoice of [three, one, two]) await create(invoice, bolt.carrier)
    const listed = async (query: string) => {
      const answer = await call("GET", `/invoices?${query}`, bolt.carrier)
      return [answer.status, answer.json.map((each: any) => each.uniqueID)]
    }
    expect((await call("GET", "/invoices", bolt.carrier)).text).toBe(JSON.stringify([one, two, three]))
    expect(await listed("uniqueID=L2")).toEqual([200, ["L2"]])
    expect(await listed("shipmentID=S1")).toEqual([200, ["L1", "L3"]])
    expect(await listed("invoiceNumber=N1")).toEqual([200, ["L1", "L2"]])
    expect(await listed("DOT=USDOT%201")).toEqual([200, ["L1", "L3"]])
    expect(await listed("MC=022&invoiceNumber=N1")).toEqual([200, ["L2"]])
    expect(await listed("shipmentID=S1&invoiceNumber=N1&DOT=1&MC=11&uniqueID=L1")).toEqual([200, ["L1"]])
    expect(await listed("shipmentID=S1&uniqueID=L2")).toEqual([200, []])
    expect(refusal(await call("GET", "/invoices?uniqueID=a&uniqueID=b", bolt.carrier))).toEqual([400, "application/json", ["300"]])
  })

  it("has pages, each with a cursor of the next (SPEC-GAP-B31)", async () => {
    const coil = await service.tenant("coil")
    for (let n = 0; n < 5; n++) await create(invoiceSample({ uniqueID: `P${n}` }), coil.carrier)
    const seen: Array<string> = []
    let path = "/invoicing/invoices?limit=2&shipmentID=SHP-1"
    for (;;) {
      const answer = await service.send("GET", path, { key: coil.carrier })
      seen.push(...answer.json.map((each: any) => each.uniqueID))
      const next = /^<http:\/\/waybill\.test(.*)>; rel="next"$/.exec(answer.headers.get("link") ?? "")?.[1]
      expect(answer.headers.get("x-next-cursor") === null).toBe(next === undefined)
      if (next === undefined) break
      expect(next).toContain("shipmentID=SHP-1")
      path = next
    }
    expect(seen).toEqual(["P0", "P1", "P2", "P3", "P4"])
    for (const query of ["invoicenumber=N1", "uniqueId=L1", "comments=x", "limit=0", "limit=1001", "limit=x", "cursor=x"]) {
      expect(refusal(await call("GET", `/invoices?${query}`, coil.carrier))).toEqual([400, "application/json", ["300"]])
    }
  })
})

describe("an invoice", () => {
  it("is visible to its carrier and its addressees; without any, to the owners of its shipment", async () => {
    await acme.register(movingShipment("OWNED", { accounts: ["A7"] }))
    const [addressed, shipped] = [fresh({ accounts: ["A5"], shipmentID: "OWNED" }), fresh({ accounts: [], shipmentID: "OWNED" })]
    const billed = { ...fresh({ accounts: [], shipmentID: "OWNED" }), billToAccountNumber: "A5" }
    for (const invoice of [addressed, shipped, billed]) await create(invoice)
    const [five, seven] = [await acme.customer("five", ["A5"]), await acme.customer("seven", ["A7"])]
    const status = async (key: string, { uniqueID }: typeof addressed) => (await call("GET", `/invoices/${uniqueID}`, key)).status
    const seen = async (key: string) => [await status(key, addressed), await status(key, shipped), await status(key, billed)]
    expect([await seen(five), await seen(seven), await seen(acme.carrier)]).toEqual([[200, 404, 200], [404, 200, 404], [200, 200, 200]])
    expect((await call("GET", "/invoices", seven)).json.map((each: any) => each.uniqueID)).toEqual([shipped.uniqueID])
  })

  it("is refused with an account that cannot be one, so that the shipment's accounts do not see what is addressed to somebody else (SPEC-GAP-B7)", async () => {
    await acme.register(movingShipment("OWNED-2", { accounts: ["A7"] }))
    const invoice = fresh({ accounts: [], shipmentID: "OWNED-2" })
    for (const billToAccountNumber of ["", " ", "x".repeat(101), ["A5"], { number: "A5" }, true, 1.5]) {
      const answer = await call("POST", "/invoices", acme.carrier, { ...invoice, billToAccountNumber })
      expect([...refusal(answer), detail(answer)]).toEqual([400, "application/json", ["300"], expect.stringMatching(/^billToAccountNumber: An account is a text of 1 to 100 characters/u)])
    }
    expect((await call("GET", `/invoices/${invoice.uniqueID}`, acme.carrier)).status).toBe(404)
    await create({ ...invoice, billToAccountNumber: "A5" } as typeof invoice)
    expect((await call("PUT", `/invoices/${invoice.uniqueID}`, acme.carrier, { ...invoice, billToAccountNumber: "" })).status).toBe(400)
    const seven = await acme.customer("seven-2", ["A7"])
    expect((await call("GET", `/invoices/${invoice.uniqueID}`, seven)).status).toBe(404)
  })

  it("is identified by its carrier among equal ids, and a delete never guesses (SPEC-GAP-B11)", async () => {
    const [one, other] = [fresh(), fresh({ DOT: "2", MC: "22" })].map((each, _at, [first]) => ({ ...each, uniqueID: first!.uniqueID }))
    for (const invoice of [one, other]) await create(invoice)
    const path = `/invoices/${one!.uniqueID}`
    expect((await call("GET", `${path}?DOT=${one!.DOT}`, debtor)).json).toEqual(one)
    expect((await call("GET", `${path}?DOT=2&MC=22`, debtor)).json).toEqual(other)
    expect(refusal(await call("DELETE", path, acme.carrier))).toEqual([400, "application/json", ["500"]])
    expect((await call("DELETE", `${path}?DOT=2&commentText=wrong`, acme.carrier)).status).toBe(200)
    expect((await call("GET", path, debtor)).json).toEqual(one)
  })

  it.each(["%00", "%F0%9F%98%80", "a%2Fb", "x".repeat(300), "%20", "..%2F..", "__proto__"])("gets 404 for an id such as %s", async (id) => {
    for (const method of ["GET", "DELETE"]) expect(refusal(await call(method, `/invoices/${id}`, acme.carrier))).toEqual([404, "application/json", ["300"]])
  })
})
