/** A process that sends plain statements: through Waybill's own pool, or through a pool of the host. */
import { int8Array, PgClient, textArray, timestamptzArray } from "@waybill/postgres"
import { Effect, Layer, ManagedRuntime, Redacted, References } from "effect"
import pg from "pg"
import { serve } from "../machine/Child.ts"

const [database, kind] = process.argv.slice(2) as [string, "own" | "host"]
const hosts = new pg.Pool({ connectionString: database, max: 1 })
const client = kind === "own"
  ? PgClient.layer({ url: Redacted.make(database), maxConnections: 1 })
  : PgClient.layerFromPool(hosts, { prepare: true })
const runtime = ManagedRuntime.make(Layer.merge(client, Layer.succeed(References.TracerEnabled, false)))
const table = `statements_${kind}`

const rowsPerInsert = 1000

/** Microseconds of this process's processor time for each of `count` runs, one after the other on one connection. */
const measured = (count: number, run: (sql: PgClient.PgClient, n: number) => Effect.Effect<unknown, unknown>) =>
  runtime.runPromise(Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    const before = process.cpuUsage()
    for (let n = 0; n < count; n++) yield* run(sql, n)
    const { system, user } = process.cpuUsage(before)
    return (system + user) / count
  }))

const read = `SELECT id, name, at, size FROM ${table} WHERE id = $1`
const insert = `INSERT INTO ${table} (id, name, at, size) SELECT * FROM unnest($1::int8[], $2::text[], $3::timestamptz[], $4::int8[])`
const readMany = `SELECT id, name, at, size FROM ${table} WHERE id < $1 ORDER BY id`
let inserted = 0

const handlers = {
  prepare: () =>
    runtime.runPromise(Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      yield* sql.unsafe(`CREATE UNLOGGED TABLE ${table} (id int8 PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL, size int8 NOT NULL)`)
    })),
  insert: (count: number) =>
    measured(count, (sql) => {
      const ids = Array.from({ length: rowsPerInsert }, () => inserted++)
      return sql.bulk(insert, [
        int8Array(ids),
        textArray(ids.map((id) => `name of ${id}`)),
        timestamptzArray(ids.map((id) => 1_700_000_000_000 + id)),
        int8Array(ids.map((id) => id * 1000))
      ])
    }),
  readOne: (count: number) => measured(count, (sql, n) => sql.bulk(read, [n % rowsPerInsert])),
  readMany: (count: number) => measured(count, (sql) => sql.bulk(readMany, [rowsPerInsert])),
  transaction: (count: number) =>
    measured(count, (sql, n) => sql.withTransaction(Effect.andThen(sql.bulk(read, [n % rowsPerInsert]), sql.bulk(read, [(n + 1) % rowsPerInsert]))))
}

export type StatementsHandlers = typeof handlers

serve(handlers, async () => {
  await runtime.dispose()
  await hosts.end()
})
