import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { faultyIndexes, migrations, PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()

it.live("every index of the tables that is no constraint is known, and found when it is missing", Effect.fnUntraced(function*() {
  const sql = yield* PgClient.PgClient
  assert.deepStrictEqual(yield* faultyIndexes(schema, migrations), [])
  const there = yield* sql<{ name: string }>`
    SELECT c.relname AS name FROM pg_class AS c WHERE c.relnamespace = ${schema}::regnamespace AND c.relkind = 'i' AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = c.oid)
  `
  const names = there.map(({ name }) => name)
  yield* sql.unsafe(`DROP INDEX ${names.map((name) => `${schema}.${name}`).join(", ")}`)
  const missing = yield* faultyIndexes(schema, migrations)
  assert.deepStrictEqual(missing.map(({ name }) => name).sort(), names.sort())
  for (const { repair } of missing) yield* sql.unsafe(repair).unprepared
  assert.deepStrictEqual(yield* faultyIndexes(schema, migrations), [])
}, Effect.provide(testStorage(schema))))
