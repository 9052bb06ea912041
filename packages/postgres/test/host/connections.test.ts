/** No call of the façade waits for a second connection while it holds one: with few connections, such calls would wait for each other forever. */
import { createWaybill, type Waybill } from "@waybill/http"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { postgresStorage, type PostgresTransaction } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"
import { type Call, everyCall, listed, type Scene, withinCalls } from "./EveryCall.ts"
import { authenticate, httpCalls } from "./HttpCalls.ts"
import { startReceiver } from "./Receiver.ts"
import { carrier, event, subscribeToAll, tenantId } from "./Service.ts"

/** Longer than any call takes. A call that waits for a connection forever is named by its deadline. */
const deadlineMillis = 20_000

const inTime = async <A>(name: string, call: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} waits for a connection.`)), deadlineMillis)
  })
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
  }
}

const namesOf = (service: object): ReadonlyArray<string> =>
  Object.entries(service).flatMap(([name, group]) => typeof group === "function" ? [name] : Object.keys(group as object).map((each) => `${name}.${each}`))

const url = inject("pgUrl")
let count = 0
const nextId = () => `c${++count}`
const { close, hook } = await startReceiver()
afterAll(close)

/** A service whose desk sends a statement. */
const open = (storage: { readonly pool: pg.Pool } | { readonly url: string; readonly maxConnections: number }, schema: string) =>
  createWaybill({
    storage: postgresStorage({ ...storage, schema }),
    sealingKeys: [new Uint8Array(32).fill(7)],
    egressAllow: ["127.0.0.1"],
    authenticate,
    pickupDesk: async (_, { transaction }) => {
      await ("executeSql" in transaction ? transaction.executeSql("SELECT 1", []) : transaction.query("SELECT 1"))
      return { decision: "accept" }
    },
    log: () => {}
  })

const dropped = async (schema: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  await client.end()
}

describe.each([1, 3].flatMap((size) => [
  { size, kind: "the host's pool" },
  { size, kind: "a pool of Waybill's own" }
]))("with $size connections in $kind, no call of the façade waits for a second connection while it holds one:", ({ kind, size }) => {
  const schema = freshSchema()
  const pool = new pg.Pool({ connectionString: url, max: size })
  let waybill: Waybill<PostgresTransaction>
  let scene: Scene

  beforeAll(async () => {
    waybill = open(kind === "the host's pool" ? { pool } : { url, maxConnections: size }, schema)
    scene = { waybill, hook }
    await waybill.tenants.put(tenantId, { name: "Acme" })
    await waybill.secrets.put(tenantId, "main", { anyClient: true })
    await subscribeToAll({ hook, waybill })
  })
  afterAll(async () => {
    await waybill.stop()
    await pool.end()
    await dropped(schema)
  })

  it.each(everyCall)("%s", async (name, prepare) => {
    const calls: Array<Call> = []
    // one more call than connections
    for (let each = 0; each <= size; each++) calls.push(await inTime(`What ${name} needs`, Promise.resolve(prepare(scene, nextId()))))
    await inTime(name, Promise.all(calls.map((call) => call(waybill))))
  })

  it.each(Object.entries(httpCalls))("HTTP requests of %s", async (name, requests) => {
    await inTime(name, Promise.all(Array.from({ length: size + 1 }, () => requests(scene, nextId()))))
  })

  it("every call of a service that delivers", async () => {
    await waybill.start()
    await inTime("A started service", Promise.all(Array.from({ length: 10 }, () => waybill.events.publish(carrier, [event(nextId(), nextId())]))))
  })
})

describe("with one connection, on which the host has opened a transaction, no call of within(tx) waits for another:", () => {
  const schema = freshSchema()
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  let waybill: Waybill<PostgresTransaction>

  beforeAll(() => {
    waybill = open({ pool }, schema)
  })
  afterAll(async () => {
    await waybill.stop()
    await pool.end()
    await dropped(schema)
  })

  const inTransaction = async (name: string, use: (client: pg.PoolClient) => Promise<unknown>) => {
    const client = await pool.connect()
    try {
      await client.query("BEGIN")
      await inTime(name, use(client))
      await client.query("COMMIT")
    } finally {
      client.release()
    }
  }

  it("the first call, which opens the storage", async () => {
    await inTransaction("The first call", (client) =>
      waybill.within(client).events.publish(carrier, []).catch(({ code }) => expect(code).toBe("tenant_not_found")))
    await waybill.tenants.put(tenantId, { name: "Acme" })
    await waybill.secrets.put(tenantId, "main", { anyClient: true })
  })

  it.each(listed(withinCalls))("%s", async (name, prepare) => {
    const call = await prepare({ waybill, hook }, nextId())
    await inTransaction(name, (client) => call(waybill.within(client)))
  })
})

it("every method of the service is among the calls", () => {
  const waybill = open({ url, maxConnections: 1 }, freshSchema())
  const called = everyCall.map(([name]) => name)
  expect([...called, "handler", "customerHandler", "operatorHandler", "portalHandler", "within", "start", "stop"].toSorted()).toEqual(namesOf(waybill).toSorted())
  expect(listed(withinCalls).map(([name]) => name).toSorted()).toEqual(namesOf(waybill.within(new pg.Client())).toSorted())
})
