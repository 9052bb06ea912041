/** Storage port: which documents support which invoice. Their contents are elsewhere: see `DocumentContents`. */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { InvoiceCarrier, InvoiceViewer } from "./InvoiceStore.ts"

export interface DocumentFile {
  readonly fileId: string
  readonly documentType: string
  /** Where its content is. */
  readonly contentId: string
  readonly size: number
  /** SHA-256 of the content, hexadecimal. */
  readonly sha256: string
  readonly mediaType: string
}

/** The documents of one invoice number of one carrier. */
export interface DocumentRecord {
  readonly carrier: InvoiceCarrier
  readonly invoiceNumber: string
  readonly shipmentId: string
  readonly accounts: ReadonlyArray<string>
  /** JSON that only core reads: everything but the files. */
  readonly doc: string
  /** In the order they were uploaded. */
  readonly files: ReadonlyArray<DocumentFile>
}

export interface DocumentFilter {
  readonly invoiceNumber: string | undefined
  readonly dot: string | undefined
  readonly mc: string | undefined
  /** Records with a file of one of these types, showing these only; `undefined` shows all. */
  readonly documentTypes: ReadonlyArray<string> | undefined
}

export class DocumentStore extends Context.Service<DocumentStore, {
  /** Adds files to the record of this carrier and invoice number, making it where there is none; shipment, accounts and `doc` are the latest upload's. */
  readonly add: (tenantId: string, record: DocumentRecord) => Effect.Effect<void, StorageError>
  /** Of several carriers' records of this number that the viewer may see, the one written last. */
  readonly find: (tenantId: string, viewer: InvoiceViewer, invoiceNumber: string) => Effect.Effect<DocumentRecord | undefined, StorageError>
  /** By invoice number, DOT and MC, after a position; `limit` at most. Records without files are not there. */
  readonly list: (
    tenantId: string,
    viewer: InvoiceViewer,
    filter: DocumentFilter,
    range: { readonly after: { readonly invoiceNumber: string; readonly carrier: InvoiceCarrier } | undefined; readonly limit: number }
  ) => Effect.Effect<ReadonlyArray<DocumentRecord>, StorageError>
  /**
   * Removes files of a record (all of them when `fileIds` is `undefined`) and answers those removed. When one of the ids is
   * no file of it, removes nothing and answers an empty list.
   */
  readonly remove: (
    tenantId: string,
    carrier: InvoiceCarrier,
    invoiceNumber: string,
    fileIds: ReadonlyArray<string> | undefined
  ) => Effect.Effect<ReadonlyArray<DocumentFile>, StorageError>
  /** How many bytes all documents of the tenant have, by what `changeStoredBytes` was told. */
  readonly storedBytes: (tenantId: string) => Effect.Effect<number, StorageError>
  /**
   * Adds to the sum of the tenant's bytes, or takes away, and answers the sum. Call it last in the transaction that adds or removes the
   * files: other calls of the tenant wait until it ends.
   */
  readonly changeStoredBytes: (tenantId: string, by: number) => Effect.Effect<number, StorageError>
}>()("@waybill/core/invoices/DocumentStore") {}
