/** Pickups, invoices and documents as promises, with the methods of `createWaybill`. */
import { type Invoice, InvoiceDocuments, Invoices, type PickupOptions, type PickupQuery, type PickupReport, type PickupRequest, Pickups, type StoredDocuments } from "@waybill/core"
import { Effect, Stream } from "effect"
import { type Caller, principalOf } from "./Caller.ts"
import { parsed, type Run } from "./Run.ts"

type Members = Readonly<Record<string, unknown>>

/** Area C. */
export const pickupCallsOf = (run: Run) => ({
  pickups: {
    /** The same request under the same `idempotencyKey` gets the same answer. */
    create: (caller: Caller, request: typeof PickupRequest.Encoded, options?: PickupOptions) =>
      run(Effect.flatMap(Pickups, (all) => all.create(principalOf(caller), request, options))),
    update: (caller: Caller, carrierPickupNumber: string, request: typeof PickupRequest.Encoded) =>
      run(Effect.flatMap(Pickups, (all) => all.update(principalOf(caller), carrierPickupNumber, request))),
    cancel: (caller: Caller, carrierPickupNumber: string) => run(Effect.flatMap(Pickups, (all) => all.cancel(principalOf(caller), carrierPickupNumber))),
    /** Reports a status of a pickup, for carriers. */
    report: (caller: Caller, pickupId: string, report: typeof PickupReport.Encoded) => run(Effect.flatMap(Pickups, (all) => all.report(principalOf(caller), pickupId, report))),
    visibility: (caller: Caller, query: PickupQuery) => run(Effect.flatMap(Pickups, (all) => all.visibility(principalOf(caller), query))),
    /** The pickup with its history, for carriers. */
    record: (caller: Caller, pickupId: string) => run(Effect.flatMap(Pickups, (all) => all.record(principalOf(caller), pickupId)))
  }
})

/** Area B. */
export const invoiceCallsOf = (run: Run) => ({
  invoices: {
    create: (caller: Caller, invoice: Invoice) => run(Effect.flatMap(Invoices, (all) => all.create(principalOf(caller), invoice))),
    replace: (caller: Caller, uniqueID: string, invoice: Invoice, comments?: unknown) =>
      run(Effect.flatMap(Invoices, (all) => all.replace(principalOf(caller), uniqueID, invoice, comments))),
    remove: (caller: Caller, uniqueID: string, options?: Members) => run(Effect.flatMap(Invoices, (all) => all.remove(principalOf(caller), uniqueID, options))),
    /** Invoices that the caller may see, by uniqueID. */
    list: (caller: Caller, query: Members = {}) =>
      run(Effect.flatMap(Invoices, (all) =>
        Effect.map(all.list(principalOf(caller), query), ({ data, nextCursor }) => ({ data: data.map((bytes) => parsed<Invoice>(bytes)), nextCursor })))),
    get: (caller: Caller, uniqueID: string, from?: Members) =>
      run(Effect.flatMap(Invoices, (all) =>
        Effect.map(all.get(principalOf(caller), uniqueID, from), ({ body, warnings }) => ({ invoice: parsed<Invoice>(body), warnings })))),
    history: (caller: Caller, uniqueID: string, from?: Members) => run(Effect.flatMap(Invoices, (all) => all.history(principalOf(caller), uniqueID, from)))
  },
  documents: {
    /** Files are bytes or base64. The upload is atomic. */
    upload: (caller: Caller, upload: Members) => run(Effect.flatMap(InvoiceDocuments, (all) => all.upload(principalOf(caller), upload))),
    remove: (caller: Caller, invoiceNumber: string, options?: Members) =>
      run(Effect.flatMap(InvoiceDocuments, (all) => all.remove(principalOf(caller), invoiceNumber, options))),
    list: (caller: Caller, query: Members = {}) =>
      run(Effect.flatMap(InvoiceDocuments, (all) =>
        Effect.map(all.list(principalOf(caller), query), ({ data, nextCursor }) => ({ data: data.map(documentsView), nextCursor })))),
    get: (caller: Caller, invoiceNumber: string, from?: Members) =>
      run(Effect.flatMap(InvoiceDocuments, (all) => Effect.map(all.get(principalOf(caller), invoiceNumber, from), documentsView))),
    history: (caller: Caller, invoiceNumber: string, from?: Members) =>
      run(Effect.flatMap(InvoiceDocuments, (all) => all.history(principalOf(caller), invoiceNumber, from)))
  }
})

/** A file's bytes are read from storage on demand. */
const documentsView = ({ documents, record }: StoredDocuments) => ({
  record,
  documents: documents.map(({ documentType, files }) => ({
    documentType,
    files: files.map(({ content, ...file }) => ({ ...file, content: (): ReadableStream<Uint8Array> => Stream.toReadableStream(content) }))
  }))
})

export interface PickupCalls extends ReturnType<typeof pickupCallsOf> {}

export interface InvoiceCalls extends ReturnType<typeof invoiceCallsOf> {}
