/** Lists of accounts among many events, and what the database reads for a page. */
import { layer } from "@effect/vitest"
import { type EventType, type PageRequest, TransitEventStore } from "@waybill/core/transit-events"
import { Effect } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { raw } from "../../src/client/SqlStatement.ts"
import { page } from "../../src/transit-events/TransitEventPageSql.ts"
import { pagesRead } from "../invoices/PagesRead.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()
const shipments = 6000

/** The first third of the shipments is of the account "many", each thousandth of "few". Each has three events. */
const fill = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient
  const run = (text: string) => sql.unsafe(text.replaceAll("SCHEMA", `"${schema}"`)).unprepared
  yield* run(`INSERT INTO SCHEMA.shipment_accounts (tenant_id, account, shipment_id)
    SELECT 't', account, 'S' || lpad(n::text, 5, '0') FROM generate_series(1, ${shipments}) AS n
    CROSS JOIN LATERAL unnest(array_remove(ARRAY[CASE WHEN n <= 2000 THEN 'many' END, CASE WHEN n % 1000 = 0 THEN 'few' END], NULL)) AS account`)
  yield* run(`INSERT INTO SCHEMA.transit_events (tenant_id, event_id, shipment_id, sequence, type_bit, occurred_at, body)
    SELECT 't', 'E' || s, 'S' || lpad(n::text, 5, '0'), s, 1, now() - (${shipments} - n) * interval '1 minute', '{}'::bytea
    FROM generate_series(1, 3) AS s, generate_series(1, ${shipments}) AS n`)
  yield* run("VACUUM ANALYZE SCHEMA.shipment_accounts")
  yield* run("VACUUM ANALYZE SCHEMA.transit_events")
})

const first = (accounts: ReadonlyArray<string>, order: "asc" | "desc", eventTypes?: ReadonlyArray<EventType>): PageRequest => ({
  tenantId: "t",
  visibility: { _tag: "Granted", grants: accounts },
  filter: { shipmentId: undefined, eventTypes, occurredFrom: undefined, occurredTo: undefined, order },
  snapshot: undefined,
  after: undefined,
  skip: 0,
  limit: 50,
  count: false
})

const list = Effect.fnUntraced(function*(accounts: ReadonlyArray<string>, order: "asc" | "desc", limit: number) {
  const store = yield* TransitEventStore
  const found: Array<string> = []
  for (let request: PageRequest = { ...first(accounts, order), limit };;) {
    const { rows } = yield* store.page(request)
    found.push(...rows.map(({ sequence, shipmentId }) => `${shipmentId} ${sequence}`))
    if (rows.length < limit) return found
    request = { ...request, after: rows.at(-1)! }
  }
})

const read = (request: PageRequest) => pagesRead(page(raw(`"${schema}"`), request))

layer(testStorage(schema), { excludeTestServices: true })("events of accounts among many", (it) => {
  it.effect("are listed in order, all of them, in both directions", Effect.fnUntraced(function*() {
    yield* fill
    const ofShipments = (includes: (n: number) => boolean) =>
      Array.from({ length: shipments }, (_, n) => n + 1).filter(includes).flatMap((n) => [1, 2, 3].map((sequence) => `S${String(n).padStart(5, "0")} ${sequence}`))
    const [few, both] = [ofShipments((n) => n % 1000 === 0), ofShipments((n) => n % 1000 === 0 || n <= 2000)]
    assert.deepStrictEqual(yield* list(["few"], "asc", 4), few)
    assert.deepStrictEqual(yield* list(["few"], "desc", 4), few.toReversed())
    assert.deepStrictEqual(yield* list(["few", "many"], "asc", 1000), both)
    assert.deepStrictEqual(yield* list(["few", "many"], "desc", 1000), both.toReversed())
    assert.deepStrictEqual(yield* list(["nobody's"], "asc", 10), [])
  }))

  it.effect("cost what a page shows, whatever its direction and place", Effect.fnUntraced(function*() {
    assert.isBelow(yield* read(first(["many"], "asc")), 200)
    assert.isBelow(yield* read(first(["many"], "desc")), 200)
    assert.isBelow(yield* read({ ...first(["many"], "asc"), after: { shipmentId: "S01900", sequence: 1, eventId: "E1" } }), 200)
    assert.isBelow(yield* read(first(["few"], "desc")), 100)
  }))

  it.effect("of types that do not occur cost what the accounts have, not what others have", Effect.fnUntraced(function*() {
    assert.isBelow(yield* read(first(["few"], "asc", ["DELIVERED"])), 100)
  }))
})
