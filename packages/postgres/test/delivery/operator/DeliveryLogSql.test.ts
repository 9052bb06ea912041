import { layer } from "@effect/vitest"
import type { Effect } from "effect"
import { assert } from "vitest"
import { countDestinations, destinationOverviews } from "../../../src/delivery/operator/DeliveryLogSql.ts"
import { Sql } from "../../../src/index.ts"
import { withSql } from "../../client/database.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const schema = freshSchema()

/** As `EXPLAIN (ANALYZE)` prints them: how often each node of a plan was run, for how many rows, and how many it passed over. */
const rowsIn = (plan: string): number =>
  plan.split("\n").reduce((sum, line) => {
    const [, rows, loops] = /actual rows=([\d.]+) loops=(\d+)/.exec(line) ?? []
    const [, removed = "0"] = /Rows Removed by (?:Join )?Filter: (\d+)/.exec(line) ?? []
    return sum + Number(rows ?? 0) * Number(loops ?? 0) + Number(removed)
  }, 0)

layer(testStorage(schema), { excludeTestServices: true })("the destinations of a tenant that are in trouble", (it) => {
  it.effect("are found without reading the others", withSql(function*(sql) {
    const s = Sql.raw(`"${schema}"`)
    yield* sql.unsafe(`
      INSERT INTO "${schema}".delivery_destinations (tenant_id, destination_id, client, source, endpoint_url, hmac_secret_id, max_attempts, initial_backoff_seconds, max_backoff_seconds, batch_max_size, rate_limit_per_minute, envelope_open, envelope_close, state, paused_by)
      SELECT 't', lpad(to_hex(n), 32, '0')::uuid, 'key:c', 'transit-events', 'https://h.example', 's', 5, 5, 3600, 100, 600, '', '', CASE n WHEN 1500 THEN 'paused' ELSE 'active' END, CASE n WHEN 1500 THEN 'service' END
      FROM generate_series(1, 3000) AS n`).unprepared
    yield* sql.unsafe(`
      INSERT INTO "${schema}".deliveries (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at)
      SELECT 't', gen_random_uuid(), lpad(to_hex(n), 32, '0')::uuid, 'dead', 1, 1, '{}', '{}', now() FROM (VALUES (1400), (2800)) AS d (n)`).unprepared
    // before version 17 the planner needs to know that there are many
    yield* sql.unsafe(`VACUUM (ANALYZE) "${schema}".delivery_destinations`).unprepared
    const match = { inTrouble: true, state: undefined }
    for (const { text, values } of [destinationOverviews(s, "t", { ...match, after: undefined, limit: 100 }), countDestinations(s, "t", match)]) {
      const lines = yield* sql.unsafe(`EXPLAIN (ANALYZE, TIMING OFF) ${text}`, values).unprepared as Effect.Effect<ReadonlyArray<{ readonly "QUERY PLAN": string }>, unknown>
      const plan = lines.map((line) => line["QUERY PLAN"]).join("\n")
      assert.isBelow(rowsIn(plan), 300, plan)
    }
  }))
})
