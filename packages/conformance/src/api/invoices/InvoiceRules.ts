/** Rules of area B about invoices. */
import { Schema } from "effect"
import type { Exchange } from "../ApiCaller.ts"
import { callText, expectEachRefused, expectEqual, expectHidden, expectJson, expectStatus, Message, read, withoutEach } from "../Expectations.ts"
import { type RuleContext, rulesOf, Violation } from "../Rule.ts"
import { billing, createInvoice, invoiceBody, type InvoiceBody, Invoice, InvoiceList, invoicePath } from "./InvoiceShapes.ts"

const needs = ["carrier"] as const
const unknownId = "WAYBILL-CHECK-NO-SUCH-INVOICE"

const got = async (context: RuleContext, uniqueID: string) => {
  const exchange = await billing(context, "GET", invoicePath(uniqueID))
  return { exchange, invoice: expectJson(exchange, Invoice, 200) }
}

const listed = async (context: RuleContext, query: Readonly<Record<string, string>>) => {
  const exchange = await billing(context, "GET", "/invoices", { query })
  return { exchange, list: expectJson(exchange, InvoiceList, 200) }
}

const creating = (context: RuleContext, body: unknown) => () => billing(context, "POST", "/invoices", { body })

/** Expects the filter to find the invoice, and nothing that does not match. */
const expectFiltered = async (context: RuleContext, name: string, query: (body: InvoiceBody) => Readonly<Record<string, string>>, valueOf: (invoice: typeof Invoice.Type) => string): Promise<string> => {
  const { body } = await createInvoice(context)
  await createInvoice(context, { ...invoiceBody(context), shipmentID: `OTHER-${body.uniqueID}` })
  const { exchange, list } = await listed(context, query(body))
  const wanted = query(body)[name]
  const wrong = list.find((invoice) => digitsOf(valueOf(invoice)) !== digitsOf(wanted!))
  if (wrong !== undefined) throw new Violation(`${wrong.uniqueID} is listed and has ${name} ${valueOf(wrong)}; ${wanted} was asked for.`, exchange)
  if (!list.some(({ uniqueID }) => uniqueID === body.uniqueID)) throw new Violation(`${body.uniqueID} has ${name} ${wanted}, and is not listed.`, exchange)
  return `${list.length} of ${name} ${wanted}`
}

/** Carrier numbers may be written with a prefix. */
const digitsOf = (text: string): string => text.replace(/^(USDOT|DOT|MC)[\s-]*0*/iu, "")

const createRules = rulesOf("b", "Area B, Operations: Create and retrieve invoice", [
  { id: "create", sentence: "creates an invoice and answers a message", needs, run: async (context) => expectJson((await createInvoice(context)).exchange, Message, 200, 201).message },
  {
    id: "get",
    sentence: "returns an invoice with every member as it was created",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      const { exchange } = await got(context, body.uniqueID)
      const now = exchange.json as Readonly<Record<string, unknown>>
      for (const name of ["uniqueID", "shipmentID", "DOT", "MC"] as const) expectEqual(now[name], body[name], name, exchange)
      expectEqual(sorted(now["invoiceHeader"]), sorted(body.invoiceHeader), "invoiceHeader", exchange)
      expectEqual(sorted(now["attributes"]), sorted(body.attributes), "attributes", exchange)
      expectEqual(sorted(now["comments"]), sorted(body.comments), "comments", exchange)
      return body.uniqueID
    }
  },
  {
    id: "get-charges",
    sentence: "returns the charges in order, with their amounts to the digit",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      const { exchange } = await got(context, body.uniqueID)
      expectEqual(sorted((exchange.json as { invoiceCharges?: unknown }).invoiceCharges), sorted(body.invoiceCharges), "invoiceCharges", exchange)
      return `${body.invoiceCharges.length} charges`
    }
  },
  {
    id: "get-unknown",
    level: "should",
    source: "published definition of area B: 404",
    sentence: "answers 404 for an unknown invoice",
    needs,
    run: async (context) => String(expectStatus(await billing(context, "GET", invoicePath(unknownId)), 404).status)
  },
  { id: "create-required", sentence: "refuses an invoice without one of its required members", needs, run: (context) => expectEachRefused(withoutEach(invoiceBody(context), ["uniqueID", "shipmentID", "DOT", "MC", "invoiceHeader", "invoiceCharges"]).map(([what, body]) => [what, creating(context, body)])) },
  {
    id: "create-types",
    sentence: "refuses members of another type",
    needs,
    run: (context) => {
      const body = invoiceBody(context)
      return expectEachRefused([["uniqueID 7", creating(context, { ...body, uniqueID: 7 })], ["invoiceCharges as an object", creating(context, { ...body, invoiceCharges: {} })], ["invoiceHeader as a text", creating(context, { ...body, invoiceHeader: "none" })]])
    }
  },
  {
    id: "create-charge-type",
    level: "should",
    source: "published definition of area B: chargeType, amounts",
    sentence: "refuses an unknown chargeType, and an amount that is no decimal number",
    needs,
    run: (context) => {
      const body = invoiceBody(context)
      const [charge] = body.invoiceCharges
      return expectEachRefused([
        ["chargeType NO_SUCH_CHARGE", creating(context, { ...body, invoiceCharges: [{ ...charge, chargeType: "NO_SUCH_CHARGE" }] })],
        ["the amount twelve", creating(context, { ...body, invoiceHeader: { ...body.invoiceHeader, invoiceAmount: { currencyCode: "USD", value: "twelve" } } })]
      ])
    }
  },
  { id: "create-malformed", sentence: "refuses a body that is not JSON", needs, run: (context) => expectEachRefused([["a cut-off body", () => billing(context, "POST", "/invoices", { text: "{\"uniqueID\": " })]]) },
  {
    id: "create-variants",
    sentence: "takes charges, item charges and handling unit charges in one invoice, and returns them",
    needs,
    run: async (context) => {
      const body = invoiceBody(context)
      const [charge] = body.invoiceCharges
      const invoiceCharges = [charge!, { ...charge!, chargeType: "ITEM_CHARGE", itemId: 1 }, { ...charge!, chargeType: "HANDLING_UNIT_CHARGE", handlingUnitId: 2 }]
      await createInvoice(context, { ...body, invoiceCharges })
      const { exchange, invoice } = await got(context, body.uniqueID)
      expectEqual(invoice.invoiceCharges.map(({ chargeType }) => chargeType), invoiceCharges.map(({ chargeType }) => chargeType), "The types of the charges", exchange)
      return "3 variants"
    }
  },
  {
    id: "create-duplicate",
    level: "should",
    source: "practice: the identifier names one invoice",
    sentence: "does not replace an invoice when another is created under its uniqueID",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      const again = await creating(context, { ...body, shipmentID: "ANOTHER" })()
      const { exchange, invoice } = await got(context, body.uniqueID)
      expectEqual(invoice.shipmentID, body.shipmentID, "shipmentID", exchange)
      expectStatus(again, 400, 409, 422)
      return String(again.status)
    }
  }
])

const listRules = rulesOf("b", "Area B, Operations: List invoices", [
  {
    id: "list",
    sentence: "lists invoices as an array",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      const { exchange, list } = await listed(context, { uniqueID: body.uniqueID })
      expectEqual(list.map(({ uniqueID }) => uniqueID), [body.uniqueID], "What is listed", exchange)
      return "1"
    }
  },
  { id: "list-shipment", sentence: "filters invoices by shipmentID", needs, run: (context) => expectFiltered(context, "shipmentID", ({ shipmentID }) => ({ shipmentID }), ({ shipmentID }) => shipmentID) },
  { id: "list-number", sentence: "filters invoices by invoiceNumber", needs, run: (context) => expectFiltered(context, "invoiceNumber", ({ invoiceHeader: { invoiceNumber } }) => ({ invoiceNumber }), ({ invoiceHeader }) => invoiceHeader.invoiceNumber) },
  { id: "list-dot", sentence: "filters invoices by DOT", needs, run: (context) => expectFiltered(context, "DOT", ({ DOT, uniqueID }) => ({ DOT, uniqueID }), ({ DOT }) => DOT) },
  { id: "list-mc", sentence: "filters invoices by MC", needs, run: (context) => expectFiltered(context, "MC", ({ MC, uniqueID }) => ({ MC, uniqueID }), ({ MC }) => MC) },
  {
    id: "list-combined",
    sentence: "lists only invoices that match every filter, and an empty array if there are none",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      for (const more of [{ invoiceNumber: "NO-SUCH-NUMBER" }, { shipmentID: "NO-SUCH-SHIPMENT" }, { DOT: "9999999" }, { MC: "9999999" }]) {
        const { exchange, list } = await listed(context, { uniqueID: body.uniqueID, ...more })
        expectEqual(list.map(({ uniqueID }) => uniqueID), [], `What is listed with ${Object.keys(more)[0]}`, exchange)
      }
      return "[]"
    }
  }
])

/** JSON with members in the order of their names. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => one < other ? -1 : 1).map(([name, each]) => [name, sorted(each)]))
}

const replacing = (context: RuleContext, uniqueID: string, body: unknown, query: Readonly<Record<string, string>> = {}) => billing(context, "PUT", invoicePath(uniqueID), { body, query })

const replaceRules = rulesOf("b", "Area B, Operations: Replace invoice", [
  {
    id: "replace",
    sentence: "replaces an invoice and answers a message",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      const changed = { ...body, invoiceHeader: { ...body.invoiceHeader, terms: { ...body.invoiceHeader.terms, paymentTerms: "Net 60" } } }
      expectJson(await replacing(context, body.uniqueID, changed), Message, 200)
      const { exchange, invoice } = await got(context, body.uniqueID)
      expectEqual(invoice.invoiceHeader.terms["paymentTerms"], "Net 60", "paymentTerms", exchange)
      return "Net 60"
    }
  },
  {
    id: "replace-whole",
    sentence: "replaces the whole invoice: members that are left out are gone",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      const { attributes: _, comments: __, ...rest } = body
      expectStatus(await replacing(context, body.uniqueID, { ...rest, invoiceCharges: [body.invoiceCharges[1]] }), 200)
      const { exchange, invoice } = await got(context, body.uniqueID)
      expectEqual([invoice.attributes?.length ?? 0, invoice.invoiceCharges.length], [0, 1], "The number of attributes and charges", exchange)
      return "gone"
    }
  },
  {
    id: "replace-comments",
    sentence: "takes comments with a replacement",
    level: "should",
    source: "published definition of area B: comments in the query",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      return String(expectStatus(await replacing(context, body.uniqueID, body, { comments: JSON.stringify([{ id: 1, commentText: "Corrected" }]) }), 200).status)
    }
  },
  {
    id: "replace-unknown",
    level: "should",
    source: "published definition of area B: 404",
    sentence: "answers 404 when an unknown invoice is replaced, and creates none",
    needs,
    run: async (context) => {
      const body = invoiceBody(context)
      expectStatus(await replacing(context, body.uniqueID, body), 404)
      return String(expectStatus(await billing(context, "GET", invoicePath(body.uniqueID)), 404).status)
    }
  },
  {
    id: "replace-id",
    level: "should",
    source: "practice: path and body name one invoice",
    sentence: "refuses a replacement whose uniqueID differs from the address",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      return String(expectStatus(await replacing(context, body.uniqueID, { ...body, uniqueID: `${body.uniqueID}-2` }), 400, 409, 422).status)
    }
  },
  {
    id: "replace-invalid",
    sentence: "refuses an incomplete replacement, and keeps the invoice",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      const { invoiceHeader: _, ...rest } = body
      const refused = await expectEachRefused([["no invoiceHeader", () => replacing(context, body.uniqueID, rest)]])
      await got(context, body.uniqueID)
      return refused
    }
  }
])

const deleteRules = rulesOf("b", "Area B, Operations: Delete invoice", [
  {
    id: "delete",
    sentence: "deletes an invoice: it is neither returned nor listed",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      expectStatus(await billing(context, "DELETE", invoicePath(body.uniqueID)), 200, 204)
      expectStatus(await billing(context, "GET", invoicePath(body.uniqueID)), 404, 410)
      const { exchange, list } = await listed(context, { uniqueID: body.uniqueID })
      expectEqual(list.length, 0, "The number of invoices that are listed", exchange)
      return "gone"
    }
  },
  {
    id: "delete-message",
    sentence: "answers a message to a delete, with an optional comment",
    needs,
    run: async (context) => {
      const { body } = await createInvoice(context)
      return expectJson(await billing(context, "DELETE", invoicePath(body.uniqueID), { query: { id: "1", commentText: "Sent twice" } }), Message, 200).message
    }
  },
  {
    id: "delete-unknown",
    level: "should",
    source: "published definition of area B: 404",
    sentence: "answers 404 when an unknown invoice is deleted",
    needs,
    run: async (context) => String(expectStatus(await billing(context, "DELETE", invoicePath(unknownId)), 404).status)
  }
])

const Codes = Schema.NonEmptyArray(Schema.Literals(["100", "200", "300", "400", "500", "600", "700"]))

const accessRules = rulesOf("b", "Authentication; errors of area B: published definition", [
  {
    id: "error-body",
    level: "should",
    sentence: "explains refusals by an array of result codes",
    needs,
    run: async (context) => {
      const refused: ReadonlyArray<Exchange> = [await creating(context, {})(), await billing(context, "GET", invoicePath(unknownId))]
      for (const exchange of refused) {
        expectStatus(exchange, 400, 404, 422)
        read(Codes, exchange.json, `The error body of ${callText(exchange)}`, exchange)
      }
      return refused.map(({ text }) => text).join(" and ")
    }
  },
  {
    id: "unauthenticated",
    level: "should",
    sentence: "refuses calls about invoices without valid credentials with 401",
    needs: [],
    run: async (context) => {
      for (const as of ["nobody", "invalid"] as const) {
        expectStatus(await billing(context, "GET", "/invoices", { as }), 401)
        expectStatus(await billing(context, "POST", "/invoices", { as, body: invoiceBody(context) }), 401)
        expectStatus(await billing(context, "GET", "/documents", { as }), 401)
      }
      return "401"
    }
  },
  {
    id: "customer-writes",
    source: "Area B: a carrier creates, replaces and deletes invoices",
    sentence: "lets no customer create, replace or delete an invoice",
    needs: ["carrier", "customer"],
    run: async (context) => {
      const { body } = await createInvoice(context)
      expectHidden(await billing(context, "POST", "/invoices", { as: "customer", body: invoiceBody(context) }))
      expectHidden(await billing(context, "PUT", invoicePath(body.uniqueID), { as: "customer", body }))
      expectHidden(await billing(context, "DELETE", invoicePath(body.uniqueID), { as: "customer" }))
      await got(context, body.uniqueID)
      return "refused"
    }
  },
  {
    id: "customer-reads",
    level: "should",
    source: "Area B: invoices are addressed to a shipper or third party",
    sentence: "shows the customer the invoices of its shipment",
    needs: ["carrier", "customer", "shipment"],
    run: async (context) => {
      const { body } = await createInvoice(context)
      expectJson(await billing(context, "GET", invoicePath(body.uniqueID), { as: "customer" }), Invoice, 200)
      return body.uniqueID
    }
  },
  {
    id: "foreign",
    source: "Area B: invoices are addressed to a shipper or third party",
    sentence: "shows another customer neither the invoice nor its entry in the list",
    needs: ["carrier", "other", "shipment"],
    run: async (context) => {
      const { body } = await createInvoice(context)
      expectHidden(await billing(context, "GET", invoicePath(body.uniqueID), { as: "other" }))
      const list = await billing(context, "GET", "/invoices", { as: "other", query: { uniqueID: body.uniqueID } })
      if (list.text.includes(body.uniqueID)) throw new Violation(`The list of another customer shows ${body.uniqueID}.`, list)
      return "hidden"
    }
  }
])

export const invoiceRules = [...createRules, ...listRules, ...replaceRules, ...deleteRules, ...accessRules]
