/** How a client acquires connections, and the connection that is reserved for delivery workers. */
import { CallingClient } from "@waybill/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { ConnectionShares } from "./ConnectionShares.ts"
import type { PgConnection } from "./PgConnection.ts"

/** The two ways in which Effect's SQL client acquires a connection. */
export interface PgLending {
  /** For one statement or one transaction. */
  readonly borrower: <A, E, R>(use: (connection: PgConnection) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
  /** Until the scope closes; statements of several fibers run one after the other. */
  readonly acquirer: Effect.Effect<PgConnection, SqlError, Scope.Scope>
}

/** Statements without a timeout, such as those of migrations. */
export const NoTimeout = Context.Reference<boolean>("@waybill/postgres/client/NoTimeout", { defaultValue: () => false })

/** Statements of delivery workers, which must not queue behind all others, because leases expire. */
export const HighPriority = Context.Reference<boolean>("@waybill/postgres/client/HighPriority", { defaultValue: () => false })

/** A pool with at least this many connections reserves one for high priority statements. */
const smallestDivided = 3

/** Reserves one connection of a pool for high priority statements, and divides the others between clients. */
export const withReservedConnection = (maxConnections: number, { acquirer, borrower }: PgLending): PgLending => {
  if (maxConnections < smallestDivided) return { borrower, acquirer }
  const shares = new ConnectionShares(maxConnections - 1)
  return {
    borrower: (use) => Effect.withFiber((fiber) => fiber.getRef(HighPriority) ? borrower(use) : shares.during(fiber.getRef(CallingClient), borrower(use))),
    acquirer: Effect.withFiber((fiber) => fiber.getRef(HighPriority) ? acquirer : Effect.andThen(shares.take(fiber.getRef(CallingClient)), acquirer))
  }
}
