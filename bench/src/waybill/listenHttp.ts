/** Serves the HTTP API on a free port of this machine, until the process ends. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { WaybillHttp } from "@waybill/http"
import { Effect, Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export const listenHttp = Effect.gen(function*() {
  const server = createServer({ keepAliveTimeout: 60_000 })
  const app = yield* WaybillHttp.make({})
  server.on("request", yield* NodeHttpServer.makeHandler(app, { scope: Scope.makeUnsafe("parallel") }))
  yield* Effect.promise(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)))
  return { port: (server.address() as AddressInfo).port, close: () => server.closeAllConnections() }
})
