/** Invoices in memory. */
import { type InvoiceHistoryEntry, type InvoiceRow, InvoiceStore } from "@waybill/core/invoices"
import { Option } from "effect"
import { newestWithin } from "../shared/NewestFirst.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { compareKeys, InvoiceTables, isFrom, keyOf, type Written, writtenLast } from "./InvoiceTables.ts"

export const layer = storeLayer(InvoiceStore, { rows: InvoiceTables }, ({ journal, operate, rows }) => ({
  // transactions are serialised, so no other one is writing it
  lock: (tenantId, carrier, uniqueId) =>
    operate(() => Option.map(Option.fromUndefinedOr(rows.of(tenantId).invoices.get(keyOf(uniqueId, carrier))), rowOf)),
  put: (tenantId, invoice, from) =>
    operate(() => {
      if (from !== undefined) journal.drop(rows.of(tenantId).invoices, keyOf(invoice.uniqueId, from))
      rows.putInvoice(tenantId, invoice)
    }),
  remove: (tenantId, carrier, uniqueId) => operate(() => journal.drop(rows.of(tenantId).invoices, keyOf(uniqueId, carrier))),
  find: (tenantId, viewer, uniqueId) =>
    operate(() => {
      const seen = [...rows.of(tenantId).invoices.values()].filter((each) => each.uniqueId === uniqueId && rows.sees(tenantId, viewer, each))
      return Option.map(Option.fromUndefinedOr(writtenLast(seen)), rowOf)
    }),
  list: (tenantId, viewer, filter, { after, limit }) =>
    operate(() =>
      [...rows.of(tenantId).invoices.values()]
        .filter((each) =>
          (filter.uniqueId ?? each.uniqueId) === each.uniqueId && (filter.shipmentId ?? each.shipmentId) === each.shipmentId &&
          (filter.invoiceNumber ?? each.invoiceNumber) === each.invoiceNumber && isFrom(each.carrier, filter) &&
          (after === undefined || compareKeys([each.uniqueId, each.carrier], [after.uniqueId, after.carrier]) > 0) &&
          rows.sees(tenantId, viewer, each)
        )
        .sort((a, b) => compareKeys([a.uniqueId, a.carrier], [b.uniqueId, b.carrier]))
        .slice(0, limit)
        .map(rowOf)
    ),
  // transactions are committed one after the other
  since: (tenantId, viewer, position, limit) =>
    operate(() => {
      const all = [...rows.of(tenantId).invoices.values()].sort((a, b) => a.writtenNo - b.writtenNo)
      if (position === undefined) return { rows: [], position: String(all.at(-1)?.writtenNo ?? 0), more: false }
      const fresh = all.filter(({ writtenNo }) => writtenNo > Number(position))
      const page = fresh.slice(0, limit)
      return { rows: page.filter((each) => rows.sees(tenantId, viewer, each)).map(rowOf), position: String(page.at(-1)?.writtenNo ?? position), more: fresh.length > page.length }
    }),
  record: (tenantId, carrier, uniqueId, entry) => operate(() => rows.addHistory(tenantId, carrier, uniqueId, entry)),
  moveHistory: (tenantId, uniqueId, from, to) => operate(() => rows.moveHistory(tenantId, uniqueId, from, to)),
  history: (tenantId, carrier, uniqueId) => operate(() => newestWithin((rows.of(tenantId).history.get(keyOf(uniqueId, carrier)) ?? []).toReversed(), Infinity, bytesOf).toReversed()),
  historyOfShipment: (tenantId, shipmentId, limit) => operate(() => newestWithin(rows.historyOfShipment(tenantId, shipmentId), limit, bytesOf))
}))

const bytesOf = ({ doc }: InvoiceHistoryEntry): number => Buffer.byteLength(doc)

const rowOf = ({ writtenNo: _, ...row }: InvoiceRow & Written): InvoiceRow => row
