/** How invoices and their documents can fail. */
import { Schema } from "effect"

/** No invoice of this id is visible to the caller. Another party's answers the same. */
export class InvoiceNotFound extends Schema.TaggedError<InvoiceNotFound>()("InvoiceNotFound", { uniqueID: Schema.String }) {
  override get message(): string {
    return `No invoice ${this.uniqueID}. Use the uniqueID it was created with, and the DOT and MC numbers of its carrier.`
  }
}

/** The carrier has an invoice of this id, and it says something else. SPEC-GAP-B9 */
export class InvoiceExists extends Schema.TaggedError<InvoiceExists>()("InvoiceExists", { uniqueID: Schema.String }) {
  override get message(): string {
    return `Invoice ${this.uniqueID} exists already with other content. Replace it, or use another uniqueID.`
  }
}

/** The caller writes invoices of its own carrier number only. */
export class InvoiceNotYours extends Schema.TaggedError<InvoiceNotYours>()("InvoiceNotYours", {
  /** Its own numbers. */
  numbers: Schema.String
}) {
  override get message(): string {
    return `You write invoices and documents of ${this.numbers} only. Name this number, or ask the operator for a key without it.`
  }
}

/** The caller sees no documents of this invoice number, or not all files it named. */
export class DocumentNotFound extends Schema.TaggedError<DocumentNotFound>()("DocumentNotFound", { invoiceNumber: Schema.String }) {
  override get message(): string {
    return `Invoice number ${this.invoiceNumber} has no such documents. List its documents to see what there is.`
  }
}

/** A file of an upload has too many bytes. Known as soon as the first byte too many arrives. */
export class FileTooLarge extends Schema.TaggedError<FileTooLarge>()("FileTooLarge", {
  /** Where the file stands in the upload. */
  pointer: Schema.String,
  maxBytes: Schema.Int
}) {
  override get message(): string {
    return `${this.pointer} has more than ${this.maxBytes} bytes. Send it in parts, or in a smaller resolution.`
  }
}

/** A file of an upload does not begin as a PDF, TIF, JPEG or PNG does. */
export class FileFormatUnknown extends Schema.TaggedError<FileFormatUnknown>()("FileFormatUnknown", {
  /** Where the file stands in the upload. */
  pointer: Schema.String
}) {
  override get message(): string {
    return `${this.pointer} is no PDF, TIF, JPEG or PNG. Send the file itself, base64-encoded once.`
  }
}
