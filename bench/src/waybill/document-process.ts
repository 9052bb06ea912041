/** A server process for documents that reports its memory. */
import { ApiKeys } from "@waybill/core"
import { AuthenticatorStandard, DocumentContentsDirectory } from "@waybill/http"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { serve } from "../machine/Child.ts"
import { listenHttp } from "./listenHttp.ts"
import { createTenant, tenantId } from "./Tenant.ts"
import { waybillLayer } from "./Waybill.ts"

const [database, directory] = process.argv.slice(2) as [string, string | undefined]

const services = Layer.provideMerge(
  AuthenticatorStandard.layer({}),
  waybillLayer({ database, connections: 10, ...(directory === undefined ? {} : { documents: DocumentContentsDirectory.layer({ directory }) }) })
)

const runtime = ManagedRuntime.make(services)
let close = () => {}
let most = 0
setInterval(() => most = Math.max(most, process.memoryUsage.rss()), 5).unref()

const handlers = {
  /** The port, and a carrier's key. */
  listen: async () => {
    const context = await runtime.context()
    const run = Effect.runPromiseWith(context)
    await run(createTenant)
    const { key } = await run(Effect.flatMap(ApiKeys, (keys) => keys.create(tenantId, { name: "carrier", roles: ["carrier"] })))
    const server = await run(listenHttp)
    close = server.close
    return { port: server.port, key: Redacted.value(key) }
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
  close()
  await runtime.dispose()
})
