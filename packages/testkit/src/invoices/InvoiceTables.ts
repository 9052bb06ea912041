/** Rows of the memory stores: invoices with their history, document records, and contents in chunks. */
import { compareText } from "@waybill/core"
import {
  type DocumentFile,
  type DocumentRecord,
  type InvoiceCarrier,
  type InvoiceHistoryEntry,
  type InvoiceRow,
  type InvoiceViewer,
  isOfCarrier,
  type ShipmentInvoiceEntry
} from "@waybill/core/invoices"
import { Context, Layer } from "effect"
import { AreaRows, areaRows } from "../access/AreaRows.ts"

/** Increases with each write. */
export interface Written {
  readonly writtenNo: number
}

export interface ContentRow {
  readonly chunks: Array<Uint8Array>
  kept: boolean
  readonly writtenAt: number
}

class TenantInvoices {
  readonly invoices = new Map<string, InvoiceRow & Written>()
  readonly history = new Map<string, Array<InvoiceHistoryEntry>>()
  readonly records = new Map<string, DocumentRecord & Written>()
  readonly contents = new Map<string, ContentRow>()
  /** By content id. */
  readonly discards = new Map<string, Discard>()
  storedBytes = 0
}

interface Discard {
  readonly at: number
  readonly claimed: boolean
}

export class InvoiceTables extends Context.Service<InvoiceTables, InvoiceRows>()("@waybill/testkit/invoices/InvoiceTables") {
  static readonly layer = Layer.effect(InvoiceTables, areaRows((shared) => new InvoiceRows(shared, () => new TenantInvoices())))
}

/** The fields that decide whether a viewer sees a row. */
interface Addressed {
  readonly carrier: InvoiceCarrier
  readonly shipmentId: string
  readonly accounts: ReadonlyArray<string>
}

class InvoiceRows extends AreaRows<TenantInvoices> {
  private writes = 0

  putInvoice(tenantId: string, row: InvoiceRow): void {
    this.journal.put(this.of(tenantId).invoices, keyOf(row.uniqueId, row.carrier), { ...row, writtenNo: ++this.writes })
  }

  addHistory(tenantId: string, carrier: InvoiceCarrier, uniqueId: string, entry: InvoiceHistoryEntry): void {
    const own = this.journal.listIn(this.of(tenantId).history, keyOf(uniqueId, carrier))
    this.journal.insert(own, own.length, entry)
  }

  moveHistory(tenantId: string, uniqueId: string, from: InvoiceCarrier, to: InvoiceCarrier): void {
    const { history } = this.of(tenantId)
    const moved = history.get(keyOf(uniqueId, from))
    if (moved === undefined) return
    this.journal.drop(history, keyOf(uniqueId, from))
    this.journal.put(history, keyOf(uniqueId, to), [...history.get(keyOf(uniqueId, to)) ?? [], ...moved].sort((a, b) => a.at - b.at))
  }

  /** History of invoices that name a shipment, newest first. */
  historyOfShipment(tenantId: string, shipmentId: string): ReadonlyArray<ShipmentInvoiceEntry> {
    const { history, invoices, records } = this.of(tenantId)
    const named = [
      ...[...invoices.values()].filter((each) => each.shipmentId === shipmentId),
      ...[...records.values()].filter((each) => each.shipmentId === shipmentId).map(({ carrier, invoiceNumber }) => ({ carrier, uniqueId: ` ${invoiceNumber}` }))
    ]
    return named
      .flatMap(({ carrier, uniqueId }) => (history.get(keyOf(uniqueId, carrier)) ?? []).map((entry) => ({ ...entry, carrier, uniqueId })))
      .toReversed()
      .sort((a, b) => b.at - a.at)
  }

  addDocuments(tenantId: string, record: DocumentRecord): void {
    const { records } = this.of(tenantId)
    const key = keyOf(record.invoiceNumber, record.carrier)
    const files = [...records.get(key)?.files ?? [], ...record.files]
    this.journal.put(records, key, { ...record, files, writtenNo: ++this.writes })
  }

  /** Removes all, or exactly the named ones: none if one of them does not exist. */
  removeFiles(
    tenantId: string,
    carrier: InvoiceCarrier,
    invoiceNumber: string,
    fileIds: ReadonlyArray<string> | undefined
  ): ReadonlyArray<DocumentFile> {
    const { records } = this.of(tenantId)
    const key = keyOf(invoiceNumber, carrier)
    const record = records.get(key)
    if (record === undefined) return []
    const wanted = record.files.filter((each) => fileIds === undefined || fileIds.includes(each.fileId))
    if (fileIds?.some((fileId) => wanted.every((each) => each.fileId !== fileId)) === true) return []
    this.journal.put(records, key, { ...record, files: record.files.filter((each) => !wanted.includes(each)) })
    return wanted
  }

  /** Whether a file has the contents `to` now. */
  moveContent(tenantId: string, { carrier, invoiceNumber }: Pick<DocumentRecord, "carrier" | "invoiceNumber">, { from, to }: { readonly from: string; readonly to: string }, at: number): boolean {
    const { discards, records } = this.of(tenantId)
    const key = keyOf(invoiceNumber, carrier)
    const record = records.get(key)
    if (discards.get(to)?.claimed !== false || record?.files.every(({ contentId }) => contentId !== from) !== false) return false
    this.journal.put(records, key, { ...record, files: record.files.map((file) => file.contentId === from ? { ...file, contentId: to } : file) })
    this.journal.drop(discards, to)
    this.journal.put(discards, from, { at, claimed: false })
    return true
  }

  sees(tenantId: string, viewer: InvoiceViewer, { accounts, carrier, shipmentId }: Addressed): boolean {
    switch (viewer._tag) {
      case "All":
        return true
      case "Carrier":
        return isOfCarrier(viewer, carrier)
      case "Accounts":
        return (accounts.length > 0 ? accounts : this.owners.accountsOf(tenantId, shipmentId)).some((account) => viewer.accounts.includes(account))
    }
  }
}

/** Ids contain no line break. */
export const keyOf = (id: string, { dot, mc }: InvoiceCarrier): string => `${id}\n${dot}\n${mc}`

/** Whether a carrier has the given numbers. */
export const isFrom = (carrier: InvoiceCarrier, { dot, mc }: { readonly dot: string | undefined; readonly mc: string | undefined }): boolean =>
  (dot ?? carrier.dot) === carrier.dot && (mc ?? carrier.mc) === carrier.mc

export const compareKeys = (a: readonly [string, InvoiceCarrier], b: readonly [string, InvoiceCarrier]): number =>
  compareText(a[0], b[0]) || compareText(a[1].dot, b[1].dot) || compareText(a[1].mc, b[1].mc)

export const writtenLast = <A extends Written>(rows: ReadonlyArray<A>): A | undefined =>
  rows.toSorted((a, b) => b.writtenNo - a.writtenNo)[0]
