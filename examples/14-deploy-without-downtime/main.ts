/** A rolling deploy of an application that embeds Waybill, under load. */
import { createWaybill, type HostPrincipal } from "@waybill/http"
import { postgresStorage } from "@waybill/postgres"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import pg from "pg"
import { startEmbeddedPostgres } from "waybill"
import { startCustomer } from "../customer.ts"
import { startProcess, stopProcess } from "../processes.ts"
import { LoadBalancer } from "./LoadBalancer.ts"

// your database: DATABASE_URL, or a temporary one
const directory = join(tmpdir(), `waybill-example-${process.pid}`)
const database = process.env["DATABASE_URL"] === undefined ? await startEmbeddedPostgres(directory) : undefined
const env = { DATABASE_URL: process.env["DATABASE_URL"] ?? database!.url }

// once: a tenant, a secret and a subscription
const customer: HostPrincipal = { tenantId: "acme", client: "shipper", roles: ["customer"], accounts: ["A-1"] }
const pool = new pg.Pool({ connectionString: env.DATABASE_URL, max: 2 })
// a broken idle connection is replaced when it is needed
pool.on("error", () => {})
const setup = createWaybill({
  storage: postgresStorage({ pool, schema: "waybill_example" }),
  sealingKeys: ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
  egressAllow: ["127.0.0.1"]
})
const shipper = await startCustomer()
await setup.tenants.put("acme", { name: "Acme Freight" })
shipper.settings.secret = (await setup.secrets.put("acme", "main", { client: "shipper" })).secret
await setup.subscriptions.create(customer, { endpointUrl: shipper.hook, hmacSecretId: "main", delivery: { rateLimitPerMinute: 60_000 } })
await setup.stop()

const balancer = new LoadBalancer()
const started = async () => {
  const serving = await startProcess(new URL("server.ts", import.meta.url), env)
  await balancer.add(serving.port)
  return serving
}

const old = [await started(), await started()]
const answers: Array<number> = []
let isDeploying = true
const load = Promise.all(["S-1", "S-2", "S-3"].map(async (shipmentId) => {
  while (isDeploying) {
    answers.push(await balancer.post(`/${shipmentId}`))
    await delay(5)
  }
}))
/** Enough for every process to answer some. */
const more = async () => {
  const count = answers.length + 20
  while (answers.length < count) await delay(10)
}

await more()
const fresh = []
for (const process of old) {
  fresh.push(await started())
  await more()
  console.log(`an old process was replaced and ended with ${await stopProcess(process)}`)
  await more()
}
isDeploying = false
await load

const stored = answers.filter((status) => status === 201).length
await shipper.until(stored)
console.log(`requests that failed: ${answers.length - stored}`)
console.log(`events that are missing: ${stored - shipper.received.length}`)
console.log(`every shipment's events in order: ${shipper.isInOrder()}`)

for (const process of fresh) await stopProcess(process)
shipper.close()
await pool.query("DROP SCHEMA waybill_example CASCADE")
await pool.end()
await database?.stop()
await rm(directory, { recursive: true, force: true })
