/** Sends webhooks over HTTP/1.1 with undici: checked addresses, one deadline, a few kilobytes of response, no redirects. */
import { Clock, Effect, Layer } from "effect"
import { createRequire } from "node:module"
import { AttemptOutcome, RecentMap, type WebhookRequest, WebhookSender } from "@waybill/core"
import { addressNotAllowed, type EgressPolicy, hostOf, publicOnly, refusalOfUrl } from "./AddressGuard.ts"
import { Attempt } from "./Attempt.ts"
import { Connections, type OriginAddress } from "./Connections.ts"
import { makeGuardedConnector, type ResolveName, resolveBySystem } from "./GuardedConnector.ts"

/** All optional. Ignores the environment, including proxy variables. */
export interface WebhookSenderHttpOptions {
  /** Allowed destinations besides public addresses. Default: none. */
  readonly egress?: EgressPolicy
  /** Additional certificate authorities to trust, in PEM. Verification cannot be disabled. */
  readonly ca?: ReadonlyArray<string>
  /** Connections, and so concurrent requests, per origin (scheme, host and port). Default 64. */
  readonly connectionsPerOrigin?: number
  /** Origins whose idle connections are kept open. Default 1,000. */
  readonly origins?: number
  /** `user-agent` of every request. Default: Waybill, its version and its website. */
  readonly userAgent?: string
  /** How to resolve names. Default: the operating system; every address is checked. */
  readonly resolve?: ResolveName
}

export const WebhookSenderHttp = {
  /** The `WebhookSender` port. Closing the layer ends requests in flight with `Interrupted`. */
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

/** Checks each URL once and caches the result: the policy never changes, and addresses are checked at each connection. */
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

/** Headers that the sender or HTTP sets; a request must not override them. */
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
