/** Keep-alive connections by origin: each carries one request at a time. Requests beyond what one owner may have at an origin wait in a queue of that owner. */
import { LinkedList } from "@waybill/core"
import type { Attempt } from "./Attempt.ts"
import { Connection } from "./Connection.ts"
import type { Endpoint, GuardedConnector } from "./GuardedConnector.ts"

export interface OriginAddress extends Endpoint {
  /** Scheme, host and port. */
  readonly key: string
}

export interface ConnectionsOptions {
  readonly connect: GuardedConnector
  /** Maximum concurrent requests of one owner per origin. */
  readonly perOwner: number
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

/** Requests of one owner to an origin. Those of one that hang hold up no other owner: each has its own limit, and connections are opened as needed. */
interface OwnerRequests {
  /** Number of those that have a connection. */
  carried: number
  readonly waiting: LinkedList<Attempt>
}

export class Origin {
  readonly address: OriginAddress
  lastUse = 0
  readonly #connections: Connections
  readonly #all = new Set<Connection>()
  /** A stack: the most recently used connection is used next, so that the others age and close. */
  readonly #idle: Array<Connection> = []
  /** Owners that have requests, or had some in the last second. */
  readonly #owners = new Map<string, OwnerRequests>()

  constructor(connections: Connections, address: OriginAddress) {
    this.#connections = connections
    this.address = address
  }

  get isIdle(): boolean {
    return this.#idle.length === this.#all.size
  }

  submit(attempt: Attempt): void {
    const { owner } = attempt.request
    const known = this.#owners.get(owner)
    const requests = known ?? { carried: 0, waiting: new LinkedList() }
    if (known === undefined) this.#owners.set(owner, requests)
    if (requests.carried === this.#connections.options.perOwner) attempt.waiting = requests.waiting.add(attempt)
    else {
      requests.carried += 1
      this.#carry(attempt)
    }
  }

  /** The attempt ended. */
  finish(attempt: Attempt): void {
    const { connection, request: { owner }, waiting } = attempt
    const requests = this.#owners.get(owner)!
    if (connection === undefined) {
      requests.waiting.remove(waiting!)
      return
    }
    attempt.connection = undefined
    connection.attempt = undefined
    const next = requests.waiting.first
    const now = performance.now()
    const isReusable = connection.isReusable(now)
    if (isReusable) {
      connection.rest(now)
      this.#idle.push(connection)
    }
    if (next === undefined) requests.carried -= 1
    else {
      requests.waiting.remove(next.waiting!)
      this.#carry(next)
    }
    if (!isReusable) void this.#discard(connection)
  }

  /** A connection ended, or cannot be used, before the request that it carries was written, if there is one: this request is moved to another connection. */
  lose(connection: Connection): void {
    const { attempt } = connection
    connection.attempt = undefined
    if (attempt !== undefined) this.#carry(attempt)
    void this.#discard(connection)
  }

  /** Closes the connections that have been idle too long, and forgets owners without requests: at each request it would leave V8 the old tables of the map (docs/decisions/0103). */
  closeIdle(now: number): void {
    for (const [owner, { carried }] of this.#owners) if (carried === 0) this.#owners.delete(owner)
    for (const connection of this.#idle.filter((each) => each.hasIdledTooLong(now))) void this.#discard(connection)
  }

  async close(): Promise<void> {
    for (const { waiting } of this.#owners.values()) for (const attempt of waiting) attempt.interrupt()
    for (const connection of this.#all) connection.attempt?.interrupt()
    await Promise.all(Array.from(this.#all, (connection) => this.#discard(connection)))
  }

  #discard(connection: Connection): Promise<void> {
    this.#all.delete(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    if (this.#all.size === 0) this.#connections.forget(this)
    return connection.destroy()
  }

  /** On the last idle connection, or a new one. If the last one is too old, the others are as well: the sweep closes them. */
  #carry(attempt: Attempt): void {
    const idle = this.#idle.pop()
    if (idle !== undefined && !idle.hasIdledTooLong(performance.now())) {
      idle.carry(attempt)
      this.#connections.startSoon(idle)
      return
    }
    const connection = new Connection(this, this.#connections.options.connect)
    this.#all.add(connection)
    connection.carry(attempt)
    if (idle !== undefined) void this.#discard(idle)
  }
}
