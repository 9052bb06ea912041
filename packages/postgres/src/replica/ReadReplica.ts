/** Lookups on a standby. A lookup sees at least what the primary had committed when it began; otherwise the primary answers it. */
import { makeRequestBatcher } from "@waybill/core"
import { Context, type Duration, Effect, Fiber, Layer, Metric, Option, type Redacted, Result } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql/SqlError"
import * as PgClient from "../client/PgClient.ts"
import type { StatementRunner } from "../client/SqlRow.ts"
import * as statements from "./ReplicaSql.ts"

/** A standby for lookups. */
export interface ReadReplicaOptions extends PgClient.PgStatementOptions {
  /** Names one standby of the primary that it follows by streaming replication, not a load balancer over several. */
  readonly url: Redacted.Redacted
  /** 10 by default. */
  readonly maxConnections?: number | undefined
  readonly applicationName?: string | undefined
  readonly statementTimeout?: Duration.Input | undefined
}

/** Whether the standby answers lookups. */
export interface ReplicaStatus {
  /** Whether lookups are sent to the replica. */
  readonly isUsed: boolean
  /** Why not. */
  readonly reason: string | undefined
}

/** A read on one of the two servers. `snapshot` is given on the replica: the primary's, as of the position that the replica has reached. */
export type Lookup<A> = (sql: StatementRunner, snapshot: string | undefined) => Effect.Effect<A, SqlError>

/** Sends lookups to the standby while it has everything that was committed before them, otherwise to the primary. */
export interface ReadReplicaService {
  readonly lookup: <A>(read: Lookup<A>) => Effect.Effect<A, SqlError>
  readonly status: Effect.Effect<ReplicaStatus>
}

/** `undefined` by default: the primary answers lookups. */
export class ReadReplica extends Context.Reference<ReadReplicaService | undefined>("@waybill/postgres/replica/ReadReplica", { defaultValue: () => undefined }) {
  /** Opens a pool on the standby of the database of the `PgClient`. The standby may be unavailable: now, or at any time. */
  static readonly layer = (options: ReadReplicaOptions): Layer.Layer<never, SqlError, PgClient.PgClientService> => Layer.effect(ReadReplica, make(options))
}

/** How long a lookup waits for the replica to catch up. Replication within a data center takes a few milliseconds. */
const maxWaitMillis = 50

/** How long other lookups do not wait after one did in vain. */
const skipMillis = 200

/** How often the position is asked while a lookup waits for it. */
const askMillis = 2

/** A read that takes longer is answered by the primary. */
const readTimeoutMillis = 2_000

/** How often the replica is checked. One that is further behind than this is not used. */
const watchMillis = 1_000

const checkTimeoutMillis = 2_000

const lookupsTotal = Metric.counter("waybill_replica_lookups_total", {
  description: "Lookups with a read replica configured, by the server that answered.",
  incremental: true
})
const usedGauge = Metric.gauge("waybill_replica_used", { description: "1 while lookups are sent to the read replica, else 0." })
const lagGauge = Metric.gauge("waybill_replica_lag_bytes", {
  description: "How much of the write-ahead log the read replica has still to replay.",
  attributes: { unit: "bytes" }
})
const answeredBy = { replica: Metric.withAttributes(lookupsTotal, { server: "replica" }), primary: Metric.withAttributes(lookupsTotal, { server: "primary" }) }

const make = Effect.fnUntraced(function*(options: ReadReplicaOptions) {
  const primary = yield* PgClient.PgClient
  const replica = yield* PgClient.openLater({ ...options, connectTimeout: "2 seconds", answerTimeout: "5 seconds" })
  // answers are never older than the lookup that asks
  const askPrimary = yield* shared(primary.one(statements.positionRow, statements.primaryPosition))
  const askReplica = yield* shared(replica.one(statements.replayedRow, statements.replayedPosition))

  let reason: string | undefined = notChecked
  let skipUntil = 0

  const setReason = Effect.fnUntraced(function*(now: string | undefined) {
    const isChange = reason === notChecked || (now === undefined) !== (reason === undefined)
    reason = now
    if (!isChange) return
    yield* Metric.update(usedGauge, now === undefined ? 1 : 0)
    yield* now === undefined
      ? Effect.logInfo("Read replica in use.")
      : Effect.logWarning(`Read replica not in use: ${now}. The primary answers lookups.`)
  })

  /** Waits until the replica has replayed the log up to a position. */
  const reach = (position: number): Effect.Effect<void, SqlError> =>
    Effect.flatMap(askReplica, (replayed) => (replayed ?? 0) >= position ? Effect.void : Effect.delay(Effect.suspend(() => reach(position)), askMillis))

  /** The replica's answer; none if the primary has to give it. */
  const tryReplica = Effect.fnUntraced(function*<A>(read: Lookup<A>) {
    if (reason !== undefined || performance.now() < skipUntil) return Option.none<A>()
    const { position, snapshot } = yield* askPrimary
    const reached = yield* Effect.option(within(reach(position), maxWaitMillis))
    if (Option.isNone(Option.flatten(reached))) {
      skipUntil = performance.now() + skipMillis
      return Option.none<A>()
    }
    return yield* within(read(replica, snapshot), readTimeoutMillis).pipe(
      Effect.tap((answer) => Option.isNone(answer) ? setReason(notAnswering) : Effect.void),
      Effect.catch((error) => Effect.as(error.reason._tag === "ConnectionError" ? setReason(error.message) : Effect.void, Option.none<A>()))
    )
  })

  const lookup = <A>(read: Lookup<A>): Effect.Effect<A, SqlError> =>
    Effect.flatMap(tryReplica(read), (answer) =>
      Option.isSome(answer)
        ? Effect.as(Metric.update(answeredBy.replica, 1), answer.value)
        : Effect.tap(read(primary, undefined), () => Metric.update(answeredBy.primary, 1)))

  /** Why the replica cannot be used, if so. */
  const check = Effect.fnUntraced(function*(earlier: number, position: number) {
    const refusal = yield* replicaRefusal(primary, replica)
    if (refusal !== undefined) return refusal
    const replayed = (yield* askReplica) ?? 0
    yield* Metric.update(lagGauge, Math.max(0, position - replayed))
    const isCurrent = reason === undefined ? replayed >= earlier : Option.isSome(yield* within(reach(position), maxWaitMillis))
    return isCurrent ? undefined : "it is more than a second behind"
  })

  let earlier = 0
  const watch = Effect.gen(function*() {
    const asked = yield* Effect.option(askPrimary)
    // without the primary there are no lookups either
    if (Option.isNone(asked)) return
    const { position } = asked.value
    const checked = yield* Effect.result(within(check(earlier, position), checkTimeoutMillis))
    earlier = position
    yield* setReason(Result.isFailure(checked) ? checked.failure.message : Option.getOrElse(checked.success, () => notAnswering))
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(watch, Effect.sleep(watchMillis))))

  return { lookup, status: Effect.sync(() => ({ isUsed: reason === undefined, reason })) }
}, Effect.provide(Reactivity.layer))

const notChecked = "it was not checked yet"
const notAnswering = "it does not answer in time"

/** Why the second server cannot answer lookups for the first, whatever its position. */
export const replicaRefusal = Effect.fnUntraced(function*(primary: StatementRunner, replica: StatementRunner) {
  const own = yield* primary.one(statements.serverRow, statements.serverIdentity)
  // a standby of the coordinator has no rows, and the position of the coordinator says nothing about those of the nodes
  if (own.hasCitus) return "the database has the extension citus"
  const other = yield* replica.one(statements.serverRow, statements.serverIdentity)
  if (other.systemId !== own.systemId) return "its address leads to another database cluster"
  if (other.database !== own.database) return `its address leads to the database ${other.database}, and the primary's to ${own.database}`
  return other.inRecovery ? undefined : "it is no standby"
})

/** How far the replica is behind, in bytes of the write-ahead log. */
export const replicaLag = Effect.fnUntraced(function*(primary: StatementRunner, replica: StatementRunner) {
  const { position } = yield* primary.one(statements.positionRow, statements.primaryPosition)
  return Math.max(0, position - ((yield* replica.one(statements.replayedRow, statements.replayedPosition)) ?? 0))
})

/** One statement for all who ask at the same time. */
const shared = <A>(ask: Effect.Effect<A, SqlError>): Effect.Effect<Effect.Effect<A, SqlError>> =>
  Effect.map(
    makeRequestBatcher((_, questions: ReadonlyArray<undefined>) => Effect.map(ask, (answer) => questions.map(() => answer))),
    (request) => request("", undefined)
  )

/** A statement that is too late is cancelled without waiting for that, because its server may have vanished. */
const within = <A, E>(effect: Effect.Effect<A, E>, millis: number): Effect.Effect<Option.Option<A>, E> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkDetach(effect, { startImmediately: true })
    const abandon = Effect.sync(() => fiber.interruptUnsafe())
    const exit = yield* Effect.onInterrupt(Effect.timeoutOption(Fiber.await(fiber), millis), () => abandon)
    if (Option.isNone(exit)) return yield* Effect.as(abandon, Option.none<A>())
    return Option.some(yield* exit.value)
  })
