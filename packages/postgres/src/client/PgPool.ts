/** Lends connections of a pool of pg clients. A connection returns to the pool clean, or is closed. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Borrower } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import { setTimeout as after } from "node:timers/promises"
import type pg from "pg"
import { type PgQuery, type PgResult, type PgWire, PgWireConnection } from "./PgConnection.ts"
import { connectionLost, sqlError } from "./PgErrors.ts"
import { AskedQuery, cancelDeadlineMs, FirstQuery, readsBinary, requestCancel } from "./PgSocket.ts"

/** The two ways in which Effect's SQL client acquires a connection. */
export interface PgLending {
  /** For one statement. */
  readonly borrower: Borrower
  /** Until the scope closes; statements of several fibers run one after the other. */
  readonly acquirer: Effect.Effect<PgWireConnection, SqlError, Scope.Scope>
}

/** Statements without a timeout, such as those of migrations. */
export const NoTimeout = Context.Reference<boolean>("@waybill/postgres/client/NoTimeout", { defaultValue: () => false })

/** Statements of delivery workers, which must not queue behind all others, because leases expire. */
export const HighPriority = Context.Reference<boolean>("@waybill/postgres/client/HighPriority", { defaultValue: () => false })

/** A pool with at least this many connections reserves one for high priority statements. */
const smallestDivided = 3

export interface LendingOptions {
  readonly statementName: (text: string) => string | undefined
  /** How long an answer may take before its connection is closed; unlimited by default. */
  readonly answerMillis: number | undefined
}

/**
 * Lends the clients of a pool.
 *
 * @stability unstable
 */
export const lendFrom = (pool: pg.Pool, { answerMillis, statementName }: LendingOptions): PgLending => {
  const taken = takeFrom(pool, new Answers(answerMillis))
  const borrow: Borrower = (use) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(taken), (client) =>
        Effect.onExit(restore(use(new PgWireConnection(wireOf(client, statementName)))), () => Effect.sync(() => client.giveBack())))
    )
  const acquire = Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(restore(taken), (client) =>
      Effect.as(Effect.addFinalizer(() => Effect.sync(() => client.giveBack())), new PgWireConnection(wireOf(client, statementName))))
  )
  const { max } = pool.options
  if (max < smallestDivided) return { borrower: borrow, acquirer: acquire }
  const ordinary = Semaphore.makeUnsafe(max - 1)
  return {
    borrower: (use) => Effect.withFiber((fiber) => fiber.getRef(HighPriority) ? borrow(use) : ordinary.withPermit(borrow(use))),
    acquirer: Effect.withFiber((fiber) => fiber.getRef(HighPriority) ? acquire : Effect.andThen(ordinary.takeScoped(1), acquire))
  }
}

const wireOf = (client: TakenClient, statementName: (text: string) => string | undefined): PgWire => ({
  run: (query) => client.run(query),
  begin: (text) => client.begin(text),
  statementName,
  readsBinary: client.readsBinary,
  isHosted: false,
  isLost: () => client.lost !== undefined
})

/** When the clients of a pool last answered. If one stops answering, idle clients may have lost their server as well. */
class Answers {
  readonly answerMillis: number | undefined
  private readonly last = new WeakMap<object, number>()
  private silentSince = -Infinity

  constructor(answerMillis: number | undefined) {
    this.answerMillis = answerMillis
  }

  came(client: object): void {
    this.last.set(client, performance.now())
  }

  /** A client that sent a statement at this time got no answer. */
  missed(askedAt: number): void {
    this.silentSince = Math.max(this.silentSince, askedAt)
  }

  /** It has not answered since another client stopped answering. Waiting for each such client to time out would take too long. */
  isDoubtful(client: object): boolean {
    return (this.last.get(client) ?? Infinity) < this.silentSince
  }
}

/** An interrupted wait keeps its place in the pool's queue; its client is returned unused. */
const takeFrom = (pool: pg.Pool, answers: Answers): Effect.Effect<TakenClient, SqlError> =>
  Effect.callback((resume) => {
    let abandoned = false
    let taken: TakenClient | undefined
    const connect = () => pool.connect((error, client) => {
      if (client === undefined) return resume(Effect.fail(sqlError(error, "connect")))
      if (answers.isDoubtful(client)) {
        client.release(true)
        if (!abandoned) connect()
        return
      }
      taken = new TakenClient(client, answers)
      if (abandoned) taken.giveBack()
      else resume(Effect.succeed(taken))
    })
    connect()
    return Effect.sync(() => {
      abandoned = true
      taken?.giveBack()
    })
  })

/** A client between the pool's `connect` and its `release`. */
class TakenClient {
  /** Why nothing can be sent any more. */
  lost: SqlError | undefined = undefined
  private toBegin: string | undefined = undefined
  /** One statement at a time, because a cancel request cancels whatever statement the connection is running. */
  private isAsked = false
  private waiting: Array<() => void> = []
  readonly readsBinary: boolean
  private readonly client: pg.PoolClient
  private readonly answers: Answers
  // without an error listener, a server that closes the connection would crash the process
  private readonly onError = (cause: unknown) => {
    this.lost ??= connectionLost("The connection was lost while it was in use", "connection", cause)
  }

  constructor(client: pg.PoolClient, answers: Answers) {
    this.client = client
    this.answers = answers
    this.readsBinary = readsBinary(client)
    client.on("error", this.onError)
  }

  begin(text: string): void {
    this.toBegin = text
  }

  run(query: PgQuery): Effect.Effect<PgResult, SqlError> {
    return Effect.withFiber((fiber) => {
      if (this.isAsked) return Effect.andThen(this.turn, this.run(query))
      const answerMillis = fiber.getRef(NoTimeout) ? undefined : this.answers.answerMillis
      const begin = this.toBegin
      if (begin === undefined) return this.ask(query, answerMillis)
      this.toBegin = undefined
      // no statement was sent, so there is no transaction to end
      if (query.text === "COMMIT" || query.text === "ROLLBACK") return Effect.succeed({ rows: [], command: query.text })
      if (this.readsBinary && query.queryMode === "extended") return this.ask({ ...query, begin }, answerMillis)
      return Effect.andThen(this.ask({ text: begin, values: [], types: query.types }, answerMillis), this.run(query))
    })
  }

  /** Statements of several fibers in one transaction. */
  private readonly turn = Effect.callback<void>((resume) => {
    this.waiting.push(() => resume(Effect.void))
  })

  /** Wakes all waiting statements, and the first of them is sent: a single woken one could have been interrupted. */
  private rest(): void {
    this.isAsked = false
    const { waiting } = this
    if (waiting.length === 0) return
    this.waiting = []
    for (const come of waiting) come()
  }

  private ask(query: PgQuery, answerMillis: number | undefined): Effect.Effect<PgResult, SqlError> {
    return Effect.callback((resume) => {
      if (this.lost !== undefined) return resume(Effect.fail(this.lost))
      this.isAsked = true
      let ended = false
      let onEnd: (() => void) | undefined
      const askedAt = performance.now()
      const answer = (error: Error | null, result: PgResult) => {
        ended = true
        // record a lost connection before the next statement is sent
        const answered = error ? Effect.fail(this.failureOf(error, askedAt)) : Effect.succeed(result)
        if (!error) this.answers.came(this.client)
        if (onEnd === undefined) this.rest()
        else onEnd()
        resume(answered)
      }
      const client = this.client as unknown as CallbackClient
      const asked = new AskedQuery(query, query.query_timeout ?? answerMillis)
      client.query(query.begin === undefined ? asked : new FirstQuery(asked, query.begin), answer)
      return Effect.promise(async () => {
        if (ended) return
        const end = new Promise<void>((done) => onEnd = done)
        const stopped = Promise.all([requestCancel(this.client), end]).then(() => true)
        // wait for both: a cancel request in flight could hit the next statement of the connection
        if (!(await Promise.race([stopped, deadline()]))) {
          this.answers.missed(askedAt)
          this.lost ??= connectionLost("A statement was interrupted and did not end", "interrupt")
        }
        this.rest()
      })
    })
  }

  private failureOf(error: Error, askedAt: number): SqlError {
    // pg's message for query_timeout; the answer may still arrive and is ignored
    const isLate = error.message === "Query read timeout"
    const failure = isLate ? connectionLost("The server did not answer in time", "execute", error) : sqlError(error, "execute")
    if (isLate) {
      this.answers.missed(askedAt)
      // the statement may still run and hold locks
      void requestCancel(this.client)
    }
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

const deadline = () => after(cancelDeadlineMs, false, { ref: false })

/** pg's `query` with a callback; its types expect other arguments. */
interface CallbackClient {
  readonly query: (query: AskedQuery | FirstQuery, answer: (error: Error | null, result: PgResult) => void) => void
}
