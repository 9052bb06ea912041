/** Invoices and documents as plain promises. */
import type { DocumentChange, DocumentType, Invoice, InvoiceAnswer, InvoiceChange, InvoiceComment, UploadAnswer } from "@waybill/core"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"

/** Which carrier's, where several used one id or number. */
export interface FromCarrier {
  readonly DOT?: string
  readonly MC?: string
}

export interface InvoiceListQuery extends FromCarrier {
  readonly uniqueID?: string
  readonly shipmentID?: string
  readonly invoiceNumber?: string
  readonly limit?: number
  readonly cursor?: string
}

export interface InvoicesPage {
  readonly data: ReadonlyArray<Invoice>
  /** For `cursor` of the next page; `undefined` on the last. */
  readonly nextCursor: string | undefined
}

export interface InvoiceWriteMethods {
  /** The same content again is fine. `warnings` tell what may be wrong although it was taken. */
  readonly create: (principal: HostPrincipal, invoice: Invoice) => Promise<InvoiceAnswer>
  /** As a whole. `comments` go into the history. */
  readonly replace: (
    principal: HostPrincipal,
    uniqueID: string,
    invoice: Invoice,
    comments?: InvoiceComment | ReadonlyArray<InvoiceComment>
  ) => Promise<InvoiceAnswer>
  readonly remove: (
    principal: HostPrincipal,
    uniqueID: string,
    options?: FromCarrier & { readonly comments?: InvoiceComment | ReadonlyArray<InvoiceComment> }
  ) => Promise<{ readonly message: string }>
}

export interface InvoiceReadMethods {
  /** What the principal may see, by uniqueID; filters must all hold. */
  readonly list: (principal: HostPrincipal, query?: InvoiceListQuery) => Promise<InvoicesPage>
  readonly get: (
    principal: HostPrincipal,
    uniqueID: string,
    from?: FromCarrier
  ) => Promise<{ readonly invoice: Invoice; readonly warnings: ReadonlyArray<string> }>
  /** Everything that was done to it, oldest first, for carriers. Once it is deleted, name DOT and MC. */
  readonly history: (principal: HostPrincipal, uniqueID: string, from?: FromCarrier) => Promise<ReadonlyArray<InvoiceChange>>
}

/** Everything an upload says beside its files; further members are kept. */
export interface DocumentsUpload {
  readonly uniqueID: string
  readonly shipmentID: string
  readonly DOT: string
  readonly MC: string
  readonly invoiceNumber: string
  /** A date, such as `2026-11-20`. */
  readonly invoiceDate: string
  readonly documentSource?: string
  readonly attributes?: Invoice["attributes"]
  readonly comments?: ReadonlyArray<InvoiceComment>
  /** PDF, TIF, JPEG or PNG, at most 25 MiB each: bytes, or base64. */
  readonly documents: ReadonlyArray<{ readonly documentType: DocumentType; readonly files: ReadonlyArray<Uint8Array | string> }>
}

export interface DocumentListQuery extends FromCarrier {
  readonly invoiceNumber?: string
  readonly documentType?: ReadonlyArray<DocumentType>
  readonly limit?: number
  readonly cursor?: string
}

export interface DocumentFileView {
  readonly id: string
  readonly size: number
  /** Hexadecimal. */
  readonly sha256: string
  readonly mediaType: string
  /** Its bytes, read from storage as they are asked for. Fails at its end when they are not what was uploaded. */
  readonly content: () => ReadableStream<Uint8Array>
}

/** The documents of one invoice number of one carrier. */
export interface DocumentsView {
  /** Every member but `documents`, as the latest upload said them. */
  readonly record: Readonly<Record<string, unknown>>
  readonly documents: ReadonlyArray<{ readonly documentType: string; readonly files: ReadonlyArray<DocumentFileView> }>
}

export interface DocumentsPage {
  readonly data: ReadonlyArray<DocumentsView>
  readonly nextCursor: string | undefined
}

export interface DocumentWriteMethods {
  /** Adds to what the invoice number has. All of it is taken, or nothing. */
  readonly upload: (principal: HostPrincipal, upload: DocumentsUpload) => Promise<UploadAnswer>
  /** All of them, or those named: all that are named, or nothing. */
  readonly remove: (
    principal: HostPrincipal,
    invoiceNumber: string,
    options?: FromCarrier & {
      readonly fileIds?: ReadonlyArray<string>
      readonly comments?: InvoiceComment | ReadonlyArray<InvoiceComment>
    }
  ) => Promise<{ readonly message: string }>
}

export interface DocumentReadMethods {
  /** What the principal may see, by invoice number; filters must all hold. */
  readonly list: (principal: HostPrincipal, query?: DocumentListQuery) => Promise<DocumentsPage>
  readonly get: (principal: HostPrincipal, invoiceNumber: string, from?: FromCarrier) => Promise<DocumentsView>
  /** Everything that was done to them, oldest first, for carriers. Once all are deleted, name DOT and MC. */
  readonly history: (principal: HostPrincipal, invoiceNumber: string, from?: FromCarrier) => Promise<ReadonlyArray<DocumentChange>>
}
