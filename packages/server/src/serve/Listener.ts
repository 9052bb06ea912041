/** The HTTP listener: accepts requests before the service is ready, and answers every request at shutdown. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { type App, createStartupBufferServer } from "@waybill/http"
import { Effect, Exit, Schema, Scope } from "effect"
import { HttpMiddleware } from "effect/http"
import { once } from "node:events"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { messageOf } from "../ErrorMessage.ts"
import { connectionsFor, limitConnections, shareOfFiles } from "./ConnectionLimit.ts"

export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  host: Schema.String,
  port: Schema.Int,
  code: Schema.String,
  detail: Schema.String,
  /** Prefix of the variables for host and port. */
  setting: Schema.Literals(["WAYBILL", "WAYBILL_ADMIN"])
}) {
  override get message(): string {
    switch (this.code) {
      case "EADDRINUSE":
        return `Port ${this.port} on ${this.host} is taken by another program. Stop that one, or set ${this.setting}_PORT; 0 picks a free port.`
      case "EACCES":
        return `This user may not listen on port ${this.port}. Set ${this.setting}_PORT to a port above 1023.`
      case "EADDRNOTAVAIL":
      case "ENOTFOUND":
        return `${this.host} is no address of this machine. Set ${this.setting}_HOST to one, or to 0.0.0.0 for all.`
      default:
        return `Listening on ${this.host}, port ${this.port}, failed: ${this.detail}.`
    }
  }
}

export interface Listener {
  readonly server: Server
  readonly port: number
  /** URL on this machine. */
  readonly url: string
}

/** The service has its own limit for slow uploads; this one is for requests that do not reach it. */
const slowestUploadMillis = 3_600_000

/**
 * Connections that wait to be accepted, of which Node accepts one in a turn of the event loop. Linux drops the first packet of further ones, which their
 * callers send again after 1 s, 3 s and 7 s. It takes at most `net.core.somaxconn`, whose default this is; Node's default is 511.
 */
const backlog = 4096

/** Starts to listen. Requests wait for {@link answerWith}, and are refused if startup fails. */
export const listen = (
  { host, port }: { readonly host: string; readonly port: number },
  setting: ListenFailed["setting"] = "WAYBILL"
): Effect.Effect<Listener, ListenFailed, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          // Longer than the idle timeout of load balancers, so that the load balancer closes idle connections.
          const server = createStartupBufferServer({ keepAliveTimeout: 65_000, headersTimeout: 66_000, requestTimeout: slowestUploadMillis })
          await once(server.listen({ host, port, backlog }), "listening")
          return server
        },
        catch: (error) => new ListenFailed({ host, port, code: (error as NodeJS.ErrnoException).code ?? "", detail: messageOf(error), setting })
      }),
      (server) => closed(server, 0)
    ).pipe(Effect.tap((server) => limitConnections(server, connectionsFor(setting === "WAYBILL" ? shareOfFiles.customers : shareOfFiles.operators)))),
    (server) => {
      const { port } = server.address() as AddressInfo
      return { server, port, url: `http://${reachableHost(host)}:${port}` }
    }
  )

const reachableHost = (host: string): string => {
  if (host === "0.0.0.0" || host === "") return "127.0.0.1"
  if (host === "::") return "[::1]"
  return host.includes(":") ? `[${host}]` : host
}

export const probePaths = new Set(["/healthz", "/readyz", "/metrics"])

/**
 * Answers requests until the scope ends. Then it accepts no more, waits `drainMillis` for requests in flight,
 * interrupts the rest, which also answers them, and closes. While it drains, each response ends its connection: callers
 * without a load balancer that reads `/readyz` then connect to another process before this one stops listening.
 */
export const answerWith = Effect.fnUntraced(function*(
  listener: Listener,
  app: App,
  stop: { readonly drainMillis: number; readonly isDraining: () => boolean }
) {
  const { server } = listener
  const running = yield* Scope.make("parallel")
  const handler = yield* NodeHttpServer.makeHandler(app, { scope: running }).pipe(
    Effect.provideService(HttpMiddleware.TracerDisabledWhen, (request) => probePaths.has(request.url))
  )
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      server.on("request", (_, response) => {
        if (stop.isDraining()) response.shouldKeepAlive = false
      })
      server.on("request", handler)
    }),
    () =>
      closed(server, stop.drainMillis).pipe(
        Effect.andThen(Scope.close(running, Exit.void)),
        Effect.andThen(closed(server, 1_000)),
        Effect.andThen(Effect.sync(() => server.closeAllConnections()))
      )
  )
})

/** Stops listening, and waits up to this time for requests in flight. */
const closed = (server: Server, millis: number): Effect.Effect<void> =>
  Effect.asVoid(Effect.timeoutOption(
    Effect.callback<void>((resume) => {
      const look = setInterval(() => server.closeIdleConnections(), 50)
      server.once("close", () => resume(Effect.void))
      if (server.listening) server.close()
      server.getConnections((error, count) => {
        if (error !== null || count === 0) resume(Effect.void)
      })
      return Effect.sync(() => clearInterval(look))
    }),
    millis
  ))
