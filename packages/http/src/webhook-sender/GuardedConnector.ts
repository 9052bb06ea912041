/** Opens connections, and only to addresses that were vetted: resolves the name itself and connects to what it resolved. */
import { Predicate } from "effect"
import { constants } from "node:crypto"
import { lookup as dnsLookup } from "node:dns/promises"
import { connect as connectTcp, isIP, type LookupFunction, Socket } from "node:net"
import { connect as connectTls, createSecureContext, getCACertificates } from "node:tls"
import { type AttemptFailure, RecentMap } from "@waybill/core"
import { type EgressPolicy, isAllowedAddress } from "./AddressGuard.ts"

/** Resolves a name to all its addresses, in the order the resolver gave them. */
export type ResolveName = (hostname: string) => Promise<ReadonlyArray<string>>

/** Where a connection leads: `hostname` is a name or a bare literal address. */
export interface Endpoint {
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
}

/** Starts connecting at once; `done` is called exactly once, with a `ConnectFailure` or without anything. */
export type GuardedConnector = (endpoint: Endpoint, done: (failure: ConnectFailure | undefined) => void) => Socket

/** No connection, and which kind of no. What else the operating system said stays in `cause`: it may name what is inside. */
export class ConnectFailure extends Error {
  readonly failure: AttemptFailure
  constructor(failure: AttemptFailure, cause?: unknown) {
    super(failure, { cause })
    this.failure = failure
  }

  /** OpenSSL's word for what is wrong with a certificate, such as `CERT_HAS_EXPIRED`. */
  get certificateFault(): string | undefined {
    const code = Predicate.hasProperty(this.cause, "code") ? String(this.cause.code) : ""
    return /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_|ERR_TLS_CERT_)[A-Z_]+$/.test(code) ? code : undefined
  }
}

export interface GuardedConnectorOptions {
  readonly egress: EgressPolicy
  /** Certificate authorities to trust besides the usual ones, in PEM. */
  readonly ca: ReadonlyArray<string>
  readonly resolve: ResolveName
}

/** One per sender: it remembers TLS sessions, and asks for a name once at a time. */
export const makeGuardedConnector = ({ ca, egress, resolve }: GuardedConnectorOptions): GuardedConnector => {
  const secureContext = createSecureContext({
    minVersion: "TLSv1.2",
    ca: [...getCACertificates("default"), ...ca],
    // a receiver could ask for one handshake after the other
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION
  })
  const sessions = new RecentMap<Buffer>(maxSessions)
  const lookup = vettedLookup(oneAtATime(resolve), egress)

  return (endpoint, done) => {
    const { hostname, port, secure } = endpoint
    // Node asks `lookup` for names only
    if (isIP(hostname) !== 0 && !isAllowedAddress(hostname, egress)) {
      process.nextTick(done, new ConnectFailure("address_not_allowed"))
      return new Socket()
    }
    // Happy eyeballs of Node: tries every address that `lookup` gives, and no other.
    const target = { host: hostname, port, lookup, autoSelectFamily: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
    const key = `${hostname}:${port}`
    const session = sessions.get(key)
    const socket = secure
      ? connectTls({
        ...target,
        servername: isIP(hostname) === 0 ? hostname : "",
        secureContext,
        // said aloud, because otherwise an environment variable can turn it off
        rejectUnauthorized: true,
        ALPNProtocols: ["http/1.1"],
        ...(session === undefined ? undefined : { session })
      })
      : connectTcp(target)

    let reached = false
    let settled = false
    const settle = (failure: ConnectFailure | undefined) => {
      if (settled) return
      settled = true
      if (failure !== undefined) socket.destroy()
      done(failure)
    }
    socket.once("connect", () => {
      reached = true
      // The last line: whatever led here, this is the address at the other end.
      const address = socket.remoteAddress
      if (address !== undefined && !isAllowedAddress(address, egress, hostname)) settle(new ConnectFailure("address_not_allowed"))
    })
    socket.once(secure ? "secureConnect" : "connect", () => settle(undefined))
    socket.on("session", (session: Buffer) => remember(sessions, key, session))
    socket.on("error", (error) => settle(classify(error, reached)))
    socket.once("close", () => settle(new ConnectFailure(reached ? "tls" : "connect_refused")))
    return socket
  }
}

/** The operating system's resolver, which knows the hosts file and what the container was given. */
export const resolveBySystem: ResolveName = async (hostname) =>
  (await dnsLookup(hostname, { all: true, order: "verbatim" })).map(({ address }) => address)

/** Refuses a name altogether when any of its addresses may not be reached. */
const vettedLookup = (resolve: ResolveName, egress: EgressPolicy): LookupFunction => (hostname, options, callback) => {
  const fail = (failure: AttemptFailure, cause?: unknown) => callback(new ConnectFailure(failure, cause), [])
  resolve(hostname).then(
    (addresses) => {
      const [first] = addresses
      if (first === undefined) return fail("dns")
      if (!addresses.every((address) => isAllowedAddress(address, egress, hostname))) return fail("address_not_allowed")
      if (options.all !== true) return callback(null, first, isIP(first))
      callback(null, fewOf(addresses).map((address) => ({ address, family: isIP(address) })))
    },
    (error: unknown) => fail("dns", error)
  )
}

const triesPerFamily = 4

/** A name with a thousand addresses would have us knock at a thousand doors, which may be somebody else's. */
const fewOf = (addresses: ReadonlyArray<string>): ReadonlyArray<string> => {
  const tried = [0, 0]
  return addresses.filter((address) => tried[isIP(address) === 6 ? 1 : 0]!++ < triesPerFamily)
}

/** The system's resolver has few threads; connections that open together share one question and its answer. */
const oneAtATime = (resolve: ResolveName): ResolveName => {
  const asked = new Map<string, Promise<ReadonlyArray<string>>>()
  return (hostname) => {
    const running = asked.get(hostname)
    if (running !== undefined) return running
    const answer = resolve(hostname).finally(() => asked.delete(hostname))
    asked.set(hostname, answer)
    return answer
  }
}

const maxSessions = 1000

/** A session holds the receiver's certificate and ticket, which it may blow up. */
const maxSessionBytes = 16_384

const remember = (sessions: RecentMap<Buffer>, key: string, session: Buffer): void => {
  if (session.length > maxSessionBytes) sessions.delete(key)
  else sessions.put(key, session)
}

/** `reached` tells a refused connection from a failed handshake. */
const classify = (error: Error & { readonly code?: string }, reached: boolean): ConnectFailure => {
  if (error instanceof ConnectFailure) return error
  if (error.code === "ETIMEDOUT") return new ConnectFailure("connect_timeout", error)
  return new ConnectFailure(reached ? "tls" : "connect_refused", error)
}
