/** The service on its own schema, a webhook receiver, and a call of every writing method. */
import { createWaybill, type HostPrincipal, type Waybill, type WaybillWithin } from "@waybill/http"
import { billChange, documentsSample, fileSample, invoiceSample, pickupRequest, postedShipment, reportedEvent } from "@waybill/testkit"
import pg from "pg"
import { afterAll, inject } from "vitest"
import { applyMigrations, postgresStorage, type PostgresStorageOptions, type PostgresTransaction } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"
import { type Received, startReceiver } from "./Receiver.ts"

export const tenantId = "acme"
export const carrier: HostPrincipal = { tenantId, client: "tms", roles: ["carrier"] }
export const customer: HostPrincipal = { tenantId, client: "shop", roles: ["customer"], accounts: ["A"] }

export interface Service {
  readonly url: string
  readonly pool: pg.Pool
  readonly schema: string
  /** A table of the host's own, `(id text)`. */
  readonly own: string
  readonly waybill: Waybill<PostgresTransaction>
  readonly received: Array<Received>
  readonly hook: (path: string) => string
  readonly close: () => Promise<void>
}

export const startService = async (options: PostgresStorageOptions = {}): Promise<Service> => {
  const url = inject("pgUrl")
  const schema = freshSchema()
  const own = `public.own_${schema}`
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  await pool.query(`CREATE TABLE ${own} (id text PRIMARY KEY)`)
  if (process.env.WAYBILL_TEST_CITUS === "1") await distributeOverFewShards(url, schema)
  const receiver = await startReceiver()
  const waybill = createWaybill({
    storage: postgresStorage({ pool, schema, listen: false, ...options }),
    sealingKeys: [new Uint8Array(32).fill(7)],
    egressAllow: ["127.0.0.1"],
    log: () => {}
  })
  await waybill.tenants.put(tenantId, { name: "Acme" })
  await waybill.secrets.put(tenantId, "main", { anyClient: true })
  return {
    url,
    pool,
    schema,
    own,
    waybill,
    received: receiver.received,
    hook: receiver.hook,
    close: async () => {
      await waybill.stop()
      await receiver.close()
      await pool.query(`DROP SCHEMA "${schema}" CASCADE; DROP TABLE ${own}`)
      await pool.end()
    }
  }
}

/** A service that stops after the tests of the file. */
export const runningService = async (options?: PostgresStorageOptions): Promise<Service> => {
  const service = await startService(options)
  afterAll(() => service.close(), 60_000)
  return service
}

/** For runs against the coordinator of a cluster, by `npm run citus`. */
const distributeOverFewShards = async (url: string, schema: string): Promise<void> => {
  const pool = new pg.Pool({ connectionString: url, max: 1, options: "-c citus.shard_count=2" })
  try {
    await applyMigrations({ pool, schema, citus: true })
  } finally {
    await pool.end()
  }
}

/** A customer with subscriptions to everything that account A may see. */
export const subscribeToAll = async ({ hook, waybill }: Pick<Service, "hook" | "waybill">) => {
  await waybill.subscriptions.create(customer, { endpointUrl: hook("/events"), hmacSecretId: "main", delivery: { rateLimitPerMinute: 6_000_000 } })
  await waybill.chargeSubscriptions.create(customer, { webhookUrl: hook("/charges"), accounts: ["A"], dataOptions: {} })
}

export const shipment = (id: string) => postedShipment(id, { accounts: ["A"] } as never)
export const event = (id: string, eventId: string, account = "A") => reportedEvent(id, { eventId, type: "PICKED_UP", accounts: [account] })
export const bill = (id: string, account = "A") => billChange("created", id, { account }) as never
export const invoice = (id: string) => invoiceSample({ uniqueID: id, shipmentID: id, invoiceNumber: id, accounts: ["A"] }) as never

/** Publishes in every area, with ids that begin with `id`. Returns the pickup number. */
export const publishAll = async (within: WaybillWithin, id: string): Promise<string> => {
  await within.shipments.register(carrier, [shipment(id)])
  await within.events.publish(carrier, [event(id, `${id}-1`)])
  await within.shipments.report(carrier, [{ shipmentId: id, shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-21T09:00:00Z" }])
  await within.freightCharges.publish(carrier, [bill(id)])
  await within.invoices.create(carrier, invoice(id))
  await within.documents.upload(carrier, documentsSample({
    shipmentID: id,
    invoiceNumber: id,
    accounts: ["A"],
    documents: [{ documentType: "POD", files: [fileSample("PDF", 70_000)] }],
    more: { uniqueID: id }
  }) as never)
  const [answer] = await within.pickups.create(customer, pickupRequest({ orgAccountNumber: "A", day: "2099-11-20" }) as never, { idempotencyKey: id })
  return answer!.carrierPickupNumber!
}

/** Every row of every table of the service and the host, for comparing two states. */
export const contents = async ({ own, pool, schema }: Pick<Service, "own" | "pool" | "schema">): Promise<Readonly<Record<string, string>>> => {
  const { rows } = await pool.query<{ name: string }>("SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1 ORDER BY 1", [schema])
  const found: Record<string, string> = {}
  for (const { name } of [...rows, { name: own }]) {
    const { rows: [table] } = await pool.query(`SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') AS all FROM ${name} AS t`)
    found[name] = table.all
  }
  return found
}

/** Sends due deliveries and returns what arrived since the last call. */
export const deliver = async ({ received, waybill }: Pick<Service, "received" | "waybill">): Promise<ReadonlyArray<Received>> => {
  while (await waybill.runOnce() > 0);
  return received.splice(0)
}

export const rejected = async (call: Promise<unknown>): Promise<Error & { readonly code?: string; readonly status?: number }> =>
  call.then(() => new Error("It was fulfilled."), (error: Error) => error)
