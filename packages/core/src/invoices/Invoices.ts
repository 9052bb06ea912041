/** Creates, lists, retrieves, replaces and deletes invoices. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import type { NotPermitted } from "../access/AccessErrors.ts"
import { carriersOnly } from "../access/Callers.ts"
import type { Principal } from "../access/model/Principal.ts"
import { fault } from "../shared/Fault.ts"
import { ShipmentId } from "../shared/Identifier.ts"
import { formatInstant } from "../shared/Instant.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { canonicalText } from "../shared/Json.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import type { StoredSince } from "../shared/StoredSince.ts"
import { makePace, mapPaced } from "../shared/Turns.ts"
import { findAgain, isSameCarrier, lockBoth, moveToCorrected, storedCarrier } from "./CorrectedCarrier.ts"
import { updateDocumentAccess } from "./DocumentAccess.ts"
import { DocumentStore } from "./DocumentStore.ts"
import { carrierFilter, type CarrierFilter, type FromCarrier, fromCarrier, makeCheckOwn, namedCarrier, readFrom, viewerOf, writerOf } from "./InvoiceAccess.ts"
import { InvoiceExists, InvoiceNotFound, type InvoiceNotYours } from "./InvoiceErrors.ts"
import { type InvoiceCarrier, type InvoiceHistoryEntry, type InvoiceRow, InvoiceStore, type InvoiceViewer } from "./InvoiceStore.ts"
import { cursorAt, readCursor } from "./ListCursor.ts"
import { CarrierNumberText, type Invoice, type InvoiceComment, InvoiceId, InvoiceNumber } from "./model/Invoice.ts"
import { totalWarnings } from "./model/InvoiceTotals.ts"
import { type Comments, readComments, readInvoice, type ReadInvoice } from "./ReadInvoice.ts"

/** Most invoices per page. The page ends early if they are large. SPEC-GAP-B14 */
export const maxInvoicesPerPage = 1000

/** Largest page in bytes; one invoice is never larger. */
const pageBytes = 8 * 1024 * 1024

/** Rows per read, so that a page of large invoices needs no more memory than a page of small ones. */
const rowsAtATime = 50

/** A page of invoices (area B). All filters must match; `limit` and `cursor` are additions. SPEC-GAP-B14 */
export const InvoiceQuery = Schema.Struct({
  uniqueID: Schema.optionalKey(InvoiceId),
  shipmentID: Schema.optionalKey(ShipmentId),
  DOT: Schema.optionalKey(CarrierNumberText),
  MC: Schema.optionalKey(CarrierNumberText),
  invoiceNumber: Schema.optionalKey(InvoiceNumber),
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxInvoicesPerPage }, { message: `limit is an integer from 1 to ${maxInvoicesPerPage}.` }))
  ),
  cursor: Schema.optionalKey(Schema.String)
})

const RemoveOptions = Schema.Struct({ ...fromCarrier, comments: Schema.optionalKey(Schema.Unknown) })

/** Answer of a write. Warnings are sentences in printable ASCII. */
export interface InvoiceAnswer {
  readonly message: string
  readonly warnings: ReadonlyArray<string>
}

/** An invoice as it is returned, with the warnings about it. */
export interface StoredInvoice {
  /** The JSON that is returned. */
  readonly body: Uint8Array
  readonly warnings: ReadonlyArray<string>
}

/** A page of invoices. */
export interface InvoicePage {
  /** The JSON of each invoice. */
  readonly data: ReadonlyArray<Uint8Array>
  /** Value for `cursor` of the next page; `undefined` on the last page. */
  readonly nextCursor: string | undefined
}

/** A change of an invoice. */
export interface InvoiceChange {
  readonly at: string
  readonly client: string
  readonly action: "created" | "replaced" | "deleted"
  readonly comments: ReadonlyArray<InvoiceComment>
  readonly warnings: ReadonlyArray<string>
  /** The invoice after the change; for a deletion, before it. */
  readonly invoice: Invoice
}

type Failure = InvalidInput | NotPermitted | StorageError

/** Invoices (area B): create, list, retrieve, replace, delete. */
export class Invoices extends Context.Service<Invoices, {
  /** Creates an invoice. A retry with the same content gives the same answer. */
  readonly create: (principal: Principal, input: typeof Invoice.Encoded) => Effect.Effect<InvoiceAnswer, InvoiceExists | InvoiceNotYours | Failure>
  /** Lists the invoices that the caller may see, by uniqueID. All filters must match. */
  readonly list: (principal: Principal, query?: typeof InvoiceQuery.Encoded) => Effect.Effect<InvoicePage, Failure>
  /**
   * Invoices that the caller may see and that were created or replaced since a position, each as its JSON bytes. Following the positions returns
   * each change once, or a later one of the same invoice. Without a position it returns the present end.
   */
  readonly since: (principal: Principal, position: string | undefined, limit?: number) => Effect.Effect<StoredSince<Uint8Array>, NotPermitted | StorageError>
  /** `from` (`DOT`, `MC`) names the carrier if several use one id. */
  readonly get: (principal: Principal, uniqueID: string, from?: typeof FromCarrier.Encoded) => Effect.Effect<StoredInvoice, InvoiceNotFound | Failure>
  /**
   * Replaces the whole invoice. The ids in path and body must be equal. A corrected DOT or MC (one of the two) moves the invoice, its history
   * and its documents to the corrected numbers. `comments` go into the history.
   */
  readonly replace: (
    principal: Principal,
    uniqueID: string,
    input: typeof Invoice.Encoded,
    comments?: Comments
  ) => Effect.Effect<InvoiceAnswer, InvoiceNotFound | InvoiceExists | InvoiceNotYours | Failure>
  /** `options`: `comments`, and `DOT`, `MC` as in `get`. Fails if several carriers use the id and none is named. */
  readonly remove: (
    principal: Principal,
    uniqueID: string,
    options?: typeof FromCarrier.Encoded & { readonly comments?: Comments }
  ) => Effect.Effect<{ readonly message: string }, InvoiceNotFound | Failure>
  /** For carriers: its changes, oldest first, without what is older than `maxHistoryBytes` of them. After the deletion, `from` must have DOT and MC. */
  readonly history: (
    principal: Principal,
    uniqueID: string,
    from?: typeof FromCarrier.Encoded
  ) => Effect.Effect<ReadonlyArray<InvoiceChange>, InvoiceNotFound | Failure>
}>()("@waybill/core/invoices/Invoices") {
  static readonly layer = Layer.effect(Invoices, Effect.gen(function*() {
    const store = yield* InvoiceStore
    const documents = yield* DocumentStore
    const transaction = yield* Transaction
    const checkOwn = yield* makeCheckOwn
    const decodeQuery = decodeInput(InvoiceQuery, { closed: true })
    const decodeRemoval = decodeInput(RemoveOptions, { closed: true })

    /** Runs in a transaction that holds the invoice's lock, of both numbers if they are corrected. Shipments are locked before documents. */
    const put = Effect.fnUntraced(function*(
      { client, tenantId }: Principal,
      invoice: ReadInvoice,
      before: InvoiceRow | undefined,
      comments: ReadonlyArray<InvoiceComment>
    ) {
      const { row, text, warnings } = invoice
      const isCorrected = before !== undefined && !isSameCarrier(before.carrier, row.carrier)
      yield* store.put(tenantId, row, isCorrected ? before.carrier : undefined)
      if (isCorrected) yield* moveToCorrected({ invoices: store, documents }, tenantId, before, invoice)
      yield* store.record(tenantId, row.carrier, row.uniqueId, {
        at: yield* Clock.currentTimeMillis,
        client,
        action: before === undefined ? "created" : "replaced",
        doc: changeDoc(comments, warnings, text)
      })
      const numbers = [row.invoiceNumber, ...(before === undefined ? [] : [before.invoiceNumber])]
      yield* updateDocumentAccess({ invoices: store, documents }, tenantId, row.carrier, numbers)
    })

    const create = Effect.fn("Invoices.create")(function*(principal: Principal, input: unknown) {
      yield* writerOf(principal)
      const invoice = yield* readInvoice(input)
      const { carrier, uniqueId } = invoice.row
      yield* checkOwn(principal, carrier)
      yield* transaction.run(Effect.gen(function*() {
        const known = yield* store.lock(principal.tenantId, carrier, uniqueId)
        if (Option.isNone(known)) yield* put(principal, invoice, undefined, [])
        else if (!(yield* sameContent(known.value, invoice))) return yield* new InvoiceExists({ uniqueID: uniqueId })
      }))
      return { message: `Invoice ${uniqueId} was created.`, warnings: invoice.warnings }
    })

    /** Runs in a transaction. */
    const overwrite = Effect.fnUntraced(function*(principal: Principal, invoice: ReadInvoice, comments: ReadonlyArray<InvoiceComment>) {
      const { carrier, uniqueId } = invoice.row
      const known = yield* Effect.fromOption(yield* store.lock(principal.tenantId, carrier, uniqueId), () => new InvoiceNotFound({ uniqueID: uniqueId }))
      yield* put(principal, invoice, known, comments)
    })

    /** Replaces an invoice of `from`, whose numbers the new content corrects. Runs in a transaction. */
    const correct = Effect.fnUntraced(function*(principal: Principal, invoice: ReadInvoice, from: InvoiceCarrier, comments: ReadonlyArray<InvoiceComment>) {
      const { carrier, uniqueId } = invoice.row
      const known = yield* lockBoth(store, principal.tenantId, [from, carrier], uniqueId)
      const before = yield* Effect.fromOption(known.from, () => new InvoiceNotFound({ uniqueID: uniqueId }))
      if (Option.isSome(known.to)) return yield* new InvoiceExists({ uniqueID: uniqueId })
      yield* put(principal, invoice, before, comments)
    })

    const replace = Effect.fn("Invoices.replace")(function*(principal: Principal, uniqueID: string, input: unknown, comments?: unknown) {
      const viewer = yield* writerOf(principal)
      const commentList = yield* readComments(comments)
      const invoice = yield* readInvoice(input)
      const { carrier, uniqueId } = invoice.row
      if (uniqueId !== uniqueID) {
        return yield* InvalidInput.of(fault(["uniqueID"], "The ids in path and body differ. Send the invoice under its own id.", "conflict"))
      }
      yield* checkOwn(principal, carrier)
      yield* findAgain(Effect.flatMap(storedCarrier(store, principal.tenantId, viewer, carrier, uniqueId), (from) =>
        transaction.run(isSameCarrier(from, carrier) ? overwrite(principal, invoice, commentList) : correct(principal, invoice, from, commentList))))
      return { message: `Invoice ${uniqueId} was replaced.`, warnings: invoice.warnings }
    })

    /** Finds invoices with this id that the viewer may see, at most two, which is enough to find out whether the id is ambiguous. */
    const named = (tenantId: string, viewer: InvoiceViewer, uniqueId: string, { dot, mc }: CarrierFilter) =>
      !isUniqueID(uniqueId) ? Effect.succeed([]) : store.list(tenantId, viewer, { uniqueId, dot, mc, shipmentId: undefined, invoiceNumber: undefined }, { after: undefined, limit: 2 })

    /** Runs in a transaction. */
    const erase = Effect.fnUntraced(function*({ client, tenantId }: Principal, carrier: InvoiceCarrier, uniqueID: string, comments: ReadonlyArray<InvoiceComment>) {
      const known = yield* Effect.fromOption(yield* store.lock(tenantId, carrier, uniqueID), () => new InvoiceNotFound({ uniqueID }))
      yield* store.remove(tenantId, carrier, uniqueID)
      const doc = changeDoc(comments, [], decoder.decode(known.body))
      yield* store.record(tenantId, carrier, uniqueID, { at: yield* Clock.currentTimeMillis, client, action: "deleted", doc })
      yield* updateDocumentAccess({ invoices: store, documents }, tenantId, carrier, [known.invoiceNumber])
    })

    const remove = Effect.fn("Invoices.remove")(function*(principal: Principal, uniqueID: string, options?: unknown) {
      const viewer = yield* writerOf(principal)
      const { comments, ...from } = yield* decodeRemoval(options ?? {})
      const commentList = yield* readComments(comments)
      yield* findAgain(Effect.gen(function*() {
        const [found, other] = yield* named(principal.tenantId, viewer, uniqueID, carrierFilter(from))
        if (found === undefined) return yield* new InvoiceNotFound({ uniqueID })
        if (other !== undefined) return yield* ambiguous("uniqueID", "invoice of this id")
        yield* transaction.run(erase(principal, found.carrier, uniqueID, commentList))
      }))
      return { message: `Invoice ${uniqueID} was deleted.` }
    })

    const get = Effect.fn("Invoices.get")(function*(principal: Principal, uniqueID: string, from?: unknown) {
      const viewer = yield* viewerOf(principal)
      const filter = yield* readFrom(from)
      if (!isUniqueID(uniqueID)) return yield* new InvoiceNotFound({ uniqueID })
      const found = filter.dot === undefined && filter.mc === undefined
        ? Option.getOrUndefined(yield* store.find(principal.tenantId, viewer, uniqueID))
        : (yield* named(principal.tenantId, viewer, uniqueID, filter))[0]
      if (found === undefined) return yield* new InvoiceNotFound({ uniqueID })
      return { body: found.body, warnings: totalWarnings(jsonOf(found.body)) }
    })

    const list = Effect.fn("Invoices.list")(function*(principal: Principal, input: unknown = {}) {
      const viewer = yield* viewerOf(principal)
      const { cursor, invoiceNumber, limit = maxInvoicesPerPage, shipmentID, uniqueID, ...from } = yield* decodeQuery(input)
      const filter = { uniqueId: uniqueID, shipmentId: shipmentID, invoiceNumber, ...carrierFilter(from) }
      let after = yield* readCursor(cursor)
      const data: Array<Uint8Array> = []
      let bytes = 0
      while (true) {
        const wanted = Math.min(rowsAtATime, limit - data.length)
        const position = after === undefined ? undefined : { uniqueId: after.id, carrier: after.carrier }
        // one extra row shows whether another page follows
        const rows = yield* store.list(principal.tenantId, viewer, filter, { after: position, limit: wanted + 1 })
        for (const row of rows.slice(0, wanted)) {
          if (bytes + row.body.length > pageBytes) return { data, nextCursor: cursorAt(after!) }
          data.push(row.body)
          bytes += row.body.length
          after = { id: row.uniqueId, carrier: row.carrier }
        }
        if (rows.length <= wanted) return { data, nextCursor: undefined }
        if (data.length === limit) return { data, nextCursor: cursorAt(after!) }
      }
    })

    const since = Effect.fn("Invoices.since")(function*(principal: Principal, position: string | undefined, limit = rowsAtATime) {
      const { rows, ...page } = yield* store.since(principal.tenantId, yield* viewerOf(principal), position, limit)
      return { ...page, rows: rows.map(({ body }) => body) }
    })

    const history = Effect.fn("Invoices.history")(function*(principal: Principal, uniqueID: string, from?: unknown) {
      yield* carriersOnly(principal)
      const viewer = yield* viewerOf(principal)
      const filter = yield* readFrom(from)
      const carrier = namedCarrier(viewer, filter) ?? (yield* named(principal.tenantId, viewer, uniqueID, filter))[0]?.carrier
      const changes = carrier === undefined || !isUniqueID(uniqueID) ? [] : (yield* changesOf(principal.tenantId, carrier, uniqueID))
      if (changes.length === 0) return yield* new InvoiceNotFound({ uniqueID })
      return changes
    })

    const changesOf = (tenantId: string, carrier: InvoiceCarrier, uniqueId: string) =>
      Effect.flatMap(store.history(tenantId, carrier, uniqueId), (entries) => readChanges<InvoiceChange>(entries))

    return Invoices.of({ create, list, since, get, replace, remove, history })
  }))
}

const decoder = new TextDecoder()

/** Whether a text can be an invoice id. Other text never reaches a store. */
const isUniqueID = Schema.is(InvoiceId)

const jsonOf = (body: Uint8Array): Invoice => JSON.parse(decoder.decode(body))

const sameContent = Effect.fnUntraced(function*(known: InvoiceRow, { text }: ReadInvoice) {
  const before = decoder.decode(known.body)
  if (before === text) return true
  const pace = yield* makePace
  const [old, next] = [JSON.parse(before), JSON.parse(text)] as const
  yield* pace.turn
  const oldText = canonicalText(old)
  yield* pace.turn
  return oldText === canonicalText(next)
})

/** The error when several carriers match. */
export const ambiguous = (member: string, what: string): InvalidInput =>
  InvalidInput.of(fault([member], `Several carriers have an ${what}. Select one with DOT and MC.`, "conflict"))

const changeDoc = (comments: ReadonlyArray<InvoiceComment>, warnings: ReadonlyArray<string>, invoice: string): string =>
  `{"comments":${JSON.stringify(comments)},"warnings":${JSON.stringify(warnings)},"invoice":${invoice}}`

/** `Change` is what the record of these entries has: an invoice, or documents. */
export const readChanges = <Change extends Pick<InvoiceHistoryEntry, "action">>(entries: ReadonlyArray<InvoiceHistoryEntry>): Effect.Effect<ReadonlyArray<Change>> =>
  mapPaced(entries, ({ action, at, client, doc }) => ({ at: formatInstant(at), client, action, ...JSON.parse(doc) }))
