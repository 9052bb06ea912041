/** Lends connections of the host's pool of pg clients. A connection returns to the pool clean, or is closed. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { setTimeout as after } from "node:timers/promises"
import type pg from "pg"
import { requestCancel } from "./PgCancel.ts"
import { cancelDeadlineMs, type PgResult, type PgStatement, PgWireConnection } from "./PgConnection.ts"
import { connectionLost, refusal, sqlError } from "./PgErrors.ts"
import { readsBinary } from "./PgHost.ts"
import { type PgLending, withReservedConnection } from "./PgLending.ts"
import { lastResult, pgQuery } from "./PgQuery.ts"
import { StatementTurns } from "./StatementTurns.ts"

/**
 * Lends the clients of a pool.
 *
 * @stability unstable
 */
export const lendFrom = (pool: pg.Pool, statementName: StatementName): PgLending => {
  const taken = takeFrom(pool, statementName)
  const giveBack = (client: TakenClient) => Effect.sync(() => client.giveBack())
  return withReservedConnection(pool.options.max, {
    borrower: (use) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(taken), (client) => Effect.onExit(restore(use(client)), () => giveBack(client)))),
    acquirer: Effect.acquireRelease(taken, giveBack, { interruptible: true })
  })
}

/** An interrupted wait stays in the pool's queue; its client is returned unused. */
const takeFrom = (pool: pg.Pool, statementName: StatementName): Effect.Effect<TakenClient, SqlError> =>
  Effect.callback((resume) => {
    let abandoned = false
    let taken: TakenClient | undefined
    pool.connect((error, client) => {
      if (client === undefined) return resume(Effect.fail(sqlError(error, "connect")))
      taken = new TakenClient(client, statementName)
      const refused = readsBinary(client)
      if (abandoned || refused) taken.giveBack()
      resume(refused ? Effect.fail(binaryPool) : Effect.succeed(taken))
    })
    return Effect.sync(() => {
      abandoned = true
      taken?.giveBack()
    })
  })

const binaryPool = refusal("the pool has binary: true, and pg does not read binary values correctly. Leave it out of the pool's options and of pg.defaults", "connect")

type StatementName = (text: string) => string | undefined

/** A client between the pool's `connect` and its `release`. */
class TakenClient extends PgWireConnection {
  readonly isHosted = false
  /** The error that closed the connection. */
  private lost: SqlError | undefined = undefined
  private toBegin: string | undefined = undefined
  private readonly turns = new StatementTurns()
  private readonly client: pg.PoolClient
  private readonly statementName: StatementName
  // without an error listener, a server that closes the connection would crash the process
  private readonly onError = (cause: unknown) => {
    this.lost ??= connectionLost("The connection was lost while it was in use", "connection", cause)
  }

  constructor(client: pg.PoolClient, statementName: StatementName) {
    super()
    this.client = client
    this.statementName = statementName
    client.on("error", this.onError)
  }

  isLost(): boolean {
    return this.lost !== undefined
  }

  begin(text: string): void {
    this.toBegin = text
  }

  /** The client, after its transaction has begun: the host's statements do not begin it. */
  readonly hostClient: Effect.Effect<pg.PoolClient, SqlError> = Effect.suspend(() => {
    const begin = this.toBegin
    return Effect.as(begin === undefined ? Effect.void : this.beginWith(begin), this.client)
  })

  run(statement: PgStatement): Effect.Effect<PgResult, SqlError> {
    return Effect.suspend(() => {
      if (this.turns.isTaken) return Effect.andThen(this.turns.wait, this.run(statement))
      const begin = this.toBegin
      if (begin === undefined) return this.ask(statement)
      const { text } = statement
      if (text !== "COMMIT" && text !== "ROLLBACK") return Effect.andThen(this.beginWith(begin), this.run(statement))
      // no statement was sent, so there is no transaction to end
      this.toBegin = undefined
      return Effect.succeed({ rows: [], command: text })
    })
  }

  /** If BEGIN fails and the error is caught, the next statement must not be outside of the transaction. */
  private beginWith(begin: string): Effect.Effect<PgResult, SqlError> {
    this.toBegin = undefined
    return Effect.onError(this.ask(beginStatement(begin)), () =>
      Effect.sync(() => {
        if (this.client.getTransactionStatus?.() === "I") this.toBegin = begin
      }))
  }

  private ask(statement: PgStatement): Effect.Effect<PgResult, SqlError> {
    return Effect.callback((resume) => {
      if (this.lost !== undefined) return resume(Effect.fail(this.lost))
      let query: ReturnType<typeof pgQuery>
      try {
        query = pgQuery(statement, this.statementName)
      } catch (cause) {
        return resume(Effect.fail(sqlError(cause, "encode")))
      }
      this.turns.isTaken = true
      let ended = false
      let onEnd: (() => void) | undefined
      const answer = (error: Error | null, result: PgResult) => {
        ended = true
        // record a lost connection before the next statement is sent
        const answered = error ? Effect.fail(this.failureOf(error)) : Effect.succeed(lastResult(result))
        if (onEnd === undefined) this.turns.end()
        else onEnd()
        resume(answered)
      }
      const client = this.client as unknown as CallbackClient
      client.query(query, answer)
      return Effect.promise(async () => {
        if (ended) return
        const end = new Promise<void>((done) => onEnd = done)
        const stopped = Promise.all([requestCancel(this.client), end]).then(() => true)
        // wait for both: a cancel request in flight could hit the next statement of the connection
        if (!(await Promise.race([stopped, deadline()]))) {
          this.lost ??= connectionLost("A statement was interrupted and did not end", "interrupt")
        }
        this.turns.end()
      })
    })
  }

  private failureOf(error: Error): SqlError {
    // pg's message for query_timeout; the answer may still arrive and is ignored
    const isLate = error.message === "Query read timeout"
    const failure = isLate ? connectionLost("The server did not answer in time", "execute", error) : sqlError(error, "execute")
    // the statement may still run and hold locks
    if (isLate) void requestCancel(this.client)
    if (failure.reason._tag === "ConnectionError") this.lost ??= failure
    return failure
  }

  /** Closes a client that is lost or still inside a transaction instead of returning it. */
  giveBack(): void {
    this.client.off("error", this.onError)
    const status = this.client.getTransactionStatus?.()
    this.client.release(this.lost !== undefined || status === "T" || status === "E")
  }
}

const beginStatement = (text: string): PgStatement =>
  ({ text, values: [], prepare: false, asArrays: false, isBulk: false, deadlineMs: undefined })

const deadline = () => after(cancelDeadlineMs, false, { ref: false })

/** pg's `query` with a callback; its types expect other arguments. */
interface CallbackClient {
  readonly query: (query: ReturnType<typeof pgQuery>, answer: (error: Error | null, result: PgResult) => void) => void
}
