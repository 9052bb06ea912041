/** Storage port: invoices of each carrier, and everything that was ever done to them. */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"

/** Which carrier an invoice or document comes from: its DOT and MC numbers, normalised. */
export interface InvoiceCarrier {
  readonly dot: string
  readonly mc: string
}

export interface InvoiceRow {
  readonly carrier: InvoiceCarrier
  /** The carrier's own identifier of the invoice. Another carrier's is another invoice. */
  readonly uniqueId: string
  readonly shipmentId: string
  readonly invoiceNumber: string
  /** Accounts that the invoice itself names; the accounts of its shipment see it as well. */
  readonly accounts: ReadonlyArray<string>
  /** The invoice as JSON, byte for byte as it goes out. */
  readonly body: Uint8Array
}

/**
 * Whose invoices a caller may see or write: all of a tenant, one carrier's (`isOfCarrier`), or what is addressed to
 * some accounts: named by the invoice, or the accounts of the shipment that its shipmentID names.
 */
export type InvoiceViewer =
  | { readonly _tag: "All" }
  | { readonly _tag: "Carrier"; readonly dot: string | undefined; readonly mc: string | undefined }
  | { readonly _tag: "Accounts"; readonly accounts: ReadonlyArray<string> }

/** All that are given must hold; texts compare as they are. */
export interface InvoiceFilter {
  readonly uniqueId: string | undefined
  readonly shipmentId: string | undefined
  readonly dot: string | undefined
  readonly mc: string | undefined
  readonly invoiceNumber: string | undefined
}

export interface InvoiceHistoryEntry {
  readonly at: number
  /** Who did it. */
  readonly client: string
  readonly action: "created" | "replaced" | "deleted" | "documents added" | "documents deleted"
  /** JSON that only core reads: comments, warnings, the body before or after. */
  readonly doc: string
}

/** An entry of the history of something that names a shipment. */
export interface ShipmentInvoiceEntry extends InvoiceHistoryEntry {
  readonly carrier: InvoiceCarrier
  /** The invoice's, or a document record's invoice number after `#`. */
  readonly uniqueId: string
}

export class InvoiceStore extends Context.Service<InvoiceStore, {
  /** The carrier's invoice of this id, locked until the transaction ends, whether it exists or not. */
  readonly lock: (tenantId: string, carrier: InvoiceCarrier, uniqueId: string) => Effect.Effect<Option.Option<InvoiceRow>, StorageError>
  /** Creates or replaces it as a whole. Call inside the transaction of `lock`. */
  readonly put: (tenantId: string, invoice: InvoiceRow) => Effect.Effect<void, StorageError>
  readonly remove: (tenantId: string, carrier: InvoiceCarrier, uniqueId: string) => Effect.Effect<void, StorageError>
  /** Of several carriers' invoices of this id that the viewer may see, the one written last. */
  readonly find: (tenantId: string, viewer: InvoiceViewer, uniqueId: string) => Effect.Effect<Option.Option<InvoiceRow>, StorageError>
  /** By uniqueId, DOT and MC, after a position; `limit` at most. */
  readonly list: (
    tenantId: string,
    viewer: InvoiceViewer,
    filter: InvoiceFilter,
    range: { readonly after: { readonly uniqueId: string; readonly carrier: InvoiceCarrier } | undefined; readonly limit: number }
  ) => Effect.Effect<ReadonlyArray<InvoiceRow>, StorageError>
  /** Appends; nothing ever changes or removes an entry. `uniqueId` is the invoice's, or a document record's invoice number after `#`. */
  readonly record: (
    tenantId: string,
    carrier: InvoiceCarrier,
    uniqueId: string,
    entry: InvoiceHistoryEntry
  ) => Effect.Effect<void, StorageError>
  /** Oldest first. */
  readonly history: (
    tenantId: string,
    carrier: InvoiceCarrier,
    uniqueId: string
  ) => Effect.Effect<ReadonlyArray<InvoiceHistoryEntry>, StorageError>
  /** History of all carriers' invoices and document records that name a shipment now, newest first; `limit` at most. */
  readonly historyOfShipment: (
    tenantId: string,
    shipmentId: string,
    limit: number
  ) => Effect.Effect<ReadonlyArray<ShipmentInvoiceEntry>, StorageError>
}>()("@waybill/core/invoices/InvoiceStore") {}
