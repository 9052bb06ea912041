/** The delivery worker's storage on Postgres. */
import { StorageError } from "@waybill/core"
import {
  type AcquiredPartition,
  DeliveryStore,
  type DropRequest,
  type LoadedDestination,
  type OwnedPartition,
  type ReleasedPartition,
  partitionOf,
  purgeStep,
  type SettleRequest,
  waitingPerDestination,
  type WorkerLease
} from "@waybill/core/delivery"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { PgClient } from "../client/PgClient.ts"
import { HighPriority } from "../client/PgLending.ts"
import { type Decoded, uuid } from "../client/SqlRow.ts"
import type { Statement } from "../client/SqlStatement.ts"
import { makeIsDistributed } from "../shared/Citus.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import * as drops from "./DropSql.ts"
import { trimDrops } from "./DropRecordsSql.ts"
import * as flights from "./FlightSql.ts"
import { load, loadedRow } from "./LoadSql.ts"
import * as ownership from "./OwnershipSql.ts"
import { lockFence, partitionRow } from "./PartitionSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"
import { liveVersions } from "./SecretStorePostgres.ts"
import { doNotWaitForDisk, settle } from "./SettleSql.ts"
import { takeWith } from "./TakePostgres.ts"

/** The worker's storage over the tables that hold the bytes of entries. */
export const layer = (sources: ReadonlyArray<PayloadSource>) =>
  Layer.effect(
    DeliveryStore,
    Effect.gen(function*() {
      const sql = yield* PgClient
      const { identifier: schema, name } = yield* WaybillSchema
      const owning = new Owning(sql, schema, yield* makeIsDistributed(name))
      const dropping = new Dropping(sql, schema, sources)
      const take = takeWith(sql, schema, sources)
      const write = (request: SettleRequest, isRepeated: boolean) =>
        sql.withTransaction(Effect.andThen(
          sql.run(doNotWaitForDisk),
          Effect.map(sql.rows(partitionRow, settle(schema, request, isRepeated)), (rows) => rows.map(({ partition }) => partition))
        ))

      return DeliveryStore.of({
        renew: (worker) => asOwner("renew", owning.renew(worker)),
        look: (workerId, limit) => asOwner("look", owning.look(workerId, limit)),
        acquire: (worker, tenantId, partitions) => asOwner("acquire", sql.withTransaction(owning.acquire(worker, tenantId, partitions))),
        load: (tenantId, destinationIds) => asOwner("load", Effect.map(sql.rows(loadedRow, load(schema, tenantId, destinationIds)), (rows) => rows.map(loadedOf))),
        take: (request) => asOwner("take", take(request)),
        reclaim: (tenantId, owned, flight) => asOwner("reclaim", sql.withTransaction(owning.reclaim(tenantId, owned, flight))),
        settle: (request) =>
          asOwner("settle", write(request, false).pipe(Effect.catchIf(isDuplicate, () => write(request, true)))),
        drop: (request) => asOwner("drop", sql.withTransaction(dropping.drop(request))),
        release: (tenantId, partitions, rateMarks) => asOwner("release", sql.withTransaction(owning.release(tenantId, partitions, rateMarks)))
      })
    })
  )

/** Citus copies the rows, and reports a row that is there as an internal error. */
const isDuplicate = ({ reason }: SqlError): boolean => reason._tag === "UniqueViolation" || reason._tag === "UnknownError"

/** Statements of owners do not queue behind all others, because leases run out. */
const asOwner = <A>(call: keyof DeliveryStore["Service"], effect: Effect.Effect<A, SqlError>): Effect.Effect<A, StorageError> =>
  effect.pipe(Effect.provideService(HighPriority, true), StorageError.refail(`DeliveryStore.${call}`))

type Sql = PgClient

class Owning {
  private readonly sql: Sql
  private readonly schema: Statement
  private readonly isDistributed: Effect.Effect<boolean, SqlError>

  constructor(sql: Sql, schema: Statement, isDistributed: Effect.Effect<boolean, SqlError>) {
    this.sql = sql
    this.schema = schema
    this.isDistributed = isDistributed
  }

  renew(worker: WorkerLease) {
    const { schema, sql } = this
    return Effect.gen(function*() {
      yield* sql.run(ownership.keepAlive(schema, worker))
      yield* sql.run(ownership.renewLeases(schema, worker))
      const expired = yield* sql.rows(ownership.lookRow, ownership.expiredLeases(schema, worker))
      for (const tenantId of new Set(expired.map((each) => each.tenantId))) {
        const partitions = expired.flatMap((each) => each.tenantId === tenantId ? [each.partition] : [])
        yield* sql.run(ownership.renewExpired(schema, tenantId, worker, partitions))
      }
      const owned = yield* sql.rows(ownership.ownedRow, ownership.ownedPartitions(schema, worker))
      return { owned, ...yield* sql.one(ownership.shareRow, ownership.shares(schema)) }
    })
  }

  readonly look = Effect.fnUntraced(function*(this: Owning, workerId: string, limit: number) {
    const { schema, sql } = this
    return {
      signalled: yield* sql.rows(ownership.lookRow, ownership.signalledPartitions(schema, workerId, limit)),
      free: yield* sql.rows(ownership.lookRow, ownership.freePartitions(schema, limit, yield* this.isDistributed))
    }
  })

  /** A statement of its own for each step: each sees what the one that it waited for has written. */
  readonly acquire = Effect.fnUntraced(function*(this: Owning, worker: WorkerLease, tenantId: string, wanted: ReadonlyArray<number>) {
    const { schema, sql } = this
    const leased = yield* sql.rows(ownership.leasedRow, ownership.takeLeases(schema, tenantId, worker, wanted))
    const takenOver = new Set(leased.flatMap((each) => each.takenOver ? [each.partition] : []))
    const partitions = leased.map(({ partition }) => partition)
    // not by this machine's clock, which may be wrong
    if (partitions.length === 0) return { ...yield* sql.one(ownership.nowRow, ownership.readNow), partitions: [] }
    const epochs = yield* sql.rows(ownership.raisedRow, ownership.raiseEpochs(schema, tenantId, partitions))
    yield* this.interrupt(tenantId, { partitions, flight: undefined })
    const destinations = yield* this.find(tenantId, partitions)
    const { now } = yield* sql.one(ownership.nowRow, ownership.readNow)
    return {
      now,
      partitions: epochs.map(({ epoch, othersUntil, partition }): AcquiredPartition => ({
        tenantId,
        partition,
        epoch,
        takenOver: takenOver.has(partition),
        othersUntil,
        destinations: destinations.filter((destinationId) => partitionOf(destinationId) === partition)
      }))
    }
  })

  readonly reclaim = Effect.fnUntraced(function*(this: Owning, tenantId: string, owned: ReadonlyArray<OwnedPartition>, flight: string) {
    const epochs = yield* this.sql.rows(ownership.epochRow, ownership.replaceEpochs(this.schema, tenantId, owned))
    const partitions = epochs.map(({ partition }) => partition)
    yield* this.interrupt(tenantId, { partitions, flight })
    return { owned: epochs.map((each) => ({ tenantId, ...each })), destinations: yield* this.find(tenantId, partitions) }
  })

  readonly release = Effect.fnUntraced(function*(
    this: Owning,
    tenantId: string,
    released: ReadonlyArray<ReleasedPartition>,
    rateMarks: ReadonlyArray<{ readonly destinationId: string; readonly mark: number }>
  ) {
    const { schema, sql } = this
    yield* sql.run(ownership.lockLeases(schema, tenantId, released.map(({ partition }) => partition)))
    const told = released.filter(({ othersUntil }) => othersUntil !== undefined)
    if (told.length > 0) yield* sql.run(ownership.keepOthersUntil(schema, tenantId, told))
    if (rateMarks.length > 0) yield* sql.run(ownership.keepRateMarks(schema, tenantId, released, rateMarks))
    yield* sql.run(ownership.releaseLeases(schema, tenantId, released))
  })

  private readonly interrupt = Effect.fnUntraced(function*(this: Owning, tenantId: string, interrupted: flights.Interrupted) {
    const destinations = yield* this.sql.rows(flights.lockedRow, flights.lockInterrupted(this.schema, tenantId, interrupted))
    if (destinations.length === 0) return
    yield* this.sql.run(flights.interrupt(this.schema, tenantId, interrupted, destinations.map(({ destinationId }) => destinationId)))
  })

  private find(tenantId: string, partitions: ReadonlyArray<number>) {
    return this.sql.rows(uuid, ownership.findWork(this.schema, tenantId, partitions))
  }
}

class Dropping {
  private readonly sql: Sql
  private readonly schema: Statement
  private readonly sources: ReadonlyArray<PayloadSource>

  constructor(sql: Sql, schema: Statement, sources: ReadonlyArray<PayloadSource>) {
    this.sql = sql
    this.schema = schema
    this.sources = sources
  }

  readonly drop = Effect.fnUntraced(function*(this: Dropping, { closed, deliveries, keys, owned, tenantId }: DropRequest) {
    const { schema, sources, sql } = this
    const held = (yield* sql.rows(partitionRow, lockFence(schema, tenantId, owned))).map(({ partition }) => partition)
    if (held.length === 0) return { dropped: 0, more: false }
    if (deliveries.length > 0) yield* sql.run(drops.withdraw(schema, sources, tenantId, held, deliveries))
    const isHeld = (destinationId: string) => held.includes(partitionOf(destinationId))
    const gone: Array<Decoded<typeof drops.goneRow>> = []
    for (const destinationId of closed.filter(isHeld)) {
      if (gone.length < purgeStep) gone.push(...yield* sql.rows(drops.goneRow, drops.dropClosed(schema, tenantId, destinationId)))
    }
    for (const destinationId of new Set(keys.map((each) => each.destinationId))) {
      if (gone.length >= purgeStep || !isHeld(destinationId)) continue
      const named = keys.flatMap((each) => each.destinationId === destinationId ? [each.key] : [])
      const unseen = yield* sql.rows(drops.unseenRow, drops.unseenEntries(schema, sources, tenantId, destinationId, named))
      if (unseen.length === 0) continue
      const dropped = yield* sql.rows(drops.goneRow, drops.dropUnseen(schema, tenantId, destinationId, unseen))
      if (dropped.length > 0) yield* this.forget(tenantId, dropped)
      gone.push(...dropped)
    }
    return { dropped: gone.length, more: gone.length >= purgeStep }
  })

  /** What the client may still see of entries that hold several things is queued again, and old records of drops are removed. */
  private readonly forget = Effect.fnUntraced(function*(this: Dropping, tenantId: string, gone: ReadonlyArray<Decoded<typeof drops.goneRow>>) {
    for (const { remainder } of this.sources) {
      if (remainder !== undefined) yield* this.sql.run(remainder(this.schema, tenantId, gone))
    }
    yield* this.sql.run(trimDrops(this.schema, tenantId, [gone[0]!.destinationId]))
  })
}

const loadedOf = (row: Decoded<typeof loadedRow>): LoadedDestination => {
  const { breakerFailures, breakerOpenUntil, now, sealed, secretRefused, signsUntil, waitingDue, waitingIds } = row
  return {
    destinationId: row.destinationId,
    client: row.client,
    source: row.source,
    endpointUrl: row.endpointUrl,
    hmacSecretId: row.hmacSecretId,
    policy: {
      maxAttempts: row.maxAttempts,
      initialBackoffSeconds: row.initialBackoffSeconds,
      maxBackoffSeconds: row.maxBackoffSeconds,
      batchMaxSize: row.batchMaxSize,
      rateLimitPerMinute: row.rateLimitPerMinute
    },
    envelope: { open: row.envelopeOpen, close: row.envelopeClose },
    signing: row.signing,
    whenDead: row.whenDead,
    version: row.version,
    secrets: sealed === undefined ? [] : liveVersions(sealed, signsUntil!, now),
    secretRefused: secretRefused ?? false,
    bodySignature: row.bodySignature ?? false,
    breaker: { failures: breakerFailures, openUntil: breakerOpenUntil },
    rateMark: row.rateMark,
    waiting: waitingIds.slice(0, waitingPerDestination).map((deliveryId, n) => ({ deliveryId, dueAt: waitingDue[n]! })),
    moreWaiting: waitingIds.length > waitingPerDestination
  }
}
