/** The SQL of docs/publish-from-sql.md runs unchanged. */
import { createWaybill, type Waybill } from "@waybill/http"
import { reportedEvent } from "@waybill/testkit"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { postgresStorage } from "../../src/index.ts"
import { carrier, rejected } from "../host/Service.ts"

const page = readFileSync(new URL("../../../../docs/publish-from-sql.md", import.meta.url), "utf8")

// roles belong to the whole server, so the page's role gets a name of its own here
const role = `dispatch_${randomBytes(6).toString("hex")}`
const blocks = (language: string) => [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "gm"))].map(([, code]) => code!.replaceAll(/\bdispatch\b/g, role))
const [grants, trigger, change, quiet, ...others] = blocks("sql") as [string, string, string, string]

let database: string
let server: pg.Client
let owner: pg.Client
let dispatch: pg.Client
let waybill: Waybill

beforeAll(async () => {
  database = `test_${randomBytes(6).toString("hex")}`
  server = new pg.Client(inject("pgUrl"))
  await server.connect()
  await server.query(`CREATE DATABASE ${database} TEMPLATE template0`)
  const url = new URL(inject("pgUrl"))
  url.pathname = `/${database}`
  waybill = createWaybill({ storage: postgresStorage({ url: url.href, maxConnections: 2, sqlPublishing: true }), sealingKeys: [new Uint8Array(32)], log: () => {} })
  await waybill.tenants.put("acme", { name: "Acme" })
  owner = new pg.Client(url.href)
  await owner.connect()
  await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'pw'`)
  await owner.query(grants)
  await owner.query(trigger)
  await owner.query(`GRANT ALL ON loads TO ${role}`)
  Object.assign(url, { username: role, password: "pw" })
  dispatch = new pg.Client(url.href)
  await dispatch.connect()
})

afterAll(async () => {
  await dispatch.end()
  await owner.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  await owner.end()
  await waybill.stop()
  await server.query(`DROP DATABASE ${database} WITH (FORCE)`)
  await server.end()
})

const typesOf = async (shipmentId: string) => (await waybill.events.list(carrier, { shipmentId })).data.map(({ type }) => type)

describe("the page", () => {
  it("has the blocks that are tested here", () => expect(others).toEqual([]))

  it("publishes a change of the host's table in the host's transaction", async () => {
    await dispatch.query(change)
    expect(await typesOf("LOAD-1")).toEqual(["PICKED_UP"])
    await dispatch.query("BEGIN; UPDATE loads SET status = 'delivered'; ROLLBACK")
    await dispatch.query("UPDATE loads SET destination_city = NULL")
    expect(await typesOf("LOAD-1")).toEqual(["PICKED_UP"])
  })

  it("publishes thousands of rows of one statement, in calls of a thousand events", async () => {
    await dispatch.query("INSERT INTO loads SELECT 'MANY-' || n, 'A100', 'planned', now() FROM generate_series(1, 2500) AS n")
    await dispatch.query("UPDATE loads SET status = 'loaded' WHERE load_id LIKE 'MANY-%'")
    const { rows: [{ count }] } = await owner.query("SELECT count(*)::int FROM waybill.transit_events WHERE shipment_id LIKE 'MANY-%'")
    expect(count).toBe(2500)
    await expect(waybill.audit.list({ actor: `sql:${role}`, limit: 10 })).resolves.toMatchObject({ data: { length: 4 } })
  })

  it("publishes with the statements of the other language, which can be repeated", async () => {
    const [python] = blocks("python") as [string]
    const event = JSON.parse(/^event = (\{[^]*?^\})/m.exec(python)![1]!.replaceAll(/,(\s*\})/g, "$1")) as unknown
    const [update, publish] = [...python.matchAll(/execute\("([^"]+)"/g)].map(([, text]) => text!.replace("%s", "$1").replace("%s", "$2")) as [string, string]
    await dispatch.query(update, ["LOAD-1"])
    expect(await typesOf("LOAD-1")).toEqual(["PICKED_UP", "DELIVERED"])
    expect((await dispatch.query(publish, ["acme", JSON.stringify([event])])).rows).toMatchObject([{ index: 0, event_id: "LOAD-1:delivered", sequence: "3", outcome: "accepted" }])
    expect((await dispatch.query(publish, ["acme", JSON.stringify([event])])).rows).toMatchObject([{ outcome: "duplicate" }])
  })

  it("shows an error as it is", async () => {
    const [shown] = blocks("text") as [string]
    const valid = reportedEvent("S")
    const events = [valid, valid, valid, { ...valid, shipment: { ...valid.shipment, origin: { country: "United States" } } }]
    const error = await rejected(dispatch.query("SELECT waybill.publish_transit_events('acme', $1)", [JSON.stringify(events)])) as Error & { readonly detail: string }
    expect(`ERROR:  ${error.message}\nDETAIL:  ${error.detail}\n`).toBe(shown)
  })

  it("turns notifications off for a role", async () => {
    await owner.query(quiet)
    const { rows: [{ config }] } = await owner.query("SELECT rolconfig AS config FROM pg_roles WHERE rolname = $1", [role])
    expect(config).toEqual(["waybill.notify=off"])
  })
})
