/** Errors of invoices and their documents. */
import { Schema } from "effect"
import { taggedFailure } from "../shared/TaggedFailure.ts"

/** No invoice with this id is visible to the caller. An invoice of another party gives the same error. */
export class InvoiceNotFound extends taggedFailure<InvoiceNotFound>()("InvoiceNotFound", { uniqueID: Schema.String }, ({ uniqueID }) =>
  `No invoice ${uniqueID}. Use the uniqueID it was created with, and the DOT and MC numbers of its carrier.`) {}

/** The carrier already has an invoice with this id and other content. SPEC-GAP-B9 */
export class InvoiceExists extends taggedFailure<InvoiceExists>()("InvoiceExists", { uniqueID: Schema.String }, ({ uniqueID }) =>
  `Invoice ${uniqueID} exists already with other content. Replace it, or use another uniqueID.`) {}

/** The caller may write only invoices with its own carrier numbers, and none with a number of another carrier. */
export class InvoiceNotYours extends taggedFailure<InvoiceNotYours>()("InvoiceNotYours", {
  /** The caller's numbers. */
  numbers: Schema.String,
  /** The number that the invoice names beside them, if it is another carrier's. */
  others: Schema.optionalKey(Schema.String)
}, ({ numbers, others }) => {
  if (others !== undefined) {
    return `${others} is the number of another carrier, and you write invoices and documents of ${numbers}. Leave it empty, or ask the operator for a key with both numbers.`
  }
  return `You write invoices and documents of ${numbers} only. Name this number, or ask the operator for a key without it.`
}) {}

/** The caller sees no documents of this invoice number, or not all named files. */
export class DocumentNotFound extends taggedFailure<DocumentNotFound>()("DocumentNotFound", { invoiceNumber: Schema.String }, ({ invoiceNumber }) =>
  `Invoice number ${invoiceNumber} has no such documents. List its documents to see what there is.`) {}

/** A file of an upload is too large. Detected at the first byte over the limit. */
export class FileTooLarge extends taggedFailure<FileTooLarge>()("FileTooLarge", {
  /** JSON pointer of the file in the upload. */
  pointer: Schema.String,
  maxBytes: Schema.Int
}, ({ maxBytes, pointer }) => `${pointer} has more than ${maxBytes} bytes. Send it in parts, or in a smaller resolution.`) {}

/** A file of an upload does not begin like a PDF, TIF, JPEG or PNG file. */
export class FileFormatUnknown extends taggedFailure<FileFormatUnknown>()("FileFormatUnknown", {
  /** JSON pointer of the file in the upload. */
  pointer: Schema.String
}, ({ pointer }) => `${pointer} is not a PDF, TIF, JPEG or PNG. Send the file itself, base64-encoded once.`) {}
