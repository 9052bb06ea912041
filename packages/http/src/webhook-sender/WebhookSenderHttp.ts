/** Sends webhooks over HTTP/1.1 with undici: vetted addresses, one deadline, a few kilobytes of answer, nothing followed. */
import { Clock, Effect, Layer } from "effect"
import { createRequire } from "node:module"
import { AttemptOutcome, RecentMap, type WebhookRequest, WebhookSender } from "@waybill/core"
import { addressNotAllowed, type EgressPolicy, hostOf, publicOnly, refusalOfUrl } from "./AddressGuard.ts"
import { Attempt } from "./Attempt.ts"
import { Connections, type OriginAddress } from "./Connections.ts"
import { makeGuardedConnector, type ResolveName, resolveBySystem } from "./GuardedConnector.ts"

/** Everything has a default; the environment is not read, proxy variables included. */
export interface WebhookSenderHttpOptions {
  /** What may be reached beyond public addresses. Nothing by default. */
  readonly egress?: EgressPolicy
  /** Certificate authorities to trust besides Node's own, in PEM. There is no way to turn verification off. */
  readonly ca?: ReadonlyArray<string>
  /** Connections to one origin (scheme, host and port), and so the most requests it gets at a time. 64 by default. */
  readonly connectionsPerOrigin?: number
  /** Origins whose idle connections are kept open. 1,000 by default. */
  readonly origins?: number
  /** The `user-agent` of every request. Waybill, its version and where to read about it by default. */
  readonly userAgent?: string
  /** How names are resolved. By the operating system by default; every address it gives is vetted. */
  readonly resolve?: ResolveName
}

export const WebhookSenderHttp = {
  /** The `WebhookSender` port. Closing the layer ends what is still in flight with `Interrupted`. */
  layer: (options: WebhookSenderHttpOptions = {}): Layer.Layer<WebhookSender> => Layer.effect(WebhookSender, make(options))
}

const make = Effect.fnUntraced(function*(options: WebhookSenderHttpOptions) {
  const egress = options.egress ?? publicOnly
  const clock = yield* Clock.Clock
  const nowMillis = () => clock.currentTimeMillisUnsafe()
  const destinationOf = rememberDestinations(egress)
  const ownHeaders = ["user-agent", options.userAgent ?? defaultUserAgent(), "accept-encoding", "identity"]
  const connections = yield* Effect.acquireRelease(
    Effect.sync(() =>
      new Connections({
        connect: makeGuardedConnector({ egress, ca: options.ca ?? [], resolve: options.resolve ?? resolveBySystem }),
        perOrigin: options.connectionsPerOrigin ?? 64,
        origins: options.origins ?? 1000
      })
    ),
    (connections) => Effect.promise(() => connections.close())
  )

  const start = (request: WebhookRequest, settle: (outcome: AttemptOutcome) => void): () => void => {
    const destination = connections.closed ? undefined : destinationOf(request.url)
    if (destination === undefined) {
      settle(connections.closed ? AttemptOutcome.Interrupted() : refused)
      return nothing
    }
    const attempt = new Attempt({
      origin: connections.origin(destination.origin),
      request: { method: "POST", path: destination.path, headers: headersOf(request, ownHeaders), body: request.body },
      deadlineMillis: request.deadlineMillis,
      nowMillis,
      settle
    })
    attempt.origin.submit(attempt)
    return () => attempt.abandon()
  }

  return WebhookSender.of({
    refusal: (url) => refusalOfUrl(url, egress),
    start,
    send: (request) =>
      Effect.callback((resume) => {
        const abandon = start(request, (outcome) => resume(Effect.succeed(outcome)))
        return Effect.sync(abandon)
      })
  })
})

const nothing = () => {}

interface Destination {
  readonly origin: OriginAddress
  readonly path: string
}

const maxDestinations = 4096

/** Judges a URL as at its subscription, once per text: the policy never changes, and the address is vetted at each connect. */
const rememberDestinations = (egress: EgressPolicy): (url: string) => Destination | undefined => {
  const known = new RecentMap<Destination | undefined>(maxDestinations)
  return (url) => {
    const found = known.get(url)
    if (found !== undefined || known.has(url)) return found
    const destination = refusalOfUrl(url, egress) === undefined ? parseDestination(new URL(url)) : undefined
    known.put(url, destination)
    return destination
  }
}

const parseDestination = (url: URL): Destination => {
  const hostname = hostOf(url)
  const secure = url.protocol === "https:"
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port)
  const host = hostname.includes(":") ? `[${hostname}]` : hostname
  return {
    origin: { url: `${url.protocol}//${host}${url.port === "" ? "" : `:${port}`}`, hostname, port, secure },
    path: url.pathname + url.search
  }
}

/** Names the sender or HTTP itself decides; a request that brings them would speak for somebody else. */
const reservedHeaders = new Set([
  "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "upgrade", "expect", "te",
  "trailer", "user-agent", "accept-encoding"
])

const headersOf = (request: WebhookRequest, own: ReadonlyArray<string>): Array<string> => {
  const headers = own.slice()
  for (const name in request.headers) {
    if (!reservedHeaders.has(name.toLowerCase())) headers.push(name, request.headers[name]!)
  }
  return headers
}

const refused = AttemptOutcome.Failed({ failure: "address_not_allowed", detail: addressNotAllowed })

const defaultUserAgent = (): string => {
  const { version } = createRequire(import.meta.url)("@waybill/http/package.json") as { readonly version: string }
  return `Waybill/${version} (+https://github.com/waybill/waybill)`
}
