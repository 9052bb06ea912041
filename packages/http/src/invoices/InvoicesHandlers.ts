/** HTTP handlers of area B over core's use cases. */
import { InvoiceDocuments, Invoices, queryComments } from "@waybill/core/invoices"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { encodedList, json } from "../shared/Answer.ts"
import type { HandlersOf } from "../shared/Contract.ts"
import { searchOf } from "../shared/Paging.ts"
import type { Site } from "../shared/Site.ts"
import { documentsBody } from "./DocumentsBody.ts"
import { headerText } from "./InvoiceProblem.ts"
import type { InvoicesContract } from "./InvoicesContract.ts"
import { receiveUpload } from "./ReceiveUpload.ts"

export const InvoicesHandlers = Effect.map(Effect.all([Invoices, InvoiceDocuments]), ([invoices, documents]): HandlersOf<typeof InvoicesContract> => ({
  createInvoice: ({ body, principal }) => Effect.map(invoices.create(principal, body), written),
  listInvoices: ({ principal, query, site }) =>
    Effect.map(invoices.list(principal, query), ({ data, nextCursor }) =>
      HttpServerResponse.setHeaders(encodedList(data), nextPage(query, nextCursor, site))),
  getInvoice: ({ params, principal, query }) =>
    Effect.map(invoices.get(principal, params.uniqueID, query), ({ body, warnings }) =>
      HttpServerResponse.uint8Array(body, { contentType: "application/json", headers: warned(warnings) })),
  updateInvoice: ({ body, params, principal, query }) =>
    Effect.flatMap(queryComments(query.comments ?? []), (comments) =>
      Effect.map(invoices.replace(principal, params.uniqueID, body, comments), written)),
  deleteInvoice: Effect.fnUntraced(function*({ params, principal, query: { comments: pairs = [], ...from } }) {
    const comments = yield* queryComments(pairs)
    return json(yield* invoices.remove(principal, params.uniqueID, { ...from, comments }))
  }),
  uploadDocument: Effect.fnUntraced(function*({ body, principal, site }) {
    const upload = yield* documents.begin(principal)
    const { fileIds, message } = yield* upload.finish(yield* receiveUpload(upload, body, `POST ${site.path}`))
    return json({ message }, { status: 201, headers: { "x-waybill-file-ids": fileIds.join(",") } })
  }, Effect.scoped),
  listDocuments: ({ principal, query, site }) =>
    Effect.map(documents.list(principal, query), ({ data, nextCursor }) => documentsBody(data, nextPage(query, nextCursor, site))),
  getDocument: ({ params, principal, query }) =>
    Effect.map(documents.get(principal, params.invoiceNumber, query), (stored) => documentsBody(stored)),
  deleteDocument: Effect.fnUntraced(function*({ params, principal, query: { comments: pairs = [], ...options } }) {
    const comments = yield* queryComments(pairs)
    return json(yield* documents.remove(principal, params.invoiceNumber, { ...options, comments }))
  })
}))

const written = ({ message, warnings }: { readonly message: string; readonly warnings: ReadonlyArray<string> }) =>
  json({ message }, { headers: warned(warnings) })

const warned = (warnings: ReadonlyArray<string>) => warnings.length === 0 ? {} : { "x-waybill-warning": headerText(warnings.join(" ")) }

const nextPage = (query: Readonly<Record<string, unknown>>, nextCursor: string | undefined, site: Site): Readonly<Record<string, string>> => {
  if (nextCursor === undefined) return {}
  return { "x-next-cursor": nextCursor, link: `<${site.urlOf(site.path)}?${searchOf({ ...query, cursor: nextCursor })}>; rel="next"` }
}
