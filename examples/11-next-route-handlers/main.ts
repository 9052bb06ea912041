/** Waybill as route handlers of a Next application. Next itself is not here: a few lines call the routes as it does. */
import { toNodeHandler } from "@waybill/http"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { callers } from "../callers.ts"
import * as deliver from "./app/cron/deliver/route.ts"
import * as maintain from "./app/cron/maintain/route.ts"
import * as freight from "./app/freight/[...path]/route.ts"
import * as hooks from "./app/hooks/waybill/route.ts"
import { inbox, secret } from "./app/receiver.ts"
import { waybill } from "./app/waybill.ts"

await waybill.tenants.put("acme", { name: "Acme Freight" })
await waybill.secrets.put("acme", "main", { client: "shipper", secret })

// Next's part: finds the file for a path, and calls its function for the method with a Request and the path's parameters
type Route = (request: Request, context: { readonly params: Promise<object> }) => Promise<Response>
const routes = { "cron/deliver": deliver, "cron/maintain": maintain, "hooks/waybill": hooks }
const next = async (request: Request): Promise<Response> => {
  const [first, ...path] = new URL(request.url).pathname.slice(1).split("/").map(decodeURIComponent)
  const file: object = first === "freight" ? freight : routes[[first, ...path].join("/") as keyof typeof routes]
  const route = (file as Readonly<Record<string, Route | undefined>>)[request.method]
  return route === undefined ? new Response(null, { status: 405 }) : route(request, { params: Promise.resolve(first === "freight" ? { path } : {}) })
}
const server = createServer(toNodeHandler({ handler: next }))
await once(server.listen(0, "127.0.0.1"), "listening")
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

// from here on: callers

await callers({
  baseUrl: `${baseUrl}/freight`,
  hookUrl: `${baseUrl}/hooks/waybill`,
  carrier: "tms-token",
  shipper: "shipper-token",
  delivered: async () => {
    const ran = await fetch(`${baseUrl}/cron/deliver`, { headers: { authorization: "Bearer cron-secret" } })
    console.log(`the scheduled route returns: ${await ran.text()}`)
    return inbox.taken()
  }
})

const maintained = await fetch(`${baseUrl}/cron/maintain`, { headers: { authorization: "Bearer cron-secret" } })
console.log(`the scheduled route of maintenance returns: ${maintained.status}`)

server.close()
await waybill.stop()
