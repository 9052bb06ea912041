/** Sends webhooks over HTTP/1.1: checked addresses, one deadline, a few kilobytes of response, no redirects. */
import { Clock, Effect, Layer } from "effect"
import { LineLimiter, RecentMap } from "@waybill/core"
import { addressNotAllowed, AttemptOutcome, type WebhookRequest, WebhookSender } from "@waybill/core/delivery"
import { version } from "../shared/Version.ts"
import { type EgressPolicy, hostOf, publicOnly, refusalOfUrl } from "./AddressGuard.ts"
import { Attempt } from "./Attempt.ts"
import { Connections, type OriginAddress } from "./Connections.ts"
import { makeGuardedConnector } from "./GuardedConnector.ts"
import { NameResolver, type ResolveName } from "./NameResolver.ts"
import { isHeaderValue, requestHead, sharedHead } from "./RequestHead.ts"
import { byteLengthOf } from "./RequestWriter.ts"

/** All optional. Ignores the environment, including proxy variables. */
export interface WebhookSenderHttpOptions {
  /** Allowed destinations besides public addresses. Default: none. */
  readonly egress?: EgressPolicy
  /** Additional certificate authorities to trust, in PEM. Verification cannot be disabled. */
  readonly ca?: ReadonlyArray<string>
  /** Concurrent requests of one client per origin (scheme, host and port). Default 64. */
  readonly requestsPerOrigin?: number
  /** Origins whose idle connections are kept open. Default 1,000. */
  readonly origins?: number
  /** `user-agent` of every request. Default: Waybill, its version and its website. */
  readonly userAgent?: string
  /**
   * How to resolve names to all their addresses; every address is checked. Default: the hosts file, then DNS, without search domains.
   * To use the operating system's resolver, pass a function that calls `dns.promises.lookup`; it uses one of a few threads for each name.
   */
  readonly resolve?: ResolveName
}

/** Sends one attempt: checks the address, sends the body, reads a few kilobytes of the response, within one deadline. */
export const WebhookSenderHttp = {
  /** The `WebhookSender` port. Closing the layer ends requests in flight with `Interrupted`. */
  layer: (options: WebhookSenderHttpOptions = {}): Layer.Layer<WebhookSender> => Layer.effect(WebhookSender, make(options))
}

const make = Effect.fnUntraced(function*(options: WebhookSenderHttpOptions) {
  const egress = options.egress ?? publicOnly
  const clock = yield* Clock.Clock
  const nowMillis = () => clock.currentTimeMillisUnsafe()
  const destinationOf = rememberDestinations(egress, options.userAgent ?? defaultUserAgent)
  const connections = yield* openConnections(egress, options)
  const context = yield* Effect.context<never>()
  const lines = new LineLimiter()
  const reportUnsent = () => void Effect.runForkWith(context)(lines.log("unsent", Effect.logError("Webhooks not sent: this process cannot open connections. Raise its limit of open files (LimitNOFILE, ulimit -n), or start more processes.")))

  const start = (request: WebhookRequest, settle: (outcome: AttemptOutcome) => void): () => void => {
    const destination = connections.closed ? undefined : destinationOf(request.url)
    if (destination === undefined) {
      settle(connections.closed ? AttemptOutcome.Interrupted({}) : refused)
      return nothing
    }
    const settled = (outcome: AttemptOutcome) => {
      if (outcome._tag === "Interrupted" && outcome.unsent !== undefined) reportUnsent()
      settle(outcome)
    }
    const { body, deadlineMillis, owner } = request
    const bodyBytes = byteLengthOf(body)
    const head = requestHead(destination.head, request.headers, bodyBytes)
    if (head === undefined) {
      settle(unwritable)
      return nothing
    }
    const attempt = new Attempt({ origin: connections.origin(destination.origin), owner, head, body, bodyBytes, deadlineMillis, nowMillis, settle: settled })
    attempt.request.origin.submit(attempt)
    return () => attempt.abandon()
  }

  return WebhookSender.of({ refusal: (url) => refusalOfUrl(url, egress), start })
})

const openConnections = (egress: EgressPolicy, options: WebhookSenderHttpOptions) =>
  Effect.gen(function*() {
    const names = yield* Effect.acquireRelease(Effect.sync(() => new NameResolver()), (names) => Effect.sync(() => names.close()))
    const connect = makeGuardedConnector({
      egress,
      ca: options.ca ?? [],
      resolve: options.resolve ?? ((hostname) => names.resolve(hostname))
    })
    return yield* Effect.acquireRelease(
      Effect.sync(() => new Connections({ connect, perOwner: options.requestsPerOrigin ?? 64, origins: options.origins ?? 1000 })),
      (connections) => Effect.promise(() => connections.close())
    )
  })

const nothing = () => {}

interface Destination {
  readonly origin: OriginAddress
  /** The beginning of every request's head. */
  readonly head: string
}

const maxDestinations = 4096

/** Checks each URL once and caches the result: the policy never changes, and addresses are checked at each connection. */
const rememberDestinations = (egress: EgressPolicy, userAgent: string): (url: string) => Destination | undefined => {
  if (!isHeaderValue(userAgent)) throw new TypeError("userAgent is the value of a header: text without line breaks, in latin1.")
  const known = new RecentMap<Destination | undefined>(maxDestinations)
  return (url) => {
    const found = known.get(url)
    if (found !== undefined || known.has(url)) return found
    const destination = refusalOfUrl(url, egress) === undefined ? parseDestination(new URL(url), userAgent) : undefined
    known.put(url, destination)
    return destination
  }
}

const parseDestination = (url: URL, userAgent: string): Destination => {
  const hostname = hostOf(url)
  const secure = url.protocol === "https:"
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port)
  const host = `${hostname.includes(":") ? `[${hostname}]` : hostname}${url.port === "" ? "" : `:${port}`}`
  return {
    origin: { key: `${url.protocol}//${host}`, hostname, port, secure },
    head: sharedHead(host, url.pathname + url.search, userAgent)
  }
}

const refused = AttemptOutcome.Failed({ failure: "address_not_allowed", detail: addressNotAllowed })

const unwritable = AttemptOutcome.Failed({ failure: "protocol", detail: "The request could not be written. Check the subscription's headers." })

const defaultUserAgent = `Waybill/${version} (+https://github.com/waybill/waybill)`
