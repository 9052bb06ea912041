/** Area B over HTTP: invoices and their supporting documents. */
import {
  DocumentQuery,
  DocumentRequest,
  DocumentResponse,
  Invoice,
  isCommentParameter,
  maxInvoiceBytes,
  maxInvoicesPerPage,
  maxRecordsPerPage
} from "@waybill/core/invoices"
import { Schema } from "effect"
import { contract } from "../shared/Contract.ts"
import { invoiceProblem } from "./InvoiceProblem.ts"

/** The body of every write, deletes included, which therefore cannot respond 204. SPEC-GAP-B32 */
const Message = Schema.Struct({ message: Schema.String }).annotate({ identifier: "SuccessMessage" })

const notAllowed = "The caller is not a carrier, or the number is another carrier's."
const quotaUsedUp = "A quota is used up; X-Waybill-Detail names it."

const warningHeader = {
  "X-Waybill-Warning": { description: "Possible errors in the accepted invoice, such as lines that do not add up, or several currencies.", schema: Schema.String }
}

/** The interfaces define no pagination; without it, lists would be unbounded. SPEC-GAP-B31 */
const pageHeaders = {
  "X-Next-Cursor": { description: "Value of `cursor` for the next page. Absent on the last page.", schema: Schema.String },
  "Link": { description: "RFC 8288: next. Absent on the last page.", schema: Schema.String }
}

const text = (description: string) => ({ kind: "text", schema: Schema.String, description }) as const

const carrier = {
  DOT: text("DOT number of the carrier. `USDOT 0123456` and `123456` are equal."),
  MC: text("MC number of the carrier.")
} as const

/** Selects a carrier when several use one id or number. SPEC-GAP-B11 */
const ofCarrier = { DOT: text("DOT number of the carrier, if several use one id."), MC: text("MC number of the carrier, if several use one id.") } as const

const page = (max: number) =>
  ({
    limit: { kind: "integer", schema: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: max })), description: "Maximum number of results.", default: max },
    cursor: text("X-Next-Cursor of the previous page.")
  }) as const

/** OpenAPI has no encoding of objects that every client generator can write, so the one to send is text. SPEC-GAP-B10 */
const comments = {
  comments: {
    kind: "pairs",
    schema: Schema.Array(Schema.String),
    description: "The reason, stored in the history. Each is plain text, or the JSON of a comment with id and commentText. Other common encodings of objects are accepted too.",
    isPart: isCommentParameter
  }
} as const

/** Twice the limit, to allow for JSON whitespace. */
const maxInvoiceBodyBytes = 2 * maxInvoiceBytes


export const InvoicesContract = contract({
  area: "invoices",
  title: "Invoices and documents",
  description: "Carriers write invoices and supporting documents; clients read those addressed to their accounts.",
  shape: invoiceProblem,
  access: "caller",
  params: {
    uniqueID: { description: "The carrier's own id of the invoice.", missing: "No such invoice, or not visible to the caller." },
    invoiceNumber: { description: "The invoice number in the upload.", missing: "No such documents, or not visible to the caller." }
  },
  endpoints: {
    createInvoice: {
      route: "POST /invoices",
      summary: "Create an invoice",
      description: "Idempotent: the same content gets the same response. Other content with a known uniqueID is refused.",
      body: { schema: Invoice, maxBytes: maxInvoiceBodyBytes },
      answers: { 200: { description: "Created", schema: Message, headers: warningHeader } },
      refusals: { 403: notAllowed }
    },
    listInvoices: {
      route: "GET /invoices",
      largeAnswer: true,
      summary: "List invoices",
      description: "Invoices that the caller has access to, by uniqueID; all filters must match.",
      query: {
        uniqueID: text("The carrier's own id of the invoice."),
        shipmentID: text("The shipment of the invoice."),
        ...carrier,
        invoiceNumber: text("The carrier's invoice number."),
        ...page(maxInvoicesPerPage)
      },
      answers: { 200: { description: "The invoices; may be an empty list", schema: Schema.Array(Invoice), headers: pageHeaders } }
    },
    getInvoice: {
      route: "GET /invoices/{uniqueID}",
      summary: "Get an invoice",
      description: "As it was last written.",
      query: ofCarrier,
      answers: { 200: { description: "The invoice", schema: Invoice, headers: warningHeader } }
    },
    updateInvoice: {
      route: "PUT /invoices/{uniqueID}",
      summary: "Replace an invoice",
      description: "Replaces the whole invoice. The ids in path and body must be equal.",
      query: comments,
      body: { schema: Invoice, maxBytes: maxInvoiceBodyBytes },
      answers: { 200: { description: "Replaced", schema: Message, headers: warningHeader } },
      refusals: { 403: notAllowed }
    },
    deleteInvoice: {
      route: "DELETE /invoices/{uniqueID}",
      summary: "Delete an invoice",
      description: "Lists and lookups no longer show it. Its history is kept.",
      query: { ...ofCarrier, ...comments },
      answers: { 200: { description: "Deleted", schema: Message } },
      refusals: { 403: notAllowed }
    },
    uploadDocument: {
      route: "POST /documents",
      summary: "Upload supporting documents",
      description: "Each string in files is one PDF, TIF, JPEG or PNG in base64, of at most 25 MiB decoded. Files are added to existing documents of " +
        "the invoice number. Either all files are stored, or none.",
      body: { schema: DocumentRequest, streamed: true },
      answers: {
        201: {
          description: "Uploaded",
          schema: Message,
          // In a header, because the body has no member for them. SPEC-GAP-B33
          headers: { "X-Waybill-File-Ids": { description: "Ids of the new files, in order, separated by commas.", schema: Schema.String } }
        }
      },
      refusals: { 403: notAllowed, 409: quotaUsedUp, 413: "A file or the other part of the body is too large." }
    },
    listDocuments: {
      route: "GET /documents",
      largeAnswer: true,
      summary: "List supporting documents",
      description: "Documents that the caller has access to, by invoice number, with contents; all filters must match.",
      query: {
        invoiceNumber: text("The invoice number in the upload."),
        ...carrier,
        documentType: { kind: "list", schema: DocumentQuery.fields.documentType.schema, description: "Only files of these types." },
        ...page(maxRecordsPerPage)
      },
      answers: { 200: { description: "The documents; may be an empty list", schema: Schema.Array(DocumentResponse), headers: pageHeaders } }
    },
    getDocument: {
      route: "GET /documents/{invoiceNumber}",
      largeAnswer: true,
      summary: "Get supporting documents",
      description: "All files of the invoice number, with their contents.",
      query: ofCarrier,
      answers: { 200: { description: "The documents; content is base64", schema: DocumentResponse } }
    },
    deleteDocument: {
      route: "DELETE /documents/{invoiceNumber}",
      summary: "Delete supporting documents",
      description: "Deletes all files of the invoice number, or all named files, or none. A body is refused: fileIds is a query parameter.",
      // without ids all files are deleted, so a misspelt name must be refused, as every unknown one is. SPEC-GAP-B34
      query: {
        fileIds: { kind: "list", schema: Schema.Array(Schema.String), description: "Files to delete. Default: all." },
        ...ofCarrier,
        ...comments
      },
      answers: { 200: { description: "Deleted", schema: Message } },
      refusals: { 403: notAllowed }
    }
  }
})
