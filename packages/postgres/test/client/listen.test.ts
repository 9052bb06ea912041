import { assert, describe, inject, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Redacted, Stream } from "effect"
import { PgClient } from "../../src/client/index.ts"
import { sessionConfig } from "../../src/client/PgAddress.ts"
import { listenOn } from "../../src/client/PgListen.ts"
import { sessionListener } from "../../src/client/PgSessionListener.ts"
import { administer, eventually, onPool, pool, proxy, terminate } from "./database.ts"

/** A channel for one test, with capitals and a space, which need quotes. */
const channel = () => `Test ${crypto.randomUUID()}`

/** Reads a channel into a queue, and finds the listening backend. */
const listening = Effect.fnUntraced(function*(name: string) {
  const sql = yield* PgClient.PgClient
  const heard = yield* Queue.unbounded<string>()
  const fiber = yield* Effect.forkScoped(Stream.runForEach(sql.listen(name), (payload) => Queue.offer(heard, payload)))
  const backends = Effect.map(
    administer("SELECT pid FROM pg_stat_activity WHERE query = $1", [`LISTEN "${name}"`]),
    (rows) => rows.map(({ pid }) => pid as number)
  )
  return { sql, fiber, backends, next: Queue.take(heard) }
})

describe("listening to a channel", () => {
  it.live("starts with an empty string and then emits payloads in order", onPool(function*() {
    const name = channel()
    const { next, sql } = yield* listening(name)
    assert.strictEqual(yield* next, "")
    for (const payload of ["one", "zwö", ""]) yield* sql.notify(name, payload)
    yield* sql.notify(channel(), "of another channel")
    yield* sql.notify(name, "last")
    for (const payload of ["one", "zwö", "", "last"]) assert.strictEqual(yield* next, payload)
  }))

  it.live("emits payloads of a transaction when it commits, and none after a rollback", onPool(function*() {
    const name = channel()
    const { next, sql } = yield* listening(name)
    assert.strictEqual(yield* next, "")
    yield* Effect.ignore(sql.withTransaction(Effect.andThen(sql.notify(name, "rolled back"), Effect.fail("no"))))
    yield* sql.withTransaction(sql.notify(name, "committed"))
    assert.strictEqual(yield* next, "committed")
  }, { maxConnections: 1 }))

  it.live("reconnects after its backend is terminated, and emits an empty string", onPool(function*() {
    const name = channel()
    const { backends, next, sql } = yield* listening(name)
    assert.strictEqual(yield* next, "")
    for (let time = 0; time < 2; time++) {
      yield* Effect.flatMap(backends, terminate)
      assert.strictEqual(yield* next, "")
      yield* sql.notify(name, `after ${time}`)
      assert.strictEqual(yield* next, `after ${time}`)
    }
  }))

  it.live("detects a server that does not answer, and reconnects", Effect.fnUntraced(function*() {
    const door = yield* proxy
    const name = channel()
    const heard = yield* Queue.unbounded<string>()
    const listener = sessionListener(Effect.succeed(sessionConfig({ url: door.url })), { every: "50 millis", deadline: "100 millis" })
    const listening = listenOn(listener, name)
    yield* Effect.forkScoped(Stream.runForEach(listening, (payload) => Queue.offer(heard, payload)))
    assert.strictEqual(yield* Queue.take(heard), "")
    door.freeze()
    assert.strictEqual(yield* Queue.take(heard), "")
  }))

  it.live("closes its connection when the reader ends", onPool(function*() {
    const name = channel()
    const { backends, fiber, next } = yield* listening(name)
    yield* next
    assert.strictEqual((yield* backends).length, 1)
    yield* Fiber.interrupt(fiber)
    yield* eventually(Effect.map(backends, (pids) => pids.length === 0))
  }))

  it.live("uses no connection of the pool", onPool(function*() {
    const first = yield* listening(channel())
    const second = yield* listening(channel())
    yield* first.next
    yield* second.next
    assert.strictEqual((yield* first.sql`SELECT 1 AS n`).length, 1)
  }, { maxConnections: 1 }))

  it.live("fails for errors that are not retryable", Effect.fnUntraced(function*() {
    const role = `r_${crypto.randomUUID().slice(0, 8)}`
    yield* administer(`CREATE ROLE ${role} LOGIN PASSWORD 'right'`)
    yield* Effect.addFinalizer(() => administer(`DROP ROLE ${role}`))
    const url = new URL(inject("pgUrl"))
    Object.assign(url, { username: role, password: "right" })
    yield* Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      yield* administer(`ALTER ROLE ${role} PASSWORD 'wrong'`)
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(sql.listen(channel())))).reason._tag, "AuthenticationError")
    }).pipe(Effect.provide(pool({ url: Redacted.make(url.href) })))
  }))
})
