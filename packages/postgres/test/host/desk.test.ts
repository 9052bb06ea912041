/** The pickup desk of a host keeps its trucks in the transaction that stores its answers. */
import { createWaybill, type HostPickupDesk, type PickupDeskCall, type PickupInput, type Waybill } from "@waybill/http"
import { pickupRequest } from "@waybill/testkit"
import { randomUUID } from "node:crypto"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest"
import { type HostExecutor, postgresStorage, type PostgresTransaction } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"
import { type Host, hosts } from "./Hosts.ts"
import { customer, rejected, tenantId } from "./Service.ts"

const run = (transaction: PostgresTransaction, text: string, values: ReadonlyArray<unknown> = []) =>
  "executeSql" in transaction ? transaction.executeSql(text, values) : transaction.query({ text, values })

const request = () => pickupRequest({ orgAccountNumber: "A", day: "2099-11-20" }) as unknown as PickupInput

describe("the desk of a host", () => {
  const url = inject("pgUrl")
  const schema = freshSchema()
  const trucks = `public.trucks_${schema}`
  let admin: pg.Pool

  beforeAll(async () => {
    admin = new pg.Pool({ connectionString: url, max: 2 })
    await admin.query(`CREATE TABLE ${trucks} (number text PRIMARY KEY, called_back boolean NOT NULL DEFAULT false)`)
  })
  afterAll(async () => {
    await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE; DROP TABLE ${trucks}`)
    await admin.end()
  })

  const stored = async () => (await admin.query(`SELECT number FROM ${trucks} ORDER BY number`)).rows.map(({ number }) => number)
  const found = async (waybill: Waybill, number: string) =>
    (await rejected(waybill.pickups.visibility(customer, { lookupValue: number, lookupType: "PickupConfirmationID", requestType: "Status", isTest: "false" }))).code === undefined

  let asked = 0
  const given: Array<PostgresTransaction> = []
  /** Books a truck in the table, and marks it when the pickup is cancelled. */
  const desk = {
    decide: async (_: unknown, { transaction }: PickupDeskCall<PostgresTransaction>) => {
      given.push(transaction)
      const number = `T-${++asked}`
      await run(transaction, `INSERT INTO ${trucks} (number) VALUES ($1)`, [number])
      return { decision: "accept" as const, carrierPickupNumber: number }
    },
    cancelled: async ({ carrierPickupNumber }: { readonly carrierPickupNumber: string }, { transaction }: PickupDeskCall<PostgresTransaction>) => {
      await run(transaction, `UPDATE ${trucks} SET called_back = true WHERE number = $1`, [carrierPickupNumber])
    }
  }

  const start = async (storage: { readonly pool: pg.Pool } | { readonly url: string; readonly maxConnections: number }, pickupDesk: HostPickupDesk<PostgresTransaction> = desk) => {
    const waybill = createWaybill({
      storage: postgresStorage({ ...storage, schema, listen: false }),
      sealingKeys: [new Uint8Array(32).fill(7)],
      authenticate: async () => customer,
      log: () => {},
      pickupDesk
    })
    onTestFinished(() => waybill.stop())
    await waybill.tenants.put(tenantId, { name: "Acme" })
    return waybill
  }
  const onePool = () => {
    const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 10_000 })
    onTestFinished(() => pool.end())
    return pool
  }

  describe.each(hosts.map((hostOf) => ({ host: hostOf({ url, max: 1 }) })))("in a transaction of $host.name", ({ host }: { readonly host: Host }) => {
    afterAll(() => host.close())

    it("gets that transaction, so that truck and pickup commit or roll back together", async () => {
      const waybill = await start({ url, maxConnections: 1 })
      const before = await stored()
      const numbers: Array<string> = []
      const order = (end?: Error) => host.transaction(async ({ within }) => {
        const [answer] = await waybill.within(within).pickups.create(customer, request())
        expect(given.at(-1), "as it was passed").toBe(within)
        numbers.push(answer!.carrierPickupNumber!)
        if (end !== undefined) throw end
      })
      await order()
      await rejected(order(new Error("the host changed its mind")))
      const [kept, lost] = numbers
      expect(await stored()).toEqual([...before, kept].sort())
      expect([await found(waybill, kept!), await found(waybill, lost!)]).toEqual([true, false])
    })

    it("may fail by a statement, after which the host's transaction is usable", async () => {
      const waybill = await start({ url, maxConnections: 1 }, async (_, { transaction }) => {
        await run(transaction, "SELECT 1 / 0")
        return { decision: "accept" }
      })
      const transaction = host.transaction(async ({ send, within }) => {
        expect(await rejected(waybill.within(within).pickups.create(customer, request()))).toMatchObject({ code: "pickup_desk_failed" })
        await send("SELECT 1")
      })
      // which rolls back after any failed statement, also one in a savepoint
      if (host.name === "postgres.js") expect((await rejected(transaction)).message).toBe("division by zero")
      else await transaction
    })
  })

  describe.each([
    { name: "the host's pool", storageOf: () => ({ pool: onePool() }) },
    { name: "a pool of Waybill's own", storageOf: () => ({ url, maxConnections: 1 }) }
  ])("on $name with one connection", ({ storageOf }) => {
    it("stores its trucks with the pickups, and changes them when a pickup is cancelled", async () => {
      const waybill = await start(storageOf())
      const answers = await Promise.all(Array.from({ length: 3 }, () => waybill.pickups.create(customer, request())))
      const numbers = answers.map(([answer]) => answer!.carrierPickupNumber!)
      expect(await stored()).toEqual(expect.arrayContaining(numbers))
      await waybill.pickups.cancel(customer, numbers[0]!)
      const { rows } = await admin.query(`SELECT number FROM ${trucks} WHERE called_back`)
      expect(rows.map(({ number }) => number)).toContain(numbers[0])
    })

    it("stores its trucks with the pickups that are ordered over HTTP", async () => {
      const waybill = await start(storageOf())
      const response = await waybill.handler(new Request("http://x/pickup/v1/pickups/", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(request()) }))
      const [answer] = await response.json() as ReadonlyArray<{ readonly carrierPickupNumber: string }>
      expect(await stored()).toContain(answer!.carrierPickupNumber)
    })

    it("finishes in an open transaction when its caller has gone, and leaves no truck", async () => {
      const leave = new AbortController()
      let left = () => {}
      const gone = new Promise<void>((resolve) => left = resolve)
      const decided: Array<unknown> = []
      const waybill = await start(storageOf(), async (order, { transaction }) => {
        leave.abort()
        await gone
        await run(transaction, `INSERT INTO ${trucks} (number) VALUES ($1)`, [order.pickupId])
        const { rows } = await run(transaction, `SELECT count(*)::int4 AS count FROM ${trucks} WHERE number = $1`, [order.pickupId])
        decided.push(order.pickupId, rows[0].count)
        return { decision: "accept" }
      })
      const answered = waybill.handler(new Request("http://x/pickup/v1/pickups/", { signal: leave.signal, method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(request()) }))
      await new Promise<void>((resolve) => leave.signal.addEventListener("abort", () => resolve()))
      left()
      await answered
      await waybill.tenants.list()
      expect(decided).toEqual([expect.any(String), 1])
      expect(await stored()).not.toContain(decided[0])
    })

    it("leaves no truck when it fails after its statement, or when the pickup cannot be stored", async () => {
      const number = `R-${randomUUID()}`
      let failure: Error | undefined = new Error("no answer from dispatch")
      const waybill = await start(storageOf(), async (order, call) => {
        await run(call.transaction, `INSERT INTO ${trucks} (number) VALUES ($1)`, [order.pickupId])
        if (failure !== undefined) throw failure
        return { decision: "accept", carrierPickupNumber: number }
      })
      const before = await stored()
      expect(await rejected(waybill.pickups.create(customer, request()))).toMatchObject({ code: "pickup_desk_failed", status: 503 })
      failure = undefined
      await waybill.pickups.create(customer, request())
      const after = await stored()
      expect(after).toHaveLength(before.length + 1)
      expect(await rejected(waybill.pickups.create(customer, request())), "the same number again").toMatchObject({ code: "pickup_desk_failed" })
      expect(await stored()).toEqual(after)
    })

    it("rejects a failed statement with the error of Postgres", async () => {
      const codes: Array<unknown> = []
      const waybill = await start(storageOf(), async (_, { transaction }) => {
        await rejected(Promise.resolve(run(transaction, "SELECT 1 / 0"))).then((error) => codes.push(error.code))
        return { decision: "reject" }
      })
      // the failed statement ended the transaction, so nothing can be stored
      expect(await rejected(waybill.pickups.create(customer, request()))).toMatchObject({ status: 503 })
      expect(codes).toEqual(["22012"])
      expect(await waybill.tenants.list()).toMatchObject({ data: [{ tenantId }] })
    })
  })

  it("gets a client of the host's pool, whose transaction has begun", async () => {
    const pool = onePool()
    const status: Array<unknown> = []
    const waybill = await start({ pool }, async (_, { transaction }) => {
      status.push(transaction instanceof pg.Client, (transaction as pg.Client).getTransactionStatus())
      return { decision: "reject" }
    })
    await waybill.pickups.create(customer, request())
    await waybill.pickups.create(customer, request(), { idempotencyKey: "one" })
    expect(status).toEqual([true, "T", true, "T"])
  })

  it("cannot use Waybill's transaction after its answer", async () => {
    let kept: HostExecutor | undefined
    const waybill = await start({ url, maxConnections: 1 }, async (_, { transaction }) => {
      kept = transaction as HostExecutor
      expect(await kept.executeSql("SELECT $1::int4 AS one", [1])).toEqual({ rows: [{ one: 1 }] })
      return { decision: "reject" }
    })
    await waybill.pickups.create(customer, request())
    expect((await rejected(kept!.executeSql("SELECT 1", []))).message).toBe("This transaction is over. Await every statement before you answer.")
  })
})
