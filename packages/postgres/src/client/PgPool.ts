/** Connections lent by a pool of pg clients, each taken back clean or not at all. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Borrower } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import { setTimeout as after } from "node:timers/promises"
import type pg from "pg"
import { type PgQuery, type PgResult, type PgWire, PgWireConnection } from "./PgConnection.ts"
import { connectionLost, sqlError } from "./PgErrors.ts"
import { cancelDeadlineMs, readsBinary, requestCancel } from "./PgSocket.ts"

/** The two ways in which Effect's SQL client takes a connection. */
export interface PgLending {
  /** For one statement. */
  readonly borrower: Borrower
  /** Until the scope closes; statements of several fibers wait for each other. */
  readonly acquirer: Effect.Effect<PgWireConnection, SqlError, Scope.Scope>
}

/**
 * Lends the clients of a pool.
 *
 * @stability unstable
 */
export const lendFrom = (pool: pg.Pool, statementName: (text: string) => string | undefined): PgLending => {
  const taken = takeFrom(pool)
  return {
    borrower: (use) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(taken), (client) =>
          Effect.onExit(restore(use(new PgWireConnection(wireOf(client, statementName)))), () => Effect.sync(() => client.giveBack())))
      ),
    acquirer: Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(taken), (client) => {
        const wire = wireOf(client, statementName)
        const lock = Semaphore.makeUnsafe(1)
        const connection = new PgWireConnection({ ...wire, run: (query) => lock.withPermit(wire.run(query)) })
        return Effect.as(Effect.addFinalizer(() => Effect.sync(() => client.giveBack())), connection)
      })
    )
  }
}

const wireOf = (client: TakenClient, statementName: (text: string) => string | undefined): PgWire => ({
  run: (query) => client.run(query),
  statementName,
  readsBinary: client.readsBinary,
  isHosted: false,
  isLost: () => client.lost !== undefined
})

/** Interrupting the wait leaves a place in the pool's queue; the client that arrives there goes back unused. */
const takeFrom = (pool: pg.Pool): Effect.Effect<TakenClient, SqlError> =>
  Effect.callback((resume) => {
    let abandoned = false
    let taken: TakenClient | undefined
    pool.connect((error, client) => {
      if (client === undefined) return resume(Effect.fail(sqlError(error, "connect")))
      taken = new TakenClient(client)
      if (abandoned) taken.giveBack()
      else resume(Effect.succeed(taken))
    })
    return Effect.sync(() => {
      abandoned = true
      taken?.giveBack()
    })
  })

/** A client between the pool's `connect` and its `release`. */
class TakenClient {
  /** Why nothing can be sent any more. */
  lost: SqlError | undefined = undefined
  readonly readsBinary: boolean
  private readonly client: pg.PoolClient
  // without a listener, a server that hangs up would end the process
  private readonly onError = (cause: unknown) => {
    this.lost ??= connectionLost("The connection was lost while it was in use", "connection", cause)
  }

  constructor(client: pg.PoolClient) {
    this.client = client
    this.readsBinary = readsBinary(client)
    client.on("error", this.onError)
  }

  run(query: PgQuery): Effect.Effect<PgResult, SqlError> {
    return Effect.callback((resume) => {
      if (this.lost !== undefined) return resume(Effect.fail(this.lost))
      let ended = false
      let onEnd: (() => void) | undefined
      const answer = (error: Error | null, result: PgResult) => {
        ended = true
        onEnd?.()
        if (!error) return resume(Effect.succeed(result))
        // pg's own words for query_timeout; the answer may still come, to nobody
        const failure = error.message === "Query read timeout"
          ? connectionLost("The server did not answer in time", "execute", error)
          : sqlError(error, "execute")
        if (failure.reason._tag === "ConnectionError") this.lost ??= failure
        resume(Effect.fail(failure))
      }
      const client = this.client as unknown as CallbackClient
      client.query(query, answer)
      return Effect.promise(async () => {
        if (ended) return
        const end = new Promise<void>((done) => onEnd = done)
        const stopped = Promise.all([requestCancel(this.client), end]).then(() => true)
        // both: a cancel that is still under way could hit the connection's next statement
        if (await Promise.race([stopped, deadline()])) return
        this.lost ??= connectionLost("A statement was interrupted and did not end", "interrupt")
      })
    })
  }

  /** A client that is lost, or that is still inside a transaction, is closed instead. */
  giveBack(): void {
    this.client.off("error", this.onError)
    const status = this.client.getTransactionStatus?.()
    this.client.release(this.lost !== undefined || status === "T" || status === "E")
  }
}

const deadline = () => after(cancelDeadlineMs, false, { ref: false })

/** pg's `query` with a callback, which is typed for other arguments. */
interface CallbackClient {
  readonly query: (query: PgQuery, answer: (error: Error | null, result: PgResult) => void) => void
}
