/** The web process: pages, interfaces, and deliveries unless worker processes make them. */
import { toNodeHandler } from "@waybill/http"
import { once } from "node:events"
import { createServer } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import { connect } from "./database/connect.ts"
import { transactOver } from "./freight/transact.ts"
import { openWaybill } from "./freight/waybill.ts"
import { readSettings } from "./settings.ts"
import { buildApp } from "./web/app.ts"

const settings = readSettings(process.env)
const { database, pool } = connect(settings.databaseUrl)
const waybill = openWaybill(pool, settings)
let isStopping = false
const app = await buildApp({
  database,
  waybill,
  transact: transactOver(database, waybill),
  secureCookies: settings.publicUrl.startsWith("https:"),
  log: true,
  isStopping: () => isStopping
})
// /metrics and probes, for your network only
const probes = createServer(toNodeHandler({ handler: waybill.operatorHandler }))

/** In this order: each step needs what the next one ends. */
const stop = async (): Promise<void> => {
  if (isStopping) return
  isStopping = true
  // /readyz answers 503 from now on
  await delay(settings.drainMillis)
  // no new connections; requests in flight are answered
  await app.close()
  // finishes attempts in flight, and releases the leases
  await waybill.stop()
  probes.close()
  probes.closeAllConnections()
  await pool.end()
  if (process.connected) process.disconnect()
}
process.on("SIGTERM", stop)
process.on("SIGINT", stop)

if (settings.delivers) await waybill.start()
await once(probes.listen(settings.probesPort, settings.probesHost), "listening")
const address = await app.listen({ host: settings.host, port: settings.port })
// for a parent process, such as a test
process.send?.({ address })
