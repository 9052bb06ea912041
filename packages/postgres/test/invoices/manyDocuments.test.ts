/** Lists of documents of accounts among many records, and what the database reads for a page. */
import { layer } from "@effect/vitest"
import { DocumentStore } from "@waybill/core/invoices"
import { Effect } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { raw } from "../../src/client/SqlStatement.ts"
import { selectRecords } from "../../src/invoices/DocumentSql.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { pagesRead } from "./PagesRead.ts"

const schema = freshSchema()
const count = 6_000
const few = [2, 7, 3001, 5_999]
const anything = { invoiceNumber: undefined, dot: undefined, mc: undefined, documentTypes: undefined }

const numberOf = (n: number) => `N${String(n).padStart(4, "0")}`

/** Every third record is for the account "many", `few` are for "few". The types of the files take turns. */
const fill = (tenantId: string) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    const run = (text: string) => sql.unsafe(text.replaceAll("SCHEMA", `"${schema}"`), [tenantId, count]).unprepared
    yield* run(
      `INSERT INTO SCHEMA.document_records (tenant_id, invoice_number, dot, mc, shipment_id, accounts, doc)
       SELECT $1, 'N' || lpad(n::text, 4, '0'), '1', '', 'S' || n, '{}', '{}' FROM generate_series(1, $2::int) AS n`
    )
    yield* run(
      `INSERT INTO SCHEMA.document_files (tenant_id, invoice_number, dot, mc, file_id, document_type, content_id, size, sha256, media_type)
       SELECT $1, 'N' || lpad(n::text, 4, '0'), '1', '', 'F' || n, CASE WHEN n % 2 = 0 THEN 'POD' ELSE 'BOL' END, gen_random_uuid(), 1, '', '' FROM generate_series(1, $2::int) AS n`
    )
    yield* run(
      `INSERT INTO SCHEMA.document_accounts (tenant_id, account, invoice_number, dot, mc)
       SELECT $1, CASE WHEN n % 3 = 0 THEN 'many' ELSE 'few' END, 'N' || lpad(n::text, 4, '0'), '1', ''
       FROM generate_series(1, $2::int) AS n WHERE n % 3 = 0 OR n IN (${few.join(", ")})`
    )
  })

const pages = Effect.fnUntraced(function*(tenantId: string, accounts: ReadonlyArray<string>, limit: number, filter: Partial<Parameters<DocumentStore["Service"]["list"]>[2]> = {}) {
  const store = yield* DocumentStore
  const found: Array<string> = []
  for (;;) {
    const last = found.at(-1)
    const after = last === undefined ? undefined : { invoiceNumber: last, carrier: { dot: "1", mc: "" } }
    const records = yield* store.list(tenantId, { _tag: "Accounts", accounts }, { ...anything, ...filter }, { after, limit })
    found.push(...records.map(({ invoiceNumber }) => invoiceNumber))
    if (records.length < limit) return found
  }
})

const firstPage = (tenantId: string, accounts: ReadonlyArray<string>) =>
  selectRecords(raw(`"${schema}"`), tenantId, { _tag: "Accounts", accounts }, anything, { after: undefined, limit: 50, newestFirst: false })

layer(testStorage(schema), { excludeTestServices: true })("documents of accounts among many", (it) => {
  it.effect("are listed in order, all of them, whether the accounts have many of the records or few", Effect.fnUntraced(function*() {
    yield* fill("t")
    const many = Array.from({ length: count }, (_, n) => n + 1).filter((n) => n % 3 === 0)
    assert.deepStrictEqual(yield* pages("t", ["few"], 2), few.map(numberOf))
    assert.deepStrictEqual(yield* pages("t", ["many"], 900), many.map(numberOf))
    assert.deepStrictEqual(yield* pages("t", ["few", "many"], 900), [...many, ...few].toSorted((a, b) => a - b).map(numberOf))
    assert.deepStrictEqual(yield* pages("t", ["few"], 2, { documentTypes: ["BOL"] }), few.filter((n) => n % 2 === 1).map(numberOf))
    assert.deepStrictEqual(yield* pages("t", ["few"], 2, { dot: "2" }), [])
    assert.deepStrictEqual(yield* pages("t", ["nobody's"], 10), [])
  }))

  it.effect("cost what a page shows, however many records the tenant has", Effect.fnUntraced(function*() {
    yield* fill("u")
    yield* (yield* PgClient.PgClient).unsafe(`VACUUM ANALYZE "${schema}".document_accounts`).unprepared
    assert.isBelow(yield* pagesRead(firstPage("u", ["few"])), 100)
    assert.isBelow(yield* pagesRead(firstPage("u", ["few", "many"])), 900)
  }))
})
