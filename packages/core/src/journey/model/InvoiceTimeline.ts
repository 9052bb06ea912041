/** What invoices and their documents orderTimeline of a shipment. */
import { isObject } from "../../shared/Json.ts"
import type { TimelineEvent } from "./JourneyEntry.ts"

/** An entry of a history, and whose it is: an invoice's id, or an invoice number after `#`. */
export interface InvoiceEntry {
  readonly uniqueId: string
  readonly at: number
  readonly action: "created" | "replaced" | "deleted" | "documents added" | "documents deleted"
  readonly client: string
  readonly doc: string
}

export const timelineEventOfInvoice = (entry: InvoiceEntry): TimelineEvent => {
  const { action, at, client, doc, uniqueId } = entry
  const said = JSON.parse(doc) as Readonly<Record<string, unknown>>
  const ofDocuments = action === "documents added" || action === "documents deleted"
  const reference = ofDocuments ? uniqueId.slice(1) : uniqueId
  return {
    at,
    area: "invoices",
    kind: ofDocuments ? action : `invoice ${action}`,
    title: ofDocuments ? documentsTitle(action, reference, said["files"]) : `Invoice ${reference} ${action}${amountOf(said["invoice"])}`,
    reference,
    document: { client, action, ...said },
    size: doc.length
  }
}

const amountOf = (invoice: unknown): string => {
  const header = isObject(invoice) ? invoice["invoiceHeader"] : undefined
  const amount = isObject(header) ? header["invoiceAmount"] : undefined
  return isObject(amount) ? `, ${String(amount["value"])} ${String(amount["currencyCode"])}` : ""
}

const documentsTitle = (action: string, invoiceNumber: string, files: unknown): string => {
  const types = Array.isArray(files) ? files.flatMap((file) => isObject(file) && typeof file["documentType"] === "string" ? [file["documentType"]] : []) : []
  const what = types.length === 0 ? "Documents" : [...new Set(types)].join(", ")
  return action === "documents added" ? `${what} added to invoice ${invoiceNumber}` : `${what} deleted from invoice ${invoiceNumber}`
}
