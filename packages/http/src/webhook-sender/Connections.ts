/** Keep-alive connections by origin: each carries one request at a time, and what finds none free waits its turn. */
import type { Socket } from "node:net"
import { Client, type Dispatcher } from "undici"
import type { Endpoint, GuardedConnector } from "./GuardedConnector.ts"

/** A request on its way: waiting for a connection first, then using one. */
export interface Exchange extends Dispatcher.DispatchHandler {
  readonly request: Dispatcher.DispatchOptions
  readonly origin: Origin
  connection: Connection | undefined
  /** Everything is being closed. */
  readonly interrupt: () => void
  /** The receiver sent more than `maxAnswerBytes`. Nothing beyond them is read. */
  readonly overflow: () => void
}

/** Where requests go. `url` holds scheme, host and port. */
export interface OriginAddress extends Endpoint {
  readonly url: string
}

export interface ConnectionsOptions {
  readonly connect: GuardedConnector
  /** Connections to one origin, which is also the most requests it gets at the same time. */
  readonly perOrigin: number
  /** Origins whose idle connections are kept; beyond, those of the origin that waited longest are closed. */
  readonly origins: number
}

/** A connection this old is closed after the request it carries, so that a name that moved is followed. */
const maxAgeMillis = 60_000

/**
 * Of an answer so much is read: interim answers, head, body and whatever stands between chunks. undici bounds some of it only,
 * and what a receiver sends without end in one of the other places would keep us busy until the deadline.
 */
const maxAnswerBytes = 32_768

/**
 * undici's own `Pool` is not used, because it cannot take back what it has queued: a request whose deadline has passed
 * would keep its body in memory, and still be given a connection attempt, as long as the receiver does not answer.
 */
export class Connections {
  readonly options: ConnectionsOptions
  readonly #origins = new Map<string, Origin>()
  #uses = 0
  closed = false

  constructor(options: ConnectionsOptions) {
    this.options = options
  }

  origin(address: OriginAddress): Origin {
    const known = this.#origins.get(address.url)
    const origin = known ?? new Origin(this, address)
    origin.lastUse = this.#uses++
    if (known === undefined) {
      if (this.#origins.size >= this.options.origins) this.#evict()
      this.#origins.set(address.url, origin)
    }
    return origin
  }

  forget(origin: Origin): void {
    if (this.#origins.get(origin.address.url) === origin) this.#origins.delete(origin.address.url)
  }

  /** Ends every exchange and every connection; resolves when the sockets are closed. */
  async close(): Promise<void> {
    this.closed = true
    await Promise.all(Array.from(this.#origins.values(), (origin) => origin.close()))
  }

  #evict(): void {
    let oldest: Origin | undefined
    for (const origin of this.#origins.values()) {
      if (origin.isIdle && (oldest === undefined || origin.lastUse < oldest.lastUse)) oldest = origin
    }
    // an origin in use stays: what is in flight is bounded by who sends
    if (oldest !== undefined) void oldest.close()
  }
}

export class Origin {
  readonly address: OriginAddress
  lastUse = 0
  readonly #owner: Connections
  readonly #all = new Set<Connection>()
  /** The one used last is used next, so that the others can grow old and close. */
  readonly #idle: Array<Connection> = []
  readonly #waiting = new Set<Exchange>()

  constructor(owner: Connections, address: OriginAddress) {
    this.#owner = owner
    this.address = address
  }

  get isIdle(): boolean {
    return this.#idle.length === this.#all.size
  }

  submit(exchange: Exchange): void {
    const connection = this.#free()
    if (connection === undefined) this.#waiting.add(exchange)
    else connection.carry(exchange)
  }

  /** The exchange is over; `reusable` when its connection is in order and may carry the next. */
  finish(exchange: Exchange, reusable: boolean): void {
    const connection = exchange.connection
    if (connection === undefined) {
      this.#waiting.delete(exchange)
      return
    }
    exchange.connection = undefined
    connection.exchange = undefined
    if (reusable && !connection.isWorn) this.#idle.push(connection)
    else this.discard(connection)
    for (const next of this.#waiting) {
      const free = this.#free()
      if (free === undefined) break
      this.#waiting.delete(next)
      free.carry(next)
    }
  }

  /** Not to be used again. */
  discard(connection: Connection): Promise<void> {
    this.#all.delete(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    if (this.#all.size === 0 && this.#waiting.size === 0) this.#owner.forget(this)
    return connection.destroy()
  }

  async close(): Promise<void> {
    for (const exchange of this.#waiting) exchange.interrupt()
    for (const connection of this.#all) connection.exchange?.interrupt()
    await Promise.all(Array.from(this.#all, (connection) => this.discard(connection)))
  }

  #free(): Connection | undefined {
    const idle = this.#idle.pop()
    if (idle !== undefined || this.#all.size >= this.#owner.options.perOrigin) return idle
    const connection = new Connection(this, this.#owner.options.connect)
    this.#all.add(connection)
    return connection
  }
}

/** An undici client that never has more than one request, and the socket it is using. */
export class Connection {
  exchange: Exchange | undefined
  readonly #client: Client
  #socket: Socket | undefined
  #connectedAt = 0
  /** Bytes that may still be read for the exchange under way. */
  #allowance = maxAnswerBytes

  constructor(origin: Origin, connect: GuardedConnector) {
    this.#client = new Client(origin.address.url, {
      pipelining: 1,
      allowH2: false,
      // the attempt has one deadline over everything
      headersTimeout: 0,
      bodyTimeout: 0,
      // ours comes first: it counts line breaks and colons, too
      maxHeaderSize: maxAnswerBytes,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 30_000,
      connect: (_, callback) => {
        const socket = connect(origin.address, (failure) => {
          if (failure !== undefined) return callback(failure, null)
          this.#connectedAt = performance.now()
          callback(null, socket)
        })
        this.#socket = socket
        this.#ration(socket)
        socket.once("close", () => {
          // undici listens too and goes first
          queueMicrotask(() => {
            if (this.exchange === undefined && this.#socket === socket) void origin.discard(this)
          })
        })
      }
    })
  }

  /** Too old, or more came than was read, or the receiver answered before it read: the next request would stand behind the rest of this one. */
  get isWorn(): boolean {
    return this.#allowance === 0 || (this.#socket?.writableLength ?? 0) > 0 || performance.now() - this.#connectedAt > maxAgeMillis
  }

  carry(exchange: Exchange): void {
    this.#allowance = maxAnswerBytes
    this.exchange = exchange
    exchange.connection = this
    this.#client.dispatch(exchange.request, exchange)
  }

  /** undici reads until there is nothing left; so there is nothing left when the allowance is used up. */
  #ration(socket: Socket): void {
    const read = socket.read.bind(socket)
    socket.read = (size?: number): Buffer | null => {
      if (this.#allowance === 0) {
        // undici may have found a fault in what it got
        if (!socket.destroyed) this.exchange?.overflow()
        return null
      }
      const chunk = read(size) as Buffer | null
      if (chunk === null) return null
      const within = chunk.length > this.#allowance ? chunk.subarray(0, this.#allowance) : chunk
      this.#allowance -= within.length
      return within
    }
  }

  /** Also ends a connection that is still being made, which undici would leave to its own timeout. */
  destroy(): Promise<void> {
    const closed = this.#client.destroy()
    this.#socket?.destroy()
    return closed
  }
}
