export { type CursorPage } from "./Cursor.ts"
export {
  type DocumentQuery,
  DocumentsClient,
  type DocumentsClientOptions,
  type DocumentsPage,
  type DocumentsUploaded,
  type GetDocumentsOptions,
  type RemoveDocumentsOptions
} from "./DocumentsClient.ts"
export {
  type BaseCharge,
  type CarrierNumbers,
  type ChargeAuthorizer,
  type HandlingUnitCharge,
  type Invoice,
  type InvoiceAttribute,
  type InvoiceCharge,
  type InvoiceComment,
  type InvoiceHeader,
  type InvoiceTerms,
  type ItemCharge,
  type MonetaryAmount,
  type PostalAddress
} from "./Invoice.ts"
export {
  type FoundInvoice,
  type GetInvoiceOptions,
  type InvoiceQuery,
  InvoicesClient,
  type InvoicesClientOptions,
  type InvoicesPage,
  type InvoiceWritten,
  type RemoveInvoiceOptions,
  type ReplaceInvoiceOptions
} from "./InvoicesClient.ts"
export {
  type ArrivingFile,
  type DocumentsRecord,
  documentTypes,
  type DocumentUpload,
  type FileSource,
  type FileTaker,
  type StoredFile,
  type StoredFileWithContent,
  type SupportingDocuments,
  type SupportingDocumentType
} from "./SupportingDocuments.ts"
