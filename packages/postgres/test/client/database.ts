/** Helpers of the client tests: pools on the test's Postgres, temporary tables, and killing connections. */
import { inject } from "@effect/vitest"
import { Deferred, Effect, Redacted, Schedule, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import pg from "pg"
import { PgClient } from "../../src/client/index.ts"

/** A pool on the test's Postgres, or on another address of it. */
export const pool = (options: Partial<PgClient.PgPoolConfig> = {}) =>
  PgClient.layer({ url: Redacted.make(inject("pgUrl")), maxConnections: 2, ...options })

/** What a test of one pool is given. */
interface Given {
  readonly sql: PgClient.PgClient
  /** The name of its connections in `pg_stat_activity`. */
  readonly name: string
  /** Waits until this many of its connections run a statement. */
  readonly untilRunning: (count: number) => Effect.Effect<void, unknown>
}

type Body<Given extends ReadonlyArray<unknown>, R = never> = (...given: Given) => Generator<Effect.Effect<unknown, unknown, PgClient.PgClientService | Scope.Scope | R>, void, never>

/** A test that is given the client of its layer. */
export const withSql = <R>(body: Body<[sql: PgClient.PgClient], R>) => () => Effect.flatMap(PgClient.PgClient, Effect.fnUntraced(body))

/** A test on a pool of its own. */
export const onPool = (body: Body<[Given], SqlClient.SqlClient>, options?: Partial<PgClient.PgPoolConfig>) => () =>
  Effect.suspend(() => {
    const name = `pool-${crypto.randomUUID().slice(0, 8)}`
    const untilRunning = (count: number) => eventually(Effect.map(activity(name), (all) => all.filter(({ state }) => state === "active").length === count))
    return Effect.flatMap(PgClient.PgClient, (sql) => Effect.fnUntraced(body)({ sql, name, untilRunning })).pipe(Effect.provide(pool({ applicationName: name, ...options })))
  })

/** A test on a pool whose connections go through a proxy. */
export const onProxiedPool = (body: Body<[Given & { readonly door: Effect.Success<typeof proxy> }], SqlClient.SqlClient>, options?: Partial<PgClient.PgPoolConfig>) => () =>
  Effect.flatMap(proxy, (door) => onPool((given) => body({ ...given, door }), { url: door.url, ...options })())

/** A table for one test, with a name that needs no quotes, dropped when the test ends. */
export const table = (columns: string) =>
  Effect.acquireRelease(
    Effect.gen(function*() {
      const name = `public.t_${crypto.randomUUID().replaceAll("-", "")}`
      yield* administer(`CREATE TABLE ${name} (${columns})`)
      return name
    }),
    (name) => administer(`DROP TABLE ${name}`)
  )

/** Runs a statement on a separate connection, outside of the pools under test, and returns the rows. */
export const administer = (text: string, values: ReadonlyArray<unknown> = []) =>
  Effect.promise(async () => {
    const client = new pg.Client(inject("pgUrl"))
    await client.connect()
    try {
      return (await client.query(text, [...values])).rows as ReadonlyArray<any>
    } finally {
      await client.end()
    }
  })

/** Terminates backends on the server, and waits until they have ended. */
export const terminate = (pids: ReadonlyArray<number>) =>
  administer("SELECT pg_terminate_backend(pid, 5000) FROM unnest($1::int[]) AS pid", [pids])

/** The server's view of the connections with an application name. */
export const activity = (applicationName: string) =>
  Effect.map(
    administer("SELECT pid, state, query FROM pg_stat_activity WHERE application_name = $1 ORDER BY pid", [applicationName]),
    (rows) => rows as ReadonlyArray<{ readonly pid: number; readonly state: string; readonly query: string }>
  )

/** Polls until the condition is true. */
export const eventually = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  condition.pipe(
    Effect.flatMap((isSo) => isSo ? Effect.void : Effect.fail("not yet" as const)),
    Effect.retry({ while: (error) => error === "not yet", schedule: Schedule.spaced("50 millis") })
  )

/** An effect that waits until the given number of fibers have reached it. */
export const meeting = (size: number) =>
  Effect.map(Deferred.make<void>(), (all) => {
    let come = 0
    return Effect.suspend(() => {
      if (++come === size) Deferred.doneUnsafe(all, Effect.void)
      return Deferred.await(all)
    })
  })

/** A proxy in front of the test's Postgres that can be closed and opened again. */
export const proxy = Effect.gen(function*() {
  const target = new URL(inject("pgUrl"))
  const sockets = new Set<Socket>()
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => {}).on("close", () => sockets.delete(socket))
  }
  let server: Server | undefined
  let port = 0
  const start = (answer: (inside: Socket) => void) =>
    Effect.promise(() =>
      new Promise<void>((done) => {
        const listening = createServer((inside) => {
          track(inside)
          answer(inside)
        }).listen(port, "127.0.0.1", () => {
          port = (listening.address() as AddressInfo).port
          done()
        })
        server = listening
      })
    )
  const open = start((inside) => {
    const outside = connect(Number(target.port || 5432), target.hostname)
    track(outside)
    inside.pipe(outside).pipe(inside)
    inside.on("close", () => outside.destroy())
    outside.on("close", () => inside.destroy())
  })
  /** Ends the connections that are open now, and waits until the pool has closed them too. */
  const untilClosed = (ending: Effect.Effect<unknown>) =>
    Effect.suspend(() => {
      const open = [...sockets]
      return Effect.andThen(ending, eventually(Effect.sync(() => open.every(({ destroyed }) => destroyed))))
    })
  const refuseNew = () => void server?.close()
  const shut = () => {
    refuseNew()
    for (const socket of sockets) socket.destroy()
  }
  /** Stops forwarding without closing connections. */
  const freeze = () => {
    for (const socket of sockets) socket.unpipe().pause()
  }
  yield* open
  yield* Effect.addFinalizer(() => Effect.sync(shut))
  const url = new URL(target)
  Object.assign(url, { hostname: "127.0.0.1", port: String(port) })
  return { url: Redacted.make(url.href), open, openAndSayNothing: start(() => {}), untilClosed, refuseNew, shut, freeze }
})
