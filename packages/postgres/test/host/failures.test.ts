/** Transactions of the host that Waybill cannot use, or that Postgres ended: what the error says. */
import { documentsSample, invoiceSample } from "@waybill/testkit"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { bill, carrier, customer, event, rejected, type Service, startService } from "./Service.ts"

describe("within(tx) of a transaction", () => {
  let service: Service

  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.close())

  const open = async (begin: string, connectionString = service.url) => {
    const client = new pg.Client({ connectionString })
    client.on("error", () => {})
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(begin)
    return client
  }
  const publish = (client: pg.Client, id: string, eventId = id) => service.waybill.within(client as never).events.publish(carrier, [event(id, eventId)])
  const refusal = async (call: Promise<unknown>) => {
    const { code, message } = await rejected(call)
    return [code, message]
  }
  const secret = { anyClient: true } as const
  const strict = ["REPEATABLE READ", "SERIALIZABLE"]
  const missing = (level: string, writes: string) =>
    ["internal_error", `The transaction given to within(tx) is ${level}, in which ${writes} would miss each other. Begin it with READ COMMITTED.`]
  const repeat = (reason: string) => ["unavailable", `The transaction given to within(tx) failed: ${reason}. Roll it back, and repeat it from its beginning.`]

  it("that is read-only says so, because a retry does not help", async () => {
    expect(await refusal(publish(await open("BEGIN READ ONLY"), "ro"))).toEqual([
      "internal_error",
      "The transaction given to within(tx) is read-only. Begin it without READ ONLY, with default_transaction_read_only off, and on the primary server."
    ])
  })

  it("whose times cannot be read says so", async () => {
    await service.waybill.secrets.put(carrier.tenantId, "style", secret)
    const client = await open("BEGIN; SET LOCAL DateStyle = 'SQL, DMY'")
    expect(await refusal(service.waybill.within(client as never).secrets.put(carrier.tenantId, "style", secret))).toEqual([
      "internal_error",
      "The transaction given to within(tx) has another DateStyle than ISO, and its times cannot be read. Begin it without SET DateStyle."
    ])
  })

  it("on a client with binary values says so", async () => {
    const client = Object.assign(await open("BEGIN"), { binary: true })
    expect(await refusal(publish(client, "binary"))).toEqual([
      "internal_error",
      "The client given to within(tx) has binary: true, and pg does not read binary values correctly. Connect it without binary."
    ])
  })

  it("on another database says so", async () => {
    const database = `other_${service.schema}`
    await service.pool.query(`CREATE DATABASE ${database}`)
    onTestFinished(async () => void await service.pool.query(`DROP DATABASE ${database} WITH (FORCE)`))
    const [code, message] = await refusal(publish(await open("BEGIN", Object.assign(new URL(service.url), { pathname: `/${database}` }).href), "db"))
    expect(code).toBe("internal_error")
    expect(message).toMatch(/^The database of the transaction given to within\(tx\) lacks Waybill's tables: .* does not exist\. Begin it on the database of the storage\.$/)
  })

  it("with another search_path works", async () => {
    const client = await open("BEGIN; SET LOCAL search_path = ''")
    expect(await publish(client, "path")).toMatchObject([{ result: "accepted" }])
  })

  it("that cannot be serialized is to be repeated", async () => {
    await service.waybill.events.publish(carrier, [event("ser", "ser-1")])
    const client = await open("BEGIN ISOLATION LEVEL REPEATABLE READ")
    await client.query("SELECT 1")
    await service.waybill.events.publish(carrier, [event("ser", "ser-2")])
    const error = await rejected(publish(client, "ser", "ser-3"))
    expect([error.code, error.message]).toEqual(repeat("could not serialize access due to concurrent update"))
    expect(error.cause).toMatchObject({ reason: { _tag: "SerializationError", cause: { code: "40001" } } })
  })

  it.each(strict)("that is %s neither publishes nor subscribes to charges, which would miss each other", async (level) => {
    const { waybill } = service
    const subscription = { webhookUrl: service.hook("/charges"), accounts: [level], dataOptions: {} }
    const reader = { ...customer, accounts: [level] }
    const begun = await Promise.all([open(`BEGIN ISOLATION LEVEL ${level}; SELECT 1`), open(`BEGIN ISOLATION LEVEL ${level}; SELECT 1`)])
    const [publishing, subscribing] = begun.map((client) => waybill.within(client as never))
    const refused = missing(level, "charges and new subscriptions to them")
    await waybill.chargeSubscriptions.create(reader, subscription)
    expect(await refusal(publishing!.freightCharges.publish(carrier, [bill(`${level[0]}1`, level)]))).toEqual(refused)
    await waybill.freightCharges.publish(carrier, [bill(`${level[0]}2`, level)])
    expect(await refusal(subscribing!.chargeSubscriptions.create({ ...reader, client: `other ${level}` }, subscription))).toEqual(refused)
  })

  it.each(strict)("that is %s writes neither invoices nor documents, whose accounts would miss each other", async (level) => {
    const { waybill } = service
    const { documents, invoices } = waybill.within(await open(`BEGIN ISOLATION LEVEL ${level}; SELECT 1`) as never)
    const of = (number: string) => ({ uniqueID: number, shipmentID: number, invoiceNumber: number })
    await waybill.documents.upload(carrier, documentsSample({ ...of(`${level[0]}1`), accounts: [] }) as never)
    expect(await refusal(invoices.create(carrier, invoiceSample({ ...of(`${level[0]}1`), accounts: ["A"] }) as never))).toEqual(missing(level, "invoices and their documents"))
    await waybill.invoices.create(carrier, invoiceSample({ ...of(`${level[0]}2`), accounts: ["A"] }) as never)
    expect(await refusal(documents.upload(carrier, documentsSample({ ...of(`${level[0]}2`), accounts: [] }) as never))).toEqual(missing(level, "invoices and their documents"))
  })

  it.each(strict)("that is %s changes and deletes no secret, which would miss new subscriptions with it", async (level) => {
    const { hook, waybill } = service
    const { tenantId } = carrier
    const [kept, deleted] = [`${level[0]}-kept`, `${level[0]}-deleted`]
    for (const id of [kept, deleted]) await waybill.secrets.put(tenantId, id, secret)
    const { secrets } = waybill.within(await open(`BEGIN ISOLATION LEVEL ${level}; SELECT 1`) as never)
    for (const hmacSecretId of [kept, deleted]) await waybill.subscriptions.create({ ...customer, client: hmacSecretId }, { endpointUrl: hook("/events"), hmacSecretId })
    const refused = missing(level, "changes of a secret and new subscriptions with it")
    expect(await refusal(secrets.delete(tenantId, deleted))).toEqual(refused)
    expect(await refusal(secrets.put(tenantId, kept, { overlapSeconds: 0 }))).toEqual(refused)
    expect(await refusal(secrets.put(tenantId, "client:shop"))).toEqual(refused)
    expect(await secrets.put(tenantId, `${level[0]}-new`, secret)).toMatchObject({ hmacSecretId: `${level[0]}-new` })
  })

  it.each([
    ["lock_timeout", "canceling statement due to lock timeout"],
    ["statement_timeout", "canceling statement due to statement timeout"]
  ])("that %s ended is to be repeated", async (setting, reason) => {
    await service.waybill.events.publish(carrier, [event(setting, `${setting}-1`)])
    const holder = await open("BEGIN")
    await publish(holder, setting, `${setting}-2`)
    expect(await refusal(publish(await open(`BEGIN; SET LOCAL ${setting} = '100ms'`), setting, `${setting}-3`))).toEqual(repeat(reason))
  })

  it("that ended in a call for credentials is to be repeated too", async () => {
    await service.waybill.secrets.put(carrier.tenantId, "held", secret)
    const holder = await open("BEGIN")
    await service.waybill.within(holder as never).secrets.put(carrier.tenantId, "held", secret)
    const client = await open("BEGIN; SET LOCAL lock_timeout = '100ms'")
    expect(await refusal(service.waybill.within(client as never).secrets.put(carrier.tenantId, "held", secret))).toEqual(repeat("canceling statement due to lock timeout"))
  })

  it("that idle_in_transaction_session_timeout ended says so", async () => {
    const client = await open("BEGIN")
    const ended = new Promise((resolve) => client.once("end", resolve))
    await client.query("SET LOCAL idle_in_transaction_session_timeout = '1ms'")
    await ended
    expect(await refusal(publish(client, "idle"))).toEqual(repeat("Client has encountered a connection error and is not queryable"))
  })
})
