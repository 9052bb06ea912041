/** Supporting documents of an invoice number (area B, supporting documents record). */
import { Schema } from "effect"
import { ShipmentId } from "../../shared/Identifier.ts"
import { textUpTo } from "../../shared/Members.ts"
import { InvoiceAttributes, CarrierNumberText, InvoiceComments, CalendarDate, InvoiceNumber, InvoiceId } from "./Invoice.ts"

/** The 25 document types of area B. */
export const documentTypes = [
  "BOL", "CAT", "COMM", "CON", "RULE", "DIM", "DTR", "DIS", "FRB", "FUEL", "INV", "INSP", "LOA", "LPR", "MSDS", "PAC", "IMG", "POD", "QUO", "RESI", "SPEC",
  "SCL", "STB", "W&I", "OTHER"
] as const

/** A document type of area B. */
export const DocumentType = Schema.Literals(documentTypes).annotate({
  identifier: "DocumentType",
  message: `A document type is one of ${documentTypes.join(", ")}.`
})
export type DocumentType = typeof DocumentType.Type

const described = {
  uniqueID: InvoiceId,
  shipmentID: ShipmentId,
  DOT: CarrierNumberText,
  MC: CarrierNumberText,
  invoiceNumber: InvoiceNumber,
  invoiceDate: CalendarDate,
  documentSource: Schema.optionalKey(textUpTo(10_000)),
  attributes: Schema.optionalKey(InvoiceAttributes),
  comments: Schema.optionalKey(InvoiceComments)
}

/** Limits per upload. Further uploads may add documents to the same invoice number. */
export const maxDocumentsPerUpload = 100
/** Most files of one entry of `documents`. */
export const maxFilesPerDocument = 100

/** An upload. Each text in `files` is a base64 file, or the id of a file that was written before. */
export const DocumentRequest = Schema.Struct({
  ...described,
  documents: Schema.Array(
    Schema.Struct({
      documentType: DocumentType,
      files: Schema.Array(Schema.String).check(
        Schema.isMinLength(1, { message: "Send at least one file." }),
        Schema.isMaxLength(maxFilesPerDocument, { message: `At most ${maxFilesPerDocument} files in one document.` })
      )
    })
  ).check(
    Schema.isMinLength(1, { message: "Send at least one document." }),
    Schema.isMaxLength(maxDocumentsPerUpload, { message: `At most ${maxDocumentsPerUpload} documents in one upload.` })
  )
}).annotate({ identifier: "DocumentRequest" })
export type DocumentRequest = typeof DocumentRequest.Type

/** An upload whose files are in memory, as bytes or base64. */
export type DocumentsUpload = Omit<typeof DocumentRequest.Encoded, "documents"> & {
  /** PDF, TIF, JPEG or PNG of at most 25 MiB each: bytes, or base64. */
  readonly documents: ReadonlyArray<{ readonly documentType: DocumentType; readonly files: ReadonlyArray<Uint8Array | string> }>
}

/** The answer; `content` is base64, which transports write in chunks. */
export const DocumentResponse = Schema.Struct({
  ...described,
  documents: Schema.Array(
    Schema.Struct({ documentType: DocumentType, files: Schema.Array(Schema.Struct({ id: Schema.String, content: Schema.String })) })
  )
}).annotate({ identifier: "DocumentResponse" })
