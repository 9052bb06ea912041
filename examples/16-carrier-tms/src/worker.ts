/** A worker process: it delivers, and serves probes only. Run any number, with DELIVERY=workers in the web processes. */
import { toNodeHandler } from "@waybill/http"
import { once } from "node:events"
import { createServer } from "node:http"
import { connect } from "./database/connect.ts"
import { openWaybill } from "./freight/waybill.ts"
import { readSettings } from "./settings.ts"

const settings = readSettings(process.env)
const { pool } = connect(settings.databaseUrl)
const waybill = openWaybill(pool, { ...settings, delivers: true })
const probes = createServer(toNodeHandler({ handler: waybill.operatorHandler }))

let isStopping = false
const stop = async (): Promise<void> => {
  if (isStopping) return
  isStopping = true
  await waybill.stop()
  probes.close()
  probes.closeAllConnections()
  await pool.end()
  if (process.connected) process.disconnect()
}
process.on("SIGTERM", stop)
process.on("SIGINT", stop)

await waybill.start()
await once(probes.listen(settings.probesPort, settings.probesHost), "listening")
process.send?.({ ready: true })
