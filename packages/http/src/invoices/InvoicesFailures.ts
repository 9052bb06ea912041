/** Failures of area B, with their statuses, codes and details. */
import type { DocumentNotFound, FileFormatUnknown, FileTooLarge, InvoiceExists, InvoiceNotFound, InvoiceNotYours } from "@waybill/core/invoices"
import type { FailureTable } from "../shared/FailureTable.ts"

export type InvoicesFailure = DocumentNotFound | FileFormatUnknown | FileTooLarge | InvoiceExists | InvoiceNotFound | InvoiceNotYours

export const invoicesFailures = {
  FileFormatUnknown: [400, "file_format_unknown", ({ message, pointer }) => ({ errors: [{ detail: message, pointer, code: "invalid" }] })],
  InvoiceExists: [400, "invoice_exists"],
  InvoiceNotYours: [403, "invoice_not_yours"],
  DocumentNotFound: [404, "document_not_found"],
  InvoiceNotFound: [404, "invoice_not_found"],
  FileTooLarge: [413, "file_too_large", ({ message, pointer }) => ({ errors: [{ detail: message, pointer, code: "out_of_bounds" }] })]
} as const satisfies FailureTable<InvoicesFailure>
