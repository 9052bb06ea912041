/** Methods of area B over core's use cases. */
import { mapPaced } from "@waybill/core"
import { type Invoice, InvoiceDocuments, Invoices, type StoredDocuments } from "@waybill/core/invoices"
import { Effect, Stream } from "effect"
import type { DocumentReadMethods, DocumentsView, InvoiceReadMethods } from "./InvoiceMethods.ts"
import { parsed, plain } from "./Plain.ts"
import { type Around, as, callsOf, type Run } from "./Run.ts"
import type { WaybillWithin } from "./Waybill.ts"

export const invoicesWithin = (run: Run, around: Around): Pick<WaybillWithin, "invoices" | "documents"> => {
  const invoices = callsOf(run, Invoices, around)
  const documents = callsOf(run, InvoiceDocuments, around)
  return {
    invoices: {
      create: (caller, invoice) => invoices(caller, (all, principal) => all.create(principal, plain(invoice))),
      replace: (caller, id, invoice, comments) => invoices(caller, (all, principal) => all.replace(principal, id, plain(invoice), plain(comments))),
      remove: (caller, id, options) => invoices(caller, (all, principal) => all.remove(principal, id, plain(options)))
    },
    documents: {
      upload: (caller, upload) => documents(caller, (all, principal) => all.upload(principal, plain(upload))),
      remove: (caller, invoiceNumber, options) => documents(caller, (all, principal) => all.remove(principal, invoiceNumber, plain(options)))
    }
  }
}

export const invoiceReadsOf = (run: Run): InvoiceReadMethods => ({
  list: (caller, query = {}) =>
    run(Effect.flatMap(as(caller, Invoices, (all, principal) => all.list(principal, plain(query))), ({ data, nextCursor }) =>
      Effect.map(mapPaced(data, parsed<Invoice>), (invoices) => ({ data: invoices, nextCursor })))),
  get: (caller, id, from) =>
    run(Effect.map(as(caller, Invoices, (all, principal) => all.get(principal, id, plain(from))), ({ body, warnings }) => ({ invoice: parsed(body), warnings }))),
  history: (caller, id, from) => run(as(caller, Invoices, (all, principal) => all.history(principal, id, plain(from))))
})

export const documentReadsOf = (run: Run): DocumentReadMethods => ({
  list: (caller, query = {}) =>
    run(Effect.map(as(caller, InvoiceDocuments, (all, principal) => all.list(principal, plain(query))), ({ data, nextCursor }) => ({
      data: data.map(documentsView),
      nextCursor
    }))),
  get: (caller, invoiceNumber, from) =>
    run(Effect.map(as(caller, InvoiceDocuments, (all, principal) => all.get(principal, invoiceNumber, plain(from))), documentsView)),
  history: (caller, invoiceNumber, from) => run(as(caller, InvoiceDocuments, (all, principal) => all.history(principal, invoiceNumber, plain(from))))
})

const documentsView = ({ documents, record }: StoredDocuments): DocumentsView => ({
  record,
  documents: documents.map(({ documentType, files }) => ({
    documentType,
    files: files.map(({ content, ...file }) => ({ ...file, content: () => Stream.toReadableStream(content) }))
  }))
})
