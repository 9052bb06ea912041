/** A host on distributed tables: its own transaction, and publishing from SQL. Run by `npm run citus`. */
import { reportedEvent } from "@waybill/testkit"
import type pg from "pg"
import { describe, expect, it } from "vitest"
import { carrier, contents, customer, deliver, event, publishAll, rejected, runningService, subscribeToAll, tenantId } from "../host/Service.ts"

const service = await runningService({ sqlPublishing: true })
await subscribeToAll(service)

type Queryable = Pick<pg.ClientBase, "query">

const publish = async (client: Queryable, events: unknown) =>
  (await client.query(`SELECT * FROM "${service.schema}".publish_transit_events($1, $2)`, [tenantId, JSON.stringify(events)])).rows

const inTransaction = async (work: (client: pg.PoolClient) => Promise<unknown>) => {
  const client = await service.pool.connect()
  try {
    await client.query("BEGIN")
    await work(client)
    await client.query("COMMIT")
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
}

const own = (client: Queryable, id: string) => client.query(`INSERT INTO ${service.own} VALUES ($1)`, [id])
const deliveredIds = async () => (await deliver(service)).flatMap(({ body }) => body.events?.map((each: { readonly eventId: string }) => each.eventId) ?? []).sort()
const sequences = async (shipmentId: string) =>
  (await service.waybill.events.list(carrier, { shipmentId })).data.map(({ sequence }) => sequence).toSorted((a, b) => a - b)

describe("a host on Citus", { timeout: 120_000 }, () => {
  it("commits calls of all areas with its own rows", async () => {
    await inTransaction(async (client) => {
      await own(client, "all")
      await publishAll(service.waybill.within(client), "all")
    })
    expect((await service.pool.query(`SELECT id FROM ${service.own}`)).rows).toEqual([{ id: "all" }])
    expect((await deliver(service)).map(({ path }) => path).sort()).toEqual(["/charges", "/events"])
  })

  it("leaves nothing of calls of all areas when it rolls back", async () => {
    const before = await contents(service)
    await expect(inTransaction(async (client) => {
      await own(client, "undone")
      await publishAll(service.waybill.within(client), "undone")
      throw new Error("none of it")
    })).rejects.toThrow("none of it")
    expect(await contents(service)).toEqual(before)
    expect(await deliver(service)).toEqual([])
  })

  it("loses only the events of a savepoint that it rolls back, and goes on after a refused call", async () => {
    await inTransaction(async (client) => {
      const publishOne = (id: string) => service.waybill.within(client).events.publish(carrier, [event(id, id)])
      await publishOne("n1")
      await client.query("SAVEPOINT own")
      await publishOne("n2")
      await client.query("ROLLBACK TO own")
      expect(await rejected(service.waybill.within(client).events.publish(carrier, [{ ...event("n1", "n1"), occurredAt: "2026-11-21T09:15:00-06:00" }]))).toMatchObject({ status: 400 })
      await publishOne("n3")
    })
    expect(await deliveredIds()).toEqual(["n1", "n3"])
    expect((await service.waybill.events.list(customer, { pageSize: 100 })).data.map(({ eventId }) => eventId)).toEqual(expect.arrayContaining(["n1", "n3"]))
  })

  it("publishes from SQL in its own transaction, and a rollback leaves nothing", async () => {
    const undone = rejected(inTransaction(async (client) => {
      await publish(client, [reportedEvent("by-sql", { eventId: "undone", accounts: ["A"] })])
      throw new Error("not this one")
    }))
    expect((await undone).message).toBe("not this one")
    await inTransaction((client) => publish(client, [reportedEvent("by-sql", { eventId: "sql-1", accounts: ["A"] }), reportedEvent("by-sql", { eventId: "sql-2", accounts: ["A"] })]))
    expect(await deliveredIds()).toEqual(["sql-1", "sql-2"])
    expect(await sequences("by-sql")).toEqual([1, 2])
    expect(await publish(service.pool, reportedEvent("by-sql", { eventId: "sql-2", accounts: ["A"] }))).toMatchObject([{ outcome: "duplicate", sequence: "2" }])
  })

  it("stores an event once that two transactions publish from SQL at the same time", async () => {
    const once = reportedEvent("raced", { eventId: "raced", accounts: ["A"] })
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => publish(service.pool, once)))
    expect(outcomes.map(([row]) => row.outcome).sort()).toEqual(["accepted", "duplicate", "duplicate", "duplicate"])
    expect(await deliveredIds()).toEqual(["raced"])
    expect(await rejected(publish(service.pool, { ...once, occurredAt: "2026-11-21T09:15:00-06:00" }))).toMatchObject({ code: "22023" })
  })

  it("counts sequences without gaps while SQL and the service publish", async () => {
    await Promise.all(Array.from({ length: 9 }, (_, at) =>
      at % 3 === 0
        ? service.waybill.events.publish(carrier, [reportedEvent("busy")])
        : rejected(inTransaction(async (client) => {
          await publish(client, [reportedEvent("busy"), reportedEvent("busy")])
          if (at % 3 === 2) throw new Error("not this one")
        }))))
    expect(await sequences("busy")).toEqual(Array.from({ length: 9 }, (_, at) => at + 1))
  })
})
