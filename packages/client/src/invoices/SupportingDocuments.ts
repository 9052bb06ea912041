/** What supports an invoice: papers and pictures of one invoice number (area B, supporting documents record). */
import type { OpenList } from "../shared/OpenList.ts"
import type { InvoiceAttribute, InvoiceComment } from "./Invoice.ts"

/** The published document types, in published order. */
export const documentTypes = [
  "BOL", "CAT", "COMM", "CON", "RULE", "DIM", "DTR", "DIS", "FRB", "FUEL", "INV", "INSP", "LOA", "LPR", "MSDS", "PAC", "IMG", "POD", "QUO",
  "RESI", "SPEC", "SCL", "STB", "W&I", "OTHER"
] as const

export type SupportingDocumentType = typeof documentTypes[number]

interface Described {
  readonly uniqueID: string
  readonly shipmentID: string
  /** One of `DOT` and `MC` may be empty. */
  readonly DOT: string
  readonly MC: string
  readonly invoiceNumber: string
  /** Such as `2026-11-20`. */
  readonly invoiceDate: string
  readonly documentSource?: string
  readonly attributes?: ReadonlyArray<InvoiceAttribute>
  readonly comments?: ReadonlyArray<InvoiceComment>
}

/** Bytes, a `Blob` or `File` that is read while it is sent, or text that is base64 already. */
export type FileSource = Uint8Array | Blob | string

/** PDF, TIF, JPEG or PNG, of 25 MiB at most each. */
export interface DocumentUpload extends Described {
  readonly documents: ReadonlyArray<{ readonly documentType: SupportingDocumentType; readonly files: ReadonlyArray<FileSource> }>
}

export interface StoredFile {
  readonly id: string
}

export interface StoredFileWithContent extends StoredFile {
  readonly content: Uint8Array<ArrayBuffer>
}

/** The documents of one invoice number of one carrier. */
export interface DocumentsRecord<File = StoredFile> extends Described {
  readonly documents: ReadonlyArray<{ readonly documentType: OpenList<SupportingDocumentType>; readonly files: ReadonlyArray<File> }>
}

/** The same with the content of every file. */
export type SupportingDocuments = DocumentsRecord<StoredFileWithContent>

/** A file that is arriving. */
export interface ArrivingFile extends StoredFile {
  readonly documentType: OpenList<SupportingDocumentType>
  readonly invoiceNumber: string
  readonly DOT: string
  readonly MC: string
}

/** What is done with a file as it arrives. Its content is read before the promise is fulfilled, or it is passed over. */
export type FileTaker = (file: ArrivingFile, content: ReadableStream<Uint8Array<ArrayBuffer>>) => void | Promise<void>
