/** Publishing transit events by the SQL function, from the transactions of a host. */
import { ltlJourney, reportedEvent } from "@waybill/testkit"
import pg from "pg"
import { describe, expect, it, vi } from "vitest"
import { carrier, customer, deliver, rejected, runningService, shipment, subscribeToAll, tenantId } from "../host/Service.ts"

const service = await runningService({ sqlPublishing: true })
await subscribeToAll(service)

type Queryable = Pick<pg.ClientBase, "query">

const publish = async (client: Queryable, events: unknown, tenant = tenantId) =>
  (await client.query(`SELECT * FROM "${service.schema}".publish_transit_events($1, $2)`, [tenant, JSON.stringify(events)])).rows

const rows = async (text: string, values: ReadonlyArray<unknown> = []) =>
  (await service.pool.query(text.replaceAll("@", `"${service.schema}".`), [...values])).rows

const connected = async <A>(work: (client: pg.Client) => Promise<A>, config: pg.ClientConfig = {}): Promise<A> => {
  const client = new pg.Client({ connectionString: service.url, ...config })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const eventually = (condition: () => Promise<boolean>) => vi.waitUntil(condition, { timeout: 20_000 })

const sequences = async (shipmentId: string) =>
  (await service.waybill.events.list(carrier, { shipmentId })).data.map(({ sequence }) => sequence)

const ofA = (shipmentId: string, more: object = {}) => reportedEvent(shipmentId, { accounts: ["A"], ...more })

const deliveredIds = async () =>
  (await deliver(service)).flatMap(({ body }) => body.events.map((each: { readonly eventId: string }) => each.eventId)).sort()

describe("publishing from SQL", () => {
  it("stores the event and delivers it, with an id and a sequence of the service", async () => {
    const [result] = await publish(service.pool, ofA("first"))
    expect(result).toEqual({ index: 0, event_id: expect.stringMatching(/^[0-9a-f-]{36}$/), sequence: "1", outcome: "accepted" })
    expect(await deliveredIds()).toEqual([result.event_id])
    expect(await sequences("first")).toEqual([1])
  })

  it("leaves no event, delivery, sequence and audit entry after a rollback", async () => {
    await connected(async (client) => {
      await client.query("BEGIN")
      await publish(client, [ofA("undone"), ofA("undone")])
      await client.query("ROLLBACK")
      await publish(client, ofA("undone", { eventId: "kept" }))
    })
    expect(await deliveredIds()).toEqual(["kept"])
    expect(await sequences("undone")).toEqual([1])
  })

  it("refuses the whole call for one invalid event, and leaves a savepoint of the host usable", async () => {
    await connected(async (client) => {
      await client.query("BEGIN; SAVEPOINT before_waybill")
      const error = await rejected(publish(client, [ofA("whole"), { ...ofA("whole"), occurredAt: "yesterday" }]))
      expect(error).toMatchObject({
        code: "22023",
        message: "events[1].occurredAt: Use an RFC 3339 date-time with a UTC offset, such as 2026-11-20T08:15:00-06:00.",
        detail: "/events/1/occurredAt"
      })
      await client.query("ROLLBACK TO before_waybill")
      await publish(client, ofA("whole", { eventId: "alone" }))
      await client.query("COMMIT")
    })
    expect(await deliveredIds()).toEqual(["alone"])
  })

  it("refuses other content under a known id, also of an event that the service stored", async () => {
    await service.waybill.events.publish(carrier, [ofA("known", { eventId: "known-1", more: { notes: "a \u0000 of the service" } })])
    await service.waybill.events.publish(carrier, [ofA("known", { eventId: "known-2" })])
    expect(await publish(service.pool, ofA("known", { eventId: "known-2" }))).toEqual([{ index: 0, event_id: "known-2", sequence: "2", outcome: "duplicate" }])
    for (const event of [ofA("known", { eventId: "known-1" }), ofA("known", { eventId: "known-2", type: "DELAY" })]) {
      expect(await rejected(publish(service.pool, [ofA("known"), event]))).toMatchObject({ code: "22023", detail: "/events/1/eventId" })
    }
    expect(await deliveredIds()).toEqual(["known-1", "known-2"])
  })

  it("stores events of different shipments that have the same id, also beside those of the service", async () => {
    await service.waybill.events.publish(carrier, [reportedEvent("same-1", { eventId: "same" })])
    const call = ["same-1", "same-2", "same-3", "same-2"].map((shipmentId) => reportedEvent(shipmentId, { eventId: "same" }))
    expect((await publish(service.pool, call)).map(({ outcome }: { readonly outcome: string }) => outcome)).toEqual(["duplicate", "accepted", "accepted", "duplicate"])
    expect(await rejected(publish(service.pool, [{ ...call[1], type: "DELAY" }]))).toMatchObject({ code: "22023", detail: "/events/0/eventId" })
  })

  it("refuses an unknown, a deleted and a suspended tenant", async () => {
    const { waybill } = service
    await waybill.tenants.put("paused", { name: "Paused" })
    await waybill.tenants.suspend("paused")
    expect(await rejected(publish(service.pool, ofA("S"), "paused"))).toMatchObject({ code: "42501", message: expect.stringContaining("Tenant paused is suspended.") })
    await waybill.tenants.resume("paused")
    expect(await publish(service.pool, ofA("S"), "paused")).toHaveLength(1)
    await waybill.tenants.delete("paused", { confirm: "paused" })
    for (const tenant of ["paused", "nobody"]) expect(await rejected(publish(service.pool, ofA("S"), tenant))).toMatchObject({ code: "P0002", message: `No tenant ${tenant}.` })
  })

  it("counts sequences without gaps while transactions of SQL and of the service commit and roll back", async () => {
    const bySql = (commit: boolean) => connected(async (client) => {
      await client.query("BEGIN")
      await publish(client, [reportedEvent("busy"), reportedEvent("busy")])
      await client.query(commit ? "COMMIT" : "ROLLBACK")
    })
    await Promise.all(Array.from({ length: 24 }, (_, at) =>
      at % 3 === 0 ? service.waybill.events.publish(carrier, [reportedEvent("busy")]) : bySql(at % 3 === 1)))
    expect((await sequences("busy")).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, at) => at + 1))
  })

  it("stores an event once that two transactions publish at the same time", async () => {
    const event = ofA("raced", { eventId: "raced-1" })
    const outcomes = await connected((first) => connected(async (second) => {
      await first.query("BEGIN")
      const [stored] = await publish(first, event)
      const { rows: [{ pid }] } = await second.query("SELECT pg_backend_pid() AS pid")
      const waiting = publish(second, event)
      await eventually(async () => (await rows("SELECT FROM pg_locks WHERE pid = $1 AND NOT granted", [pid])).length > 0)
      await first.query("COMMIT")
      return [stored.outcome, (await waiting)[0].outcome]
    }))
    expect(outcomes).toEqual(["accepted", "duplicate"])
    expect(await deliveredIds()).toEqual(["raced-1"])
  })

  it("asks a transaction of a stricter isolation level to run again when another one stored the same event", async () => {
    await connected((first) => connected(async (second) => {
      await second.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
      await publish(first, reportedEvent("strict", { eventId: "strict" }))
      expect(await rejected(publish(second, reportedEvent("strict", { eventId: "strict" })))).toMatchObject({ code: "40001" })
      await second.query("ROLLBACK")
    }))
  })

  it("notifies delivery workers at the commit of something to deliver, and only then", async () => {
    const heard: Array<string> = []
    await connected(async (listener) => {
      const { rows: [found] } = await listener.query(
        "SELECT (regexp_match(prosrc, 'pg_notify[(]''([a-z0-9_]+)'))[1] AS channel FROM pg_proc WHERE oid = to_regprocedure($1)",
        [`"${service.schema}".publish_transit_events(text, jsonb)`]
      )
      await listener.query(`LISTEN ${found.channel}`)
      const notified = new Promise<void>((resolve) => listener.on("notification", ({ payload }) => {
        heard.push(payload!)
        resolve()
      }))
      await connected(async (client) => {
        await publish(client, reportedEvent("nobody subscribed"))
        await client.query("SET waybill.notify = 'off'")
        await publish(client, ofA("woken"))
        await client.query("RESET waybill.notify; BEGIN")
        await publish(client, ofA("woken"))
        await publish(client, ofA("woken"))
        await listener.query("SELECT 1")
        expect(heard).toEqual([])
        await client.query("COMMIT")
      })
      await notified
    })
    expect(heard).toEqual([`sql:${tenantId}`])
    await deliver(service)
  })

  it("can be prepared for a two-phase commit without the notification, which Postgres refuses there", async () => {
    await connected(async (client) => {
      await client.query("BEGIN")
      await publish(client, ofA("prepared"))
      expect(await rejected(client.query("PREPARE TRANSACTION 'waybill-test-1'"))).toMatchObject({ code: "0A000" })
      await client.query("BEGIN; SET LOCAL waybill.notify = 'off'")
      const [{ event_id: id }] = await publish(client, ofA("prepared"))
      await client.query("PREPARE TRANSACTION 'waybill-test-2'")
      expect(await deliveredIds()).toEqual([])
      await client.query("COMMIT PREPARED 'waybill-test-2'")
      expect(await deliveredIds()).toEqual([id])
    })
  })

  it("writes an entry of the audit log with the database role", async () => {
    await publish(service.pool, reportedEvent("audited"))
    const { data: [entry] } = await service.waybill.audit.list({ tenant: tenantId, actor: "sql:postgres" })
    expect(entry).toMatchObject({ action: "transit-events.publish", actor: { kind: "client", name: "sql:postgres" }, result: "ok", status: 200 })
  })

  it("takes a thousand events in one call, and no more", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => reportedEvent(`many-${at % 7}`))
    const published = await publish(service.pool, many(1000))
    expect(published.map(({ index }) => index)).toEqual(Array.from({ length: 1000 }, (_, at) => at))
    expect(new Set(published.map((row) => row.event_id)).size).toBe(1000)
    expect(published.map((row) => row.event_id).toSorted()).toEqual(published.map((row) => row.event_id))
    expect(await rejected(publish(service.pool, many(1001)))).toMatchObject({ code: "22023", detail: "/events", message: expect.stringContaining("this call has 1001") })
  })

  it("refuses a number that JavaScript rounds or writes as null, with the pointer of the first (SPEC-GAP-D8)", async () => {
    const send = (number: string) => {
      const event = JSON.stringify({ ...reportedEvent("exact"), attributes: { "a/b~": [{ 10: 1 }, "@"], 9: { "": "@" } } }).replaceAll("\"@\"", number)
      return service.pool.query(`SELECT * FROM "${service.schema}".publish_transit_events('acme', $1)`, [event])
    }
    for (const number of ["12345678901234567890", "-9007199254740992", "1e400"]) {
      expect(await rejected(send(number))).toMatchObject({ code: "22023", detail: "/events/0/attributes/9/", message: expect.stringContaining("lose digits") })
    }
    for (const number of ["9007199254740991", "-9007199254740991.4", "1e-400"]) expect((await send(number)).rows).toHaveLength(1)
    const deep = JSON.stringify({ ...reportedEvent("exact"), attributes: { "a/b~": [{ 10: 1 }, 1e300] } })
    expect(await rejected(service.pool.query(`SELECT * FROM "${service.schema}".publish_transit_events('acme', $1)`, [deep]))).toMatchObject({ detail: "/events/0/attributes/a~1b~0/1" })
  })

  it("takes an event of 64 KiB in every form, and refuses a larger one", async () => {
    const ofSize = (text: string, count: number) => JSON.stringify({ ...reportedEvent("large"), more: "@" }).replace("\"@\"", `[${Array.from({ length: count }, () => text).join(",")}]`)
    const send = (event: string) => service.pool.query(`SELECT * FROM "${service.schema}".publish_transit_events('acme', $1)`, [event])
    for (const text of ["1", "{}", "[]", "\"\"", "{\"a\":1}", "0.5"]) {
      const fitting = Math.floor(60_000 / (text.length + 1))
      expect((await send(ofSize(text, fitting))).rows).toHaveLength(1)
      for (const count of [fitting * 1.2, fitting * 5]) {
        expect(await rejected(send(ofSize(text, count)))).toMatchObject({ code: "22023", message: "events[0]: An event has at most 65536 bytes of JSON." })
      }
    }
  }, 30_000)
})

describe("the status of a shipment whose events are published from SQL", () => {
  it("is the same as after these events through the service, with the same notifications", async () => {
    for (const id of ["by-sql", "by-service"]) {
      await service.waybill.shipments.register(carrier, [shipment(id)])
      await service.waybill.statusSubscriptions.subscribe(customer, { referenceNumbers: [id], webhookUrl: service.hook(`/status/${id}`) })
    }
    await publish(service.pool, ltlJourney("by-sql"))
    await service.waybill.events.publish(carrier, ltlJourney("by-service"))
    const received = await deliver(service)
    const notified = (id: string) => received.filter(({ path }) => path === `/status/${id}`).map(({ body }) => JSON.stringify(body).replaceAll(id, "id"))
    expect(notified("by-sql")).toEqual(notified("by-service"))
    expect(notified("by-sql").length).toBeGreaterThan(3)
    const stored = (id: string, column: string) =>
      rows(`SELECT ${column} AS found FROM @shipment_statuses WHERE tenant_id = $1 AND shipment_id = $2`, [tenantId, id]).then(([row]) => row.found.replaceAll(id, "id").replaceAll(/"registeredAt":\d+/g, ""))
    for (const column of ["convert_from(verified, 'UTF8')", "state"]) expect(await stored("by-sql", column)).toBe(await stored("by-service", column))
    expect(await rows("SELECT * FROM @transit_events_awaiting_status")).toEqual([])
  })

  it("is updated while a transaction has locked another shipment, whose status follows", async () => {
    const ids = ["free-before", "held", "ready"]
    for (const id of ids) {
      await service.waybill.shipments.register(carrier, [shipment(id)])
      await publish(service.pool, ltlJourney(id))
    }
    const waiting = async () => (await rows("SELECT DISTINCT shipment_id FROM @transit_events_awaiting_status ORDER BY 1")).map((row) => row.shipment_id)
    await connected(async (client) => {
      await client.query("BEGIN")
      await publish(client, reportedEvent("held"))
      await deliver(service)
      expect(await waiting()).toEqual(["held"])
      await client.query("COMMIT")
    })
    await deliver(service)
    expect(await waiting()).toEqual([])
  })
})
