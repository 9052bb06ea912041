/** A fault of a receiver, and how a correct sender handles it. */
import type { Socket } from "node:net"
import type { TlsOptions } from "node:tls"
import type { TestCertificates } from "./TestCertificates.ts"

/** The part of a response or connection that a behaviour attacks. */
export type HostileGroup = "connection" | "head" | "framing" | "body" | "interim" | "status" | "headers" | "reuse" | "tls"

/**
 * The outcome of an attempt: accepted, gone (410), or failed. `either` if correct senders may differ;
 * then only the other requirements count.
 */
export type HostileOutcome = "accepted" | "gone" | "failed" | "either"

/** What a hostile receiver does, and what a correct sender does then. `docs/hostile-receiver.md` lists all. */
export interface HostileBehaviour {
  readonly name: string
  readonly group: HostileGroup
  /** The behaviour of the receiver. */
  readonly does: string
  /** The behaviour of a correct sender. */
  readonly must: string
  readonly outcome: HostileOutcome
  /** The outcome of the next attempt, if it differs. */
  readonly next?: HostileOutcome
  /**
   * The end of the attempt: by the receiver, by a limit of the sender on its reads (or its deadline), or only
   * the deadline.
   */
  readonly ends: "receiver" | "limit" | "deadline"
  /** The receiver gets no request, because no usable connection is established. */
  readonly unsent?: true
}

/** One request, as much as the receiver has read. */
export interface HostileRequest {
  /** Request line and headers. */
  readonly head: string
  readonly body: Buffer
}

/** A request that is being answered. */
export interface Exchange {
  readonly socket: Socket
  readonly request: HostileRequest
  /** The number of earlier requests: to this receiver in total, and on this connection. */
  readonly before: number
  readonly beforeHere: number
  /** An internal address that no sender may reach. */
  readonly inside: string
}

/** A behaviour with its implementation. Without `onRequest` it sends no answer. */
export interface HostileScript extends Omit<HostileBehaviour, "name" | "group"> {
  /** `request` by default. `head` calls `onRequest` before the body is read, and reads no further. */
  readonly reads?: "request" | "head" | "nothing"
  readonly onConnection?: (socket: Socket) => void
  readonly onRequest?: (exchange: Exchange) => void
  /** How an `https` receiver handles TLS. `slowly`: byte by byte. `never`: not at all; `onConnection` gets the raw bytes. */
  readonly tls?: ((certificates: TestCertificates) => TlsOptions) | "slowly" | "never"
  /** Slow setup that runs once before the first connection. */
  readonly prepare?: () => void
  /** The kernel's accept queue is full and no connection is accepted. */
  readonly deaf?: true
}

/** Scripts by name of the behaviour. */
export type HostileScripts = Readonly<Record<string, HostileScript>>
