/** A web process: it publishes in its own transaction and answers requests. It never calls start(), so it delivers nothing. */
import { toNodeHandler } from "@waybill/http"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { carrier, createService } from "./service.ts"

const { pool, waybill } = createService({ listen: false })
const place = { name: "Chicago terminal", city: "Chicago", state: "IL", country: "USA" }

const pickUp = async (shipmentId: string) => {
  const client = await pool.connect()
  try {
    await client.query("BEGIN")
    await client.query("INSERT INTO shipments VALUES ($1)", [shipmentId])
    await waybill.within(client).events.publish(carrier, [{
      type: "PICKED_UP",
      occurredAt: new Date().toISOString(),
      shipment: { shipmentId, origin: place, destination: place },
      parties: { accounts: ["A-1"] }
    }])
    await client.query("COMMIT")
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
  // wakes the workers, which are other processes
  await waybill.wake(carrier.tenantId)
}

const freight = toNodeHandler(waybill, { mountPath: "/freight" })
const server = createServer((request, response) => {
  if (request.url!.startsWith("/freight/")) return freight(request, response)
  pickUp(request.url!.slice(1)).then(() => response.writeHead(201).end(), () => response.writeHead(500).end())
})
await once(server.listen(0, "127.0.0.1"), "listening")
process.send?.({ port: (server.address() as AddressInfo).port })

process.once("SIGTERM", async () => {
  server.close()
  server.closeIdleConnections()
  await once(server, "close")
  await waybill.stop()
  await pool.end()
  if (process.connected) process.disconnect()
})
