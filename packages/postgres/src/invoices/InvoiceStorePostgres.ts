/** Invoices on Postgres. */
import {
  type InvoiceCarrier,
  type InvoiceFilter,
  type InvoiceHistoryEntry,
  type InvoiceRow,
  InvoiceStore,
  type InvoiceViewer,
  maxHistoryBytes,
  StorageError
} from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { textArray, timestamptzArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import * as statements from "./InvoiceSql.ts"

const columns = ["text", "text", "text", "text", "text", "text[]", "bytea"] as const

export const layer = Layer.effect(
  InvoiceStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema

    const lock = Effect.fnUntraced(function*(tenantId: string, { dot, mc }: InvoiceCarrier, uniqueId: string) {
      yield* sql.bulk(statements.lockInvoice, [tenantId, dot, mc, uniqueId], ["text"])
      const [row] = yield* sql.bulk(
        `SELECT ${statements.invoiceColumns} FROM ${schema}.invoices AS t
         WHERE t.tenant_id = $1 AND t.unique_id = $2 AND t.dot = $3 AND t.mc = $4 FOR UPDATE`,
        [tenantId, uniqueId, dot, mc],
        columns
      )
      return row === undefined ? Option.none<InvoiceRow>() : Option.some(invoiceOf(row))
    })

    const find = Effect.fnUntraced(function*(tenantId: string, viewer: InvoiceViewer, uniqueId: string) {
      const p = statements.parameters(tenantId)
      const id = p.add(uniqueId)
      const seen = statements.seenBy(schema, p, viewer, (accounts) => `t.accounts && ${accounts}`)
      const [row] = yield* sql.bulk(
        `SELECT ${statements.invoiceColumns} FROM ${schema}.invoices AS t
         WHERE t.tenant_id = $1 AND t.unique_id = ${id} ${seen}
         ORDER BY t.written_at DESC, t.dot, t.mc
         LIMIT 1`,
        p.values,
        columns
      )
      return row === undefined ? Option.none<InvoiceRow>() : Option.some(invoiceOf(row))
    })

    const list = Effect.fnUntraced(function*(
      tenantId: string,
      viewer: InvoiceViewer,
      { dot, invoiceNumber, mc, shipmentId, uniqueId }: InvoiceFilter,
      { after, limit }: { readonly after: { readonly uniqueId: string; readonly carrier: InvoiceCarrier } | undefined; readonly limit: number }
    ) {
      const p = statements.parameters(tenantId)
      const addressed = viewer._tag === "Accounts"
        ? `JOIN ${statements.addressedTo(schema, `${p.add(textArray(viewer.accounts))}::text[]`)} AS mine USING (unique_id, dot, mc)`
        : ""
      const where = [
        viewer._tag === "Carrier" ? statements.ofCarrier(p, viewer) : "",
        statements.matching(p, { unique_id: uniqueId, shipment_id: shipmentId, dot, mc, invoice_number: invoiceNumber }),
        after === undefined
          ? ""
          : `AND (t.unique_id, t.dot, t.mc) > (${p.add(after.uniqueId)}, ${p.add(after.carrier.dot)}, ${p.add(after.carrier.mc)})`
      ].join(" ")
      const rows = yield* sql.bulk(
        `SELECT ${statements.invoiceColumns} FROM ${schema}.invoices AS t ${addressed}
         WHERE t.tenant_id = $1 ${where}
         ORDER BY t.unique_id, t.dot, t.mc
         LIMIT ${p.add(limit)}::int8`,
        p.values,
        columns
      )
      return rows.map(invoiceOf)
    })

    return InvoiceStore.of({
      lock: (tenantId, carrier, uniqueId) => StorageError.refail("InvoiceStore.lock")(lock(tenantId, carrier, uniqueId)),
      put: (tenantId, { accounts, body, carrier, invoiceNumber, shipmentId, uniqueId }) =>
        sql.bulk(statements.putInvoice(schema), [
          tenantId,
          uniqueId,
          carrier.dot,
          carrier.mc,
          shipmentId,
          invoiceNumber,
          textArray(accounts),
          body
        ]).pipe(Effect.asVoid, StorageError.refail("InvoiceStore.put")),
      remove: (tenantId, { dot, mc }, uniqueId) =>
        sql.bulk(statements.removeInvoice(schema), [tenantId, uniqueId, dot, mc]).pipe(Effect.asVoid, StorageError.refail("InvoiceStore.remove")),
      find: (tenantId, viewer, uniqueId) => StorageError.refail("InvoiceStore.find")(find(tenantId, viewer, uniqueId)),
      list: (tenantId, viewer, filter, range) => StorageError.refail("InvoiceStore.list")(list(tenantId, viewer, filter, range)),
      record: (tenantId, { dot, mc }, uniqueId, { action, at, client, doc }) =>
        sql.bulk(
          `INSERT INTO ${schema}.invoice_history (tenant_id, unique_id, dot, mc, at, client, action, doc)
           VALUES ($1, $2, $3, $4, ($5::timestamptz[])[1], $6, $7, $8)`,
          [tenantId, uniqueId, dot, mc, timestamptzArray([at]), client, action, doc]
        ).pipe(Effect.asVoid, StorageError.refail("InvoiceStore.record")),
      history: (tenantId, { dot, mc }, uniqueId) =>
        sql.bulk(
          `SELECT at, client, action, doc FROM ${schema}.invoice_history
           WHERE tenant_id = $1 AND unique_id = $2 AND dot = $3 AND mc = $4 ORDER BY entry_no`,
          [tenantId, uniqueId, dot, mc],
          ["timestamptz", "text", "text", "text"]
        ).pipe(Effect.map((rows) => rows.map(entryOf)), StorageError.refail("InvoiceStore.history")),
      historyOfShipment: (tenantId, shipmentId, limit) =>
        sql.bulk(
          statements.historyOfShipment(schema),
          [tenantId, shipmentId, limit, maxHistoryBytes],
          ["text", "text", "text", "timestamptz", "text", "text", "text"]
        ).pipe(
          Effect.map((rows) =>
            rows.map(([uniqueId, dot, mc, ...entry]) => ({ uniqueId: uniqueId as string, carrier: { dot: dot as string, mc: mc as string }, ...entryOf(entry) }))
          ),
          StorageError.refail("InvoiceStore.historyOfShipment")
        )
    })
  })
)

const entryOf = ([at, client, action, doc]: ReadonlyArray<unknown>): InvoiceHistoryEntry => ({
  at: at as number,
  client: client as string,
  action: action as InvoiceHistoryEntry["action"],
  doc: doc as string
})

const invoiceOf = ([uniqueId, dot, mc, shipmentId, invoiceNumber, accounts, body]: ReadonlyArray<unknown>): InvoiceRow => ({
  uniqueId: uniqueId as string,
  carrier: { dot: dot as string, mc: mc as string },
  shipmentId: shipmentId as string,
  invoiceNumber: invoiceNumber as string,
  accounts: accounts as ReadonlyArray<string>,
  body: body as Uint8Array
})
