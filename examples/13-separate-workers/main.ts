/** Web processes that publish, and worker processes that deliver, on one database. */
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startEmbeddedPostgres } from "waybill"
import { startCustomer } from "../customer.ts"
import { startProcess, stopProcess } from "../processes.ts"
import { createService, customer } from "./service.ts"

// your database: DATABASE_URL, or a temporary one
const directory = join(tmpdir(), `waybill-example-${process.pid}`)
const database = process.env["DATABASE_URL"] === undefined ? await startEmbeddedPostgres(directory) : undefined
const env = { DATABASE_URL: process.env["DATABASE_URL"] ?? database!.url }
process.env["DATABASE_URL"] = env.DATABASE_URL

// once: your table, a tenant, a secret and a subscription
const { pool, waybill } = createService({ listen: false })
const shipper = await startCustomer()
await pool.query("CREATE TABLE shipments (id text PRIMARY KEY)")
await waybill.tenants.put("acme", { name: "Acme Freight" })
shipper.settings.secret = (await waybill.secrets.put("acme", "main", { client: "shipper" })).secret
await waybill.subscriptions.create(customer, { endpointUrl: shipper.hook, hmacSecretId: "main" })

const started = (program: string) => startProcess(new URL(program, import.meta.url), env)
const web = await started("web.ts")
let shipments = 0
const pickUp = async (count: number) => {
  for (let each = 0; each < count; each++) {
    const { status } = await fetch(`http://127.0.0.1:${web.port}/S-${++shipments}`, { method: "POST" })
    if (status !== 201) throw new Error(`The web process answered ${status}.`)
  }
}
const waiting = async () => (await waybill.tenants.health()).tenants.find(({ tenantId }) => tenantId === "acme")?.waiting ?? 0

await pickUp(3)
console.log(`no worker runs: ${await waiting()} events wait, ${shipper.received.length} were delivered`)

const workers = await Promise.all([started("worker.ts"), started("worker.ts")])
await shipper.until(3)
console.log(`two workers run: ${shipper.received.length} events were delivered`)

for (const { port } of workers) {
  const { status } = await fetch(`http://127.0.0.1:${port}/readyz`)
  if (status !== 200) throw new Error(`A worker is not ready: ${status}.`)
}
console.log("both workers are ready")

const code = await stopProcess(workers[0]!)
await pickUp(3)
await shipper.until(6)
console.log(`one worker was stopped with exit code ${code}: ${shipper.received.length} events were delivered`)

console.log(`the other processes end with ${await stopProcess(workers[1]!)} and ${await stopProcess(web)}`)
shipper.close()
await waybill.stop()
await pool.query("DROP TABLE shipments; DROP SCHEMA waybill_example CASCADE")
await pool.end()
await database?.stop()
await rm(directory, { recursive: true, force: true })
