/** Supporting documents of an invoice number (area B, supporting documents record). */
import type { Bytes } from "../shared/Bytes.ts"
import type { OpenList } from "../shared/OpenList.ts"
import type { InvoiceAttribute, InvoiceComment } from "./Invoice.ts"

/** The published document types, in published order. */
export const documentTypes = [
  "BOL", "CAT", "COMM", "CON", "RULE", "DIM", "DTR", "DIS", "FRB", "FUEL", "INV", "INSP", "LOA", "LPR", "MSDS", "PAC", "IMG", "POD", "QUO",
  "RESI", "SPEC", "SCL", "STB", "W&I", "OTHER"
] as const

/** A document type of the published list, such as `POD`. */
export type SupportingDocumentType = typeof documentTypes[number]

interface Described {
  readonly uniqueID: string
  readonly shipmentID: string
  /** `DOT` or `MC` may be empty, not both. */
  readonly DOT: string
  readonly MC: string
  readonly invoiceNumber: string
  /** Such as `2026-11-20`. */
  readonly invoiceDate: string
  readonly documentSource?: string
  readonly attributes?: ReadonlyArray<InvoiceAttribute>
  readonly comments?: ReadonlyArray<InvoiceComment>
}

/** Bytes, a `Blob` or `File` that is read while it is sent, or text that is already base64. */
export type FileSource = Uint8Array | Blob | string

/** PDF, TIF, JPEG or PNG files of at most 25 MiB each. */
export interface DocumentUpload extends Described {
  readonly documents: ReadonlyArray<{ readonly documentType: SupportingDocumentType; readonly files: ReadonlyArray<FileSource> }>
}

/** A file of a document. `remove` takes its id. */
export interface StoredFile {
  readonly id: string
}

/** A file of a document with its decoded bytes. */
export interface StoredFileWithContent extends StoredFile {
  readonly content: Bytes
}

/** The documents of one invoice number of one carrier. */
export interface DocumentsRecord<File = StoredFile> extends Described {
  readonly documents: ReadonlyArray<{ readonly documentType: OpenList<SupportingDocumentType>; readonly files: ReadonlyArray<File> }>
}

/** The documents of one invoice number with the content of every file. */
export type SupportingDocuments = DocumentsRecord<StoredFileWithContent>

/** A file whose content is arriving. */
export interface ArrivingFile extends StoredFile {
  readonly documentType: OpenList<SupportingDocumentType>
  readonly invoiceNumber: string
  readonly DOT: string
  readonly MC: string
}

/** Processes a file as it arrives. Content that is unread when the promise resolves is skipped. */
export type FileTaker = (file: ArrivingFile, content: ReadableStream<Bytes>) => void | Promise<void>
