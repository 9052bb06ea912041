/** The delivery worker's storage on Postgres. */
import {
  type AcquiredPartition,
  DeliveryStore,
  type DropRequest,
  type LoadedDestination,
  type OwnedPartition,
  type Partition,
  type ReleasedPartition,
  partitionOf,
  purgeStep,
  type SettleRequest,
  waitingPerDestination,
  waitsForDisk,
  type WorkerLease
} from "@waybill/core/delivery"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { PgClient } from "../../client/PgClient.ts"
import { HighPriority } from "../../client/PgLending.ts"
import { type Decoded, int4, uuid } from "../../client/SqlRow.ts"
import type { Statement } from "../../client/SqlStatement.ts"
import { storeLayer } from "../../shared/StoreLayer.ts"
import { withPolicy } from "../DestinationSql.ts"
import * as drops from "./DropSql.ts"
import { trimDrops } from "../DropRecordsSql.ts"
import * as flights from "./FlightSql.ts"
import { lockedRow, lockFreeDestinations } from "./FreeDestinationSql.ts"
import { load, loadedRow } from "./LoadSql.ts"
import * as ownership from "./OwnershipSql.ts"
import { lockFence } from "./PartitionSql.ts"
import type { PayloadSource } from "../PayloadSource.ts"
import { liveVersions } from "../secrets/SecretStorePostgres.ts"
import { doNotWaitForDisk, settle as writeOutcomes, settledRow } from "./SettleSql.ts"
import { takeWith } from "./TakePostgres.ts"

/** The worker's storage over the tables that hold the bytes of entries. */
export const layer = (sources: ReadonlyArray<PayloadSource>) =>
  storeLayer(DeliveryStore, ({ isDistributed, schema, sql }) => {
    const storage = { sql, schema, sources, isDistributed }
    const take = takeWith(sql, schema, sources)

    return {
      renew: (worker) => asOwner(renew(storage, worker)),
      look: (workerId, limit) => asOwner(look(storage, workerId, limit)),
      acquire: (worker, tenantId, partitions) => asOwner(sql.withTransaction(acquire(storage, worker, tenantId, partitions))),
      load: (tenantId, destinationIds) => asOwner(Effect.map(sql.rows(loadedRow, load(schema, tenantId, destinationIds)), (rows) => rows.map(loadedOf))),
      take: (request) => asOwner(take(request)),
      reclaim: (tenantId, owned, flight) => asOwner(sql.withTransaction(reclaim(storage, tenantId, owned, flight))),
      settle: (request) => asOwner(sql.withTransaction(settle(storage, request, false)).pipe(Effect.catchIf(isDuplicate, () => sql.withTransaction(settle(storage, request, true))))),
      drop: (request) => asOwner(sql.withTransaction(drop(storage, request))),
      release: (tenantId, partitions, rateMarks) => asOwner(sql.withTransaction(release(storage, tenantId, partitions, rateMarks)))
    }
  })

/** Citus copies the rows, and reports a row that is there as an internal error. */
const isDuplicate = ({ reason }: SqlError): boolean => reason._tag === "UniqueViolation" || reason._tag === "UnknownError"

/** Statements of owners do not queue behind all others, because leases run out. */
const asOwner = Effect.provideService(HighPriority, true)

interface Storage {
  readonly sql: PgClient
  readonly schema: Statement
  readonly sources: ReadonlyArray<PayloadSource>
  readonly isDistributed: Effect.Effect<boolean, SqlError>
}

const renew = Effect.fnUntraced(function*({ schema, sql }: Storage, worker: WorkerLease) {
  yield* sql.run(ownership.keepAlive(schema, worker))
  yield* sql.run(ownership.renewLeases(schema, worker))
  for (const change of [ownership.renewExpired(worker), ownership.shortenAhead]) {
    const found = yield* sql.rows(ownership.lookRow, ownership.leasesToChange(schema, change))
    for (const [tenantId, partitions] of byTenant(found)) yield* sql.run(ownership.changeLeases(schema, tenantId, partitions, change))
  }
  const owned = yield* sql.rows(ownership.ownedRow, ownership.ownedPartitions(schema, worker))
  return { owned, ...yield* sql.one(ownership.shareRow, ownership.shares(schema)) }
})

const byTenant = (found: ReadonlyArray<Partition>): ReadonlyArray<readonly [string, ReadonlyArray<number>]> =>
  Array.from(new Set(found.map(({ tenantId }) => tenantId)), (own) => [own, found.flatMap(({ partition, tenantId }) => tenantId === own ? [partition] : [])] as const)

const look = Effect.fnUntraced(function*({ isDistributed, schema, sql }: Storage, workerId: string, limit: number) {
  return {
    signalled: yield* sql.rows(ownership.lookRow, ownership.signalledPartitions(schema, workerId, limit)),
    free: yield* sql.rows(ownership.lookRow, ownership.freePartitions(schema, limit, yield* isDistributed))
  }
})

/** A statement of its own for each step: each sees what the one that it waited for has written. */
const acquire = Effect.fnUntraced(function*({ schema, sql }: Storage, worker: WorkerLease, tenantId: string, wanted: ReadonlyArray<number>) {
  const leased = yield* sql.rows(ownership.leasedRow, ownership.takeLeases(schema, tenantId, worker, wanted))
  const takenOver = new Set(leased.flatMap((each) => each.takenOver ? [each.partition] : []))
  const partitions = leased.map(({ partition }) => partition)
  // not by this machine's clock, which may be wrong
  if (partitions.length === 0) return { ...yield* sql.one(ownership.nowRow, ownership.readNow), partitions: [] }
  const epochs = yield* sql.rows(ownership.raisedRow, ownership.raiseEpochs(schema, tenantId, partitions))
  yield* sql.run(flights.interrupt(schema, tenantId, { partitions, flight: undefined }))
  const destinations = yield* sql.rows(uuid, ownership.findWork(schema, tenantId, partitions))
  const { now } = yield* sql.one(ownership.nowRow, ownership.readNow)
  return {
    now,
    partitions: epochs.map((each): AcquiredPartition => ({
      ...each,
      tenantId,
      othersUntil: takenOver.has(each.partition) ? now : each.othersUntil,
      destinations: destinations.filter((destinationId) => partitionOf(destinationId) === each.partition)
    }))
  }
})

const reclaim = Effect.fnUntraced(function*({ schema, sql }: Storage, tenantId: string, owned: ReadonlyArray<OwnedPartition>, flight: string) {
  const epochs = yield* sql.rows(ownership.epochRow, ownership.replaceEpochs(schema, tenantId, owned))
  const partitions = epochs.map(({ partition }) => partition)
  yield* sql.run(flights.interrupt(schema, tenantId, { partitions, flight }))
  return { owned: epochs.map((each) => ({ tenantId, ...each })), destinations: yield* sql.rows(uuid, ownership.findWork(schema, tenantId, partitions)) }
})

const release = Effect.fnUntraced(function*(
  { schema, sql }: Storage,
  tenantId: string,
  released: ReadonlyArray<ReleasedPartition>,
  rateMarks: ReadonlyArray<{ readonly destinationId: string; readonly mark: number }>
) {
  yield* sql.run(ownership.lockLeases(schema, tenantId, released.map(({ partition }) => partition)))
  if (rateMarks.length > 0 || released.some(({ othersUntil }) => othersUntil !== undefined)) yield* sql.run(ownership.keepRates(schema, tenantId, released, rateMarks))
  yield* sql.run(ownership.releaseLeases(schema, tenantId, released))
})

const settle = Effect.fnUntraced(function*({ schema, sql }: Storage, request: SettleRequest, isRepeated: boolean) {
  if (!waitsForDisk(request)) yield* sql.run(doNotWaitForDisk)
  const rows = yield* sql.rows(settledRow, writeOutcomes(schema, request, isRepeated))
  return { owned: rows.flatMap(({ partition }) => partition ?? []), locked: rows.flatMap(({ locked }) => locked ?? []) }
})

const drop = Effect.fnUntraced(function*({ schema, sources, sql }: Storage, { closed, deliveries, keys, owned, tenantId }: DropRequest) {
  const held = yield* sql.rows(int4, lockFence(schema, tenantId, owned))
  const named = new Set([...closed, ...[...keys, ...deliveries].map(({ destinationId }) => destinationId)].filter((id) => held.includes(partitionOf(id))))
  // behind the lock of its destination, an operator's call may have locked deliveries and entries as well
  const locks = yield* sql.rows(lockedRow, lockFreeDestinations(schema, tenantId, Array.from(named)))
  const free = new Set(locks.flatMap(({ destinationId, isFree }) => isFree ? [destinationId] : []))
  if (deliveries.length > 0) yield* sql.run(drops.withdraw(schema, sources, tenantId, Array.from(free), deliveries.map(({ deliveryId }) => deliveryId)))
  const locked = locks.flatMap(({ destinationId, isFree }) => isFree ? [] : [destinationId])
  const gone: Array<Decoded<typeof drops.goneRow>> = []
  for (const destinationId of closed.filter((id) => named.has(id) && !locked.includes(id))) {
    if (gone.length < purgeStep) gone.push(...yield* sql.rows(drops.goneRow, drops.dropClosed(schema, tenantId, destinationId)))
  }
  for (const destinationId of new Set(keys.map((each) => each.destinationId))) {
    if (gone.length >= purgeStep || !free.has(destinationId)) continue
    const named = keys.flatMap((each) => each.destinationId === destinationId ? [each.key] : [])
    const unseen = yield* sql.rows(drops.unseenRow, drops.unseenEntries(schema, sources, tenantId, destinationId, named))
    if (unseen.length === 0) continue
    const dropped = yield* sql.rows(drops.goneRow, drops.dropUnseen(schema, tenantId, destinationId, unseen))
    gone.push(...dropped)
    if (dropped.length === 0) continue
    // what the client may still see of entries that hold several things is queued again
    for (const { remainder } of sources) if (remainder !== undefined) yield* sql.run(remainder(schema, tenantId, dropped))
    yield* sql.run(trimDrops(schema, tenantId, [destinationId]))
  }
  return { dropped: gone.length, more: gone.length >= purgeStep, locked }
})

const loadedOf = (row: Decoded<typeof loadedRow>): LoadedDestination => {
  const { bodySignature = false, breakerFailures, breakerOpenUntil, envelopeClose, envelopeOpen, holdsBack = false, now, sealed, secretRefused = false, ...rest } = withPolicy(row)
  const { signsUntil, waitingDue, waitingIds, ...loaded } = rest
  return {
    ...loaded,
    envelope: { open: envelopeOpen, close: envelopeClose },
    secrets: sealed === undefined ? [] : liveVersions(sealed, signsUntil!, now),
    secretRefused,
    bodySignature,
    breaker: { failures: breakerFailures, openUntil: breakerOpenUntil },
    waiting: waitingIds.slice(0, waitingPerDestination).map((deliveryId, n) => ({ deliveryId, dueAt: waitingDue[n]! })),
    moreWaiting: waitingIds.length > waitingPerDestination,
    holdsBack
  }
}
