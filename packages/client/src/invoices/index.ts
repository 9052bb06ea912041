export { type CursorPage } from "./Cursor.ts"
export * from "./DocumentsClient.ts"
export type * from "./Invoice.ts"
export {
  type FoundInvoice,
  type GetInvoiceOptions,
  type InvoiceQuery,
  InvoicesClient,
  type InvoicesPage,
  type InvoiceWritten,
  type RemoveInvoiceOptions,
  type ReplaceInvoiceOptions
} from "./InvoicesClient.ts"
export * from "./SupportingDocuments.ts"
