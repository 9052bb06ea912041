/** A process that sends plain statements: through Waybill's own pool, or through a pool of the host. */
import { PgClient, Sql } from "@waybill/postgres"
import { Effect, Layer, ManagedRuntime, Redacted, References } from "effect"
import pg from "pg"
import { serve } from "../machine/Child.ts"

const [database, kind] = process.argv.slice(2) as [string, "own" | "host"]
const hosts = new pg.Pool({ connectionString: database, max: 1 })
const client = kind === "own"
  ? PgClient.layer({ url: Redacted.make(database), maxConnections: 1 })
  : PgClient.layerFromPool(hosts, { prepare: true })
const runtime = ManagedRuntime.make(Layer.merge(client, Layer.succeed(References.TracerEnabled, false)))
const table = Sql.raw(`statements_${kind}`)

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

const stored = Sql.row({ id: Sql.int8, name: Sql.text, at: Sql.timestamptz, size: Sql.int8 })
const read = (id: number) => Sql.statement`SELECT ${stored.columns()} FROM ${table} WHERE id = ${id}`
const readMany = (below: number) => Sql.statement`SELECT ${stored.columns()} FROM ${table} WHERE id < ${below} ORDER BY id`
const insert = (ids: ReadonlyArray<number>) => Sql.statement`
INSERT INTO ${table} (id, name, at, size) SELECT * FROM unnest(
  ${Sql.int8Array(ids)},
  ${Sql.textArray(ids.map((id) => `name of ${id}`))},
  ${Sql.timestamptzArray(ids.map((id) => 1_700_000_000_000 + id))},
  ${Sql.int8Array(ids.map((id) => id * 1000))}
)`
let inserted = 0

const handlers = {
  prepare: () =>
    runtime.runPromise(Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      yield* sql.unsafe(`CREATE UNLOGGED TABLE ${table.text} (id int8 PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL, size int8 NOT NULL)`)
    })),
  insert: (count: number) => measured(count, (sql) => sql.run(insert(Array.from({ length: rowsPerInsert }, () => inserted++)))),
  readOne: (count: number) => measured(count, (sql, n) => sql.rows(stored, read(n % rowsPerInsert))),
  readMany: (count: number) => measured(count, (sql) => sql.rows(stored, readMany(rowsPerInsert))),
  transaction: (count: number) =>
    measured(count, (sql, n) => sql.withTransaction(Effect.andThen(sql.rows(stored, read(n % rowsPerInsert)), sql.rows(stored, read((n + 1) % rowsPerInsert)))))
}

export type StatementsHandlers = typeof handlers

serve(handlers, async () => {
  await runtime.dispose()
  await hosts.end()
})
