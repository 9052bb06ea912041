/** `postgresStorage` with a host's pool and transactions. */
import { type StorageAdapter, storageAdapter, type StorageError, type StoragePorts, Transaction } from "@waybill/core"
import { TransitEventStore, type NewEvent } from "@waybill/core/transit-events"
import { Effect, Layer, ManagedRuntime } from "effect"
import { type AddressInfo, createServer } from "node:net"
import pg from "pg"
import { afterAll, assert, beforeAll, describe, inject, it, onTestFinished, vi } from "vitest"
import { applyMigrations, postgresStorage, type PostgresTransaction, printMigrations } from "../src/index.ts"
import { freshSchema } from "./TestStorage.ts"

const event = (eventId: string, sequence: number): NewEvent => ({
  eventId,
  shipmentId: "SHP-1",
  sequence,
  body: new TextEncoder().encode(JSON.stringify({ eventId })),
  type: "PICKED_UP",
  typeBit: 4,
  occurredAt: 0
})

const publish = (tenantId: string, eventId: string) =>
  Effect.gen(function*() {
    const store = yield* TransitEventStore
    const transaction = yield* Transaction
    return yield* transaction.run(Effect.gen(function*() {
      const [first] = yield* store.allocate(tenantId, [{ shipmentId: "SHP-1", needed: 1, highestGiven: 0, accounts: ["A"] }])
      yield* store.append(tenantId, [event(eventId, first!)], undefined)
      return first!
    }))
  })

const stored = (tenantId: string, eventId: string) =>
  Effect.map(Effect.flatMap(TransitEventStore, (store) => store.find(tenantId, [{ shipmentId: "SHP-1", eventId }])), (found) => found.length)

describe("postgresStorage", () => {
  const schema = freshSchema()
  let pool: pg.Pool
  let runtime: ManagedRuntime.ManagedRuntime<StoragePorts, unknown>
  let adapter: StorageAdapter<PostgresTransaction>

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: inject("pgUrl"), max: 5 })
    adapter = storageAdapter(postgresStorage({ pool, schema }))!
    runtime = ManagedRuntime.make(adapter.layer as Layer.Layer<StoragePorts, unknown>)
    await runtime.runPromise(Effect.void)
  })

  afterAll(async () => {
    await runtime.dispose()
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`)
    await pool.end()
  })

  const inHost = async <A>(end: "COMMIT" | "ROLLBACK", use: (client: pg.PoolClient) => Promise<A>): Promise<A> => {
    const client = await pool.connect()
    try {
      await client.query("BEGIN")
      const result = await use(client)
      await client.query(end)
      return result
    } finally {
      client.release()
    }
  }

  it.each<readonly [string, () => unknown, RegExp]>([
    ["without options", () => postgresStorage(undefined as never), /takes an object with options: pool, url, schema/],
    ["for an address in place of options", () => postgresStorage("postgres://db" as never), /takes an object with options/],
    ["for a misspelt option", () => postgresStorage({ pool, shema: "freight" } as never), /no option shema\. Did you mean schema\?/],
    ["without a pool and a URL", () => postgresStorage({}), /either a pool or a url, and got neither/],
    ["for a pool and a URL", () => postgresStorage({ pool, url: "postgres://db" }), /either a pool or a url, and got both/],
    ["for a URL without a scheme", () => postgresStorage({ url: "localhost:5432/freight" }), /^url of postgresStorage is not a Postgres address/],
    ["for a URL whose password is not encoded", () => postgresStorage({ url: "postgres://tms:s#cret@db/freight" }), /percent-encoded/],
    ["for a URL of a standby without a scheme", () => postgresStorage({ pool, readUrl: "standby:5432" }), /^readUrl of postgresStorage/],
    ["for a count that is none", () => postgresStorage({ url: "postgres://db/freight", maxConnections: 0 }), /maxConnections of postgresStorage is a whole number from 1/],
    ["for a switch that is a text", () => postgresStorage({ pool, migrate: "false" as never }), /migrate of postgresStorage is true or false, and got a text/],
    ["for a misspelt option of printed migrations", () => printMigrations("waybill", { transactions: true } as never), /printMigrations has no option transactions\. Did you mean transaction\?/],
    ["for a client in place of a pool", () => postgresStorage({ pool: new pg.Client() as never }), /needs a pool of pg/]
  ])("throws at once %s", (_what, open, message) => assert.throws(open, TypeError, message))

  it("stores on the host's commit and not before", async () => {
    await inHost("COMMIT", async (client) => {
      await runtime.runPromise(adapter.joined(client)(publish("t1", "E1")))
      assert.strictEqual(await runtime.runPromise(stored("t1", "E1")), 0)
      assert.strictEqual(await runtime.runPromise(adapter.joined(client)(stored("t1", "E1"))), 1)
    })
    assert.strictEqual(await runtime.runPromise(stored("t1", "E1")), 1)
  })

  it("leaves neither an event nor a number behind when the host rolls back", async () => {
    const lost = await inHost("ROLLBACK", (client) => runtime.runPromise(adapter.joined(client)(publish("t2", "E1"))))
    const kept = await inHost("COMMIT", (client) => runtime.runPromise(adapter.joined(client)(publish("t2", "E2"))))
    assert.deepStrictEqual([lost, kept], [1, 1])
    assert.strictEqual(await runtime.runPromise(stored("t2", "E1")), 0)
  })

  it("leaves the host's transaction usable after a refusal inside it", async () => {
    await runtime.runPromise(publish("t3", "E1"))
    await inHost("COMMIT", async (client) => {
      assert.strictEqual((await runtime.runPromise(Effect.result(adapter.joined(client)(publish("t3", "E1")))))._tag, "Failure")
      await runtime.runPromise(adapter.joined(client)(publish("t3", "E2")))
    })
    assert.strictEqual(await runtime.runPromise(stored("t3", "E2")), 1)
  })

  it("joins any client that can send a statement, by executeSql", async () => {
    await inHost("COMMIT", (client) => {
      const executor = { executeSql: async (text: string, values: ReadonlyArray<unknown>) => client.query(text, [...values]) }
      return runtime.runPromise(adapter.joined(executor)(publish("t4", "E1")))
    })
    assert.strictEqual(await runtime.runPromise(stored("t4", "E1")), 1)
  })

  it("joins transactions for each of the services that run on it, also after another has stopped", async () => {
    const other = ManagedRuntime.make(adapter.layer as Layer.Layer<StoragePorts, unknown>)
    await other.runPromise(Effect.void)
    await inHost("ROLLBACK", (client) => runtime.runPromise(adapter.joined(client)(publish("t5", "E1"))))
    await inHost("ROLLBACK", (client) => other.runPromise(adapter.joined(client)(publish("t5", "E2"))))
    await other.dispose()
    await inHost("COMMIT", (client) => runtime.runPromise(adapter.joined(client)(publish("t5", "E3"))))
    const found = await Promise.all(["E1", "E2", "E3"].map((eventId) => runtime.runPromise(stored("t5", eventId))))
    assert.deepStrictEqual(found, [0, 0, 1])
  })

  it("names the accepted values for an invalid transaction", () => {
    assert.throws(() => adapter.joined({ nothing: true } as never), /pg client that has sent BEGIN/)
    assert.throws(() => postgresStorage({}), /either a pool or a url/)
  })

  it("fails to open when the server accepts connections and never answers, also on a pool without a timeout", async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void silent.close())
    const connected = new Promise((resolve) => silent.once("connection", resolve))
    const unlimited = new pg.Pool({ host: "127.0.0.1", port: (silent.address() as AddressInfo).port })
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const opening = Effect.runPromise(Effect.flip(Effect.scoped(Layer.build(storageAdapter(postgresStorage({ pool: unlimited, schema }))!.layer))))
    await connected
    await vi.advanceTimersByTimeAsync(10_000)
    assert.match(String((await opening as StorageError).cause), /Connection terminated due to connection timeout/)
  })

  it("does not open on a pool whose times cannot be read, and says what to set", async () => {
    const german = new pg.Pool({ connectionString: inject("pgUrl"), options: "-c DateStyle=German" })
    onTestFinished(() => german.end())
    const error = await Effect.runPromise(Effect.flip(Effect.scoped(Layer.build(storageAdapter(postgresStorage({ pool: german, schema }))!.layer)))) as StorageError
    assert.match(String(error.cause), /the connections of its pool have the DateStyle "German, DMY"\. Set it to ISO/)
  })

  it("does not open on a pool with binary values, nor apply migrations with it, and says what to leave out", async () => {
    // types of pg do not know the option
    const options = { connectionString: inject("pgUrl"), binary: true }
    const binary = new pg.Pool(options)
    onTestFinished(() => binary.end())
    const fresh = freshSchema()
    const opening = Effect.runPromise(Effect.flip(Effect.scoped(Layer.build(storageAdapter(postgresStorage({ pool: binary, schema: fresh }))!.layer)))) as Promise<StorageError>
    const said = /the pool has binary: true, and pg does not read binary values correctly\. Leave it out of the pool's options/
    assert.match(String((await opening).cause), said)
    assert.match(String(await applyMigrations({ pool: binary, schema: fresh }).catch((error: unknown) => error)), said)
  })

  it("does not change a database with missing migrations when it may not migrate", async () => {
    const untouched = freshSchema()
    const closed = storageAdapter(postgresStorage({ pool, schema: untouched, migrate: false }))!
    assert.strictEqual((await Effect.runPromise(Effect.exit(Effect.scoped(Layer.build(closed.layer)))))._tag, "Failure")
    const { rows } = await pool.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [untouched])
    assert.strictEqual(rows.length, 0)
  })
})
