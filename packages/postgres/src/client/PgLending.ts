/** How a client acquires connections, the connection that is reserved for delivery workers, and the share of one calling client. */
import { CallingClient } from "@waybill/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import type { PgConnection } from "./PgConnection.ts"

/** The two ways in which Effect's SQL client acquires a connection. */
export interface ConnectionSource {
  /** For one statement. */
  readonly borrower: <A, E, R>(use: (connection: PgConnection) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
  /** Until the scope closes; statements of several fibers run one after the other. */
  readonly acquirer: Effect.Effect<PgConnection, SqlError, Scope.Scope>
}

export interface PgLending extends ConnectionSource {
  /** For one transaction. */
  readonly transactionBorrower: ConnectionSource["borrower"]
}

/** Statements without a timeout, such as those of migrations. */
export const NoTimeout = Context.Reference<boolean>("@waybill/postgres/client/NoTimeout", { defaultValue: () => false })

/** Statements of delivery workers, which must not queue behind all others, because leases expire. */
export const HighPriority = Context.Reference<boolean>("@waybill/postgres/client/HighPriority", { defaultValue: () => false })

/** A pool with at least this many connections reserves one for high priority statements. */
const smallestDivided = 3

/** Reserves one connection of a pool for high priority statements, and leaves some for other clients than the one that uses most. */
export const withReservedConnection = (maxConnections: number, { acquirer, borrower }: ConnectionSource): PgLending => {
  if (maxConnections < smallestDivided) return { borrower, transactionBorrower: borrower, acquirer }
  const ordinary = Semaphore.makeUnsafe(maxConnections - 1)
  const shares = new TransactionShares(maxConnections - 1)
  return {
    borrower: (use) => Effect.withFiber((fiber) => fiber.getRef(HighPriority) ? borrower(use) : ordinary.withPermit(borrower(use))),
    transactionBorrower: (use) =>
      Effect.withFiber((fiber) => fiber.getRef(HighPriority) ? borrower(use) : shares.within(fiber.getRef(CallingClient), ordinary.withPermit(borrower(use)))),
    acquirer: Effect.withFiber((fiber) => fiber.getRef(HighPriority) ? acquirer : Effect.andThen(ordinary.takeScoped(1), acquirer))
  }
}

interface Share {
  readonly permits: Semaphore.Semaphore
  users: number
}

/**
 * Limits the open transactions of one client to three quarters of the connections. Its transactions may all wait for a lock that somebody holds for
 * long, such as a shipment of a host's open transaction; other clients then still find connections.
 */
class TransactionShares {
  readonly #shares = new Map<string, Share>()
  readonly #most: number

  constructor(connections: number) {
    this.#most = connections - Math.max(1, Math.floor(connections / 4))
  }

  /** Waits for a part of the client's share, and keeps it while the effect runs. */
  within<A, E, R>(client: string | undefined, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    if (client === undefined) return effect
    return Effect.suspend(() => {
      const share = this.#enter(client)
      return Effect.ensuring(share.permits.withPermit(effect), Effect.sync(() => this.#leave(client, share)))
    })
  }

  #enter(client: string): Share {
    const share = this.#shares.get(client) ?? { permits: Semaphore.makeUnsafe(this.#most), users: 0 }
    share.users += 1
    this.#shares.set(client, share)
    return share
  }

  #leave(client: string, share: Share): void {
    share.users -= 1
    if (share.users === 0) this.#shares.delete(client)
  }
}
