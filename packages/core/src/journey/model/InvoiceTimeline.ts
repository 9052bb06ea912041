/** Timeline of invoices and their documents. */
import { isObject, membersOf } from "../../shared/Json.ts"
import type { TimelineEvent } from "./JourneyEntry.ts"

/** A history entry. `uniqueId`: an invoice's id, or a space and an invoice number. */
interface InvoiceEntry {
  readonly uniqueId: string
  readonly at: number
  readonly action: "created" | "replaced" | "deleted" | "documents added" | "documents deleted"
  readonly client: string
  readonly doc: string
}

export const timelineEventOfInvoice = (entry: InvoiceEntry): TimelineEvent => {
  const { action, at, client, doc, uniqueId } = entry
  const details = JSON.parse(doc) as Readonly<Record<string, unknown>>
  const ofDocuments = action === "documents added" || action === "documents deleted"
  const reference = ofDocuments ? uniqueId.slice(1) : uniqueId
  return {
    at,
    area: "invoices",
    kind: ofDocuments ? action : `invoice ${action}`,
    title: ofDocuments ? documentsTitle(action, reference, details["files"]) : `Invoice ${reference} ${action}${amountOf(details["invoice"])}`,
    reference,
    document: { client, action, ...details },
    size: doc.length
  }
}

const amountOf = (invoice: unknown): string => {
  const amount = membersOf(membersOf(invoice)["invoiceHeader"])["invoiceAmount"]
  return isObject(amount) ? `, ${String(amount["value"])} ${String(amount["currencyCode"])}` : ""
}

const documentsTitle = (action: string, invoiceNumber: string, files: unknown): string => {
  const types = Array.isArray(files) ? files.flatMap((file) => isObject(file) && typeof file["documentType"] === "string" ? [file["documentType"]] : []) : []
  const what = types.length === 0 ? "Documents" : [...new Set(types)].join(", ")
  return action === "documents added" ? `${what} added to invoice ${invoiceNumber}` : `${what} deleted from invoice ${invoiceNumber}`
}
