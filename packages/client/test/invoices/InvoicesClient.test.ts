import { describe, expect, it } from "vitest"
import { type Invoice, InvoicesClient } from "../../src/invoices/index.ts"
import { invoice, invoiceOf } from "../invoice-samples.ts"
import { clientsOf, json, problem } from "../scripted-server.ts"

const clientOf = clientsOf(InvoicesClient)
const message = "Done."
const warning = "The charge lines add up to 150.66 USD, the invoice amount is 150.65 USD."

describe("InvoicesClient", () => {
  it("creates an invoice and keeps every amount as it was written", async () => {
    const { client, received } = clientOf(() => json({ message }))
    const precise = invoiceOf("I1", "00000000000000000000.1000000000")
    expect(await client.create(precise)).toEqual({ message })
    expect(received).toEqual([expect.objectContaining({ method: "POST", path: "/invoicing/invoices", body: precise })])
    expect(received[0]!.headers.get("x-api-key")).toBe("k")
  })

  it("returns the warning of an accepted invoice", async () => {
    const warned = { "x-waybill-warning": warning }
    const { client } = clientOf(({ method }) => method === "GET" ? json(invoice, 200, warned) : json({ message }, 200, warned))
    expect(await client.create(invoice)).toEqual({ message, warning })
    expect(await client.replace(invoice)).toEqual({ message, warning })
    expect(await client.get("I/1")).toEqual({ invoice, warning })
  })

  it("gets one, of the given carrier", async () => {
    const { client, received } = clientOf(() => json(invoice))
    expect(await client.get("I/1")).toEqual({ invoice })
    await client.get("I 1", { carrier: { DOT: "USDOT 1", MC: "2" } })
    await client.get("é?#", { carrier: { MC: "2" } })
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /invoicing/invoices/I%2F1", "GET /invoicing/invoices/I%201?DOT=USDOT+1&MC=2", "GET /invoicing/invoices/%C3%A9%3F%23?MC=2"
    ])
  })

  it("replaces one under its own id, with a comment", async () => {
    const { client, received } = clientOf(() => json({ message }))
    const comments = [{ id: 1, commentText: "wrong & late, \"sorry\"" }, { commentText: "é" }]
    expect(await client.replace(invoice, { comments })).toEqual({ message })
    await client.replace(invoice)
    await client.replace(invoice, { comments: [] })
    const [first, ...others] = received.map(({ body, method, url }) => ({ body, method, url: new URL(url) }))
    expect(first).toMatchObject({ method: "PUT", body: invoice, url: { pathname: "/invoicing/invoices/I%2F1" } })
    expect(JSON.parse(first!.url.searchParams.get("comments")!)).toEqual(comments)
    expect(others.map(({ url }) => url.search)).toEqual(["", ""])
  })

  it("removes one, of the given carrier, with a comment", async () => {
    const { client, received } = clientOf(() => json({ message }))
    expect(await client.remove("I/1")).toBeUndefined()
    await client.remove("I1", { carrier: { DOT: "1" }, comment: { commentText: "twice" } })
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "DELETE /invoicing/invoices/I%2F1", `DELETE /invoicing/invoices/I1?DOT=1&comments=${encodeURIComponent("{\"commentText\":\"twice\"}")}`
    ])
  })

  it("lists one page", async () => {
    const { client, received } = clientOf((_, count) => json([invoice], 200, count === 0 ? { "x-next-cursor": "c-1" } : {}))
    const query = { uniqueID: "I/1", shipmentID: "S1", DOT: "1", MC: "2", invoiceNumber: "N&1", limit: 5 }
    expect(await client.list(query)).toEqual({ data: [invoice], nextCursor: "c-1" })
    expect(await client.list({ cursor: "c-1" })).toEqual({ data: [invoice], nextCursor: undefined })
    await client.list()
    expect(received.map(({ path }) => path)).toEqual([
      "/invoicing/invoices?uniqueID=I%2F1&shipmentID=S1&DOT=1&MC=2&invoiceNumber=N%261&limit=5", "/invoicing/invoices?cursor=c-1", "/invoicing/invoices"
    ])
  })

  describe("iterates over a list", () => {
    const pages = [["a", "b"], [], ["c"]].map((ids) => ids.map((id) => invoiceOf(id)))
    const paged = () => clientOf((_, count) => json(pages[count], 200, count < 2 ? { "x-next-cursor": `c-${count + 1}` } : {}))

    it("page by page, with the same conditions", async () => {
      const { client, received } = paged()
      expect((await Array.fromAsync(client.all({ DOT: "1", limit: 2 }))).map(({ uniqueID }) => uniqueID)).toEqual(["a", "b", "c"])
      expect(received.map(({ path }) => path)).toEqual([
        "/invoicing/invoices?DOT=1&limit=2", "/invoicing/invoices?DOT=1&limit=2&cursor=c-1", "/invoicing/invoices?DOT=1&limit=2&cursor=c-2"
      ])
    })

    it("and requests the next page only when it is needed", async () => {
      const { client, received } = paged()
      for await (const { uniqueID } of client.all()) if (uniqueID === "b") break
      expect(received).toHaveLength(1)
    })

    it("in one page from a server without pagination", async () => {
      const { client, received } = clientOf(() => json([invoice]))
      expect(await Array.fromAsync(client.all())).toEqual([invoice])
      expect(received).toHaveLength(1)
    })

    it("and fails on a repeated cursor", async () => {
      const { client, received } = clientOf(() => json([invoice], 200, { "x-next-cursor": "c" }))
      await expect(Array.fromAsync(client.all())).rejects.toMatchObject({ name: "WaybillCallFailed", reason: "unreadable_answer" })
      expect(received).toHaveLength(2)
    })
  })

  it("fails with the codes and the message of an error", async () => {
    const { client } = clientOf(() => json(["600"], 403, { "x-waybill-detail": "You write invoices of DOT 1 only." }))
    await expect(client.create(invoice)).rejects.toMatchObject({
      name: "WaybillProblem", status: 403, codes: ["600"], detail: "You write invoices of DOT 1 only.", message: expect.stringContaining("DOT 1")
    })
    await expect(clientOf(() => json(["300"], 404)).client.get("I1")).rejects.toMatchObject({ status: 404, codes: ["300"], detail: undefined })
  })

  it("refuses any other response", async () => {
    const odd = (body: unknown) => clientOf(() => json(body)).client
    const calls = [odd({}).create(invoice), odd([]).replace(invoice), odd({ data: [] }).list(), odd([invoice]).get("I1"), odd(null).get("I1")]
    for (const call of calls) await expect(call).rejects.toMatchObject({ name: "WaybillCallFailed", reason: "unreadable_answer" })
  })

  it.each(["", ".", ".."])("refuses %j as an id", async (id) => {
    const { client, received } = clientOf(() => json({ message }))
    for (const call of [client.get(id), client.remove(id), client.replace({ ...invoice, uniqueID: id })]) await expect(call).rejects.toThrow(TypeError)
    expect(received).toEqual([])
  })

  const calls: ReadonlyArray<readonly [string, number, (client: InvoicesClient, signal?: AbortSignal) => Promise<unknown>]> = [
    ["create", 2, (client, signal) => client.create(invoice as Invoice, { signal })],
    ["list", 2, (client, signal) => client.list({}, { signal })],
    ["all", 2, (client, signal) => Array.fromAsync(client.all({}, { signal }))],
    ["get", 2, (client, signal) => client.get("I1", { signal })],
    ["replace", 1, (client, signal) => client.replace(invoice, { signal })],
    ["remove", 2, (client, signal) => client.remove("I1", { signal })]
  ]

  it.each(calls)("sends %s %i times when the first response is lost", async (_, times, call) => {
    const { client, received } = clientOf((_, count) => count === 0 ? problem(503) : json([]))
    await call(client).catch(() => undefined)
    expect(received).toHaveLength(times)
  })

  it("treats 404 as success when the first response to a removal was lost", async () => {
    const { client } = clientOf((_, count) => count === 0 ? problem(503) : json(["300"], 404))
    expect(await client.remove("I1")).toBeUndefined()
  })

  it.each(calls)("aborts %s with the caller's signal", async (_, __, call) => {
    const { client, received } = clientOf(() => json({}))
    await expect(call(client, AbortSignal.abort(new Error("over")))).rejects.toThrow("over")
    expect(received).toEqual([])
  })
})
