/** What must not block has no time limit here: what would block it lasts longer than a test may. */
import { assert, describe, inject, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Latch, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import pg from "pg"
import { PgClient } from "../../src/client/index.ts"
import { HighPriority, NoTimeout } from "../../src/client/PgLending.ts"
import { activity, administer, eventually, meeting, onPool, onProxiedPool, pool, proxy, table, terminate } from "./database.ts"

const backend = Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`).pipe(
  Effect.map(([row]) => row?.pid ?? 0)
)

/** A name that finds the connections of one test in `pg_stat_activity`. */
const named = () => `faults-${crypto.randomUUID().slice(0, 8)}`

describe.concurrent("an exhausted pool", () => {
  it.live("does not block an interruption, and the next waiter gets the connection", onPool(function*({ sql, untilRunning }) {
    const holders = yield* Effect.forEach([1, 2], () => Effect.forkChild(sql`SELECT pg_sleep(60)`))
    yield* untilRunning(2)
    const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(sql`SELECT 1`, { startImmediately: true }))
    yield* Fiber.interruptAll(waiting)
    const last = yield* Effect.forkChild(sql`SELECT 1 AS n`)
    yield* Fiber.interruptAll(holders)
    assert.strictEqual((yield* Fiber.join(last)).length, 1)
  }))

  it.live("lends every connection again after many interruptions", onPool(function*({ sql }) {
    const storm = Effect.forEach(
      Array.from({ length: 200 }, (_, index) => index),
      (index) => sql`SELECT pg_sleep(0.005)`.pipe(Effect.timeout(`${index % 10} millis`), Effect.exit),
      { concurrency: 20 }
    )
    yield* storm
    const busy = yield* Effect.forEach([1, 2], () => Effect.forkChild(sql`SELECT pg_sleep(0.1)`))
    for (const exit of yield* Fiber.awaitAll(busy)) assert.isTrue(Exit.isSuccess(exit))
  }))
})

describe.concurrent("a pool with waiters for every connection", () => {
  it.live("reserves one for high priority statements", onPool(function*({ sql, untilRunning }) {
    const slow = [sql`SELECT pg_sleep(60)`, sql.withTransaction(sql`SELECT pg_sleep(60)`)]
    const holders = yield* Effect.forEach([...slow, ...slow], (statement) => Effect.forkChild(statement))
    yield* untilRunning(2)
    assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.timeout(sql`SELECT 1`, "100 millis"))))
    const urgent = Effect.provideService(Effect.all([sql`SELECT 1`, sql.withTransaction(sql`SELECT 2`)], { concurrency: 2 }), HighPriority, true)
    assert.lengthOf(yield* urgent, 2)
    yield* Fiber.interruptAll(holders)
    // the interrupted waiter has left the queue
    assert.lengthOf(yield* Effect.all([sql`SELECT 1`, sql`SELECT 2`], { concurrency: 2 }), 2)
  }, { maxConnections: 3 }))
})

describe.concurrent("an interrupted statement", () => {
  it.live("is cancelled on the server, and its connection serves the next statement", onPool(function*({ sql, name, untilRunning }) {
    const pid = yield* backend
    const fiber = yield* Effect.forkChild(sql`SELECT pg_sleep(60)`)
    yield* untilRunning(1)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual((yield* activity(name)).filter(({ state }) => state === "active"), [])
    assert.strictEqual(yield* backend, pid)
  }, { maxConnections: 1 }))

  it.live("rolls its transaction back and releases the locks", onPool(function*({ sql, untilRunning }) {
    const rows = yield* table("id int8")
    const fiber = yield* Effect.forkChild(sql.withTransaction(Effect.andThen(
      sql`INSERT INTO ${sql.literal(rows)} VALUES (1)`,
      sql`SELECT pg_sleep(60)`
    )))
    yield* untilRunning(1)
    yield* Fiber.interrupt(fiber)
    yield* administer(`BEGIN; LOCK TABLE ${rows}; COMMIT`)
    assert.deepStrictEqual(yield* sql`SELECT id FROM ${sql.literal(rows)}`, [])
  }, { maxConnections: 1 }))

  it.live("rolls back only its savepoint when it runs in one", onPool(function*({ sql }) {
    const rows = yield* table("id int8")
    const insert = (id: number) => sql`INSERT INTO ${sql.literal(rows)} VALUES (${id})`
    yield* sql.withTransaction(Effect.gen(function*() {
      yield* insert(1)
      const slow = sql.withTransaction(Effect.andThen(insert(2), sql`SELECT pg_sleep(60)`))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.timeout(slow, "50 millis"))))
      yield* insert(3)
    }))
    assert.deepStrictEqual(yield* sql`SELECT id FROM ${sql.literal(rows)} ORDER BY id`.values, [[1], [3]])
  }, { maxConnections: 1 }))

  it.live("does not block statements that wait in the same transaction", onPool(function*({ sql, untilRunning }) {
    const failures = yield* Effect.exit(sql.withTransaction(Effect.gen(function*() {
      yield* sql`SELECT 1`
      const slow = yield* Effect.forkChild(sql`SELECT pg_sleep(60)`)
      yield* untilRunning(1)
      const [first, ...others] = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(Effect.flip(sql`SELECT 1`)))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(first!)
      yield* Fiber.interrupt(slow)
      return yield* Effect.forEach(others, Fiber.join)
    }).pipe(Effect.flatMap((failed) => Effect.fail(failed)))))
    const reasons = Exit.isFailure(failures) ? failures.cause.reasons.flatMap((each) => each._tag === "Fail" ? [each.error] : []) : []
    // each statement ran after the cancel had ended
    assert.include(JSON.stringify(reasons), "25P02")
    assert.lengthOf(reasons.flat(), 2)
  }, { maxConnections: 1 }))

  it.live("loses its connection when the server does not answer the cancel", onProxiedPool(function*({ sql, door, untilRunning }) {
    const pid = yield* backend
    const fiber = yield* Effect.forkChild(sql`SELECT pg_sleep(60)`)
    yield* untilRunning(1)
    door.refuseNew()
    yield* Fiber.interrupt(fiber)
    yield* door.open
    assert.notStrictEqual(yield* backend, pid)
    yield* terminate([pid])
  }, { maxConnections: 1 }))
})

describe.concurrent("a connection that the server ends", () => {
  it.live("while a statement runs on it fails that statement as a connection error, and the next one works", onPool(function*({ sql, untilRunning }) {
    const pid = yield* backend
    const fiber = yield* Effect.forkChild(Effect.flip(sql`SELECT pg_sleep(60)`))
    yield* untilRunning(1)
    yield* terminate([pid])
    const error = yield* Fiber.join(fiber)
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.match(error.message, /terminating connection/)
    assert.isTrue(error.isRetryable)
    assert.notStrictEqual(yield* backend, pid)
  }, { maxConnections: 1 }))

  it.live("while a transaction holds it idle fails the transaction as a connection error and leaves nothing", onProxiedPool(function*({ sql, door }) {
    const rows = yield* table("id int8")
    const insert = (id: number) => sql`INSERT INTO ${sql.literal(rows)} VALUES (${id})`
    const killed = (after: Effect.Effect<unknown, any>) =>
      Effect.flip(sql.withTransaction(Effect.gen(function*() {
        yield* insert(1)
        yield* Effect.flatMap(backend, (pid) => door.untilClosed(terminate([pid])))
        yield* after
      })))
    for (const after of [insert(2), Effect.void, sql.withTransaction(insert(3)), sql.bulk("SELECT 1", [])]) {
      assert.strictEqual((yield* killed(after)).reason._tag, "ConnectionError")
    }
    const inSavepoint = yield* Effect.flip(sql.withTransaction(sql.withTransaction(
      Effect.andThen(Effect.flatMap(backend, (pid) => terminate([pid])), insert(4))
    )))
    assert.strictEqual(inSavepoint.reason._tag, "ConnectionError")
    assert.deepStrictEqual(yield* sql`SELECT id FROM ${sql.literal(rows)}`, [])
  }, { maxConnections: 1 }))

  it.live("while it is idle in the pool is not lent again", onProxiedPool(function*({ door }) {
    const pid = yield* backend
    yield* door.untilClosed(terminate([pid]))
    assert.notStrictEqual(yield* backend, pid)
  }, { maxConnections: 1 }))

  it.live("or that leads to a read-only server, as after a failover, is not lent again", onPool(function*({ sql }) {
    const rows = yield* table("id int8")
    const insert = sql`INSERT INTO ${sql.literal(rows)} VALUES (1)`
    yield* sql`SET default_transaction_read_only = on`
    assert.strictEqual((yield* Effect.flip(insert)).reason._tag, "ConnectionError")
    yield* insert
  }, { maxConnections: 1 }))

  it.live("does not end the process when it is from the host's pool", Effect.fnUntraced(function*() {
    const hosts = new pg.Pool({ connectionString: inject("pgUrl"), max: 1 })
    yield* Effect.addFinalizer(() => Effect.promise(() => hosts.end()))
    let ended = Promise.resolve()
    hosts.on("connect", (client) => {
      ended = new Promise((resolve) => client.once("end", resolve))
    })
    const end = Effect.andThen(Effect.flatMap(backend, (pid) => terminate([pid])), Effect.promise(() => ended))
    yield* Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      assert.strictEqual((yield* Effect.flip(sql.withTransaction(end))).reason._tag, "ConnectionError")
      yield* end
      yield* backend
    }).pipe(Effect.provide(PgClient.layerFromPool(hosts)))
  }))
})

describe.concurrent("a pool that closes", () => {
  it.live("closes connections in use after five seconds, all at once, whatever runs on them", Effect.fnUntraced(function*() {
    const door = yield* proxy
    const scope = yield* Scope.make()
    const sql = yield* PgClient.openLater({ url: door.url, maxConnections: 6 }).pipe(Scope.provide(scope), Effect.provide(Reactivity.layer))
    const meet = yield* meeting(5)
    const slow = Effect.andThen(backend, Effect.andThen(meet, sql`SELECT pg_sleep(60)`)).pipe(Effect.provideService(SqlClient.SqlClient, sql))
    const running = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(Effect.uninterruptible(Effect.flip(sql.withTransaction(slow)))))
    yield* meet
    door.freeze()
    const [took] = yield* Effect.timed(Scope.close(scope, Exit.void))
    // two after each other take ten seconds
    assert.isBelow(Duration.toMillis(took), 10_000)
    for (const error of yield* Effect.forEach(running, Fiber.join)) assert.strictEqual(error.reason._tag, "ConnectionError")
  }))
})

describe.concurrent("a server that is unavailable for a while", () => {
  it.live("fails statements as connection errors, and the pool works when it is back", onProxiedPool(function*({ sql, door, untilRunning }) {
    const running = yield* Effect.forkChild(Effect.flip(sql`SELECT pg_sleep(60)`))
    yield* untilRunning(1)
    door.shut()
    assert.strictEqual((yield* Fiber.join(running)).reason._tag, "ConnectionError")
    for (let time = 0; time < 5; time++) assert.strictEqual((yield* Effect.flip(sql`SELECT 1`)).reason._tag, "ConnectionError")
    yield* door.open
    yield* Effect.all([backend, backend, backend], { concurrency: 3 })
  }))

  it.live("and accepts connections without answering runs into the connect timeout", Effect.fnUntraced(function*() {
    const door = yield* proxy
    door.shut()
    yield* door.openAndSayNothing
    const sql = yield* PgClient.openLater({ url: door.url, connectTimeout: "2 seconds" })
    const [waited, error] = yield* Effect.timed(Effect.flip(sql`SELECT 1`))
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.isAtLeast(Duration.toMillis(waited), 1990)
  }, Effect.provide(Reactivity.layer)))

  it.live("and answers no statement of a new connection runs into the connect timeout", Effect.fnUntraced(function*() {
    const door = yield* proxy
    const name = named()
    const sql = yield* PgClient.openLater({ url: door.url, applicationName: name, minConnections: 1, maxConnections: 1, connectTimeout: "2 seconds" })
    yield* eventually(Effect.map(activity(name), ({ length }) => length === 1))
    door.freeze()
    const error = yield* Effect.flip(sql`SELECT 1`.pipe(Effect.provideService(NoTimeout, true)))
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.lengthOf(yield* sql`SELECT 1`, 1)
  }, Effect.provide(Reactivity.layer)))

  it.live("and keeps its connections open without answering blocks no transaction for long", onProxiedPool(function*({ sql, door }) {
    yield* backend
    door.freeze()
    const begin = Effect.timeout(sql.withTransaction(backend), "100 millis")
    assert.isTrue(Exit.isFailure(yield* Effect.exit(begin)))
    const rollback = sql.withTransaction(Effect.andThen(Effect.andThen(backend, Effect.sync(door.freeze)), Effect.fail("no")))
    assert.strictEqual(yield* Effect.flip(rollback), "no")
    yield* backend
  }, { maxConnections: 1 }))
})

describe.concurrent("a connection whose server vanished", () => {
  it.live("is closed when an answer takes too long, and its statement is cancelled", onProxiedPool(function*({ sql, door, untilRunning }) {
    const pid = yield* backend
    const running = yield* Effect.forkChild(Effect.flip(sql`SELECT pg_sleep(60)`))
    yield* untilRunning(1)
    door.freeze()
    assert.strictEqual((yield* Fiber.join(running)).reason._tag, "ConnectionError")
    assert.notStrictEqual(yield* backend, pid)
    yield* untilRunning(0)
  }, { maxConnections: 1, answerTimeout: "500 millis" }))

  it.live("is closed after the connect timeout when it was unused for a second", onProxiedPool(function*({ sql, door }) {
    yield* Effect.sleep("1100 millis")
    door.freeze()
    assert.strictEqual((yield* Effect.flip(sql.withTransaction(backend))).reason._tag, "ConnectionError")
    yield* backend
  }, { maxConnections: 1, connectTimeout: "2 seconds" }))

  it.live("is told from one with a slow statement", Effect.fnUntraced(function*() {
    const slow = (connection: PgClient.PgClient) => connection`SELECT pg_sleep(1.5)`
    const config = { url: Redacted.make(inject("pgUrl")), maxConnections: 1, connectTimeout: "1 second" } as const
    // a new connection, and one that was unused
    const sql = yield* PgClient.openLater(config)
    assert.lengthOf(yield* slow(sql), 1)
    yield* Effect.sleep("1100 millis")
    assert.lengthOf(yield* sql.withTransaction(slow(sql)), 1)
    const limited = yield* PgClient.openLater({ ...config, answerTimeout: "100 millis" })
    assert.strictEqual((yield* Effect.flip(slow(limited))).reason._tag, "ConnectionError")
  }, Effect.provide(Reactivity.layer)))

  it.live("does not block an interruption, not even during a commit", onProxiedPool(function*({ sql, door }) {
    const asked = Latch.makeUnsafe(false)
    const fiber = yield* Effect.forkChild(sql.withTransaction(Effect.tap(backend, () => {
      door.freeze()
      return asked.open
    })))
    yield* asked.await
    assert.isTrue(Exit.isFailure(yield* Effect.andThen(Fiber.interrupt(fiber), Fiber.await(fiber))))
    yield* backend
  }, { maxConnections: 1 }))

  it.live("also closes connections that were idle in the pool", onProxiedPool(function*({ sql, door }) {
    const meet = yield* meeting(3)
    const held = Effect.tap(backend, () => meet)
    const pids = yield* Effect.all([1, 2, 3].map(() => sql.withTransaction(held)), { concurrency: 3 })
    assert.lengthOf(new Set(pids), 3)
    door.freeze()
    assert.strictEqual((yield* Effect.flip(backend)).reason._tag, "ConnectionError")
    // if each dead connection had to time out by itself, these would fail too
    const after = yield* Effect.all([backend, backend, backend], { concurrency: 3 })
    assert.notIncludeMembers(pids, after)
  }, { maxConnections: 4, answerTimeout: "500 millis" }))

  it.live("keeps no locks, because the server ends its idle transaction", onPool(function*({ sql, name }) {
    const untilEnded = (ended: number) => eventually(Effect.map(activity(name), (all) => !all.some(({ pid }) => pid === ended)))
    yield* Effect.flip(sql.withTransaction(Effect.andThen(Effect.flatMap(backend, untilEnded), backend)))
    assert.strictEqual((yield* sql`SELECT 1`).length, 1)
  }, { maxConnections: 1, idleTransactionTimeout: "100 millis" }))

  it.live("stays open for a statement that takes too long, because the server cancels it", onPool(function*({ sql }) {
    const pid = yield* backend
    const error = yield* Effect.flip(sql`SELECT pg_sleep(60)`)
    assert.deepStrictEqual([error.reason._tag, yield* backend], ["StatementTimeoutError", pid])
    const inTransaction = yield* Effect.flip(sql.withTransaction(Effect.andThen(backend, sql`SELECT pg_sleep(60)`)))
    assert.strictEqual((inTransaction as typeof error).reason._tag, "StatementTimeoutError")
    assert.strictEqual(yield* backend, pid)
  }, { maxConnections: 1, statementTimeout: "200 millis" }))

  it.live("has timeouts by default, and none of Waybill's behind a proxy", Effect.fnUntraced(function*() {
    const limits = Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql`SELECT current_setting('statement_timeout') AS statement, current_setting('idle_in_transaction_session_timeout') AS idle`)
    const ours = { statement: "45s", idle: "10s" }
    assert.deepStrictEqual(yield* Effect.provide(limits, pool()), [ours])
    assert.deepStrictEqual(yield* Effect.provide(limits, pool({ statementTimeout: "2 minutes", idleTransactionTimeout: "3 seconds" })), [{ statement: "2min", idle: "3s" }])
    const [servers] = yield* administer("SELECT current_setting('statement_timeout') AS statement, current_setting('idle_in_transaction_session_timeout') AS idle")
    assert.deepStrictEqual(yield* Effect.provide(limits, pool({ prepare: false })), [servers])
  }))

  it.live("is awaited by statements without a timeout", onPool(function*({ sql }) {
    assert.lengthOf(yield* Effect.provideService(sql`SELECT pg_sleep(0.3)`, NoTimeout, true), 1)
    assert.strictEqual((yield* Effect.flip(sql`SELECT pg_sleep(0.3)`)).reason._tag, "ConnectionError")
  }, { answerTimeout: "100 millis" }))
})
