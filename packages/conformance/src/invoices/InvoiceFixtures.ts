/** Helpers for the suites of area B. */
import { type DocumentFile, type DocumentRecord, type InvoiceCarrier, type InvoiceRow, InvoiceStore, type InvoiceViewer } from "@waybill/core/invoices"
import { Effect } from "effect"
import { bytesOf, idOf, inTransaction } from "../StorageFixtures.ts"

export const acme: InvoiceCarrier = { dot: "1", mc: "2" }

export const everything: InvoiceViewer = { _tag: "All" }

export const accountsOf = (...accounts: ReadonlyArray<string>): InvoiceViewer => ({ _tag: "Accounts", accounts })

export const carrierOf = (dot: string | undefined, mc: string | undefined): InvoiceViewer => ({ _tag: "Carrier", dot, mc })

export const invoiceRow = (uniqueId: string, parts: Partial<InvoiceRow> = {}): InvoiceRow => ({
  carrier: acme,
  uniqueId,
  shipmentId: "S",
  invoiceNumber: `no ${uniqueId}`,
  accounts: [],
  body: bytesOf(`{"uniqueID":${JSON.stringify(uniqueId)}}`),
  ...parts
})

/** Writes as the use case does: lock, decide, put. */
export const putInvoices = Effect.fnUntraced(function*(tenantId: string, ...rows: ReadonlyArray<InvoiceRow>) {
  const store = yield* InvoiceStore
  for (const row of rows) yield* inTransaction(Effect.andThen(store.lock(tenantId, row.carrier, row.uniqueId), store.put(tenantId, row)))
})

export const documentFile = (n: number, parts: Partial<DocumentFile> = {}): DocumentFile => ({
  fileId: `file ${n}`,
  documentType: "POD",
  contentId: idOf(n),
  size: n,
  sha256: String(n).padStart(64, "0"),
  mediaType: "application/pdf",
  ...parts
})

export const documentRecord = (invoiceNumber: string, parts: Partial<DocumentRecord> = {}): DocumentRecord => ({
  carrier: acme,
  invoiceNumber,
  shipmentId: "S",
  accounts: [],
  doc: "{}",
  files: [documentFile(1)],
  ...parts
})

/** A file of this length; `seed` varies the content. */
export const fileContent = (size: number, seed = 0): Uint8Array => Uint8Array.from({ length: size }, (_, at) => at * 31 + seed)
