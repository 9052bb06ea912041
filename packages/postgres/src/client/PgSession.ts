/** One connection of Waybill's own pool: a session of `@effect/sql-pg`, with the guarantees that it does not give. */
import * as SqlPg from "@effect/sql-pg/PgConnection"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { ResultCodecs } from "./PgCodecs.ts"
import { largestMessage, type SessionConfig } from "./PgAddress.ts"
import { cancelDeadlineMs, noClient, type PgResult, type PgStatement, PgWireConnection } from "./PgConnection.ts"
import { connectionLost, sqlError, sqlPgError } from "./PgErrors.ts"
import { NoTimeout } from "./PgLending.ts"
import { FrameReader } from "./PgFrames.ts"
import { wireParameters } from "./PgParameters.ts"
import { type AheadFrame, beginFrame, discardPlans, type SessionInternals, type SessionMessage, sessionInternals, syncFrame } from "./SqlPgInternals.ts"
import { StatementTurns } from "./StatementTurns.ts"

export interface SessionOptions {
  readonly connection: Effect.Effect<SessionConfig, SqlError>
  readonly connectTimeout: Duration.Input
  /** A short name for a text that is sent repeatedly; others are not prepared. */
  readonly statementName: (text: string) => string | undefined
  /** How long an answer may take before its connection is closed. */
  readonly answerMillis: number
  /** A statement that was sent at this time was not answered. */
  readonly onSilence: (askedAt: number) => void
  /** The session must not be lent again. */
  readonly onRetired: (session: PgSession) => void
}

/**
 * A prepared statement keeps the plan that suited its tables when it was made, until Postgres analyses them, which may take a minute. So
 * after a slow statement the session discards its plans, unless they are new.
 */
const [slowMillis, planMillis] = [20, 1000]

/** A session without answers for this long may have lost its server unnoticed. */
const unsureMillis = 1000

/** Connects. The connection is closed with the scope. */
export const openSession = (options: SessionOptions): Effect.Effect<PgSession, SqlError, Scope.Scope> =>
  Effect.suspend(() => {
    const codecs = new ResultCodecs()
    const begunAt = performance.now()
    return Effect.flatMap(options.connection, (connection) => SqlPg.make({ ...connection, types: codecs.registry })).pipe(
      Effect.mapError((error) => sqlPgError(error, "connect")),
      Effect.map((connection) => new PgSession(connection, codecs, options, begunAt)),
      Effect.tap((session) => Effect.addFinalizer(() => Effect.sync(() => session.endSoon())))
    )
  })

/** Timers take no longer time. */
const mostMillis = 2 ** 31 - 1

const connectMillisOf = ({ connectTimeout }: SessionOptions): number => Math.min(mostMillis, Duration.toMillis(connectTimeout))

const noTypes: ReadonlyArray<number> = []

/**
 * The package finds a prepared statement by a text that it makes of the statement and the types of its parameters, which takes 10 us for a
 * long one. The short name is as good, and the types of a statement rarely change, so that the same text is used again.
 */
const nameStatements = ({ prepared }: SessionInternals, statementName: SessionOptions["statementName"]): void => {
  if (prepared === undefined) return
  const { get } = prepared
  const keys = new Map<string, { readonly types: ReadonlyArray<number>; readonly key: string }>()
  prepared.get = (text, types) => {
    const name = statementName(text)
    if (name === undefined) return get.call(prepared, text, types)
    let known = keys.get(name)
    if (known === undefined || !hasTypes(known.types, types)) {
      known = { types, key: `${name} ${types.join(",")}` }
      keys.set(name, known)
    }
    return get.call(prepared, known.key, noTypes)
  }
}

const hasTypes = (known: ReadonlyArray<number>, types: ReadonlyArray<number>): boolean => {
  if (known.length !== types.length) return false
  for (let index = 0; index < types.length; index++) if (known[index] !== types[index]) return false
  return true
}

export class PgSession extends PgWireConnection {
  readonly isHosted = false
  readonly hostClient = noClient
  /** When the server last answered. */
  answeredAt = performance.now()
  isLent = false
  /** The error that closed the connection. */
  private lost: SqlError | undefined = undefined
  private isRetired = false
  /** As of the last response: I outside a transaction, T inside one, E inside a failed one. */
  private status = "I"
  private toBegin: string | undefined = undefined
  /** Sent with the running statement. */
  private beginning: string | undefined = undefined
  private hasStalePlans = false
  private plannedAt = performance.now()
  private asksPrepared = false
  /** Number of responses to messages that were sent before a statement, which it must not get. */
  private aheadAnswers = 0
  /** How long the server may take to answer the Sync message before a statement: for the first one, what connecting left of its time. */
  private syncMillis: number
  private isNew = true
  /** The answer to the Sync message before the statement has not arrived. */
  private awaitsSync = false
  /** The error with which the server ended the session. */
  private fatal: Error | undefined = undefined
  private readonly turns = new StatementTurns()
  private askedAt = 0
  private deadlineMs: number | undefined = undefined
  private timer: NodeJS.Timeout | undefined = undefined
  private readonly internals: SessionInternals
  private readonly codecs: ResultCodecs
  private readonly options: SessionOptions
  private readonly cancel: Effect.Effect<void>

  constructor(connection: SqlPg.PgConnection, codecs: ResultCodecs, options: SessionOptions, begunAt: number) {
    super()
    this.codecs = codecs
    this.options = options
    this.syncMillis = Math.max(1, connectMillisOf(options) - (performance.now() - begunAt))
    const internals = this.internals = sessionInternals(connection)
    this.cancel = internals.cancel
    internals.cancel = this.cancelInTime
    const { dispatch, encodeQuery, session } = internals
    session.parser = new FrameReader(session.parser, largestMessage)
    nameStatements(internals, options.statementName)
    internals.dispatch = (message) => {
      if (!this.answersAhead(message)) dispatch(message)
    }
    internals.encodeQuery = (text, values, cache) => {
      const plan = encodeQuery(text, values, cache)
      const ahead = this.takeAhead()
      if (ahead.length === 0) return plan
      this.aheadAnswers = ahead.reduce((sum, { answers }) => sum + answers, 0)
      return Object.assign(plan, { frame: Buffer.concat([...ahead.map(({ frame }) => frame), plan.frame]) })
    }
    internals["~@effect/sql-pg/PgConnection/internals"].retireHooks.add(() => this.retired())
  }

  isLost(): boolean {
    return this.lost !== undefined
  }

  /** Begins a transaction with the next statement, in the same round trip. If BEGIN fails, the server skips the statement. */
  begin(text: string): void {
    this.toBegin = text
  }

  run(statement: PgStatement): Effect.Effect<PgResult, SqlError> {
    return Effect.withFiber((fiber) => {
      if (this.lost !== undefined) return Effect.fail(this.lost)
      if (this.turns.isTaken) return Effect.andThen(this.turns.wait, this.run(statement))
      const { text } = statement
      if (this.toBegin !== undefined && (text === "COMMIT" || text === "ROLLBACK")) {
        // no statement was sent, so there is no transaction to end
        this.toBegin = undefined
        return Effect.succeed({ rows: [], command: text })
      }
      let values: ReadonlyArray<unknown>
      try {
        values = statement.values.length === 0 ? statement.values : wireParameters(statement.values)
      } catch (cause) {
        return Effect.fail(sqlError(cause, "encode"))
      }
      return this.ask(statement, values, statement.deadlineMs ?? (fiber.getRef(NoTimeout) ? undefined : this.options.answerMillis))
    })
  }

  /** Marks the session as in use. */
  lend(): void {
    this.isLent = true
  }

  /** Whether the session may be lent again: not if it is lost or still inside a transaction. */
  giveBack(): boolean {
    this.isLent = false
    this.toBegin = undefined
    return !this.isRetired && this.lost === undefined && this.status === "I"
  }

  /** Takes an unused session out of the pool. */
  retire(): void {
    if (this.isRetired) return
    this.isRetired = true
    this.options.onRetired(this)
  }

  /** Closes the connection at once; a statement that runs on it fails. */
  close(): void {
    this.lose(connectionLost("The pool was closed while the connection was in use", "close"))
    this.internals.session.socket.destroy()
  }

  /** A connection without a server would otherwise keep the process alive. */
  endSoon(): void {
    const { socket } = this.internals.session
    if (socket.destroyed) return
    const timer = setTimeout(() => socket.destroy(), cancelDeadlineMs).unref()
    socket.once("close", () => clearTimeout(timer))
  }

  private ask({ asArrays, isBulk, prepare, text }: PgStatement, values: ReadonlyArray<unknown>, deadlineMs: number | undefined): Effect.Effect<PgResult, SqlError> {
    this.turns.isTaken = true
    this.codecs.begin(isBulk)
    this.askedAt = performance.now()
    this.deadlineMs = deadlineMs
    this.awaitsSync = this.isNew || this.askedAt - this.answeredAt > unsureMillis
    if (this.awaitsSync) this.timer = setTimeout(this.onLate, Math.min(this.syncMillis, deadlineMs ?? Infinity))
    else if (deadlineMs !== undefined) this.timer = setTimeout(this.onLate, deadlineMs)
    const isPrepared = prepare && this.options.statementName(text) !== undefined
    this.asksPrepared = isPrepared
    let failure: SqlError | undefined
    const asking = this.internals.cycleOwned(text, values, !asArrays, isPrepared ? this.internals.prepared : undefined)
    return asking.pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          failure = this.answered(exit)
        })),
      Effect.matchEffect({
        onSuccess: ({ result, values }) => failure === undefined ? Effect.succeed(asArrays ? { rows: values } : result) : Effect.fail(failure),
        onFailure: (error) => Effect.fail(failure ?? error)
      })
    )
  }

  /**
   * A server that may have vanished is asked for an answer that takes it no time, unlike the statement. Between transactions, plans that may not suit
   * their tables any more are discarded. A transaction begins with its first statement.
   */
  private takeAhead(): ReadonlyArray<AheadFrame> {
    const ahead = this.awaitsSync ? [syncFrame] : []
    if (this.asksPrepared && this.hasStalePlans && this.status === "I") {
      this.hasStalePlans = false
      this.plannedAt = performance.now()
      ahead.push(discardPlans)
    }
    if (this.toBegin !== undefined) ahead.push(beginFrame(this.toBegin))
    this.beginning = this.toBegin
    this.toBegin = undefined
    return ahead
  }

  /** The server is there, so that the statement has its own deadline. */
  private synced(): void {
    this.awaitsSync = false
    this.isNew = false
    this.syncMillis = connectMillisOf(this.options)
    clearTimeout(this.timer)
    this.timer = this.deadlineMs === undefined ? undefined : setTimeout(this.onLate, this.deadlineMs)
  }

  /** The failure of the statement. Records a lost connection before the next statement is sent. */
  private answered(exit: Exit.Exit<unknown, SqlError>): SqlError | undefined {
    clearTimeout(this.timer)
    this.timer = undefined
    this.awaitsSync = false
    if (this.lost === undefined) this.answeredAt = performance.now()
    const tookMillis = this.answeredAt - this.askedAt
    this.hasStalePlans ||= tookMillis > slowMillis && this.answeredAt - this.plannedAt > planMillis
    const failure = Exit.isSuccess(exit) ? this.undecoded() : this.failureOf(exit.cause)
    this.turns.end()
    return failure
  }

  private undecoded(): SqlError | undefined {
    const failure = this.codecs.decodeFailure()
    return failure === undefined ? undefined : sqlError(failure.cause, "decode")
  }

  private failureOf(cause: Cause.Cause<SqlError>): SqlError | undefined {
    const error = cause.reasons.find(Cause.isFailReason)?.error
    if (error === undefined) return undefined
    if (this.lost !== undefined) return this.lost
    const failure = sqlPgError(error, "execute")
    if (failure.reason._tag === "ConnectionError") this.lose(failure)
    return failure
  }

  private readonly onLate = (): void => {
    // the statement may still run and hold locks
    Effect.runFork(this.cancel)
    this.fallSilent(connectionLost("The server did not answer in time", "execute"))
  }

  /** Sends a cancel request for an interrupted statement. The connection is closed if the statement does not end in time. */
  private readonly cancelInTime: Effect.Effect<void> = Effect.suspend(() => {
    clearTimeout(this.timer)
    this.awaitsSync = false
    this.timer = setTimeout(
      () => this.fallSilent(connectionLost("A statement was interrupted and did not end", "interrupt")),
      cancelDeadlineMs
    )
    return Effect.asVoid(Effect.timeoutOption(Effect.interruptible(this.cancel), cancelDeadlineMs))
  })

  private fallSilent(error: SqlError): void {
    this.lose(error)
    this.options.onSilence(this.askedAt)
    this.internals.session.socket.destroy()
  }

  private lose(error: SqlError): void {
    this.lost ??= error
    this.retire()
  }

  /** The session is dead, or a cancel request may still arrive at its next statement. */
  private retired(): void {
    const dead = this.internals["~@effect/sql-pg/PgConnection/internals"].deadError()
    if (dead !== undefined && this.lost === undefined) {
      const cause = this.fatal ?? dead.reason.cause
      const failure = sqlError(cause, "execute")
      this.lost = this.turns.isTaken && failure.reason._tag === "ConnectionError"
        ? failure
        : connectionLost("The connection was lost while it was in use", "connection", cause)
    }
    this.retire()
  }

  /** Updates the state from a message of the server. Returns whether it answers a message that was sent ahead. */
  private answersAhead(message: SessionMessage): boolean {
    switch (message._tag) {
      case "ParseComplete":
      case "BindComplete":
      case "CommandComplete":
        if (this.aheadAnswers === 0) return false
        this.aheadAnswers -= 1
        return true
      case "ErrorResponse":
        // if the error is caught, the next statement must not be outside of the transaction
        if (this.aheadAnswers > 0) this.toBegin = this.beginning
        this.aheadAnswers = 0
        if (message.fields.severityUnlocalized === "FATAL") {
          this.fatal = Object.assign(new Error(message.fields.message), { code: message.fields.code })
        }
        return false
      case "ReadyForQuery":
        this.status = message.status
        if (this.awaitsSync) this.synced()
        if (this.aheadAnswers === 0) return false
        this.aheadAnswers -= 1
        return true
      default:
        return false
    }
  }
}
