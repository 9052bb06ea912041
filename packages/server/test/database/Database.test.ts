import { assert, describe, inject, it } from "@effect/vitest"
import { makeCertificate } from "@waybill/conformance/hostile"
import { PgClient } from "@waybill/postgres"
import { Context, Effect, Fiber, Layer, Logger, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { writeFileSync } from "node:fs"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { join } from "node:path"
import { buildOn, driverMessage, openDatabase } from "../../src/database/Database.ts"
import { directory, freePort } from "../program/Program.ts"
import { tlsDatabase } from "./TlsDatabase.ts"

/** Sent by the server when a session may begin statements. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/** The address of a proxy of the database whose first session gets no answers once it has begun. */
const firstSessionHangs = (url: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly sessions: () => number; readonly close: () => void }>((resume) => {
      const { hostname, port } = new URL(url)
      const sockets = new Set<Socket>()
      let sessions = 0
      const server = createServer((socket) => {
        const isFirst = ++sessions === 1
        const upstream = connect(Number(port), hostname)
        for (const each of [socket, upstream]) sockets.add(each.on("error", () => each.destroy()))
        socket.pipe(upstream)
        upstream.on("close", () => socket.destroy())
        upstream.on("data", (data) => {
          socket.write(data)
          if (isFirst && data.includes(readyForQuery)) socket.unpipe(upstream).resume()
        })
      }).listen(0, "127.0.0.1", () => {
        const proxied = new URL(url)
        proxied.hostname = "127.0.0.1"
        proxied.port = String((server.address() as AddressInfo).port)
        const close = () => {
          server.close()
          for (const socket of sockets) socket.destroy()
        }
        resume(Effect.succeed({ url: proxied.href, sessions: () => sessions, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

describe("a configured database", () => {
  it.live("is asked again when a session does not answer", () =>
    Effect.scoped(Effect.gen(function*() {
      const proxy = yield* firstSessionHangs(inject("pgUrl"))
      yield* openDatabase({ databaseUrl: Redacted.make(proxy.url), dataDir: "/nowhere" }).pipe(Effect.timeout("20 seconds"))
      assert.isAbove(proxy.sessions(), 1)
    })).pipe(Effect.provide(Logger.layer([]))), 30_000)

  it.effect("is refused when its clock differs by a day, because records would be removed at the wrong time", Effect.fnUntraced(function*() {
    const open = Effect.scoped(openDatabase({ databaseUrl: Redacted.make(inject("pgUrl")), dataDir: "/nowhere" }))
    const hours = (count: number) => TestClock.setTime(Date.now() + count * 3_600_000)
    for (const apart of [-500 * 24, 25]) {
      yield* hours(apart)
      assert.match((yield* Effect.flip(open)).message, /^The clock of this machine is at 20.*Z, and that of the database at .* at 20.*Z\..* Set the clock that is wrong\.$/)
    }
    yield* hours(23)
    yield* open
  }))

  it.effect("is retried for half a minute, and then reported as missing without its password", Effect.fnUntraced(function*() {
    const port = yield* Effect.promise(freePort)
    const databaseUrl = Redacted.make(`postgres://waybill:hunter2@127.0.0.1:${port}/freight`)
    const opening = yield* Effect.forkChild(Effect.flip(Effect.scoped(openDatabase({ databaseUrl, dataDir: "/nowhere" }))))
    let seconds = 0
    for (; opening.pollUnsafe() === undefined; seconds += 0.5) {
      yield* TestClock.adjust("500 millis")
      // The connection is refused by the system, in real time.
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
    }
    const error = yield* Fiber.join(opening)
    assert.isAtLeast(seconds, 30)
    assert.strictEqual(
      error.message,
      `The database at 127.0.0.1:${port}/freight did not answer within 30 seconds: connect ECONNREFUSED 127.0.0.1:${port}. Start it, or correct WAYBILL_DATABASE_URL.`
    )
  }))
})

class Service extends Context.Service<Service, { readonly attempt: number }>()("Service") {}

describe("a layer on a database", () => {
  /** Fails the given number of times with this error. */
  const breaking = (times: number, error: () => unknown) => {
    const calls: Array<string> = []
    let attempt = 0
    const layer = Layer.effect(Service, Effect.gen(function*() {
      const own = ++attempt
      yield* Effect.acquireRelease(Effect.sync(() => calls.push(`open ${own}`)), () => Effect.sync(() => calls.push(`closed ${own}`)))
      if (own <= times) return yield* Effect.fail(error())
      return { attempt: own }
    }))
    return { layer, calls }
  }
  const lost = () => new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }) }) })
  const url = Redacted.make(inject("pgUrl"))

  it.live("is built again when its connection is lost half-way, after its resources are closed", Effect.fnUntraced(function*() {
    const { layer, calls } = breaking(2, lost)
    assert.strictEqual(yield* Effect.scoped(Effect.map(buildOn(url, layer), (context) => Context.get(context, Service).attempt)), 3)
    assert.deepStrictEqual(calls, ["open 1", "closed 1", "open 2", "closed 2", "open 3", "closed 3"])
  }, Effect.provide(Logger.layer([]))))

  it.live("is not built again after other errors, and at most ten times", Effect.fnUntraced(function*() {
    const wrong = breaking(1, () => "The schema is newer.")
    assert.strictEqual(yield* Effect.flip(Effect.scoped(buildOn(url, wrong.layer))), "The schema is newer.")
    assert.deepStrictEqual(wrong.calls, ["open 1", "closed 1"])
    const unusable = breaking(1000, lost)
    assert.instanceOf(yield* Effect.flip(Effect.scoped(buildOn(url, unusable.layer))), SqlError.SqlError)
    assert.lengthOf(unusable.calls.filter((call) => call.startsWith("open")), 10)
  }, Effect.provide(Logger.layer([]))))
})

describe("certificates of the database", () => {
  it.live("are checked against the authorities that the file has now", Effect.fnUntraced(function*() {
    const file = join(directory(), "ca.pem")
    const [old, renewed] = [makeCertificate({ name: "old", hosts: ["127.0.0.1"] }), makeCertificate({ name: "renewed", hosts: ["127.0.0.1"] })]
    const port = yield* Effect.promise(() => tlsDatabase(renewed))
    writeFileSync(file, old.cert)
    const sql = yield* PgClient.openLater({ url: Redacted.make(`postgres://someone@127.0.0.1:${port}/freight?sslmode=verify-full&sslrootcert=${file}`) })
    const refusal = Effect.map(Effect.flip(sql`SELECT 1`), driverMessage)
    assert.match(yield* refusal, /self-signed certificate/)
    writeFileSync(file, renewed.cert)
    // the fake database ends here
    assert.notMatch(yield* refusal, /certificate/)
  }, Effect.scoped, Effect.provide(Reactivity.layer)))
})
