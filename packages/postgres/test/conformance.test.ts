/**
 * The storage suites on Postgres, and what their statements read.
 *
 * The schema can be distributed by `tenant_id`: every key starts with it, and every statement that the adapter sends in the
 * conformance suites stays within one tenant, except the few in `AcrossTenants.ts`.
 */
import { layer } from "@effect/vitest"
import { EventsAwaitingStatus } from "@waybill/core"
import { storageSuites } from "@waybill/conformance/suites"
import { Effect, Layer } from "effect"
import { assert, describe } from "vitest"
import { referenceTables } from "../src/migrations/Distribution.ts"
import { acrossTenants } from "./AcrossTenants.ts"
import { insertsAcrossTenants, type Place, planOf, scansAcrossTenants, wholeTables } from "./PlanScans.ts"
import { recordedStatements } from "./RecordedStatements.ts"
import { freshSchema, testStorage } from "./TestStorage.ts"
import { withSql } from "./client/database.ts"

const schema = freshSchema()

/** Statements with a full scan, and why that is acceptable. */
const readWhole: ReadonlyArray<{ readonly says: RegExp; readonly why: string }> = [
  { says: /AS waiting_entries,[^]*AS unsettled/, why: "counts for metrics, up to a bound" },
  { says: /^\s*WITH stopped AS MATERIALIZED/, why: "rows for metrics, up to a bound" },
  { says: /^\s*WITH RECURSIVE signalled AS \([^]*\.delivery_leases AS l/, why: "leases, few for each tenant with work" },
  { says: /^\s*SELECT l\.tenant_id, l\.partition::int4 AS partition\s+FROM \S+\.delivery_leases AS l/, why: "which partitions of a worker have signals, and whose leases lie ahead: ids only" },
  { says: /AS workers,[^]*AS active/, why: "leases, few for each tenant with work" },
  { says: /\.tenants( AS t)?\s+WHERE [^]*(t\.)?state <> 'deleted'/, why: "the list of tenants" },
  { says: /^\s*WITH gone AS \(\s*DELETE FROM \S+ WHERE tenant_id = \$1 AND ctid = ANY/, why: "the removal of a tenant, which reads all of it" },
  { says: /^\s*SELECT entry_id, tenant_id FROM \S+\.audit_entries WHERE entry_id </, why: "what retention removes: a third of a small table, by estimate" },
  { says: /^\s*SELECT s\.tenant_id\s+FROM \S+\.freight_charge_subscriptions AS s\s+WHERE s\.closes_at/, why: "the windows of a small table, once a minute in a process" }
]

const recorded = recordedStatements()

describe("statements", () => {
  storageSuites("Postgres", Layer.provideMerge(recorded.layer, testStorage(schema)))

  // an optional port without a suite
  layer(Layer.provideMerge(recorded.layer, testStorage(schema)), { excludeTestServices: true })("Postgres: EventsAwaitingStatus", (it) => {
    it.effect("has no events before any were published from SQL", Effect.fnUntraced(function*() {
      const awaiting = (yield* EventsAwaitingStatus)!
      assert.deepEqual(yield* awaiting.tenants({ after: undefined, limit: 1 }), [])
      assert.deepEqual(yield* awaiting.lockShipments("nobody", { after: undefined, limit: 1 }), { shipmentIds: [], last: undefined })
      assert.deepEqual(yield* awaiting.take("nobody", ["S"]), [])
    }))
  })
})

interface Key {
  readonly name: string
  readonly relation: string
  readonly first: string | null
  readonly columns: ReadonlyArray<string>
}

const ofTenants = ({ relation }: Place) => !referenceTables.has(relation)

/** Where a statement leaves its tenant. */
const placesOf = (statement: string) =>
  Effect.map(planOf(statement), (plan) => [...scansAcrossTenants(plan, schema), ...insertsAcrossTenants(plan, schema)].filter(ofTenants))

const recordedHere = () =>
  [...recorded.texts].filter((text) => text.includes(`"${schema}".`) && /^[\s(]*(WITH|SELECT|INSERT|UPDATE|DELETE)\b/i.test(text))

layer(testStorage(schema), { excludeTestServices: true })("a schema to be distributed by tenant_id", (it) => {
  it.effect("has tenant_id in every table, as text with byte order", withSql(function*(sql) {
    const rows = yield* sql<{ relation: string; column: string | null; collation: string | null }>`
      SELECT c.relname AS relation, a.attname AS column, l.collname AS collation
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
      LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND a.attnotnull
      LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
      WHERE n.nspname = ${schema} AND c.relkind IN ('r', 'p')`
    assert.isAbove(rows.length, 20)
    const missing = rows.filter(({ column, collation, relation }) => (column === null || collation !== "C") && !referenceTables.has(relation))
    assert.deepEqual(missing, [])
  }))

  it.effect("starts every primary key, unique index and exclusion with tenant_id", withSql(function*(sql) {
    const keys = yield* sql<Key>`
      SELECT i.relname AS name, t.relname AS relation,
        ARRAY(SELECT coalesce(a.attname, '(expression)') FROM unnest(x.indkey) WITH ORDINALITY AS k (attnum, place)
              LEFT JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = k.attnum ORDER BY place) AS columns
      FROM pg_index AS x
      JOIN pg_class AS i ON i.oid = x.indexrelid
      JOIN pg_class AS t ON t.oid = x.indrelid
      JOIN pg_namespace AS n ON n.oid = t.relnamespace
      WHERE n.nspname = ${schema} AND (x.indisunique OR x.indisexclusion)`
    assert.isAbove(keys.length, 20)
    assert.deepEqual(keys.filter(({ columns, relation }) => columns[0] !== "tenant_id" && !referenceTables.has(relation)), [])
  }))

  it.effect("has only foreign keys within one tenant, and no trigger", withSql(function*(sql) {
    const references = yield* sql<{ name: string; from: ReadonlyArray<string>; to: ReadonlyArray<string> }>`
      SELECT c.conname AS name,
        ARRAY(SELECT a.attname FROM unnest(c.conkey) AS k JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k)::text[] AS from,
        ARRAY(SELECT a.attname FROM unnest(c.confkey) AS k JOIN pg_attribute AS a ON a.attrelid = c.confrelid AND a.attnum = k)::text[] AS to
      FROM pg_constraint AS c JOIN pg_namespace AS n ON n.oid = c.connamespace
      WHERE n.nspname = ${schema} AND c.contype = 'f'`
    assert.deepEqual(references.filter(({ from, to }) => !from.includes("tenant_id") || !to.includes("tenant_id")), [])
    // besides those that `testStorage` adds
    const triggers = yield* sql`
      SELECT t.tgname FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname = ${schema} AND NOT t.tgisinternal AND NOT starts_with(t.tgname, 'test_one_tenant_')`
    assert.deepEqual(triggers, [])
  }))

  it.effect("detects a statement that leaves its tenant", Effect.fnUntraced(function*() {
    const destinations = `"${schema}".delivery_destinations`
    const signals = `"${schema}".delivery_signals`
    assert.lengthOf(yield* placesOf(`SELECT 1 FROM ${destinations} WHERE tenant_id = $1 AND state = 'active'`), 0)
    assert.lengthOf(yield* placesOf(`SELECT 1 FROM ${destinations} AS l JOIN ${signals} AS a USING (tenant_id, destination_id) WHERE a.tenant_id = $1`), 0)
    assert.lengthOf(yield* placesOf(`SELECT 1 FROM ${destinations} WHERE state = 'active'`), 1)
    assert.lengthOf(yield* placesOf(`SELECT 1 FROM ${destinations} AS l JOIN ${signals} AS a USING (destination_id) WHERE a.tenant_id = $1`), 1)
    const subquery = `EXISTS (SELECT FROM ${signals} AS a WHERE a.tenant_id = $1 AND a.destination_id = l.destination_id OFFSET 0)`
    assert.lengthOf(yield* placesOf(`SELECT 1 FROM ${destinations} AS l WHERE l.state = 'active' AND ${subquery}`), 1)
    assert.lengthOf(yield* placesOf(`INSERT INTO ${signals} (tenant_id, partition, destination_id) SELECT $1, 0, destination_id FROM ${destinations} WHERE tenant_id = $1`), 0)
    assert.lengthOf(yield* placesOf(`INSERT INTO ${signals} (tenant_id, partition, destination_id) SELECT endpoint_url, 0, destination_id FROM ${destinations} WHERE tenant_id = $1`), 1)
  }))

  it.effect("is queried within one tenant, except for the listed statements", Effect.fnUntraced(function*() {
    const statements = recordedHere()
    assert.isAbove(statements.length, 100)
    const offending: Array<string> = []
    const unused = new Set(acrossTenants)
    for (const statement of statements) {
      const excused = acrossTenants.filter(({ says }) => says.test(statement))
      const places = yield* placesOf(statement)
      if (places.length === 0) continue
      for (const each of excused) unused.delete(each)
      if (excused.length === 0) offending.push(`${JSON.stringify(places)}\n${statement}`)
    }
    assert.deepEqual(offending, [], offending.join("\n\n"))
    assert.deepEqual([...unused], [])
  }), 60_000)

  it.effect("is never read by a full scan, except for the listed statements", Effect.fnUntraced(function*() {
    const offending: Array<string> = []
    for (const statement of recordedHere()) {
      const places = wholeTables(yield* planOf(statement), schema).filter(ofTenants)
      if (places.length > 0 && !readWhole.some(({ says }) => says.test(statement))) offending.push(`${JSON.stringify(places)}\n${statement}`)
    }
    assert.deepEqual(offending, [], offending.join("\n\n"))
  }), 60_000)
})
