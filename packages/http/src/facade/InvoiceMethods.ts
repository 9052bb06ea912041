/** Invoices and documents as promises. */
import type * as invoices from "@waybill/core/invoices"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"

export type {
  DocumentChange,
  DocumentType,
  Invoice,
  InvoiceAnswer,
  InvoiceChange,
  InvoiceComment,
  UploadAnswer
} from "@waybill/core/invoices"

/** Selects a carrier, when several used the same id or number. */
export interface FromCarrier {
  readonly DOT?: string
  readonly MC?: string
}

export type InvoiceListQuery = typeof invoices.InvoiceQuery.Encoded

export interface InvoicesPage {
  readonly data: ReadonlyArray<invoices.Invoice>
  /** Pass it as `cursor` to get the next page; `undefined` on the last page. */
  readonly nextCursor: string | undefined
}

export type InvoiceComments = invoices.InvoiceComment | ReadonlyArray<invoices.InvoiceComment>

export interface InvoiceRemoveOptions extends FromCarrier {
  /** Kept in the history. */
  readonly comments?: InvoiceComments
}

export interface RemovalAnswer {
  readonly message: string
}

export interface InvoiceView {
  readonly invoice: invoices.Invoice
  /** Possible errors of the invoice. */
  readonly warnings: ReadonlyArray<string>
}

export interface InvoiceWriteMethods {
  /** Idempotent for the same content. `warnings` lists possible errors of the accepted invoice. */
  readonly create: (principal: HostPrincipal, invoice: invoices.Invoice) => Promise<invoices.InvoiceAnswer>
  /** Replaces the whole invoice. `comments` are kept in the history. */
  readonly replace: (
    principal: HostPrincipal,
    uniqueID: string,
    invoice: invoices.Invoice,
    comments?: InvoiceComments
  ) => Promise<invoices.InvoiceAnswer>
  /** Rejects with `invoice_not_found`, also if several carriers have the id and `options` names none. The history stays. */
  readonly remove: (
    principal: HostPrincipal,
    uniqueID: string,
    options?: InvoiceRemoveOptions
  ) => Promise<RemovalAnswer>
}

export interface InvoiceReadMethods {
  /** Invoices that the principal has access to, by uniqueID; all filters must match. */
  readonly list: (principal: HostPrincipal, query?: InvoiceListQuery) => Promise<InvoicesPage>
  /** The latest invoice with this id that the principal has access to. Rejects with `invoice_not_found`. */
  readonly get: (
    principal: HostPrincipal,
    uniqueID: string,
    from?: FromCarrier
  ) => Promise<InvoiceView>
  /** The invoice's history, oldest first; for carriers; of more than 8 MB the newest part. For a deleted invoice, give DOT and MC. */
  readonly history: (principal: HostPrincipal, uniqueID: string, from?: FromCarrier) => Promise<ReadonlyArray<invoices.InvoiceChange>>
}

/** `invoiceDate` is a date, such as `2026-11-20`. Further members are kept. */
export interface DocumentsUpload extends invoices.DocumentsUpload {}

export type DocumentListQuery = typeof invoices.DocumentQuery.Encoded

export interface DocumentFileView {
  readonly id: string
  /** Bytes. */
  readonly size: number
  /** Hexadecimal. */
  readonly sha256: string
  readonly mediaType: string
  /** The bytes, read from storage on demand. Fails at the end when they differ from the upload. */
  readonly content: () => ReadableStream<Uint8Array>
}

/** The documents of one invoice number of one carrier. */
export interface DocumentsView {
  /** Every member except `documents`, from the latest upload. */
  readonly record: Readonly<Record<string, unknown>>
  readonly documents: ReadonlyArray<{ readonly documentType: string; readonly files: ReadonlyArray<DocumentFileView> }>
}

export interface DocumentsPage {
  readonly data: ReadonlyArray<DocumentsView>
  readonly nextCursor: string | undefined
}

export interface DocumentRemoveOptions extends InvoiceRemoveOptions {
  /** Default: all files. */
  readonly fileIds?: ReadonlyArray<string>
}

export interface DocumentWriteMethods {
  /** Adds files to the invoice number: all of them, or none. */
  readonly upload: (principal: HostPrincipal, upload: DocumentsUpload) => Promise<invoices.UploadAnswer>
  /** Removes all files, or all named files, or none. */
  readonly remove: (
    principal: HostPrincipal,
    invoiceNumber: string,
    options?: DocumentRemoveOptions
  ) => Promise<RemovalAnswer>
}

export interface DocumentReadMethods {
  /** Documents that the principal has access to, by invoice number; all filters must match. */
  readonly list: (principal: HostPrincipal, query?: DocumentListQuery) => Promise<DocumentsPage>
  /** Rejects with `document_not_found`. */
  readonly get: (principal: HostPrincipal, invoiceNumber: string, from?: FromCarrier) => Promise<DocumentsView>
  /** The history of the documents, oldest first; for carriers; of more than 8 MB the newest part. Once all are deleted, give DOT and MC. */
  readonly history: (principal: HostPrincipal, invoiceNumber: string, from?: FromCarrier) => Promise<ReadonlyArray<invoices.DocumentChange>>
}
