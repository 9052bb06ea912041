/** Keep-alive connections by origin: each carries one request at a time; further requests wait in a queue. */
import type { Socket } from "node:net"
import { Client, type Dispatcher } from "undici"
import type { Endpoint, GuardedConnector } from "./GuardedConnector.ts"

/** A request that waits for a connection or uses one. */
export interface Exchange extends Dispatcher.DispatchHandler {
  readonly request: Dispatcher.DispatchOptions
  readonly origin: Origin
  connection: Connection | undefined
  /** Called when all connections are being closed. */
  readonly interrupt: () => void
  /** The receiver sent more than `maxAnswerBytes`. Nothing more is read. */
  readonly overflow: () => void
}

/** An origin. `url` contains scheme, host and port. */
export interface OriginAddress extends Endpoint {
  readonly url: string
}

export interface ConnectionsOptions {
  readonly connect: GuardedConnector
  /** Maximum connections, and so concurrent requests, per origin. */
  readonly perOrigin: number
  /** Origins with idle connections; above this, those of the least recently used origin are closed. */
  readonly origins: number
}

/** An older connection is closed after its request, so that DNS changes take effect. */
const maxAgeMillis = 60_000

/**
 * Bytes that are read of a response: interim responses, head, body and chunk framing. undici limits only some of these,
 * and endless data in the others would keep an attempt busy until its deadline.
 */
const maxAnswerBytes = 32_768

/**
 * Replaces undici's `Pool`, which cannot remove queued requests: while a receiver does not answer, a request past its
 * deadline would keep its body in memory and still start a connection.
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
    // An origin in use stays; the sender limits requests in flight.
    if (oldest !== undefined) void oldest.close()
  }
}

export class Origin {
  readonly address: OriginAddress
  lastUse = 0
  readonly #owner: Connections
  readonly #all = new Set<Connection>()
  /** A stack: the most recently used connection is used next, so that the others age and close. */
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

  /** The exchange ended. `reusable`: the connection may carry another request. */
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

  /** Closes a connection that must not be reused. */
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

/** An undici client with at most one request, and its socket. */
export class Connection {
  exchange: Exchange | undefined
  readonly #client: Client
  #socket: Socket | undefined
  #connectedAt = 0
  /** Bytes that may still be read for the current exchange. */
  #allowance = maxAnswerBytes

  constructor(origin: Origin, connect: GuardedConnector) {
    this.#client = new Client(origin.address.url, {
      pipelining: 1,
      allowH2: false,
      // The attempt has one deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Our own limit applies first; it also counts line breaks and colons.
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
          // undici's own listener must run first.
          queueMicrotask(() => {
            if (this.exchange === undefined && this.#socket === socket) void origin.discard(this)
          })
        })
      }
    })
  }

  /** Too old, or it has unread data, or the receiver answered before it read the request: a next request would queue behind the rest. */
  get isWorn(): boolean {
    return this.#allowance === 0 || (this.#socket?.writableLength ?? 0) > 0 || performance.now() - this.#connectedAt > maxAgeMillis
  }

  carry(exchange: Exchange): void {
    this.#allowance = maxAnswerBytes
    this.exchange = exchange
    exchange.connection = this
    this.#client.dispatch(exchange.request, exchange)
  }

  /** Limits the bytes that undici can read: it reads until nothing is left. */
  #ration(socket: Socket): void {
    const read = socket.read.bind(socket)
    socket.read = (size?: number): Buffer | null => {
      if (this.#allowance === 0) {
        // undici may have found a parse error in the data before.
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

  /** Also ends a connection attempt, which undici would leave to its own timeout. */
  destroy(): Promise<void> {
    const closed = this.#client.destroy()
    this.#socket?.destroy()
    return closed
  }
}
