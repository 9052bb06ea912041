/** A TMS that publishes from inside its own database transaction. */
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { createWaybill, type HostPrincipal } from "@waybill/http"
import { postgresStorage } from "@waybill/postgres"
import { once } from "node:events"
import { rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { startEmbeddedPostgres } from "waybill"

// your database: DATABASE_URL, or a temporary one
const directory = join(tmpdir(), `waybill-example-${process.pid}`)
const database = process.env["DATABASE_URL"] === undefined ? await startEmbeddedPostgres(directory) : undefined
const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"] ?? database!.url })
// a broken idle connection is replaced when it is needed
pool.on("error", () => {})
await pool.query("CREATE TABLE IF NOT EXISTS shipments (id text PRIMARY KEY, status text NOT NULL)")
await pool.query("TRUNCATE shipments")

// your customer's system
let secret = ""
const delivered: Array<string> = []
const receiver = new DeliveryReceiver({
  secrets: () => secret,
  seen: new SeenInMemory(),
  onEvents: (events) => void delivered.push(...events.map(({ shipment, type }) => `${shipment.shipmentId} ${type}`))
})
const hook = createServer(async (request, response) => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk as Uint8Array)
  const { body, headers, status } = await receiver.answer({ headers: request.headers, body: Buffer.concat(chunks) })
  response.writeHead(status, headers).end(body)
})
await once(hook.listen(0, "127.0.0.1"), "listening")

// Waybill on your pool, in its own schema
const waybill = createWaybill({
  storage: postgresStorage({ pool, schema: "waybill_example" }),
  sealingKeys: ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
  apiKeys: true,
  egressAllow: ["127.0.0.1"]
})
const carrier: HostPrincipal = { tenantId: "acme", client: "tms", roles: ["carrier"] }
const customer: HostPrincipal = { tenantId: "acme", client: "shipper", roles: ["customer"], accounts: ["A-1"] }
await waybill.tenants.put("acme", { name: "Acme Freight" })
secret = (await waybill.secrets.put("acme", "main", { client: "shipper" })).secret
await waybill.subscriptions.create(customer, {
  endpointUrl: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`,
  hmacSecretId: "main"
})
await waybill.start()

/** Stores your own row and its event in one transaction. */
const pickUp = async (shipmentId: string, goesWrong: boolean) => {
  const client = await pool.connect()
  const place = { name: "Chicago terminal", city: "Chicago", state: "IL", country: "USA" }
  try {
    await client.query("BEGIN")
    await client.query("INSERT INTO shipments VALUES ($1, 'PICKED_UP')", [shipmentId])
    await waybill.within(client).events.publish(carrier, [{
      type: "PICKED_UP",
      occurredAt: new Date().toISOString(),
      shipment: { shipmentId, origin: place, destination: place },
      parties: { accounts: ["A-1"] }
    }])
    if (goesWrong) throw new Error("the driver's scanner lost its connection")
    await client.query("COMMIT")
    await waybill.wake("acme")
    console.log(`${shipmentId}: committed`)
  } catch (error) {
    await client.query("ROLLBACK")
    console.log(`${shipmentId}: rolled back, because ${(error as Error).message}`)
  } finally {
    client.release()
  }
}

await pickUp("S-1", false)
await pickUp("S-2", true)
await pickUp("S-3", false)

while (delivered.length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
await waybill.stop()
const { rows } = await pool.query<{ id: string }>("SELECT id FROM shipments ORDER BY id")
console.log(`in your table: ${rows.map(({ id }) => id).join(", ")}`)
console.log(`delivered to the customer: ${delivered.sort().join(", ")}`)

hook.close()
await pool.query("DROP TABLE shipments; DROP SCHEMA waybill_example CASCADE")
await pool.end()
await database?.stop()
await rm(directory, { recursive: true, force: true })
