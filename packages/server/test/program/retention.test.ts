/** Data that is older than its setting, in a real server: what its next start removes, and what it keeps. */
import { DocumentsClient, type DocumentUpload, FreightChargesClient, type FreightBillChange, type PickupOrder, PickupsClient, type ReportedShipment, ShipmentStatusClient } from "@waybill/client"
import { billChange, documentsSample, fileSample, pickupRequest, postedShipment } from "@waybill/testkit"
import pg from "pg"
import { expect, inject, it, onTestFinished } from "vitest"
import { eventually, Program, receiver, sharedSettings, startProgram } from "./Program.ts"
import { account, event, tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

/** In the database, everything that has a time happened that much earlier. */
const ageInDatabase = async (sql: pg.Client, schema: string, days: number) => {
  const { rows } = await sql.query<{ table: string; column: string }>(
    "SELECT table_name AS table, column_name AS column FROM information_schema.columns WHERE table_schema = $1 AND data_type = 'timestamp with time zone' AND table_name NOT IN ('delivery_leases', 'delivery_workers', 'migrations')",
    [schema]
  )
  for (const { column, table } of rows) await sql.query(`UPDATE ${schema}.${table} SET ${column} = ${column} - interval '${days} days' WHERE isfinite(${column})`)
  // ids of version 7 begin with their time in milliseconds
  for (const [table, id] of [["deliveries", "delivery_id"], ["audit_entries", "entry_id"]]) {
    await sql.query(`UPDATE ${schema}.${table} SET ${id} = (lpad(to_hex(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint - ${days * 86_400_000}), 12, '0') || substr(replace(${id}::text, '-', ''), 13))::uuid`)
  }
}

const bill = (change: "created" | "final", id: string) => billChange(change, id, { account }) as unknown as FreightBillChange

const ordered = (): PickupOrder => {
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  const { carrierPickupNumber: _, requestFunction: __, ...asked } = pickupRequest({ day, orgAccountNumber: account })
  return { ...asked, isTest: false } as unknown as PickupOrder
}

it("removes what is older than its setting, and nothing that is younger, still needed or not delivered", { timeout: 120_000 }, async () => {
  const days = Object.fromEntries(["", "DELIVERED_", "ENDED_BILLS_", "PICKUPS_", "AUDIT_", "STATISTICS_", "NOTICES_"].map((name) => [`WAYBILL_KEEP_${name}DAYS`, "2"]))
  const { env, operatorKey } = sharedSettings(pgUrl, days)
  const schema = env["WAYBILL_SCHEMA"]!
  const sql = new pg.Client(pgUrl)
  await sql.connect()
  onTestFinished(() => sql.end())
  const count = async (table: string, condition = "true") => Number((await sql.query(`SELECT count(*) FROM ${schema}.${table} WHERE ${condition}`)).rows[0].count)

  let accepts = (path: string) => path.startsWith("/well")
  const hook = await receiver(({ path }, response) => void response.writeHead(accepts(path) ? 200 : 503).end())
  const { program, url } = await startProgram({ env })
  const tenant = await tenantOn(url, operatorKey)
  const other = await tenant.operator.createApiKey("acme", { name: "other", roles: ["customer"], accounts: [account] })
  const references = { old: "0418367745", young: "0418367746", open: "0418367747" }
  for (const [path, apiKey] of [["/well", tenant.customerKey], ["/ill", other.key]] as const) {
    await tenant.customerAt(url).createSubscription({ endpointUrl: `${hook.url}${path}/events`, hmacSecretId: "main" })
    await tenant.intakeAt(url).createSubscription({ topics: ["pickups"], endpointUrl: `${hook.url}${path}/pickups`, hmacSecretId: "main" })
    await new ShipmentStatusClient({ baseUrl: url, apiKey }).subscribe({ referenceNumbers: Object.values(references), webhookUrl: `${hook.url}${path}/status` })
    await new FreightChargesClient({ baseUrl: url, apiKey }).create({ webhookUrl: `${hook.url}${path}/charges`, accounts: [account], dataOptions: { shipmentDataType: "all_monitored_events" } })
  }
  // deleted, so that nothing of them is left
  const { id } = await tenant.customerAt(url).createSubscription({ endpointUrl: `${hook.url}/well/events`, hmacSecretId: "main" })
  await tenant.customerAt(url).deleteSubscription(id)
  const leftOf = { transit_subscriptions: "deleted_at IS NOT NULL", delivery_destinations: "state = 'closed'" }
  for (const [table, condition] of Object.entries(leftOf)) expect(await count(table, condition), table).toBe(1)
  const happens = async (name: "old" | "young", at: string) => {
    const carrier = tenant.intakeAt(at)
    await carrier.registerShipments([postedShipment(`S-${name}`, { ProNumber: references[name], accounts: [account] }) as ReportedShipment])
    await carrier.publishTransitEvents([event(`S-${name}`, 1), { ...event(`S-${name}`, 2), type: "DELIVERED", occurredAt: new Date().toISOString() }])
    await carrier.publishFreightCharges([bill("created", `${name}-bill`), bill("final", `${name}-bill`)])
    await new PickupsClient({ baseUrl: at, apiKey: tenant.customerKey }).create(ordered())
    await new DocumentsClient({ baseUrl: at, apiKey: tenant.carrierKey }).upload(documentsSample({ invoiceNumber: name, documents: [{ documentType: "POD", files: [fileSample("PDF", 1000)] }] }) as DocumentUpload)
  }
  await happens("old", url)
  await tenant.intakeAt(url).registerShipments([postedShipment("S-open", { ProNumber: references.open, accounts: [account] }) as ReportedShipment])
  await tenant.intakeAt(url).publishFreightCharges([bill("created", "open-bill")])
  const areas = ["events", "pickups", "status", "charges"]
  const sentTo = (path: string) => new Set(hook.receptions.filter((each) => each.path === path).map(({ id }) => id))
  await eventually(() => areas.every((area) => sentTo(`/well/${area}`).size > 0 && sentTo(`/ill/${area}`).size > 0) ? true : undefined)
  await eventually(async () => await count("deliveries", "state = 'delivered'") >= areas.length ? true : undefined)
  expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })

  expect(await count("deliveries", "state = 'waiting'")).toBeGreaterThanOrEqual(areas.length)
  const [kept] = (await sql.query(`INSERT INTO ${schema}.document_contents (tenant_id, content_id) VALUES ('acme', gen_random_uuid()), ('acme', gen_random_uuid()) RETURNING content_id`)).rows
  await sql.query(`INSERT INTO ${schema}.document_chunks (tenant_id, content_id, chunk, bytes) SELECT tenant_id, content_id, 0, 'x' FROM ${schema}.document_contents WHERE NOT kept`)
  await ageInDatabase(sql, schema, 3)
  await sql.query(`UPDATE ${schema}.document_contents SET written_at = now() WHERE content_id = $1`, [kept.content_id])
  const before = new Map<string, number>()
  for (const table of ["transit_events", "document_records", "api_keys", "secrets"]) before.set(table, await count(table))
  const open = await count("delivery_destinations", "state <> 'closed'")
  expect(await count("delivery_hours")).toBeGreaterThan(0)

  // retention runs at the start; the hours are the last that it removes of a tenant
  const second = new Program({ env })
  await happens("young", await second.ready())
  await eventually(async () => await count("delivery_hours", "at < now() - interval '2 days'") === 0 ? true : undefined)
  await eventually(async () => await count("audit_entries", "at < now() - interval '2 days'") === 0 ? true : undefined)
  expect(await count("deliveries", "state = 'delivered' AND settled_at < now() - interval '2 days'")).toBe(0)
  expect((await sql.query(`SELECT shipment_id FROM ${schema}.shipment_statuses ORDER BY 1`)).rows).toEqual([{ shipment_id: "S-open" }, { shipment_id: "S-young" }])
  expect((await sql.query(`SELECT bill_id FROM ${schema}.freight_bills ORDER BY 1`)).rows).toEqual([{ bill_id: "OPENBILL" }, { bill_id: "YOUNGBILL" }])
  expect(await count("document_contents", "NOT kept")).toBe(1)
  expect(await count("document_chunks")).toBe(3)
  for (const [table, rows] of before) expect(await count(table), table).toBeGreaterThanOrEqual(rows)
  expect(await count("delivery_destinations")).toBe(open)
  for (const [table, condition] of Object.entries(leftOf)) expect(await count(table, condition), table).toBe(0)
  expect(await second.kill("SIGTERM")).toEqual({ code: 0, signal: null })

  // a delivery of the old one waits
  expect(await count("pickups")).toBe(2)
  accepts = () => true
  await sql.query(`UPDATE ${schema}.deliveries SET due_at = now() WHERE state = 'waiting'`)
  await sql.query(`UPDATE ${schema}.delivery_destinations SET breaker_failures = 0, breaker_open_until = NULL`)
  const already = hook.receptions.length
  await startProgram({ env })
  await eventually(() => areas.every((area) => hook.receptions.slice(already).some(({ path }) => path === `/ill/${area}`)) ? true : undefined)
  await eventually(async () => await count("deliveries", "state = 'waiting'") + await count("delivery_entries") === 0 ? true : undefined)
})
