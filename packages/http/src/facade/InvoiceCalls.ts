/** Methods of area B over core's use cases. */
import { mapPaced } from "@waybill/core"
import { type Invoice, InvoiceDocuments, Invoices, type StoredDocuments } from "@waybill/core/invoices"
import { Effect, Stream } from "effect"
import type { DocumentReadMethods, DocumentsView, InvoiceReadMethods, WaybillInvoicesWithin } from "./InvoiceMethods.ts"
import { parsed, plain } from "./Plain.ts"
import { type Around, as, callsOf, type Run } from "./Run.ts"

export const invoicesWithin = (run: Run, around: Around): WaybillInvoicesWithin => {
  const invoices = callsOf(run, Invoices, around)
  const documents = callsOf(run, InvoiceDocuments, around)
  return {
    invoices: {
      create: (said, invoice) => invoices(said, (all, principal) => all.create(principal, plain(invoice))),
      replace: (said, id, invoice, comments) => invoices(said, (all, principal) => all.replace(principal, id, plain(invoice), plain(comments))),
      remove: (said, id, options) => invoices(said, (all, principal) => all.remove(principal, id, plain(options)))
    },
    documents: {
      upload: (said, upload) => documents(said, (all, principal) => all.upload(principal, plain(upload))),
      remove: (said, invoiceNumber, options) => documents(said, (all, principal) => all.remove(principal, invoiceNumber, plain(options)))
    }
  }
}

export const invoiceReadsOf = (run: Run): InvoiceReadMethods => ({
  list: (said, query = {}) =>
    run(Effect.flatMap(as(said, Invoices, (all, principal) => all.list(principal, plain(query))), ({ data, nextCursor }) =>
      Effect.map(mapPaced(data, parsed<Invoice>), (invoices) => ({ data: invoices, nextCursor })))),
  get: (said, id, from) =>
    run(Effect.map(as(said, Invoices, (all, principal) => all.get(principal, id, plain(from))), ({ body, warnings }) => ({ invoice: parsed(body), warnings }))),
  history: (said, id, from) => run(as(said, Invoices, (all, principal) => all.history(principal, id, plain(from))))
})

export const documentReadsOf = (run: Run): DocumentReadMethods => ({
  list: (said, query = {}) =>
    run(Effect.map(as(said, InvoiceDocuments, (all, principal) => all.list(principal, plain(query))), ({ data, nextCursor }) => ({
      data: data.map(documentsView),
      nextCursor
    }))),
  get: (said, invoiceNumber, from) =>
    run(Effect.map(as(said, InvoiceDocuments, (all, principal) => all.get(principal, invoiceNumber, plain(from))), documentsView)),
  history: (said, invoiceNumber, from) => run(as(said, InvoiceDocuments, (all, principal) => all.history(principal, invoiceNumber, plain(from))))
})

const documentsView = ({ documents, record }: StoredDocuments): DocumentsView => ({
  record,
  documents: documents.map(({ documentType, files }) => ({
    documentType,
    files: files.map(({ content, ...file }) => ({ ...file, content: () => Stream.toReadableStream(content) }))
  }))
})
