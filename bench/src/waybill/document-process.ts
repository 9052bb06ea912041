/** A server process for documents that reports its memory. */
import { NodeHttpServer } from "@effect/platform-node"
import { ApiKeys } from "@waybill/core"
import { AuthenticatorStandard, DocumentContentsDirectory, WaybillHttp } from "@waybill/http"
import { Effect, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { serve } from "../machine/Child.ts"
import { createTenant, tenantId } from "./Tenant.ts"
import { waybillLayer } from "./Waybill.ts"

const [database, directory] = process.argv.slice(2) as [string, string | undefined]

const services = Layer.provideMerge(
  AuthenticatorStandard.layer({}),
  waybillLayer({ database, connections: 10, ...(directory === undefined ? {} : { documents: DocumentContentsDirectory.layer({ directory }) }) })
)

const runtime = ManagedRuntime.make(services)
const server = createServer({ keepAliveTimeout: 60_000 })
let most = 0
setInterval(() => most = Math.max(most, process.memoryUsage.rss()), 5).unref()

const handlers = {
  /** The port, and a carrier's key. */
  listen: async () => {
    const context = await runtime.context()
    const run = Effect.runPromiseWith(context)
    await run(createTenant)
    const { key } = await run(Effect.flatMap(ApiKeys, (keys) => keys.create(tenantId, { name: "carrier", roles: ["carrier"] })))
    const handler = await run(Effect.flatMap(WaybillHttp.make({}), (app) =>
      NodeHttpServer.makeHandler(Effect.provideContext(app, context), { scope: Scope.makeUnsafe() })))
    server.on("request", handler)
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    return { port: (server.address() as AddressInfo).port, key: Redacted.value(key) }
  },
  /** Resident bytes now, and the peak since the last call. */
  resident: () => {
    const now = process.memoryUsage.rss()
    const before = Math.max(most, now)
    most = now
    return { now, most: before }
  }
}

export type DocumentHandlers = typeof handlers

serve(handlers, async () => {
  server.closeAllConnections()
  await runtime.dispose()
})
