/** Lists of accounts among many invoices that name no account: the first are searched in their order, then those of the accounts' shipments. */
import { layer } from "@effect/vitest"
import { InvoiceStore } from "@waybill/core/invoices"
import { Effect } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()
const count = 12_000

const idOf = (n: number) => `U${String(n).padStart(5, "0")}`

/** Invoice `n` belongs to shipment `n`. Every third shipment is on the account "many", four on "few", of which one invoice names the account. */
const fill = (tenantId: string) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    const run = (text: string, values: ReadonlyArray<string | number>) => sql.unsafe(text.replaceAll("SCHEMA", `"${schema}"`), values).unprepared
    yield* run(
      `INSERT INTO SCHEMA.invoices (tenant_id, unique_id, dot, mc, shipment_id, invoice_number, accounts, body)
       SELECT $1, 'U' || lpad(n::text, 5, '0'), '1', '', 'S' || n, 'N' || n, CASE n WHEN 7 THEN '{few}'::text[] ELSE '{}' END, '{}'::bytea FROM generate_series(1, $2::int) AS n`,
      [tenantId, count]
    )
    yield* run("INSERT INTO SCHEMA.invoice_accounts (tenant_id, account, unique_id, dot, mc) VALUES ($1, 'few', 'U00007', '1', '')", [tenantId])
    yield* run(
      `INSERT INTO SCHEMA.shipment_accounts (tenant_id, account, shipment_id)
       SELECT $1, CASE WHEN n % 3 = 0 THEN 'many' ELSE 'few' END, 'S' || n FROM generate_series(1, $2::int) AS n WHERE n % 3 = 0 OR n IN (2, 7, 7001, 11999)`,
      [tenantId, count]
    )
  })

const pages = Effect.fnUntraced(function*(tenantId: string, accounts: ReadonlyArray<string>, limit: number) {
  const store = yield* InvoiceStore
  const anything = { uniqueId: undefined, shipmentId: undefined, invoiceNumber: undefined, dot: undefined, mc: undefined }
  const found: Array<string> = []
  for (;;) {
    const last = found.at(-1)
    const after = last === undefined ? undefined : { uniqueId: last, carrier: { dot: "1", mc: "" } }
    const rows = yield* store.list(tenantId, { _tag: "Accounts", accounts }, anything, { after, limit })
    found.push(...rows.map(({ uniqueId }) => uniqueId))
    if (rows.length < limit) return found
  }
})

layer(testStorage(schema), { excludeTestServices: true })("invoices of accounts among many", (it) => {
  it.effect("are listed in order, all of them, whether the accounts have many of the shipments or few", Effect.fnUntraced(function*() {
    yield* fill("t")
    const every = Array.from({ length: count }, (_, n) => n + 1)
    const few = [2, 7, 7001, 11_999]
    assert.deepStrictEqual(yield* pages("t", ["few"], 2), few.map(idOf))
    assert.deepStrictEqual(yield* pages("t", ["few"], 100), few.map(idOf))
    assert.deepStrictEqual(yield* pages("t", ["many"], 1500), every.filter((n) => n % 3 === 0).map(idOf))
    assert.deepStrictEqual(yield* pages("t", ["few", "many"], 1500), every.filter((n) => n % 3 === 0 || few.includes(n)).map(idOf))
    assert.deepStrictEqual(yield* pages("t", ["nobody's"], 10), [])
  }))
})
