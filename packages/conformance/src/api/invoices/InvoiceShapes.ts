/** Shapes, bodies and calls of area B. */
import { isObject } from "@waybill/core"
import { Schema } from "effect"
import { randomUUID } from "node:crypto"
import type { CallOptions, Exchange } from "../ApiCaller.ts"
import { expectStatus, optional } from "../Expectations.ts"
import { making, type RuleContext } from "../Rule.ts"

const text = Schema.String
const object = Schema.Record(Schema.String, Schema.Unknown)

export const Invoice = Schema.Struct({
  uniqueID: text,
  shipmentID: text,
  DOT: text,
  MC: text,
  invoiceHeader: Schema.Struct({ invoiceNumber: text, invoiceDate: text, invoiceAmount: Schema.Struct({ currencyCode: text, value: text }), consignor: object, consignee: object, billingParty: object, terms: object }),
  invoiceCharges: Schema.Array(object),
  attributes: optional(Schema.Array(object)),
  comments: optional(Schema.Array(object))
})
export const InvoiceList = Schema.Array(Invoice)

export const DocumentRecord = Schema.Struct({
  uniqueID: text,
  shipmentID: text,
  DOT: text,
  MC: text,
  invoiceNumber: text,
  invoiceDate: text,
  documentSource: optional(text),
  attributes: optional(Schema.Array(object)),
  comments: optional(Schema.Array(object)),
  documents: Schema.Array(Schema.Struct({ documentType: text, files: Schema.Array(Schema.Struct({ id: text, content: text })) }))
})
export const DocumentList = Schema.Array(DocumentRecord)

const numbersOf = ({ fixtures }: RuleContext) => ({ DOT: fixtures.clients?.carrier?.DOT ?? "1234567", MC: fixtures.clients?.carrier?.MC ?? "765432" })

const unique = (): string => randomUUID().slice(0, 12)
const chicago = { streetAddress: "12 Dock Road", adminArea1: "IL", locality: "Chicago", postalCode: "60608", countryCode: "USA" }
const dallas = { streetAddress: "7 Main Street", adminArea1: "TX", locality: "Dallas", postalCode: "75201", countryCode: "USA" }

export type InvoiceBody = ReturnType<typeof invoiceBody>

/** A valid invoice with a new id, of the customer's shipment if there is one. */
export const invoiceBody = (context: RuleContext, uniqueID = `CHECK-${unique()}`) => ({
  uniqueID,
  shipmentID: context.fixtures.shipment?.shipmentId ?? `CHECK-${unique()}`,
  ...numbersOf(context),
  invoiceHeader: {
    consignor: { consignorName: "Closets Inc.", address: chicago },
    consignee: { consigneeID: "C-9", consigneeName: "Mirrors Ltd.", address: dallas },
    billingParty: { billingPartyName: "Debtor Corp.", address: chicago },
    terms: { billingTerms: "Prepaid", paymentTerms: "Net 30", paymentDueDate: "2026-12-20" },
    invoiceNumber: `N-${uniqueID}`,
    invoiceDate: "2026-11-20",
    invoiceAmount: { currencyCode: "USD", value: "263.78" }
  },
  invoiceCharges: [
    { chargeType: "BASE_CHARGE", chargeCode: "LINEHAUL", chargeUnitCode: "FLAT", accountCode: "4000-10", chargeDescription: "Linehaul", cost: { currencyCode: "USD", value: "200.90" }, comments: [{ id: 1, commentText: "Tariff 7" }] },
    { chargeType: "BASE_CHARGE", chargeCode: "FUEL", chargeUnitCode: "FLAT", cost: { currencyCode: "USD", value: "62.88" } }
  ],
  attributes: [{ id: 7, type: "requestNumber", value: "R-7" }],
  comments: [{ id: 1, commentText: "Sent by waybill check" }]
})

/** A valid invoice with every member of the interface. */
export const fullInvoice = (context: RuleContext) => {
  const { invoiceHeader, ...body } = invoiceBody(context)
  const address = { ...chicago, adminArea2: "Cook", neighborhood: "Pilsen", postalExt: "1234", locationCode: "CHI-1" }
  return {
    ...body,
    invoiceHeader: {
      ...invoiceHeader,
      consignor: { consignorName: "Closets Inc.", address },
      consignee: { consigneeID: "C-9", consigneeName: "Mirrors Ltd.", address },
      billingParty: { billingPartyName: "Debtor Corp.", address },
      terms: { ...invoiceHeader.terms, cancellationPolicy: "None", disputeResolution: "Arbitration" }
    },
    invoiceCharges: [{
      ...body.invoiceCharges[0]!,
      specialInstructions: "Call ahead",
      hazmat: "UN1993",
      stopNumber: "2",
      quantity: { unitOfMeasure: "Pounds", value: 1250.5 },
      chargeAuthorizerDetails: {
        authorizerTitle: "Manager",
        authorizerName: "Dana Q. Reed",
        authorizerFirstName: "Dana",
        authorizerMiddleInitial: "Q",
        authorizerLastName: "Reed",
        authorizerNumber: "A-7",
        phoneNumber: "6175550100",
        email: "dana@closets.example"
      },
      chargeDiscount: { discountTypeCode: "DISCOUNT_APPLIED", discountValue: 12.5 }
    }]
  }
}

export type DocumentsBody = ReturnType<typeof documentsBody>

/** The content of a file, which begins as a PDF does. */
export const fileContent = (text: string): string => Buffer.from(`%PDF-1.7\n${text}\n%%EOF\n`).toString("base64")

/** A valid upload of a bill of lading and a proof of delivery, under a new invoice number. */
export const documentsBody = (context: RuleContext, invoiceNumber = `CHECK-${unique()}`) => ({
  uniqueID: `D-${invoiceNumber}`,
  shipmentID: context.fixtures.shipment?.shipmentId ?? `CHECK-${unique()}`,
  ...numbersOf(context),
  invoiceNumber,
  invoiceDate: "2026-11-20",
  documentSource: "waybill check",
  attributes: [{ id: 7, type: "requestNumber", value: "R-7" }],
  comments: [{ id: 1, commentText: "Sent by waybill check" }],
  documents: [{ documentType: "BOL", files: [fileContent("bill of lading")] }, { documentType: "POD", files: [fileContent("proof of delivery")] }]
})

/** Calls as the carrier by default. */
export const billing = (context: RuleContext, method: string, path: string, options: CallOptions = {}): Promise<Exchange> =>
  context.call("b", method, path, { as: "carrier", ...options })

export const invoicePath = (uniqueID: string): string => `/invoices/${encodeURIComponent(uniqueID)}`
export const documentsPath = (invoiceNumber: string): string => `/documents/${encodeURIComponent(invoiceNumber)}`

/** Creates an invoice, which is removed at the end. */
export const createInvoice = async (context: RuleContext, body: InvoiceBody = invoiceBody(context)): Promise<{ readonly body: InvoiceBody; readonly exchange: Exchange }> => {
  const exchange = expectStatus(await billing(context, "POST", "/invoices", { body }), 200, 201)
  context.afterwards(() => billing(context, "DELETE", invoicePath(body.uniqueID), { query: { DOT: body.DOT, MC: body.MC } }))
  return { body, exchange }
}

export const onInvoice = making(createInvoice)

/** Uploads documents, which are removed at the end. */
export const uploadDocuments = async (context: RuleContext, body: DocumentsBody = documentsBody(context)): Promise<{ readonly body: DocumentsBody; readonly exchange: Exchange }> => {
  const exchange = expectStatus(await billing(context, "POST", "/documents", { body }), 200, 201)
  context.afterwards(() => billing(context, "DELETE", documentsPath(body.invoiceNumber)))
  return { body, exchange }
}

export const onDocuments = making(uploadDocuments)

/** Only the members that were sent, in their order: an implementation may add others. */
export const asSent = (now: unknown, sent: unknown): unknown => {
  if (Array.isArray(now) && Array.isArray(sent)) return now.map((each, at) => asSent(each, sent[at]))
  if (!isObject(now) || !isObject(sent)) return now
  return Object.fromEntries(Object.entries(sent).map(([name, each]) => [name, asSent(now[name], each)]))
}
