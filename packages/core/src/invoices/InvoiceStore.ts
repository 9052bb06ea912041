/** Storage port: the invoices of each carrier, and their full history. */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"
import type { StoredSince } from "../shared/StoredSince.ts"

/** The carrier of an invoice or document: its normalised DOT and MC numbers. */
export interface InvoiceCarrier {
  readonly dot: string
  readonly mc: string
}

/** An invoice as stored. */
export interface InvoiceRow {
  readonly carrier: InvoiceCarrier
  /** The carrier's id of the invoice. The same id of another carrier is another invoice. */
  readonly uniqueId: string
  readonly shipmentId: string
  readonly invoiceNumber: string
  /** Accounts that the invoice names. Only they see it; if it names none, the accounts of its shipment do. */
  readonly accounts: ReadonlyArray<string>
  /** The invoice as the JSON bytes that are returned. */
  readonly body: Uint8Array
}

/**
 * The invoices that a caller may see or write: all of a tenant, those of one carrier (`isOfCarrier`), or those addressed to some accounts:
 * those that the invoice names, or those of its shipment if it names none.
 */
export type InvoiceViewer =
  | { readonly _tag: "All" }
  | { readonly _tag: "Carrier"; readonly dot: string | undefined; readonly mc: string | undefined }
  | { readonly _tag: "Accounts"; readonly accounts: ReadonlyArray<string> }

/** All given conditions must match exactly. */
export interface InvoiceFilter {
  readonly uniqueId: string | undefined
  readonly shipmentId: string | undefined
  readonly dot: string | undefined
  readonly mc: string | undefined
  readonly invoiceNumber: string | undefined
}

/** One change of an invoice or its documents. `at` is in milliseconds since 1970. */
export interface InvoiceHistoryEntry {
  readonly at: number
  /** The client that made the change. */
  readonly client: string
  readonly action: "created" | "replaced" | "deleted" | "documents added" | "documents deleted"
  /** JSON that only core reads: comments, warnings, and the body before or after. */
  readonly doc: string
}

/** A history entry of an invoice or document record with a shipment. */
export interface ShipmentInvoiceEntry extends InvoiceHistoryEntry {
  readonly carrier: InvoiceCarrier
  /** The invoice's id, or a space and the invoice number of a document record. */
  readonly uniqueId: string
}

/** Storage port: invoices of each carrier, with their history. */
export class InvoiceStore extends Context.Service<InvoiceStore, {
  /** Locks the carrier's invoice with this id, existing or not, until the transaction ends. */
  readonly lock: (tenantId: string, carrier: InvoiceCarrier, uniqueId: string) => Effect.Effect<Option.Option<InvoiceRow>, StorageError>
  /** Creates or replaces the invoice, in the transaction of `lock`. `from`: the numbers that it corrects, under which it is removed. */
  readonly put: (tenantId: string, invoice: InvoiceRow, from?: InvoiceCarrier) => Effect.Effect<void, StorageError>
  readonly remove: (tenantId: string, carrier: InvoiceCarrier, uniqueId: string) => Effect.Effect<void, StorageError>
  /** Finds an invoice that the viewer may see. If several carriers have one with this id, the one written last. */
  readonly find: (tenantId: string, viewer: InvoiceViewer, uniqueId: string) => Effect.Effect<Option.Option<InvoiceRow>, StorageError>
  /** Lists invoices in the order of uniqueId, DOT and MC, after a position; at most `limit`. */
  readonly list: (
    tenantId: string,
    viewer: InvoiceViewer,
    filter: InvoiceFilter,
    range: { readonly after: { readonly uniqueId: string; readonly carrier: InvoiceCarrier } | undefined; readonly limit: number }
  ) => Effect.Effect<ReadonlyArray<InvoiceRow>, StorageError>
  /**
   * Invoices that were created or replaced since a position, as they are now; at most `limit`. Following the positions returns each change, or a
   * later one of the same invoice. `undefined` is the present end.
   */
  readonly since: (tenantId: string, viewer: InvoiceViewer, position: string | undefined, limit: number) => Effect.Effect<StoredSince<InvoiceRow>, StorageError>
  /** Appends a history entry, which never changes. `uniqueId`: the invoice's id, or a space and the invoice number of a document record. */
  readonly record: (
    tenantId: string,
    carrier: InvoiceCarrier,
    uniqueId: string,
    entry: InvoiceHistoryEntry
  ) => Effect.Effect<void, StorageError>
  /** Moves the history of one invoice or document record to corrected numbers of its carrier. Entries that exist there stay, in order of time. */
  readonly moveHistory: (tenantId: string, uniqueId: string, from: InvoiceCarrier, to: InvoiceCarrier) => Effect.Effect<void, StorageError>
  /** History of one invoice or document record, oldest first; no older entries after `maxHistoryBytes`. */
  readonly history: (
    tenantId: string,
    carrier: InvoiceCarrier,
    uniqueId: string
  ) => Effect.Effect<ReadonlyArray<InvoiceHistoryEntry>, StorageError>
  /** History of all invoices and document records that name a shipment now, newest first; at most `limit`, and no more after `maxHistoryBytes`. */
  readonly historyOfShipment: (
    tenantId: string,
    shipmentId: string,
    limit: number
  ) => Effect.Effect<ReadonlyArray<ShipmentInvoiceEntry>, StorageError>
}>()("@waybill/core/invoices/InvoiceStore") {}
