/** Rules of area B about invoices. */
import { Schema } from "effect"
import type { CallerName, Exchange } from "../ApiCaller.ts"
import { callText, expectEachRefused, expectEqual, expectHidden, expectJson, expectStatus, expectUnauthorized, jsonAnswer, Message, read, withoutEach } from "../Expectations.ts"
import { must, type RuleContext, rulesOf, should, Violation } from "../Rule.ts"
import { asSent, billing, createInvoice, fullInvoice, Invoice, invoiceBody, type InvoiceBody, InvoiceList, invoicePath, onInvoice } from "./InvoiceShapes.ts"

const needs = ["carrier"] as const
const unknownId = "WAYBILL-CHECK-NO-SUCH-INVOICE"

const got = (context: RuleContext, uniqueID: string) => jsonAnswer(billing(context, "GET", invoicePath(uniqueID)), Invoice, 200)

const listed = (context: RuleContext, query: Readonly<Record<string, string>>) =>
  jsonAnswer(billing(context, "GET", "/invoices", { query }), InvoiceList, 200)

const creating = (context: RuleContext, body: unknown) => () => billing(context, "POST", "/invoices", { body })

/** Expects the filter to find the invoice, and nothing that does not match. */
const expectFiltered = async (context: RuleContext, name: string, query: (body: InvoiceBody) => Readonly<Record<string, string>>, valueOf: (invoice: typeof Invoice.Type) => string): Promise<string> => {
  const { body } = await createInvoice(context)
  await createInvoice(context, { ...invoiceBody(context), shipmentID: `OTHER-${body.uniqueID}` })
  const [list, exchange] = await listed(context, query(body))
  const wanted = query(body)[name]
  const wrong = list.find((invoice) => digitsOf(valueOf(invoice)) !== digitsOf(wanted!))
  if (wrong !== undefined) throw new Violation(`${wrong.uniqueID} is listed and has ${name} ${valueOf(wrong)}; ${wanted} was asked for.`, exchange)
  if (!list.some(({ uniqueID }) => uniqueID === body.uniqueID)) throw new Violation(`${body.uniqueID} has ${name} ${wanted}, and is not listed.`, exchange)
  return `${list.length} of ${name} ${wanted}`
}

/** As `expectEqual`, and names the member that differs. */
const expectEach = (is: unknown, wanted: unknown, what: string, exchange: Exchange): void => {
  if (typeof wanted !== "object" || wanted === null || typeof is !== "object" || is === null) return expectEqual(is, wanted, what, exchange)
  for (const [name, each] of Object.entries(wanted)) expectEach((is as Readonly<Record<string, unknown>>)[name], each, `${what}.${name}`, exchange)
}

/** Carrier numbers may be written with a prefix. */
const digitsOf = (text: string): string => text.replace(/^(USDOT|DOT|MC)[\s-]*0*/iu, "")

const createRules = rulesOf("b", "Area B, Operations: Create and retrieve invoice", needs, [
  must("create", "creates an invoice and answers a message", async (context) => expectJson((await createInvoice(context)).exchange, Message, 200, 201).message),
  must("get", "returns an invoice with every member as it was created", onInvoice(async ({ body }, context) => {
    const [, exchange] = await got(context, body.uniqueID)
    const now = exchange.json as Readonly<Record<string, unknown>>
    for (const name of ["uniqueID", "shipmentID", "DOT", "MC"] as const) expectEqual(now[name], body[name], name, exchange)
    expectEqual(asSent(now["invoiceHeader"], body.invoiceHeader), body.invoiceHeader, "invoiceHeader", exchange)
    expectEqual(asSent(now["attributes"], body.attributes), body.attributes, "attributes", exchange)
    expectEqual(asSent(now["comments"], body.comments), body.comments, "comments", exchange)
    return body.uniqueID
  })),
  must("get-charges", "returns the charges in order, with their amounts to the digit", onInvoice(async ({ body }, context) => {
    const [, exchange] = await got(context, body.uniqueID)
    expectEqual(asSent((exchange.json as { invoiceCharges?: unknown }).invoiceCharges, body.invoiceCharges), body.invoiceCharges, "invoiceCharges", exchange)
    return `${body.invoiceCharges.length} charges`
  })),
  must("get-members", "returns an invoice that has every member of the interface, with all of them", async (context) => {
    const body = fullInvoice(context)
    await createInvoice(context, body)
    const [, exchange] = await got(context, body.uniqueID)
    const now = exchange.json as Readonly<Record<string, unknown>>
    for (const name of ["invoiceHeader", "invoiceCharges"] as const) expectEach(now[name], body[name], name, exchange)
    return body.uniqueID
  }),
  should("get-unknown", "answers 404 for an unknown invoice", {
    source: "published definition of area B: 404"
  }, async (context) => String(expectStatus(await billing(context, "GET", invoicePath(unknownId)), 404).status)),
  must("create-required", "refuses an invoice without one of its required members", (context) =>
    expectEachRefused(withoutEach(invoiceBody(context), ["uniqueID", "shipmentID", "DOT", "MC", "invoiceHeader", "invoiceCharges"]).map(([what, body]) => [what, creating(context, body)]))),
  must("create-types", "refuses members of another type", (context) => {
    const body = invoiceBody(context)
    return expectEachRefused([["uniqueID 7", creating(context, { ...body, uniqueID: 7 })], ["invoiceCharges as an object", creating(context, { ...body, invoiceCharges: {} })], ["invoiceHeader as a text", creating(context, { ...body, invoiceHeader: "none" })]])
  }),
  should("create-charge-type", "refuses an unknown chargeType, and an amount that is no decimal number", {
    source: "published definition of area B: chargeType, amounts"
  }, (context) => {
    const body = invoiceBody(context)
    const [charge] = body.invoiceCharges
    return expectEachRefused([
      ["chargeType NO_SUCH_CHARGE", creating(context, { ...body, invoiceCharges: [{ ...charge, chargeType: "NO_SUCH_CHARGE" }] })],
      ["the amount twelve", creating(context, { ...body, invoiceHeader: { ...body.invoiceHeader, invoiceAmount: { currencyCode: "USD", value: "twelve" } } })]
    ])
  }),
  should("create-dates", "refuses dates of an invoice that are none", { source: "Area B: invoiceDate and paymentDueDate are dates" }, (context) => {
    const { invoiceHeader, ...body } = invoiceBody(context)
    return expectEachRefused([
      ["the invoiceDate soon", creating(context, { ...body, invoiceHeader: { ...invoiceHeader, invoiceDate: "soon" } })],
      ["the paymentDueDate 2026-02-30", creating(context, { ...body, invoiceHeader: { ...invoiceHeader, terms: { ...invoiceHeader.terms, paymentDueDate: "2026-02-30" } } })]
    ])
  }),
  must("create-malformed", "refuses a body that is not JSON", (context) => expectEachRefused([["a cut-off body", () => billing(context, "POST", "/invoices", { text: "{\"uniqueID\": " })]])),
  must("create-variants", "takes charges, item charges and handling unit charges in one invoice, and returns them", async (context) => {
    const body = invoiceBody(context)
    const [charge] = body.invoiceCharges
    const invoiceCharges = [charge!, { ...charge!, chargeType: "ITEM_CHARGE", itemId: 1 }, { ...charge!, chargeType: "HANDLING_UNIT_CHARGE", handlingUnitId: 2 }]
    await createInvoice(context, { ...body, invoiceCharges })
    const [invoice, exchange] = await got(context, body.uniqueID)
    expectEqual(invoice.invoiceCharges.map(({ chargeType }) => chargeType), invoiceCharges.map(({ chargeType }) => chargeType), "The types of the charges", exchange)
    return "3 variants"
  }),
  should("create-duplicate", "does not replace an invoice when another is created under its uniqueID", {
    source: "practice: the identifier names one invoice"
  }, onInvoice(async ({ body }, context) => {
    const again = await creating(context, { ...body, shipmentID: "ANOTHER" })()
    const [invoice, exchange] = await got(context, body.uniqueID)
    expectEqual(invoice.shipmentID, body.shipmentID, "shipmentID", exchange)
    expectStatus(again, 400, 409, 422)
    return String(again.status)
  }))
])

const listRules = rulesOf("b", "Area B, Operations: List invoices", needs, [
  must("list", "lists invoices as an array, and filters them by uniqueID", onInvoice(async ({ body }, context) => {
    const [list, exchange] = await listed(context, { uniqueID: body.uniqueID })
    expectEqual(list.map(({ uniqueID }) => uniqueID), [body.uniqueID], "What is listed", exchange)
    return "1"
  })),
  must("list-shipment", "filters invoices by shipmentID", (context) => expectFiltered(context, "shipmentID", ({ shipmentID }) => ({ shipmentID }), ({ shipmentID }) => shipmentID)),
  must("list-number", "filters invoices by invoiceNumber", (context) =>
    expectFiltered(context, "invoiceNumber", ({ invoiceHeader: { invoiceNumber } }) => ({ invoiceNumber }), ({ invoiceHeader }) => invoiceHeader.invoiceNumber)),
  must("list-dot", "filters invoices by DOT", (context) => expectFiltered(context, "DOT", ({ DOT, uniqueID }) => ({ DOT, uniqueID }), ({ DOT }) => DOT)),
  must("list-mc", "filters invoices by MC", (context) => expectFiltered(context, "MC", ({ MC, uniqueID }) => ({ MC, uniqueID }), ({ MC }) => MC)),
  must("list-combined", "lists only invoices that match every filter, and an empty array if there are none", onInvoice(async ({ body }, context) => {
    for (const more of [{ invoiceNumber: "NO-SUCH-NUMBER" }, { shipmentID: "NO-SUCH-SHIPMENT" }, { DOT: "9999999" }, { MC: "9999999" }]) {
      const [list, exchange] = await listed(context, { uniqueID: body.uniqueID, ...more })
      expectEqual(list.map(({ uniqueID }) => uniqueID), [], `What is listed with ${Object.keys(more)[0]}`, exchange)
    }
    return "[]"
  }))
])

const replacing = (context: RuleContext, uniqueID: string, body: unknown, query: Readonly<Record<string, string>> = {}, as: CallerName = "carrier") =>
  billing(context, "PUT", invoicePath(uniqueID), { as, body, query })

const replaceRules = rulesOf("b", "Area B, Operations: Replace invoice", needs, [
  must("replace", "replaces an invoice and answers a message", onInvoice(async ({ body }, context) => {
    const changed = {
      ...body,
      invoiceHeader: { ...body.invoiceHeader, terms: { ...body.invoiceHeader.terms, paymentTerms: "Net 60" } },
      invoiceCharges: body.invoiceCharges.toReversed(),
      attributes: [{ id: 8, type: "requestNumber", value: "R-8" }]
    }
    expectJson(await replacing(context, body.uniqueID, changed), Message, 200)
    const [, exchange] = await got(context, body.uniqueID)
    const now = exchange.json as Readonly<Record<string, unknown>>
    for (const name of ["invoiceHeader", "invoiceCharges", "attributes"] as const) expectEqual(asSent(now[name], changed[name]), changed[name], name, exchange)
    return "the header, the charges and the attributes"
  })),
  must("replace-whole", "replaces the whole invoice: members that are left out are gone", onInvoice(async ({ body }, context) => {
    const { attributes: _, comments: __, ...rest } = body
    expectStatus(await replacing(context, body.uniqueID, { ...rest, invoiceCharges: [body.invoiceCharges[1]] }), 200)
    const [invoice, exchange] = await got(context, body.uniqueID)
    expectEqual([invoice.attributes?.length ?? 0, invoice.invoiceCharges.length], [0, 1], "The number of attributes and charges", exchange)
    return "gone"
  })),
  should("replace-comments", "takes comments with a replacement", { source: "published definition of area B: comments in the query" }, onInvoice(async ({ body }, context) =>
    String(expectStatus(await replacing(context, body.uniqueID, body, { comments: JSON.stringify([{ id: 1, commentText: "Corrected" }]) }), 200).status))),
  should("replace-unknown", "answers 404 when an unknown invoice is replaced, and creates none", { source: "published definition of area B: 404" }, async (context) => {
    const body = invoiceBody(context)
    expectStatus(await replacing(context, body.uniqueID, body), 404)
    return String(expectStatus(await billing(context, "GET", invoicePath(body.uniqueID)), 404).status)
  }),
  should("replace-id", "refuses a replacement whose uniqueID differs from the address", { source: "practice: path and body name one invoice" }, onInvoice(async ({ body }, context) =>
    String(expectStatus(await replacing(context, body.uniqueID, { ...body, uniqueID: `${body.uniqueID}-2` }), 400, 409, 422).status))),
  must("replace-invalid", "refuses an incomplete replacement, and keeps the invoice", onInvoice(async ({ body }, context) => {
    const { invoiceHeader: _, ...rest } = body
    const refused = await expectEachRefused([["no invoiceHeader", () => replacing(context, body.uniqueID, rest)]])
    await got(context, body.uniqueID)
    return refused
  }))
])

const deleteRules = rulesOf("b", "Area B, Operations: Delete invoice", needs, [
  must("delete", "deletes an invoice, which is neither returned nor listed, and no other", onInvoice(async ({ body }, context) => {
    const { body: other } = await createInvoice(context)
    expectStatus(await billing(context, "DELETE", invoicePath(body.uniqueID)), 200, 204)
    expectStatus(await billing(context, "GET", invoicePath(body.uniqueID)), 404, 410)
    const [list, exchange] = await listed(context, { uniqueID: body.uniqueID })
    expectEqual(list.length, 0, "The number of invoices that are listed", exchange)
    await got(context, other.uniqueID)
    return "gone"
  })),
  must("delete-message", "answers a message to a delete, with an optional comment", onInvoice(async ({ body }, context) =>
    expectJson(await billing(context, "DELETE", invoicePath(body.uniqueID), { query: { id: "1", commentText: "Sent twice" } }), Message, 200).message)),
  should("delete-unknown", "answers 404 when an unknown invoice is deleted", {
    source: "published definition of area B: 404"
  }, async (context) => String(expectStatus(await billing(context, "DELETE", invoicePath(unknownId)), 404).status))
])

const Codes = Schema.NonEmptyArray(Schema.Literals(["100", "200", "300", "400", "500", "600", "700"]))

const accessRules = rulesOf("b", "Authentication; errors of area B: published definition", needs, [
  should("error-body", "explains refusals by an array of result codes", async (context) => {
    const refused: ReadonlyArray<Exchange> = [await creating(context, {})(), await billing(context, "GET", invoicePath(unknownId))]
    for (const exchange of refused) {
      expectStatus(exchange, 400, 404, 422)
      read(Codes, exchange.json, `The error body of ${callText(exchange)}`, exchange)
    }
    return refused.map(({ text }) => text).join(" and ")
  }),
  should("unauthenticated", "refuses calls about invoices without valid credentials with 401", { needs: [] }, (context) =>
    expectUnauthorized(
      (as) => billing(context, "GET", "/invoices", { as }),
      (as) => billing(context, "POST", "/invoices", { as, body: invoiceBody(context) }),
      (as) => billing(context, "GET", invoicePath(unknownId), { as }),
      (as) => replacing(context, unknownId, invoiceBody(context, unknownId), {}, as),
      (as) => billing(context, "DELETE", invoicePath(unknownId), { as })
    )),
  must("customer-writes", "lets no customer create, replace or delete an invoice", {
    source: "Area B: a carrier creates, replaces and deletes invoices",
    needs: ["carrier", "customer"]
  }, onInvoice(async ({ body }, context) => {
    expectHidden(await billing(context, "POST", "/invoices", { as: "customer", body: invoiceBody(context) }))
    expectHidden(await billing(context, "PUT", invoicePath(body.uniqueID), { as: "customer", body }))
    expectHidden(await billing(context, "DELETE", invoicePath(body.uniqueID), { as: "customer" }))
    await got(context, body.uniqueID)
    return "refused"
  })),
  should("customer-reads", "shows the customer the invoices of its shipment", {
    source: "Area B: invoices are addressed to a shipper or third party",
    needs: ["carrier", "customer", "shipment"]
  }, onInvoice(async ({ body }, context) => {
    expectJson(await billing(context, "GET", invoicePath(body.uniqueID), { as: "customer" }), Invoice, 200)
    return body.uniqueID
  })),
  must("foreign", "shows another customer neither the invoice nor its entry in lists", {
    source: "Area B: invoices are addressed to a shipper or third party",
    needs: ["carrier", "other", "shipment"]
  }, onInvoice(async ({ body }, context) => {
    expectHidden(await billing(context, "GET", invoicePath(body.uniqueID), { as: "other" }))
    for (const query of [{ uniqueID: body.uniqueID }, { shipmentID: body.shipmentID }, { invoiceNumber: body.invoiceHeader.invoiceNumber }] as ReadonlyArray<Readonly<Record<string, string>>>) {
      const list = await billing(context, "GET", "/invoices", { as: "other", query })
      if (list.text.includes(body.uniqueID)) throw new Violation(`The list of another customer shows ${body.uniqueID}.`, list)
    }
    return "hidden"
  }))
])

export const invoiceRules = [...createRules, ...listRules, ...replaceRules, ...deleteRules, ...accessRules]
