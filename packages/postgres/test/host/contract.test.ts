/** A host's code gets the same from the service on Postgres and from the test kit, so that its tests on the kit count. */
import { createWaybill, type HostPickupDesk, type HostPrincipal, type Waybill, WaybillError } from "@waybill/http"
import { documentsSample, fileSample, pickupRequest, reportedEvent, startTestWaybill, testClient } from "@waybill/testkit"
import pg from "pg"
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest"
import { postgresStorage, type PostgresTransaction } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"
import { startReceiver } from "./Receiver.ts"

const carrier: HostPrincipal = { tenantId: "acme", client: "tms", roles: ["carrier"] }
const customer: HostPrincipal = { tenantId: "acme", client: "shop", roles: ["customer"], accounts: ["A"] }
const operatorKey = "an-operator-key-of-this-test"

/** What the host's code under test knows of its database. */
type Client = PostgresTransaction & { readonly query: (text: string, values?: Array<unknown>) => Promise<unknown>; readonly release: () => void }

interface Subject {
  readonly waybill: Waybill<PostgresTransaction>
  readonly connect: () => Promise<Client>
  /** A table of the host, `(id text)`. */
  readonly own: string
  readonly hook: string
  /** Ids of events that were delivered since the last call. */
  readonly delivered: () => Promise<ReadonlyArray<string>>
  readonly close: () => Promise<void>
}

type Decide = Extract<HostPickupDesk<PostgresTransaction>, (...given: never) => unknown>

interface Options {
  readonly operatorKeys: ReadonlyArray<string>
  readonly pickupDesk: Decide
}

const onPostgres = async (options: Options): Promise<Subject> => {
  const schema = freshSchema()
  const own = `public.own_${schema}`
  const pool = new pg.Pool({ connectionString: inject("pgUrl"), max: 4 })
  await pool.query(`CREATE TABLE ${own} (id text PRIMARY KEY)`)
  const receiver = await startReceiver()
  const waybill = createWaybill({
    storage: postgresStorage({ pool, schema, listen: false }),
    sealingKeys: [new Uint8Array(32).fill(7)],
    egressAllow: ["127.0.0.1"],
    log: () => {},
    ...options
  })
  await waybill.tenants.put("acme", { name: "Acme" })
  await waybill.secrets.put("acme", "main", { anyClient: true })
  return {
    waybill,
    connect: () => pool.connect(),
    own,
    hook: receiver.hook("/hook"),
    delivered: async () => {
      while (await waybill.runOnce() > 0);
      return receiver.received.splice(0).flatMap(({ body }) => body.events.map((each: { readonly eventId: string }) => each.eventId))
    },
    close: async () => {
      await waybill.stop()
      await receiver.close()
      await pool.query(`DROP SCHEMA "${schema}" CASCADE; DROP TABLE ${own}`)
      await pool.end()
    }
  }
}

const onTheTestKit = async (options: Options): Promise<Subject> => {
  const waybill = await startTestWaybill(options)
  const hook = "https://shop.example/hook"
  let seen = 0
  return {
    waybill,
    connect: async () => testClient<Client>(),
    own: "orders",
    hook,
    delivered: async () => {
      const { received } = waybill.receiver(hook)
      const fresh = received.slice(seen)
      seen = received.length
      return fresh.flatMap(({ events }) => events.map(({ eventId }) => eventId))
    },
    close: () => waybill.stop()
  }
}

/** The host's code under test: its own row and the event, in one transaction. */
const pickUp = async ({ connect, own, waybill }: Subject, shipmentId: string, before?: (client: Client) => Promise<void>) => {
  const client = await connect()
  try {
    await client.query("BEGIN")
    await client.query(`INSERT INTO ${own} VALUES ($1)`, [shipmentId])
    await waybill.within(client).events.publish(carrier, [event(shipmentId)])
    await before?.(client)
    await client.query("COMMIT")
    await waybill.wake("acme")
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
}

const event = (shipmentId: string) => reportedEvent(shipmentId, { eventId: shipmentId, accounts: ["A"] })

const errorOf = async (call: Promise<unknown>) => {
  const error = await call.then(() => undefined, (reason: unknown) => reason)
  expect(error).toBeInstanceOf(WaybillError)
  const { code, faults, message, status } = error as WaybillError
  return { code, status, message, faults }
}

describe.each([["Postgres", onPostgres], ["the test kit", onTheTestKit]] as const)("the service on %s", (_, startSubject) => {
  let subject: Subject
  let waybill: Subject["waybill"]
  let desk: Decide = async () => ({ decision: "accept" })

  beforeAll(async () => {
    subject = await startSubject({ operatorKeys: [operatorKey], pickupDesk: (order, call) => desk(order, call) })
    waybill = subject.waybill
    await waybill.subscriptions.create(customer, { endpointUrl: subject.hook, hmacSecretId: "main" })
  })
  beforeEach(() => {
    desk = async () => ({ decision: "accept" })
  })
  afterAll(() => subject.close())

  const stored = async () => (await waybill.events.list(customer, { pageSize: 500 })).data.map(({ eventId }) => eventId)

  it("stores and delivers what a committed transaction published, and nothing before the commit", async () => {
    await pickUp(subject, "committed", async () => {
      expect(await stored()).not.toContain("committed")
      expect(await subject.delivered()).toEqual([])
    })
    expect(await stored()).toContain("committed")
    expect(await subject.delivered()).toEqual(["committed"])
  })

  it("leaves nothing of a transaction that was rolled back", async () => {
    const failure = new Error("the scanner lost its connection")
    await expect(pickUp(subject, "rolled-back", async () => {
      throw failure
    })).rejects.toBe(failure)
    expect(await stored()).not.toContain("rolled-back")
    expect(await subject.delivered()).toEqual([])
    await pickUp(subject, "rolled-back")
    expect(await subject.delivered()).toEqual(["rolled-back"])
  })

  it("undoes a savepoint, or a refused call, and keeps the rest of the transaction", async () => {
    await pickUp(subject, "outer", async (client) => {
      await client.query("SAVEPOINT inner_one")
      await waybill.within(client).events.publish(carrier, [event("inner")])
      await client.query("ROLLBACK TO SAVEPOINT inner_one")
      expect((await errorOf(waybill.within(client).events.publish(carrier, [{} as never]))).code).toBe("invalid_input")
      await waybill.within(client).events.publish(carrier, [event("last")])
    })
    expect((await subject.delivered()).toSorted()).toEqual(["last", "outer"])
  })

  it("refuses a transaction that is over", async () => {
    const client = await subject.connect()
    await client.query("BEGIN")
    await client.query("COMMIT")
    expect(await errorOf(waybill.within(client).events.publish(carrier, [event("late")]))).toMatchObject({ code: "internal_error", status: 500 })
    client.release()
  })

  it("rejects with the same errors", async () => {
    expect(await errorOf(waybill.events.publish(customer, [event("E")]))).toEqual({
      code: "not_permitted",
      status: 403,
      message: expect.stringContaining("carrier"),
      faults: []
    })
    expect(await errorOf(waybill.events.publish({ ...carrier, tenantId: "acmee" }, [event("E")]))).toMatchObject({ code: "tenant_not_found", status: 404 })
    expect(await errorOf(waybill.secrets.put("acmee", "main", { anyClient: true }))).toMatchObject({ code: "tenant_not_found" })
    expect(await errorOf(waybill.secrets.put("acme", "unowned"))).toMatchObject({ code: "invalid_input", faults: [{ code: "required" }] })
    const invalid = await errorOf(waybill.events.publish(carrier, [{ ...event("E"), type: "LOST" as never }]))
    expect(invalid).toMatchObject({ code: "invalid_input", status: 400, faults: [{ pointer: "/events/0/type" }] })
    expect(await errorOf(waybill.subscriptions.get(customer, "none"))).toMatchObject({ code: "subscription_not_found", status: 404 })
    expect(await errorOf(waybill.tenants.delete("acme", { confirm: "acne" }))).toMatchObject({ code: "invalid_input" })
  })

  it("answers requests with API keys, in both parts of the handler", async () => {
    const { id, key } = await waybill.apiKeys.create("acme", { name: "shop", roles: ["customer"], accounts: ["A"] })
    expect((await waybill.apiKeys.list("acme")).data).toMatchObject([{ id, name: "shop" }])
    const get = (path: string, apiKey?: string) => new Request(`https://freight.example${path}`, apiKey === undefined ? {} : { headers: { "x-api-key": apiKey } })
    const events = "/visibility/v1/events"
    const answer = await waybill.handler(get(events, key))
    expect(answer.status).toBe(200)
    expect((await answer.json() as { readonly data: ReadonlyArray<unknown> }).data.length).toBeGreaterThan(0)
    expect((await waybill.customerHandler(get(events, key))).status).toBe(200)
    expect((await waybill.handler(get(events))).status).toBe(401)
    expect((await waybill.operatorHandler(get("/operator/v1/tenants", operatorKey))).status).toBe(200)
    expect((await waybill.customerHandler(get("/operator/v1/tenants", operatorKey))).status).toBe(404)
    await waybill.apiKeys.revoke("acme", id)
    expect((await waybill.handler(get(events, key))).status).toBe(401)
  })

  it("orders pickups through the host's desk, whose statements are in the transaction that stores the answer", async () => {
    desk = async ({ requestId }, { transaction }) => {
      await (transaction as Client).query(`INSERT INTO ${subject.own} VALUES ($1)`, [`truck for ${requestId}`])
      return { decision: "accept", carrierPickupNumber: "TRUCK-1" }
    }
    const order = pickupRequest({ orgAccountNumber: "A", day: "2099-11-20" }) as never
    expect(await waybill.pickups.create(customer, order, { idempotencyKey: "once" })).toMatchObject([{ carrierPickupNumber: "TRUCK-1" }])
    expect(await waybill.pickups.create(customer, order, { idempotencyKey: "once" })).toMatchObject([{ carrierPickupNumber: "TRUCK-1" }])
    expect(await waybill.pickups.record(carrier, "TRUCK-1")).toMatchObject({ carrierPickupNumber: "TRUCK-1" })
    await waybill.pickups.cancel(customer, "TRUCK-1")

    desk = async () => waybill.tenants.list() as never
    expect(await errorOf(waybill.pickups.create(customer, order))).toMatchObject({ code: "pickup_desk_failed", status: 503 })
    expect(await errorOf(waybill.pickups.record(carrier, "TRUCK-2"))).toMatchObject({ code: "pickup_not_found" })
  })

  it("keeps documents, whose bytes are read on demand", async () => {
    const file = fileSample("PDF", 70_000)
    const client = await subject.connect()
    await client.query("BEGIN")
    await waybill.within(client).documents.upload(carrier, documentsSample({ invoiceNumber: "4711", accounts: ["A"], documents: [{ documentType: "POD", files: [file] }] }) as never)
    expect(await errorOf(waybill.documents.get(customer, "4711"))).toMatchObject({ code: "document_not_found" })
    await client.query("COMMIT")
    client.release()
    const { documents: [pod] } = await waybill.documents.get(customer, "4711")
    const [stored] = pod!.files
    expect(stored).toMatchObject({ size: 70_000, mediaType: "application/pdf" })
    expect(new Uint8Array(await new Response(stored!.content()).arrayBuffer())).toEqual(file)
    await waybill.documents.remove(carrier, "4711")
    expect(await errorOf(waybill.documents.get(customer, "4711"))).toMatchObject({ code: "document_not_found" })
  })

  it("refuses a suspended tenant until it is resumed, and records the host's operator calls", async () => {
    await waybill.tenants.suspend("acme")
    expect(await errorOf(waybill.events.list(customer))).toMatchObject({ code: "tenant_suspended", status: 403 })
    await waybill.tenants.resume("acme")
    expect((await waybill.audit.list({ limit: 2 })).data).toMatchObject([{ action: "tenant.resume", actor: { name: "host" } }, { action: "tenant.suspend" }])
    expect((await waybill.tenants.list()).data).toMatchObject([{ tenantId: "acme", state: "active" }])
  })

  it("starts, stops, and refuses calls after that", async () => {
    const other = await startSubject({ operatorKeys: [operatorKey], pickupDesk: desk })
    await other.waybill.start()
    await other.waybill.stop()
    await other.waybill.stop()
    expect(await errorOf(other.waybill.tenants.list())).toMatchObject({ code: "stopping", status: 503, faults: [] })
    expect((await other.waybill.handler(new Request("https://freight.example/healthz"))).status).toBe(503)
    await other.close()
  })
})
