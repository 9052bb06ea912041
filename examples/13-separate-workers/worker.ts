/** A worker process: it delivers. Its only requests are those of probes and of Prometheus. */
import { toNodeHandler } from "@waybill/http"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createService } from "./service.ts"

const { pool, waybill } = createService({ listen: true })
// /healthz, /readyz and /metrics of this process, for your network only
const probes = createServer(toNodeHandler({ handler: waybill.operatorHandler }))
await once(probes.listen(0, "127.0.0.1"), "listening")
await waybill.start()
process.send?.({ port: (probes.address() as AddressInfo).port })

process.once("SIGTERM", async () => {
  // finishes attempts in flight and releases the leases, so that other workers continue at once
  await waybill.stop()
  probes.close()
  probes.closeAllConnections()
  await pool.end()
  if (process.connected) process.disconnect()
})
