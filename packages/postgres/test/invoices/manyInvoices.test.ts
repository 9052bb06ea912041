/** Lists of accounts among many invoices, and what the database reads for a page. */
import { layer } from "@effect/vitest"
import { InvoiceStore } from "@waybill/core/invoices"
import { Effect } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { raw } from "../../src/client/SqlStatement.ts"
import { listInvoices } from "../../src/invoices/InvoiceSql.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { pagesRead } from "./PagesRead.ts"

const schema = freshSchema()
const count = 12_000
const few = [2, 7, 7001, 11_999]
const anything = { uniqueId: undefined, shipmentId: undefined, invoiceNumber: undefined, dot: undefined, mc: undefined }

const idOf = (n: number) => `U${String(n).padStart(5, "0")}`

/** Every third invoice is for the account "many", `few` are for "few". The account "few" also has shipments without an invoice. */
const fill = (tenantId: string) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    const run = (text: string, values: ReadonlyArray<string | number>) => sql.unsafe(text.replaceAll("SCHEMA", `"${schema}"`), values).unprepared
    yield* run(
      `INSERT INTO SCHEMA.invoices (tenant_id, unique_id, dot, mc, shipment_id, invoice_number, accounts, body)
       SELECT $1, 'U' || lpad(n::text, 5, '0'), '1', '', 'S' || n, 'N' || n, '{}', '{}'::bytea FROM generate_series(1, $2::int) AS n`,
      [tenantId, count]
    )
    yield* run(
      `INSERT INTO SCHEMA.invoice_accounts (tenant_id, account, unique_id, dot, mc)
       SELECT $1, CASE WHEN n % 3 = 0 THEN 'many' ELSE 'few' END, 'U' || lpad(n::text, 5, '0'), '1', ''
       FROM generate_series(1, $2::int) AS n WHERE n % 3 = 0 OR n IN (${few.join(", ")})`,
      [tenantId, count]
    )
    yield* run(
      "INSERT INTO SCHEMA.shipment_accounts (tenant_id, account, shipment_id) SELECT $1, 'few', 'without invoice ' || n FROM generate_series(1, $2::int) AS n",
      [tenantId, count]
    )
  })

const pages = Effect.fnUntraced(function*(tenantId: string, accounts: ReadonlyArray<string>, limit: number) {
  const store = yield* InvoiceStore
  const found: Array<string> = []
  for (;;) {
    const last = found.at(-1)
    const after = last === undefined ? undefined : { uniqueId: last, carrier: { dot: "1", mc: "" } }
    const rows = yield* store.list(tenantId, { _tag: "Accounts", accounts }, anything, { after, limit })
    found.push(...rows.map(({ uniqueId }) => uniqueId))
    if (rows.length < limit) return found
  }
})

const firstPage = (tenantId: string, accounts: ReadonlyArray<string>) =>
  listInvoices(raw(`"${schema}"`), tenantId, { _tag: "Accounts", accounts }, anything, { after: undefined, limit: 50 })

layer(testStorage(schema), { excludeTestServices: true })("invoices of accounts among many", (it) => {
  it.effect("are listed in order, all of them, whether the accounts have many of the invoices or few", Effect.fnUntraced(function*() {
    yield* fill("t")
    const every = Array.from({ length: count }, (_, n) => n + 1)
    assert.deepStrictEqual(yield* pages("t", ["few"], 2), few.map(idOf))
    assert.deepStrictEqual(yield* pages("t", ["few"], 100), few.map(idOf))
    assert.deepStrictEqual(yield* pages("t", ["many"], 1500), every.filter((n) => n % 3 === 0).map(idOf))
    assert.deepStrictEqual(yield* pages("t", ["few", "many"], 1500), every.filter((n) => n % 3 === 0 || few.includes(n)).map(idOf))
    assert.deepStrictEqual(yield* pages("t", ["nobody's"], 10), [])
  }))

  it.effect("cost what a page shows, however many shipments the accounts have", Effect.fnUntraced(function*() {
    yield* fill("u")
    yield* (yield* PgClient.PgClient).unsafe(`VACUUM ANALYZE "${schema}".invoice_accounts`).unprepared
    assert.isBelow(yield* pagesRead(firstPage("u", ["few"])), 50)
    assert.isBelow(yield* pagesRead(firstPage("u", ["few", "many"])), 400)
  }))
})
