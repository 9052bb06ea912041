/** Methods of area B over core's use cases. */
import { mapPaced } from "@waybill/core"
import { type Invoice, InvoiceDocuments, Invoices, type StoredDocuments } from "@waybill/core/invoices"
import { Effect, Stream } from "effect"
import type { DocumentReadMethods, DocumentsView, DocumentWriteMethods, InvoiceReadMethods, InvoiceWriteMethods } from "./InvoiceMethods.ts"
import { plain } from "./Plain.ts"
import { type Around, as, type Run } from "./Run.ts"

export const invoiceCallsOf = (run: Run, around: Around): InvoiceWriteMethods => ({
  create: (said, invoice) => run(around(as(said, Invoices, (all, principal) => all.create(principal, plain(invoice))))),
  replace: (said, id, invoice, comments) =>
    run(around(as(said, Invoices, (all, principal) => all.replace(principal, id, plain(invoice), plain(comments))))),
  remove: (said, id, options) => run(around(as(said, Invoices, (all, principal) => all.remove(principal, id, plain(options)))))
})

export const documentCallsOf = (run: Run, around: Around): DocumentWriteMethods => ({
  upload: (said, upload) => run(around(as(said, InvoiceDocuments, (all, principal) => all.upload(principal, plain(upload))))),
  remove: (said, invoiceNumber, options) =>
    run(around(as(said, InvoiceDocuments, (all, principal) => all.remove(principal, invoiceNumber, plain(options)))))
})

export const invoiceReadsOf = (run: Run): InvoiceReadMethods => ({
  list: (said, query = {}) =>
    run(Effect.flatMap(as(said, Invoices, (all, principal) => all.list(principal, plain(query))), ({ data, nextCursor }) =>
      Effect.map(mapPaced(data, parsed), (invoices) => ({ data: invoices, nextCursor })))),
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

const decoder = new TextDecoder()

const parsed = (bytes: Uint8Array): Invoice => JSON.parse(decoder.decode(bytes))
