/** What a receiver does wrong, and what a correct sender makes of it. */
import type { Socket } from "node:net"
import type { TlsOptions } from "node:tls"
import type { TestCertificates } from "./TestCertificates.ts"

export type HostileGroup = "connection" | "head" | "framing" | "body" | "interim" | "status" | "headers" | "reuse" | "tls"

/**
 * What an attempt counts as: taken, not wanted any more (410), or failed. `either` where two correct senders may differ,
 * and only the rest of what is demanded counts.
 */
export type HostileOutcome = "accepted" | "gone" | "failed" | "either"

export interface HostileBehaviour {
  readonly name: string
  readonly group: HostileGroup
  /** What the receiver does, in a few words. */
  readonly does: string
  /** What a correct sender does then. */
  readonly must: string
  readonly outcome: HostileOutcome
  /** The outcome of the attempt after it, where it is another one. */
  readonly next?: HostileOutcome
  /**
   * What ends the attempt: the receiver's own doing, a bound of the sender on what it reads (or else its deadline), or nothing
   * but the deadline.
   */
  readonly ends: "receiver" | "limit" | "deadline"
  /** The receiver gets no request at all, because there is no connection worth one. */
  readonly unsent?: true
}

/** One request, as far as the receiver has read it. */
export interface HostileRequest {
  /** Request line and headers. */
  readonly head: string
  readonly body: Buffer
}

/** A request on its way to an answer. */
export interface Exchange {
  readonly socket: Socket
  readonly request: HostileRequest
  /** How many requests came before it: to this receiver in all, and on this connection. */
  readonly before: number
  readonly beforeHere: number
  /** Where nobody may go. */
  readonly inside: string
}

/** A behaviour with the code that behaves. Without `onRequest` nothing is answered. */
export interface HostileScript extends Omit<HostileBehaviour, "name" | "group"> {
  /** `request` by default. `head` calls `onRequest` before the body was read, and reads no further. */
  readonly reads?: "request" | "head" | "nothing"
  readonly onConnection?: (socket: Socket) => void
  readonly onRequest?: (exchange: Exchange) => void
  /** `https`: this is how it speaks TLS. `slowly`: byte by byte. `never`: it does not, whatever comes is for `onConnection`. */
  readonly tls?: ((certificates: TestCertificates) => TlsOptions) | "slowly" | "never"
  /** Runs once before the first connection: what takes a while to make. */
  readonly prepare?: () => void
  /** Nobody takes the connection out of the kernel's queue, which is full. */
  readonly deaf?: true
}

/** Scripts by the names of their behaviours. */
export type HostileScripts = Readonly<Record<string, HostileScript>>
