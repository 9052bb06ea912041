/** Opens connections to allowed addresses only: resolves the name itself and connects to the checked addresses. */
import { Predicate } from "effect"
import { constants } from "node:crypto"
import { connect as connectTcp, isIP, type LookupFunction, type OnReadOpts, Socket } from "node:net"
import * as tls from "node:tls"
import { RecentMap } from "@waybill/core"
import type { AttemptFailure } from "@waybill/core/delivery"
import { type EgressPolicy, isAllowedAddress } from "./AddressGuard.ts"
import type { ResolveName } from "./NameResolver.ts"

/** Destination of a connection: `hostname` is a name or a bare literal address. */
export interface Endpoint {
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
  /** The read buffer of the socket, and its consumer. Without it nothing is read. */
  readonly onread?: OnReadOpts
}

/** Starts connecting at once. Calls `done` exactly once, with a `ConnectFailure` or nothing. */
export type GuardedConnector = (endpoint: Endpoint, done: (failure: ConnectFailure | undefined) => void) => Socket

/** A failed connection and its kind. The system's message stays in `cause`, because it may name internal addresses. */
export class ConnectFailure extends Error {
  readonly failure: AttemptFailure
  constructor(failure: AttemptFailure, cause?: unknown) {
    super(failure, { cause })
    this.failure = failure
  }

  /** This process or its machine has no file descriptor, or no memory, for a socket. */
  get isOwn(): boolean {
    return Predicate.hasProperty(this.cause, "code") && ["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"].includes(String(this.cause.code))
  }

}

/** The code of an invalid certificate, such as `CERT_HAS_EXPIRED`, or of a fault of TLS, such as `ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED`, if an error is one. */
export const tlsFaultOf = (error: unknown): string | undefined => {
  const code = Predicate.hasProperty(error, "code") ? String(error.code) : ""
  return /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_|ERR_TLS_CERT_|ERR_SSL_)[A-Z0-9_/]+$/.test(code) ? code : undefined
}

export interface GuardedConnectorOptions {
  readonly egress: EgressPolicy
  /** Additional certificate authorities to trust, in PEM. */
  readonly ca: ReadonlyArray<string>
  readonly resolve: ResolveName
}

/** One per sender: it caches TLS sessions, and resolves a name once at a time. */
export const makeGuardedConnector = ({ ca, egress, resolve }: GuardedConnectorOptions): GuardedConnector => {
  const secureContext = tls.createSecureContext({
    minVersion: "TLSv1.2",
    ca: [...tls.getCACertificates("default"), ...ca],
    // A receiver could request endless renegotiations.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION
  })
  const sessions = new RecentMap<Buffer>(maxSessions)
  const lookup = vettedLookup(oneAtATime(resolve), egress)

  return (endpoint, done) => {
    const { hostname, onread, port, secure } = endpoint
    // Node calls `lookup` for names only.
    if (isIP(hostname) !== 0 && !isAllowedAddress(hostname, egress)) {
      process.nextTick(done, new ConnectFailure("address_not_allowed"))
      return new Socket()
    }
    // Node's Happy Eyeballs: tries the addresses of `lookup`, and no others.
    const target = {
      host: hostname,
      port,
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: addressMillis,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      ...(onread === undefined ? undefined : { onread })
    }
    const key = `${hostname}:${port}`
    const session = sessions.get(key)
    const socket = secure
      ? tls.connect({
        ...target,
        servername: isIP(hostname) === 0 ? hostname : "",
        secureContext,
        // Explicit, because an environment variable could disable it.
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
      if (failure !== undefined) {
        socket.destroy()
        // A receiver may fail on a session that it no longer knows, and would fail on it at every retry.
        sessions.delete(key)
      }
      done(failure)
    }
    socket.once("connect", () => {
      reached = true
      // Last check: the actual remote address, however it was chosen.
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

/**
 * Milliseconds for one address, if another follows. By Node's default, 250, a distant receiver with an IPv6 address could never be reached from a network without
 * IPv6. Here a lost packet is sent again in time, and all addresses together have less than the deadline of an attempt.
 */
const addressMillis = 2_000

/** Refuses a name if any of its addresses is not allowed. */
const vettedLookup = (resolve: ResolveName, egress: EgressPolicy): LookupFunction => (hostname, options, callback) => {
  const vetted = resolve(hostname).then((addresses) => {
    if (addresses.length === 0) throw new ConnectFailure("dns")
    if (!addresses.every((address) => isAllowedAddress(address, egress, hostname))) throw new ConnectFailure("address_not_allowed")
    return addresses
  })
  vetted.then(
    (addresses) => {
      if (options.all !== true) return callback(null, addresses[0]!, isIP(addresses[0]!))
      callback(null, fewOf(addresses).map((address) => ({ address, family: isIP(address) })))
    },
    (error: unknown) => callback(error instanceof ConnectFailure ? error : new ConnectFailure("dns", error), [])
  )
}

const triesPerFamily = 4

/** Limits the addresses per name: a name with a thousand addresses would cause a thousand connections, possibly to third parties. */
const fewOf = (addresses: ReadonlyArray<string>): ReadonlyArray<string> => {
  const tried = [0, 0]
  return addresses.filter((address) => tried[isIP(address) === 6 ? 1 : 0]!++ < triesPerFamily)
}

/** How long a lookup is shared. A resolver of the host may never answer. */
const lookupMillis = 10_000

/** Connections that open at the same time share one lookup. */
const oneAtATime = (resolve: ResolveName): ResolveName => {
  const asked = new Map<string, Promise<ReadonlyArray<string>>>()
  return (hostname) => {
    const running = asked.get(hostname)
    if (running !== undefined) return running
    // a resolver of the host may throw
    const answer = (async () => resolve(hostname))().finally(() => {
      clearTimeout(timer)
      forget()
    })
    const forget = () => {
      if (asked.get(hostname) === answer) asked.delete(hostname)
    }
    const timer = setTimeout(forget, lookupMillis).unref()
    asked.set(hostname, answer)
    return answer
  }
}

const maxSessions = 1000

/** A TLS session contains the receiver's certificate and ticket, which the receiver can make large. */
const maxSessionBytes = 16_384

const remember = (sessions: RecentMap<Buffer>, key: string, session: Buffer): void => {
  if (session.length > maxSessionBytes) sessions.delete(key)
  else sessions.put(key, session)
}

/** `reached` distinguishes a refused connection from a failed handshake. */
const classify = (error: Error & { readonly code?: string }, reached: boolean): ConnectFailure => {
  if (error instanceof ConnectFailure) return error
  if (error.code === "ETIMEDOUT") return new ConnectFailure("connect_timeout", error)
  return new ConnectFailure(reached ? "tls" : "connect_refused", error)
}
