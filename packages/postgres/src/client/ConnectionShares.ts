/** Divides the connections of a pool between the clients of the service, so that no client feels what another one sends. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** The connections that a client holds and waits for. */
interface Share {
  held: number
  /** In order of arrival. */
  readonly waiting: Set<Turn>
}

/** One connection, held or waited for. */
interface Turn {
  /** `undefined` for work of the service. */
  readonly client: string | undefined
  readonly share: Share
  readonly arrived: number
  isGranted: boolean
  resume: (() => void) | undefined
}

/**
 * A client that takes a further connection leaves a third as many free as it then holds: alone it has three quarters of a pool, two have three sevenths each, and a
 * client without a connection finds a free one. Connections that are given back go to the client that holds fewest, and among equals to the one that waited longest.
 *
 * Work of the service and of operators has no share: each part of it is like a client that holds nothing.
 */
export class ConnectionShares {
  readonly #shares = new Map<string, Share>()
  /** Turns of the service, which hold nothing. */
  readonly #service: Share = { held: 0, waiting: new Set() }
  /** Shares with waiting turns. */
  readonly #waiting = new Set<Share>()
  #free: number
  #arrivals = 0

  constructor(connections: number) {
    this.#free = connections
  }

  /** Runs the effect while it has a connection. */
  during<A, E, R>(client: string | undefined, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.sync(() => this.#enter(client)),
      (turn) => turn.isGranted ? effect : Effect.andThen(waitFor(turn), effect),
      (turn) => Effect.sync(() => this.#leave(turn))
    )
  }

  /** Waits for a connection, and has it until the scope closes. */
  take(client: string | undefined): Effect.Effect<void, never, Scope.Scope> {
    const entered = Effect.acquireRelease(Effect.sync(() => this.#enter(client)), (turn) => Effect.sync(() => this.#leave(turn)))
    return Effect.flatMap(entered, (turn) => turn.isGranted ? Effect.void : waitFor(turn))
  }

  #enter(client: string | undefined): Turn {
    const share = this.#shareOf(client)
    const turn: Turn = { client, share, arrived: this.#arrivals++, isGranted: false, resume: undefined }
    // those that wait already may not have what is free now
    if (share.waiting.size === 0 && this.#mayTake(share)) this.#grant(turn)
    else {
      share.waiting.add(turn)
      this.#waiting.add(share)
    }
    return turn
  }

  #leave(turn: Turn): void {
    const { client, share } = turn
    if (turn.isGranted) {
      this.#free += 1
      if (share !== this.#service) share.held -= 1
    } else this.#unqueue(turn)
    if (client !== undefined && share.held === 0 && share.waiting.size === 0) this.#shares.delete(client)
    this.#grantNext()
  }

  #shareOf(client: string | undefined): Share {
    if (client === undefined) return this.#service
    const share = this.#shares.get(client) ?? { held: 0, waiting: new Set() }
    this.#shares.set(client, share)
    return share
  }

  #mayTake({ held }: Share): boolean {
    return this.#free > 0 && (held === 0 || held + 1 <= 3 * (this.#free - 1))
  }

  #grant(turn: Turn): void {
    this.#free -= 1
    if (turn.share !== this.#service) turn.share.held += 1
    turn.isGranted = true
  }

  #unqueue(turn: Turn): void {
    turn.share.waiting.delete(turn)
    if (turn.share.waiting.size === 0) this.#waiting.delete(turn.share)
  }

  #grantNext(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#unqueue(next)
      this.#grant(next)
      // later, because what it then does may give its connection back at once
      if (next.resume !== undefined) queueMicrotask(next.resume)
    }
  }

  #next(): Turn | undefined {
    let best: Turn | undefined
    for (const share of this.#waiting) {
      if (!this.#mayTake(share)) continue
      const [first] = share.waiting
      if (best === undefined || share.held < best.share.held || share.held === best.share.held && first!.arrived < best.arrived) best = first
    }
    return best
  }
}

const waitFor = (turn: Turn): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (turn.isGranted) resume(Effect.void)
    else turn.resume = () => resume(Effect.void)
  })
