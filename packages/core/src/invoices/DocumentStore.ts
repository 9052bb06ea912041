/** Storage port: records of the documents for each invoice. `DocumentContents` stores the bytes. */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"
import type { InvoiceCarrier, InvoiceViewer } from "./InvoiceStore.ts"

/** A file of a record. `size` is in bytes. */
export interface DocumentFile {
  readonly fileId: string
  readonly documentType: string
  /** Id of the bytes in `DocumentContents`. */
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
  /** Accounts that the record or an invoice of this number names. Only they see it; without any, the accounts of its shipment do. */
  readonly accounts: ReadonlyArray<string>
  /** JSON that only core reads: the record without its files. */
  readonly doc: string
  /** In upload order. */
  readonly files: ReadonlyArray<DocumentFile>
}

/** Which records a list has. `undefined` selects all. */
export interface DocumentFilter {
  readonly invoiceNumber: string | undefined
  readonly dot: string | undefined
  readonly mc: string | undefined
  /** Selects records with a file of one of these types, and shows only those files; `undefined` selects all. */
  readonly documentTypes: ReadonlyArray<string> | undefined
}

/** Storage port: records of documents with the ids of their files. The bytes are in `DocumentContents`. */
export class DocumentStore extends Context.Service<DocumentStore, {
  /** Adds files to the record of this carrier and invoice number, and creates it if needed. Shipment, accounts and `doc` are replaced. */
  readonly add: (tenantId: string, record: DocumentRecord) => Effect.Effect<void, StorageError>
  /** Finds a record that the viewer may see. If several carriers have one with this number, the one written last. */
  readonly find: (tenantId: string, viewer: InvoiceViewer, invoiceNumber: string) => Effect.Effect<DocumentRecord | undefined, StorageError>
  /** Lists records in the order of invoice number, DOT and MC, after a position; at most `limit`. Records without files are left out. */
  readonly list: (
    tenantId: string,
    viewer: InvoiceViewer,
    filter: DocumentFilter,
    range: { readonly after: { readonly invoiceNumber: string; readonly carrier: InvoiceCarrier } | undefined; readonly limit: number }
  ) => Effect.Effect<ReadonlyArray<DocumentRecord>, StorageError>
  /**
   * Removes files of a record, or all of them if `fileIds` is `undefined`, and returns them. If one id is unknown, removes nothing and
   * returns an empty list.
   */
  readonly remove: (
    tenantId: string,
    carrier: InvoiceCarrier,
    invoiceNumber: string,
    fileIds: ReadonlyArray<string> | undefined
  ) => Effect.Effect<ReadonlyArray<DocumentFile>, StorageError>
  /** Remembers contents that are to be removed unless `moveContent` gives them to a file. */
  readonly discard: (tenantId: string, contentId: string) => Effect.Effect<void, StorageError>
  /**
   * A file of the record with the contents `from` has the contents `to` from now on, and `from` is remembered in their place. False, and nothing
   * changes, if there is no such file any more, or if `to` is not remembered or was claimed.
   */
  readonly moveContent: (
    tenantId: string,
    record: Pick<DocumentRecord, "carrier" | "invoiceNumber">,
    contents: { readonly from: string; readonly to: string }
  ) => Effect.Effect<boolean, StorageError>
  /**
   * Remembered contents, the oldest `limit`, that are older than this by the store's clock, or were claimed before. `moveContent` gives them to no file
   * afterwards.
   */
  readonly claimDiscarded: (tenantId: string, olderThanMillis: number, limit: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** The contents are removed. */
  readonly forgetDiscarded: (tenantId: string, contentIds: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
  /** How many files the record of this carrier and invoice number has. */
  readonly countFiles: (tenantId: string, carrier: InvoiceCarrier, invoiceNumber: string) => Effect.Effect<number, StorageError>
  /** How many contents are remembered. */
  readonly countDiscarded: (tenantId: string) => Effect.Effect<number, StorageError>
  /** Total size of the tenant's documents in bytes, as counted by `changeStoredBytes`. */
  readonly storedBytes: (tenantId: string) => Effect.Effect<number, StorageError>
  /**
   * Adds to the tenant's total (or subtracts) and returns it, without what concurrent calls add. Call it in the transaction that adds or removes the
   * files. No call waits for that transaction.
   */
  readonly changeStoredBytes: (tenantId: string, by: number) => Effect.Effect<number, StorageError>
}>()("@waybill/core/invoices/DocumentStore") {}
