/**
 * Access to documents: the addressees of their record and of invoices with the same number; without any, the accounts of their shipment.
 * SPEC-GAP-B13
 */
import { Effect } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"
import type { DocumentStore } from "./DocumentStore.ts"
import type { InvoiceCarrier, InvoiceStore } from "./InvoiceStore.ts"
import { addressees } from "./model/Addressees.ts"

/** The stores of invoices and of their documents. */
export interface InvoiceStores {
  readonly invoices: InvoiceStore["Service"]
  readonly documents: DocumentStore["Service"]
}

/** Key of a document record's lock and history: never that of an invoice, whose id begins with no space. */
export const recordId = (invoiceNumber: string): string => ` ${invoiceNumber}`

/** Limit of one read. No carrier writes this many invoices with one number. */
const maxInvoices = 1000

/** The accounts that a record with this `doc` and the invoices of its number name. Call it in a transaction that has locked the record. */
export const documentAccounts = Effect.fnUntraced(function*(
  store: InvoiceStore["Service"],
  tenantId: string,
  carrier: InvoiceCarrier,
  invoiceNumber: string,
  doc: string
): Effect.fn.Return<ReadonlyArray<string>, StorageError> {
  const invoices = yield* store.list(
    tenantId,
    { _tag: "All" },
    { uniqueId: undefined, shipmentId: undefined, ...carrier, invoiceNumber },
    { after: undefined, limit: maxInvoices }
  )
  return [...new Set([...addressees(JSON.parse(doc)), ...invoices.flatMap((each) => each.accounts)])].sort()
})

/** Updates the access to documents after an invoice with their number changed. Call it in the transaction that changed the invoice. */
export const updateDocumentAccess = Effect.fnUntraced(function*(
  { documents, invoices }: InvoiceStores,
  tenantId: string,
  carrier: InvoiceCarrier,
  invoiceNumbers: ReadonlyArray<string>
): Effect.fn.Return<void, StorageError> {
  // sorted, so that all calls lock in the same order
  for (const invoiceNumber of [...new Set(invoiceNumbers)].sort()) {
    yield* invoices.lock(tenantId, carrier, recordId(invoiceNumber))
    const filter = { invoiceNumber, documentTypes: undefined, ...carrier }
    const [record] = yield* documents.list(tenantId, { _tag: "All" }, filter, { after: undefined, limit: 1 })
    if (record === undefined) continue
    const accounts = yield* documentAccounts(invoices, tenantId, carrier, invoiceNumber, record.doc)
    if (accounts.join("\n") !== record.accounts.join("\n")) {
      yield* documents.add(tenantId, { ...record, accounts, files: [] })
    }
  }
})
