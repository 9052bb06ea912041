/** Who sees documents: whom their own record addresses, and whom an invoice of the same number does. SPEC-GAP-B13 */
import { Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { DocumentStore } from "./DocumentStore.ts"
import type { InvoiceCarrier, InvoiceStore } from "./InvoiceStore.ts"
import { addressees } from "./model/Addressees.ts"

/** Under which name a document record is locked, and keeps its history. */
export const recordId = (invoiceNumber: string): string => `#${invoiceNumber}`

/** More invoices of one number than any carrier writes. */
const maxInvoices = 1000

/** The accounts of a record with this `doc`. Call inside a transaction that holds the record's lock. */
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
  return [...new Set([...addressees(JSON.parse(doc).attributes), ...invoices.flatMap((each) => each.accounts)])].sort()
})

/** After an invoice changed: documents of these numbers follow it. Call inside the transaction that changed it. */
export const followInvoice = Effect.fnUntraced(function*(
  stores: { readonly invoices: InvoiceStore["Service"]; readonly documents: DocumentStore["Service"] },
  tenantId: string,
  carrier: InvoiceCarrier,
  invoiceNumbers: ReadonlyArray<string>
): Effect.fn.Return<void, StorageError> {
  // in one order, so that everybody locks alike
  for (const invoiceNumber of [...new Set(invoiceNumbers)].sort()) {
    yield* stores.invoices.lock(tenantId, carrier, recordId(invoiceNumber))
    const filter = { invoiceNumber, documentTypes: undefined, ...carrier }
    const [record] = yield* stores.documents.list(tenantId, { _tag: "All" }, filter, { after: undefined, limit: 1 })
    if (record === undefined) continue
    const accounts = yield* documentAccounts(stores.invoices, tenantId, carrier, invoiceNumber, record.doc)
    if (accounts.join("\n") !== record.accounts.toSorted().join("\n")) {
      yield* stores.documents.add(tenantId, { ...record, accounts, files: [] })
    }
  }
})
