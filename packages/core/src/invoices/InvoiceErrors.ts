/** Errors of invoices and their documents. */
import { Schema } from "effect"

/** No invoice with this id is visible to the caller. An invoice of another party gives the same error. */
export class InvoiceNotFound extends Schema.TaggedError<InvoiceNotFound>()("InvoiceNotFound", { uniqueID: Schema.String }) {
  override get message(): string {
    return `No invoice ${this.uniqueID}. Use the uniqueID it was created with, and the DOT and MC numbers of its carrier.`
  }
}

/** The carrier already has an invoice with this id and other content. SPEC-GAP-B9 */
export class InvoiceExists extends Schema.TaggedError<InvoiceExists>()("InvoiceExists", { uniqueID: Schema.String }) {
  override get message(): string {
    return `Invoice ${this.uniqueID} exists already with other content. Replace it, or use another uniqueID.`
  }
}

/** The caller may write only invoices with its own carrier numbers, and none with a number of another carrier. */
export class InvoiceNotYours extends Schema.TaggedError<InvoiceNotYours>()("InvoiceNotYours", {
  /** The caller's numbers. */
  numbers: Schema.String,
  /** The number that the invoice names beside them, if it is another carrier's. */
  others: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    if (this.others !== undefined) {
      return `${this.others} is the number of another carrier, and you write invoices and documents of ${this.numbers}. Leave it empty, or ask the operator for a key with both numbers.`
    }
    return `You write invoices and documents of ${this.numbers} only. Name this number, or ask the operator for a key without it.`
  }
}

/** The caller sees no documents of this invoice number, or not all named files. */
export class DocumentNotFound extends Schema.TaggedError<DocumentNotFound>()("DocumentNotFound", { invoiceNumber: Schema.String }) {
  override get message(): string {
    return `Invoice number ${this.invoiceNumber} has no such documents. List its documents to see what there is.`
  }
}

/** A file of an upload is too large. Detected at the first byte over the limit. */
export class FileTooLarge extends Schema.TaggedError<FileTooLarge>()("FileTooLarge", {
  /** JSON pointer of the file in the upload. */
  pointer: Schema.String,
  maxBytes: Schema.Int
}) {
  override get message(): string {
    return `${this.pointer} has more than ${this.maxBytes} bytes. Send it in parts, or in a smaller resolution.`
  }
}

/** A file of an upload does not begin like a PDF, TIF, JPEG or PNG file. */
export class FileFormatUnknown extends Schema.TaggedError<FileFormatUnknown>()("FileFormatUnknown", {
  /** JSON pointer of the file in the upload. */
  pointer: Schema.String
}) {
  override get message(): string {
    return `${this.pointer} is not a PDF, TIF, JPEG or PNG. Send the file itself, base64-encoded once.`
  }
}
