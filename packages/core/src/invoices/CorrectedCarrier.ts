/** Replacing an invoice with a corrected DOT or MC number: the invoice, its history and its documents move to the corrected numbers. SPEC-GAP-B16 */
import { Effect } from "effect"
import { fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { type InvoiceStores, recordId, updateDocumentAccess } from "./DocumentAccess.ts"
import { InvoiceNotFound } from "./InvoiceErrors.ts"
import type { InvoiceCarrier, InvoiceRow, InvoiceStore, InvoiceViewer } from "./InvoiceStore.ts"
import type { ReadInvoice } from "./ReadInvoice.ts"

/** Limit of carriers of one tenant that use the same id. */
const maxCarriers = 100

export const isSameCarrier = (one: InvoiceCarrier, other: InvoiceCarrier): boolean => one.dot === other.dot && one.mc === other.mc

/**
 * The numbers under which the invoice to be replaced is stored: those of its replacement, or those of the only invoice with this id that has
 * one number in common with it. Two different numbers are another carrier's, whose invoice must not be overwritten.
 */
export const storedCarrier = Effect.fnUntraced(function*(
  store: InvoiceStore["Service"],
  tenantId: string,
  viewer: InvoiceViewer,
  carrier: InvoiceCarrier,
  uniqueID: string
): Effect.fn.Return<InvoiceCarrier, InvalidInput | InvoiceNotFound | StorageError> {
  const filter = { uniqueId: uniqueID, dot: undefined, mc: undefined, shipmentId: undefined, invoiceNumber: undefined }
  const carriers = (yield* store.list(tenantId, viewer, filter, { after: undefined, limit: maxCarriers })).map((each) => each.carrier)
  if (carriers.length === 0) return yield* new InvoiceNotFound({ uniqueID })
  if (carriers.some((each) => isSameCarrier(each, carrier))) return carrier
  const related = carriers.filter(({ dot, mc }) => (dot !== "" && dot === carrier.dot) || (mc !== "" && mc === carrier.mc))
  if (related.length === 1) return related[0]!
  const stored = carriers.map(({ dot, mc }) => `DOT ${dot || "(none)"} and MC ${mc || "(none)"}`).join(", ")
  const detail = related.length > 1
    ? `Several carriers have an invoice of this id: ${stored}. Send one carrier's numbers unchanged, or delete the wrong invoice and create it again.`
    : `The invoice of this id has ${stored}. A replacement may correct one of the two numbers. To change both, delete the invoice and create it again.`
  return yield* InvalidInput.of(fault(["DOT"], detail, "conflict"))
})

/**
 * For a write of an invoice, or of documents, that were found before the transaction that locks them. If they are not there, a correction may have moved them
 * meanwhile, and they are looked for again.
 */
export const findAgain = <A, E extends { readonly _tag: string }, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(write, { times: 1, while: ({ _tag }) => _tag === "InvoiceNotFound" || _tag === "DocumentNotFound" })

/** Locks one id of both carriers, always in the same order, so that two corrections cannot wait for each other. */
export const lockBoth = (store: InvoiceStore["Service"], tenantId: string, carriers: readonly [from: InvoiceCarrier, to: InvoiceCarrier], id: string) =>
  Effect.gen(function*() {
    const [from, to] = carriers
    const fromFirst = from.dot < to.dot || (from.dot === to.dot && from.mc < to.mc)
    const locked = yield* Effect.forEach(fromFirst ? [from, to] : [to, from], (carrier) => store.lock(tenantId, carrier, id))
    return fromFirst ? { from: locked[0]!, to: locked[1]! } : { from: locked[1]!, to: locked[0]! }
  })

/** Moves the history and the documents of an invoice to its corrected numbers. Call it in the transaction that has stored the invoice under them. */
export const moveToCorrected = Effect.fnUntraced(function*(stores: InvoiceStores, tenantId: string, before: InvoiceRow, { members, row }: ReadInvoice) {
  const [from, to] = [before.carrier, row.carrier]
  // all numbers first and sorted, as a replacement locks them
  for (const invoiceNumber of [...new Set([before.invoiceNumber, row.invoiceNumber])].sort()) yield* lockBoth(stores.invoices, tenantId, [from, to], recordId(invoiceNumber))
  yield* stores.invoices.moveHistory(tenantId, row.uniqueId, from, to)
  yield* moveDocuments(stores, tenantId, before.invoiceNumber, { from, to, members })
  yield* updateDocumentAccess(stores, tenantId, from, [before.invoiceNumber])
})

interface CorrectedNumbers {
  readonly from: InvoiceCarrier
  readonly to: InvoiceCarrier
  /** The corrected members of the record. */
  readonly members: { readonly DOT: string; readonly MC: string }
}

/** Moves the documents of an invoice number, unless another invoice of the previous numbers has it too. */
const moveDocuments = Effect.fnUntraced(function*(
  { documents, invoices }: InvoiceStores,
  tenantId: string,
  invoiceNumber: string,
  { from, members, to }: CorrectedNumbers
): Effect.fn.Return<void, StorageError> {
  const range = { after: undefined, limit: 1 }
  const everything = { _tag: "All" } as const
  const remaining = yield* invoices.list(tenantId, everything, { uniqueId: undefined, shipmentId: undefined, ...from, invoiceNumber }, range)
  const recordOf = (carrier: InvoiceCarrier) =>
    Effect.map(documents.list(tenantId, everything, { invoiceNumber, documentTypes: undefined, ...carrier }, range), ([record]) => record)
  const record = yield* recordOf(from)
  if (remaining.length > 0 || record === undefined) return
  const { accounts, doc, shipmentId } = (yield* recordOf(to)) ?? { ...record, doc: withMembers(record.doc, members) }
  const files = yield* documents.remove(tenantId, from, invoiceNumber, undefined)
  yield* documents.add(tenantId, { carrier: to, invoiceNumber, shipmentId, accounts, doc, files })
  yield* invoices.moveHistory(tenantId, recordId(invoiceNumber), from, to)
})

const withMembers = (doc: string, members: CorrectedNumbers["members"]): string => JSON.stringify({ ...JSON.parse(doc), ...members })
