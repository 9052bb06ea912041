import { assert, inject, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted, Tracer } from "effect"
import { Reactivity } from "effect/reactivity"
import pg from "pg"
import { PgClient } from "../../src/client/index.ts"
import { administer, pool } from "./database.ts"

layer(pool({ applicationName: "transactions-test" }), { excludeTestServices: true })("a transaction", (it) => {
  it.effect("runs the callbacks of a savepoint with its own, and drops those of a savepoint that was undone", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    const seen: Array<string> = []
    const note = (text: string) => sql.afterCommit(Effect.sync(() => void seen.push(text)))
    yield* sql.withTransaction(Effect.gen(function*() {
      yield* sql.withTransaction(note("kept"))
      yield* Effect.flip(sql.withTransaction(Effect.andThen(note("dropped"), Effect.fail("no"))))
      yield* note("own")
      seen.push("before")
    }))
    assert.deepStrictEqual(seen, ["before", "kept", "own"])
  }))

  it.effect("takes no callbacks after it has ended", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    const over = yield* Deferred.make<void>()
    const late = yield* sql.withTransaction(Effect.forkDetach(Effect.andThen(Deferred.await(over), sql.afterCommit(Effect.void))))
    yield* Deferred.succeed(over, undefined)
    assert.match(String(yield* Effect.flip(Effect.sandbox(Fiber.join(late)))), /already ended/)
  }))

  it.effect("invalidates caches after its commit, and not after a rollback", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    const reactivity = yield* Reactivity.Reactivity
    const seen: Array<string> = []
    reactivity.registerUnsafe(["rows"], () => void seen.push("invalidated"))
    const changed = Reactivity.mutation(sql`SELECT 1`, ["rows"])
    yield* sql.withTransaction(Effect.andThen(changed, Effect.sync(() => seen.push("changed"))))
    yield* Effect.flip(sql.withTransaction(Effect.andThen(changed, Effect.fail("no"))))
    assert.deepStrictEqual(seen, ["changed", "invalidated"])
  }, Effect.provide(Reactivity.layer)))

  it.effect("has a span when tracing is on, with its statements below it", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    const ended: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        ended.push(span)
        return span
      }
    })
    yield* Effect.provideService(sql.withTransaction(sql`SELECT 1`), Tracer.Tracer, tracer)
    const [transaction, statement] = ended
    assert.deepStrictEqual(ended.map(({ name }) => name), ["sql.transaction", "postgresql"])
    assert.strictEqual(statement!.parent._tag === "Some" && statement!.parent.value.spanId, transaction!.spanId)
    assert.deepStrictEqual((transaction as Tracer.NativeSpan).events.map(([name]) => name), ["effect.sql.transaction.commit"])
  }))

  it.effect("runs at READ COMMITTED in a database whose default is stricter, unless it is the host's", () => Effect.scoped(Effect.gen(function*() {
    const name = `strict_${crypto.randomUUID().slice(0, 8)}`
    yield* Effect.acquireRelease(administer(`CREATE DATABASE ${name} TEMPLATE template0`), () => administer(`DROP DATABASE ${name} WITH (FORCE)`))
    yield* administer(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`)
    const url = Object.assign(new URL(inject("pgUrl")), { pathname: `/${name}` }).href
    const host = yield* Effect.acquireRelease(Effect.sync(() => new pg.Pool({ connectionString: url, max: 2 })), (it) => Effect.promise(() => it.end()))
    const level = Effect.flatMap(PgClient.PgClient, (sql) => Effect.map(sql`SHOW transaction_isolation`.values, (rows) => rows.flat().join()))
    const inTransaction = Effect.flatMap(PgClient.PgClient, (sql) => sql.withTransaction(level))
    const own = pool({ url: Redacted.make(url) })
    assert.deepStrictEqual(yield* Effect.provide(Effect.all([level, inTransaction]), own), ["read committed", "read committed"])
    const plain = pool({ url: Redacted.make(url), prepare: false })
    assert.deepStrictEqual(yield* Effect.provide(Effect.all([level, inTransaction]), plain), ["serializable", "read committed"])
    yield* Effect.provide(Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      assert.strictEqual(yield* inTransaction, "read committed")
      const client = yield* Effect.promise(() => host.connect())
      yield* Effect.promise(() => client.query("BEGIN"))
      assert.strictEqual(yield* sql.joined(client)(inTransaction), "serializable")
      yield* Effect.promise(() => client.query("ROLLBACK"))
      client.release()
    }), PgClient.layerFromPool(host))
  })))
})
