/** Which documents support which invoice, in memory. */
import { type DocumentRecord, DocumentStore, type InvoiceViewer } from "@waybill/core/invoices"
import { storeLayer } from "../shared/StoreLayer.ts"
import { compareKeys, InvoiceTables, isFrom, type Written, writtenLast } from "./InvoiceTables.ts"

export const layer = storeLayer(DocumentStore, { rows: InvoiceTables }, ({ journal, operate, rows }) => {
  const seen = (tenantId: string, viewer: InvoiceViewer) =>
    [...rows.of(tenantId).records.values()].filter((each) => each.files.length > 0 && rows.sees(tenantId, viewer, each))

  return {
    add: (tenantId, record) => operate(() => rows.addDocuments(tenantId, record)),
    find: (tenantId, viewer, invoiceNumber) =>
      operate(() => {
        const found = writtenLast(seen(tenantId, viewer).filter((each) => each.invoiceNumber === invoiceNumber))
        return found === undefined ? undefined : recordOf(found)
      }),
    list: (tenantId, viewer, { documentTypes, dot, invoiceNumber, mc }, { after, limit }) =>
      operate(() =>
        seen(tenantId, viewer)
          .filter((each) =>
            (invoiceNumber ?? each.invoiceNumber) === each.invoiceNumber && isFrom(each.carrier, { dot, mc }) &&
            (after === undefined || compareKeys([each.invoiceNumber, each.carrier], [after.invoiceNumber, after.carrier]) > 0)
          )
          .map((each) => ofTypes(recordOf(each), documentTypes))
          .filter((each) => each.files.length > 0)
          .sort((a, b) => compareKeys([a.invoiceNumber, a.carrier], [b.invoiceNumber, b.carrier]))
          .slice(0, limit)
      ),
    countFiles: (tenantId, { dot, mc }, invoiceNumber) =>
      operate(() => [...rows.of(tenantId).records.values()].find((each) => each.invoiceNumber === invoiceNumber && each.carrier.dot === dot && each.carrier.mc === mc)?.files.length ?? 0),
    storedBytes: (tenantId) => operate(() => rows.of(tenantId).storedBytes),
    changeStoredBytes: (tenantId, by) =>
      operate(() => {
        const own = rows.of(tenantId)
        journal.set(own, "storedBytes", own.storedBytes + by)
        return own.storedBytes
      }),
    discard: (tenantId, contentId) =>
      operate((now) => {
        const { discards } = rows.of(tenantId)
        if (!discards.has(contentId)) journal.put(discards, contentId, { at: now, claimed: false })
      }),
    moveContent: (tenantId, record, contents) => operate((now) => rows.moveContent(tenantId, record, contents, now)),
    claimDiscarded: (tenantId, olderThanMillis, limit) =>
      operate((now) => {
        const { discards } = rows.of(tenantId)
        const old = [...discards].filter(([, { at, claimed }]) => claimed || at <= now - olderThanMillis).sort(([, a], [, b]) => a.at - b.at).slice(0, limit)
        for (const [contentId, { at }] of old) journal.put(discards, contentId, { at, claimed: true })
        return old.map(([contentId]) => contentId)
      }),
    forgetDiscarded: (tenantId, contentIds) =>
      operate(() => {
        const { discards } = rows.of(tenantId)
        for (const contentId of contentIds) if (discards.get(contentId)?.claimed === true) journal.drop(discards, contentId)
      }),
    countDiscarded: (tenantId) => operate(() => rows.of(tenantId).discards.size),
    remove: (tenantId, carrier, invoiceNumber, fileIds) => operate(() => rows.removeFiles(tenantId, carrier, invoiceNumber, fileIds))
  }
})

const ofTypes = (record: DocumentRecord, types: ReadonlyArray<string> | undefined): DocumentRecord =>
  types === undefined ? record : { ...record, files: record.files.filter((each) => types.includes(each.documentType)) }

const recordOf = ({ writtenNo: _, ...record }: DocumentRecord & Written): DocumentRecord => record
