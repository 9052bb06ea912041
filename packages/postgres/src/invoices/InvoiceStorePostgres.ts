/** Invoices on Postgres. */
import { maxHistoryBytes, StorageError } from "@waybill/core"
import { type InvoiceCarrier, type InvoiceRow, InvoiceStore } from "@waybill/core/invoices"
import { Effect, Layer, Option } from "effect"
import { PgClient } from "../client/PgClient.ts"
import { type Decoded } from "../client/SqlRow.ts"
import { makeLookup } from "../shared/Lookups.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { makeTakeLock } from "../shared/AdvisoryLock.ts"
import { makeSettled } from "../shared/SettledOnCitus.ts"
import { storedSince } from "../shared/StoredSince.ts"
import * as statements from "./InvoiceSql.ts"

export const layer = Layer.effect(
  InvoiceStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { identifier: schema } = yield* WaybillSchema
    const lookup = yield* makeLookup
    const settled = yield* makeSettled
    const takeLock = yield* makeTakeLock

    const first = ([row]: ReadonlyArray<Decoded<typeof statements.invoiceRow>>) => Option.map(Option.fromUndefinedOr(row), invoiceOf)

    const lock = Effect.fnUntraced(function*(tenantId: string, carrier: InvoiceCarrier, uniqueId: string) {
      yield* takeLock(tenantId, statements.lockInvoice(tenantId, carrier, uniqueId))
      return first(yield* sql.rows(statements.invoiceRow, statements.selectForUpdate(schema, tenantId, carrier, uniqueId)))
    })

    return InvoiceStore.of({
      lock: (tenantId, carrier, uniqueId) => StorageError.refail("InvoiceStore.lock")(lock(tenantId, carrier, uniqueId)),
      put: (tenantId, invoice) => sql.run(statements.putInvoice(schema, tenantId, invoice)).pipe(StorageError.refail("InvoiceStore.put")),
      remove: (tenantId, carrier, uniqueId) =>
        sql.run(statements.removeInvoice(schema, tenantId, carrier, uniqueId)).pipe(StorageError.refail("InvoiceStore.remove")),
      find: (tenantId, viewer, uniqueId) =>
        lookup((sql) => sql.rows(statements.invoiceRow, statements.findInvoice(schema, tenantId, viewer, uniqueId))).pipe(
          Effect.map(first),
          StorageError.refail("InvoiceStore.find")
        ),
      list: (tenantId, viewer, filter, range) =>
        lookup((sql) => sql.rows(statements.invoiceRow, statements.listInvoices(schema, tenantId, viewer, filter, range))).pipe(
          Effect.map((rows) => rows.map(invoiceOf)),
          StorageError.refail("InvoiceStore.list")
        ),
      since: (tenantId, viewer, position, limit) =>
        storedSince("InvoiceStore.since", {
          sql,
          settled,
          rows: statements.invoiceRow,
          read: (between) => statements.invoicesSince(schema, tenantId, viewer, between),
          keyOf: ({ dot, mc, uniqueId }) => [uniqueId, dot, mc]
        })(tenantId, position, limit).pipe(Effect.map(({ rows, ...page }) => ({ ...page, rows: rows.map(invoiceOf) }))),
      record: (tenantId, carrier, uniqueId, entry) =>
        sql.run(statements.addHistory(schema, tenantId, carrier, uniqueId, entry)).pipe(StorageError.refail("InvoiceStore.record")),
      moveHistory: (tenantId, uniqueId, from, to) =>
        sql.run(statements.moveHistory(schema, tenantId, uniqueId, from, to)).pipe(StorageError.refail("InvoiceStore.moveHistory")),
      history: (tenantId, carrier, uniqueId) =>
        lookup((sql) => sql.rows(statements.historyRow, statements.historyOfInvoice(schema, tenantId, carrier, uniqueId))).pipe(
          StorageError.refail("InvoiceStore.history")
        ),
      historyOfShipment: (tenantId, shipmentId, limit) =>
        lookup((sql) =>
          sql.rows(
            statements.shipmentHistoryRow,
            statements.historyOfShipment(schema, tenantId, shipmentId, { entries: limit, bytes: maxHistoryBytes })
          )
        ).pipe(
          Effect.map((rows) => rows.map(({ dot, mc, ...entry }) => ({ ...entry, carrier: { dot, mc } }))),
          StorageError.refail("InvoiceStore.historyOfShipment")
        )
    })
  })
)

const invoiceOf = ({ dot, mc, ...invoice }: Decoded<typeof statements.invoiceRow>): InvoiceRow => ({ ...invoice, carrier: { dot, mc } })
