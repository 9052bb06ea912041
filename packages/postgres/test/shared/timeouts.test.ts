import { assert, describe, inject, it } from "@effect/vitest"
import { AccessStore, StorageError } from "@waybill/core"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import pg from "pg"
import { PgClient, StoragePostgres } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"

describe("a statement that takes too long", () => {
  it.live("fails as a storage error that says so, and its connection stays usable", () => {
    const schema = freshSchema()
    const client = PgClient.layer({ url: Redacted.make(inject("pgUrl")), maxConnections: 1, statementTimeout: "500 millis" })
    return Effect.gen(function*() {
      const store = yield* AccessStore
      const sql = yield* SqlClient.SqlClient
      const backend = Effect.map(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, ([row]) => row!.pid)
      const pid = yield* backend
      const holder = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const other = new pg.Client(inject("pgUrl"))
          await other.connect()
          await other.query(`BEGIN; LOCK TABLE ${schema}.tenants IN ACCESS EXCLUSIVE MODE`)
          return other
        }),
        (other) => Effect.promise(() => other.end())
      )
      const error = yield* Effect.flip(store.listTenants)
      assert.instanceOf(error, StorageError)
      assert.strictEqual((error.cause as SqlError.SqlError).reason._tag, "StatementTimeoutError")
      yield* Effect.promise(() => holder.query("ROLLBACK"))
      assert.deepStrictEqual(yield* store.listTenants, [])
      assert.strictEqual(yield* backend, pid)
      yield* sql.unsafe(`DROP SCHEMA ${schema} CASCADE`)
    }).pipe(Effect.scoped, Effect.provide(StoragePostgres.layer({ schema, listen: false }).pipe(Layer.provideMerge(client))))
  })
})
