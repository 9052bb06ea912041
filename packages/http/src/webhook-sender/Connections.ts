/** Keep-alive connections by owner and origin: each carries one request at a time; further requests wait in a queue. */
import { LinkedList } from "@waybill/core"
import type { Attempt } from "./Attempt.ts"
import { Connection } from "./Connection.ts"
import type { Endpoint, GuardedConnector } from "./GuardedConnector.ts"

/** An origin of one owner. Owners share no connections: a hundred requests of one that hang would hold up those of another to the same host. */
export interface OriginAddress extends Endpoint {
  /** Owner, scheme, host and port. */
  readonly key: string
}

export interface ConnectionsOptions {
  readonly connect: GuardedConnector
  /** Maximum connections, and so concurrent requests, of one owner per origin. */
  readonly perOrigin: number
  /** Origins with idle connections; above this, those of the least recently used origin are closed. */
  readonly origins: number
}

/** Interval between checks of idle connections. A timer for each would cost more than it saves. */
const sweepMillis = 1_000

export class Connections {
  readonly options: ConnectionsOptions
  readonly #origins = new Map<string, Origin>()
  readonly #sweeper: NodeJS.Timeout
  #reused: Array<Connection> = []
  #uses = 0
  closed = false

  constructor(options: ConnectionsOptions) {
    this.options = options
    this.#sweeper = setInterval(() => this.#sweep(), sweepMillis).unref()
  }

  origin(address: OriginAddress): Origin {
    const known = this.#origins.get(address.key)
    const origin = known ?? new Origin(this, address)
    origin.lastUse = this.#uses++
    if (known === undefined) {
      if (this.#origins.size >= this.options.origins) this.#evict()
      this.#origins.set(address.key, origin)
    }
    return origin
  }

  forget(origin: Origin): void {
    if (this.#origins.get(origin.address.key) === origin) this.#origins.delete(origin.address.key)
  }

  /**
   * Writes the request of a used connection after the sockets have been read once more. Bytes or a close that arrived since its last
   * response are noticed by then; otherwise they would be taken for the response to the next request.
   */
  startSoon(connection: Connection): void {
    if (this.#reused.push(connection) > 1) return
    setImmediate(() => {
      const connections = this.#reused
      this.#reused = []
      for (const each of connections) each.start()
    })
  }

  /** Ends every attempt and every connection; resolves when the sockets are closed. */
  async close(): Promise<void> {
    this.closed = true
    clearInterval(this.#sweeper)
    await Promise.all(Array.from(this.#origins.values(), (origin) => origin.close()))
  }

  #sweep(): void {
    const now = performance.now()
    for (const origin of this.#origins.values()) origin.closeIdle(now)
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
  readonly #waiting = new LinkedList<Attempt>()

  constructor(owner: Connections, address: OriginAddress) {
    this.#owner = owner
    this.address = address
  }

  get isIdle(): boolean {
    return this.#idle.length === this.#all.size
  }

  submit(attempt: Attempt): void {
    if (!this.#carry(attempt)) this.#wait(attempt)
  }

  /** The attempt ended. */
  finish(attempt: Attempt): void {
    const connection = attempt.connection
    if (connection === undefined) {
      this.#stopWaiting(attempt)
      return
    }
    attempt.connection = undefined
    connection.attempt = undefined
    const now = performance.now()
    if (connection.isReusable(now)) {
      connection.rest(now)
      this.#idle.push(connection)
    } else void this.#discard(connection)
    this.#carryWaiting()
  }

  /** A connection ended, or cannot be used, before the request that it carries was written, if there is one: this request is moved to another connection. */
  lose(connection: Connection): void {
    const { attempt } = connection
    connection.attempt = undefined
    if (attempt !== undefined) {
      // First, so that the origin has a use and is not forgotten.
      attempt.connection = undefined
      this.#wait(attempt)
    }
    void this.#discard(connection)
    this.#carryWaiting()
  }

  /** Closes the connections that have been idle too long. */
  closeIdle(now: number): void {
    for (const connection of this.#idle.filter((each) => each.hasIdledTooLong(now))) void this.#discard(connection)
  }

  async close(): Promise<void> {
    for (const attempt of this.#waiting) attempt.interrupt()
    for (const connection of this.#all) connection.attempt?.interrupt()
    await Promise.all(Array.from(this.#all, (connection) => this.#discard(connection)))
  }

  #discard(connection: Connection): Promise<void> {
    this.#all.delete(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    if (this.#all.size === 0 && this.#waiting.isEmpty) this.#owner.forget(this)
    return connection.destroy()
  }

  #wait(attempt: Attempt): void {
    attempt.waiting = this.#waiting.add(attempt)
  }

  #stopWaiting(attempt: Attempt): void {
    if (attempt.waiting !== undefined) this.#waiting.remove(attempt.waiting)
    attempt.waiting = undefined
  }

  #carryWaiting(): void {
    for (let next = this.#waiting.first; next !== undefined && this.#carry(next); next = this.#waiting.first) this.#stopWaiting(next)
  }

  /** Whether there is a connection for it: an idle one, or a new one within the limit. */
  #carry(attempt: Attempt): boolean {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.hasIdledTooLong(performance.now())) {
        void this.#discard(idle)
        continue
      }
      idle.carry(attempt)
      this.#owner.startSoon(idle)
      return true
    }
    if (this.#all.size >= this.#owner.options.perOrigin) return false
    const connection = new Connection(this, this.#owner.options.connect)
    this.#all.add(connection)
    connection.carry(attempt)
    return true
  }
}
