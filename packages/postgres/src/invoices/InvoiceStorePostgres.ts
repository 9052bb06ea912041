/** Invoices on Postgres. */
import { maxHistoryBytes } from "@waybill/core"
import { type InvoiceCarrier, type InvoiceRow, InvoiceStore } from "@waybill/core/invoices"
import { Effect, Option } from "effect"
import type { Decoded } from "../client/SqlRow.ts"
import { tenant } from "../client/SqlStatement.ts"
import { invoices, replaceAccountsOf } from "../shared/InvoiceAccountsSql.ts"
import { seesCommitted } from "../shared/Isolation.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { storedSince } from "../shared/StoredSince.ts"
import * as statements from "./InvoiceSql.ts"
import { makeLockShipmentsOf } from "./InvoiceAccounts.ts"

export const layer = storeLayer(InvoiceStore, ({ lookup, schema, settled, sql, takeLock }) => {
  const first = ([row]: ReadonlyArray<Decoded<typeof statements.invoiceRow>>) => Option.map(Option.fromUndefinedOr(row), invoiceOf)

  const lock = Effect.fnUntraced(function*(tenantId: string, carrier: InvoiceCarrier, uniqueId: string) {
    const { isolation } = yield* takeLock(tenantId, statements.lockRow, statements.lockInvoice(tenantId, carrier, uniqueId))
    yield* seesCommitted(isolation, "invoices and their documents")
    return first(yield* sql.rows(statements.invoiceRow, statements.selectInvoice(schema, tenantId, carrier, uniqueId)))
  })

  const lockShipments = makeLockShipmentsOf(sql, schema, invoices)

  const put = Effect.fnUntraced(function*(tenantId: string, invoice: InvoiceRow, from?: InvoiceCarrier) {
    const { accounts, carrier, shipmentId, uniqueId } = invoice
    yield* lockShipments(tenantId, statements.keyOf(from ?? carrier, uniqueId), accounts.length === 0 ? [shipmentId] : [])
    if (from !== undefined) yield* sql.run(statements.removeInvoice(schema, tenantId, from, uniqueId))
    yield* sql.run(statements.putInvoice(schema, tenantId, invoice))
    yield* sql.run(replaceAccountsOf(schema, tenant(tenantId), invoices, statements.keyOf(carrier, uniqueId)))
  })

  const remove = Effect.fnUntraced(function*(tenantId: string, carrier: InvoiceCarrier, uniqueId: string) {
    yield* lockShipments(tenantId, statements.keyOf(carrier, uniqueId), [])
    yield* sql.run(statements.removeInvoice(schema, tenantId, carrier, uniqueId))
  })

  return {
    lock,
    put,
    remove,
    find: (tenantId, viewer, uniqueId) => Effect.map(lookup((sql) => sql.rows(statements.invoiceRow, statements.findInvoice(schema, tenantId, viewer, uniqueId))), first),
    list: (tenantId, viewer, filter, range) =>
      Effect.map(lookup((sql) => sql.rows(statements.invoiceRow, statements.listInvoices(schema, tenantId, viewer, filter, range))), (rows) => rows.map(invoiceOf)),
    since: (tenantId, viewer, position, limit) =>
      storedSince("InvoiceStore.since", {
        sql,
        settled,
        rows: statements.invoiceRow,
        read: (between) => statements.invoicesSince(schema, tenantId, viewer, between),
        keyOf: ({ dot, mc, uniqueId }) => [uniqueId, dot, mc]
      })(tenantId, position, limit).pipe(Effect.map(({ rows, ...page }) => ({ ...page, rows: rows.map(invoiceOf) }))),
    record: (tenantId, carrier, uniqueId, entry) => sql.run(statements.addHistory(schema, tenantId, carrier, uniqueId, entry)),
    moveHistory: (tenantId, uniqueId, from, to) => sql.run(statements.moveHistory(schema, tenantId, uniqueId, from, to)),
    history: (tenantId, carrier, uniqueId) => lookup((sql) => sql.rows(statements.historyRow, statements.historyOfInvoice(schema, tenantId, carrier, uniqueId, maxHistoryBytes))),
    historyOfShipment: (tenantId, shipmentId, limit) =>
      Effect.map(
        lookup((sql) => sql.rows(statements.shipmentHistoryRow, statements.historyOfShipment(schema, tenantId, shipmentId, { entries: limit, bytes: maxHistoryBytes }))),
        (rows) => rows.map(({ dot, mc, ...entry }) => ({ ...entry, carrier: { dot, mc } }))
      )
  }
})

const invoiceOf = ({ dot, mc, ...invoice }: Decoded<typeof statements.invoiceRow>): InvoiceRow => ({ ...invoice, carrier: { dot, mc } })
