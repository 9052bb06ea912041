/** Acquires partitions with work, renews their leases, and releases them. */
import { Effect, Fiber, Latch } from "effect"
import { completeAll } from "../../shared/CompleteAll.ts"
import type { StorageError } from "../../shared/StoragePort.ts"
import { reportLost } from "../DeliveryReport.ts"
import { partitionsPerTenant } from "../DeliveryStore.ts"
import { isMarkAhead } from "./Destination.ts"
import type { EngineState } from "./EngineState.ts"
import type { OwnedPartitionState } from "./WorkSet.ts"
import { monotonicMillis } from "../../shared/MonotonicTime.ts"

/** Maximum number of partitions that one look returns. */
const partitionsPerLook = 256

/** After this number of consecutive looks without a free partition, hints are collected for `lookGapMillis`. */
const looksAtOnce = 100
const lookGapMillis = 25

/** Milliseconds until a partition without work is released. */
const quietMillis = 10_000

/** Number of tenants whose partitions are acquired, or released, at the same time. */
const tenantsAtOnce = 4

/** Milliseconds between checks of partitions that are being released. */
const leavingMillis = 50

/** The loop that owns partitions. */
export class Owning {
  private readonly parts: EngineState
  private readonly workAvailable = Latch.makeUnsafe(false)
  /** Pending calls of `acquire`. */
  private readonly acquiring = new Set<Fiber.Fiber<void, StorageError>>()
  private nextRenewal = -Infinity
  private nextLook = -Infinity
  private lookedAt = -Infinity
  /** Consecutive looks without a free partition; reset after a second without a look. */
  private emptyLooks = 0
  private renewedAt = -Infinity
  private workers = 1
  private active = 0
  private isStopping = false

  constructor(parts: EngineState) {
    this.parts = parts
    // the next renewal acquires those again whose leases this worker still has
    parts.work.onRefused = () => {
      this.nextRenewal = -Infinity
      this.workAvailable.openUnsafe()
    }
  }

  get turn(): Effect.Effect<void, StorageError> {
    return Effect.gen({ self: this }, function*() {
      this.workAvailable.closeUnsafe()
      if ((yield* monotonicMillis) >= this.nextRenewal) {
        yield* this.renew
        this.share(this.renewedAt)
        // the expiry of a lease causes no hint
        this.nextLook = -Infinity
      }
      if ((yield* monotonicMillis) >= this.nextLook) yield* this.look
      yield* this.giveBack((partition) => isDone(partition))
    })
  }

  /** Renews the leases if that is due, for a drain, which shares no partitions with others. */
  get keep(): Effect.Effect<void, StorageError> {
    return Effect.flatMap(monotonicMillis, (now) => now >= this.nextRenewal ? this.renew : Effect.void)
  }

  /** Acquires partitions with work and without an owner, for a drain. Returns whether it did. */
  get sweep(): Effect.Effect<boolean, StorageError> {
    return Effect.gen({ self: this }, function*() {
      yield* this.keep
      this.workers = 1
      return yield* this.look
    })
  }

  get until(): Effect.Effect<void> {
    return Effect.flatMap(monotonicMillis, (now) => {
      const leaving = this.parts.work.partitions.some((partition) => partition.leaving) ? now + leavingMillis : Infinity
      return Effect.raceFirst(this.workAvailable.await, Effect.sleep(Math.max(1, Math.min(this.nextRenewal, this.nextLook, leaving) - now)))
    })
  }

  /** A publisher or an operator signalled changes of this tenant. */
  hint(tenantId: string): void {
    const { work } = this.parts
    work.hint(tenantId)
    // its signals may be in a partition without an owner
    if ((work.tenants.get(tenantId)?.partitions.size ?? 0) === partitionsPerTenant) return
    const soonest = this.lookedAt + (this.emptyLooks < looksAtOnce ? 0 : lookGapMillis)
    if (soonest >= this.nextLook) return
    this.nextLook = soonest
    this.workAvailable.openUnsafe()
  }

  /** Whether this worker owns every partition of the tenant. */
  servesAlone(tenantId: string): Effect.Effect<boolean> {
    return Effect.map(monotonicMillis, (now) => {
      const owned = Array.from(this.parts.work.tenants.get(tenantId)?.partitions.values() ?? []).filter(({ leaving }) => !leaving)
      return owned.length === partitionsPerTenant && now < this.parts.leasedUntil
    })
  }

  /** For a stop with attempts in flight: others take the share of this worker, which releases each partition once its attempts have ended, and keeps the leases of the others. */
  get handOver(): Effect.Effect<void, StorageError> {
    const { work } = this.parts
    return Effect.gen({ self: this }, function*() {
      this.workAvailable.closeUnsafe()
      if (!this.isStopping) this.nextRenewal = -Infinity
      this.isStopping = true
      this.nextLook = Infinity
      for (const partition of work.partitions) partition.leaving = true
      // others that are woken by a release must not count this worker
      if ((yield* monotonicMillis) >= this.nextRenewal) yield* this.renew
      yield* this.giveBack((partition) => isDone(partition))
    })
  }

  /** For a stop: releases all partitions, then ends the worker's registration. Others count it until then, and take fewer partitions; what could not be released is free from then on. */
  get leave(): ReadonlyArray<Effect.Effect<void, StorageError>> {
    const { parts } = this
    return [
      Effect.suspend(() => Fiber.awaitAll(this.acquiring)).pipe(Effect.andThen(Effect.suspend(() => this.giveBack(() => true)))),
      Effect.suspend(() => Effect.asVoid(parts.store.renew({ ...parts.worker, leaseMillis: 0 })))
    ]
  }

  private get renew(): Effect.Effect<void, StorageError> {
    const { options, store, work, worker } = this.parts
    return Effect.gen({ self: this }, function*() {
      const asked = yield* monotonicMillis
      this.nextRenewal = this.renewedAt = asked
      const before = new Map(work.partitions.map((each) => [each, each.epoch]))
      const { active, now, owned, workers } = yield* store.renew({ ...worker, isStopping: this.isStopping })
      const answered = yield* monotonicMillis
      yield* this.parts.learnTime(now, asked, answered)
      const kept = new Map(owned.map((each) => [`${each.tenantId} ${each.partition}`, each.epoch]))
      // a later epoch is from an acquisition that timed out, or from a reclaim without a response; one that a reclaim raised meanwhile may not be answered
      const lost = work.partitions.filter((each) => {
        const { epoch, partition, tenant } = each
        const answeredEpoch = kept.get(`${tenant.tenantId} ${partition}`) ?? -1
        return answeredEpoch < before.get(each)! || answeredEpoch > epoch && tenant.lostFlights.size === 0
      })
      for (const each of lost) work.lose(each)
      const hadRunOut = answered >= this.parts.leasedUntil
      // from now on owned partitions may send
      this.parts.leasedUntil = asked + options.leaseMillis
      // take loops wait while the leases are expired
      if (hadRunOut) work.workAvailable.openUnsafe()
      this.nextRenewal = asked + options.leaseMillis / 3
      this.workers = workers
      this.active = active
      for (const [tenantId, { length }] of byTenant(lost.filter(({ partition, tenantId }) => !kept.has(`${tenantId} ${partition}`)))) yield* reportLost(tenantId, length)
      // acquired by a call without a response, or refused after a crash of the store
      const unknown = owned.filter(({ partition, tenantId }) => work.partition(tenantId, partition) === undefined)
      if (unknown.length > 0) yield* this.acquire(unknown, true)
    })
  }

  /** Releases idle partitions, and those above this worker's fair share. */
  private share(now: number): void {
    const { parts } = this
    const held = parts.work.partitions.filter(({ leaving }) => !leaving)
    for (const partition of held) {
      const { taking, takingSignals } = partition.tenant
      const quiet = parts.work.tidy(partition, now, parts.storeTime(now)) && !taking && !takingSignals
      if (!quiet) partition.quietSince = undefined
      else if ((partition.quietSince ??= now) + quietMillis <= now) partition.leaving = true
    }
    const above = held.filter(({ leaving }) => !leaving).length - this.fair(this.active)
    for (const partition of held.filter(({ leaving }) => !leaving).slice(0, Math.max(0, above))) partition.leaving = true
  }

  /** This worker's fair share of a number of partitions. */
  private fair(partitions: number): number {
    return this.workers <= 1 ? Infinity : Math.max(1, Math.ceil(partitions / this.workers))
  }

  /** Returns whether it acquired partitions. */
  private get look(): Effect.Effect<boolean, StorageError> {
    const { options, store, work, worker } = this.parts
    return Effect.gen({ self: this }, function*() {
      const now = yield* monotonicMillis
      if (this.lookedAt < now - 1000) this.emptyLooks = 0
      this.lookedAt = now
      this.nextLook = now + options.pollMillis
      const { free: found, signalled } = yield* store.look(worker.workerId, partitionsPerLook)
      // its own leases have expired: a renewal keeps deliveries in flight, unless another worker was faster
      const free = found.filter(({ partition, tenantId }) => work.partition(tenantId, partition) === undefined)
      if (free.length < found.length) this.nextRenewal = now
      for (const { tenantId } of signalled) work.hint(tenantId)
      this.emptyLooks = free.length === 0 ? this.emptyLooks + 1 : 0
      if (free.length === 0) return false
      // counts of workers and owned partitions may be outdated: free ones may still be counted as owned
      if (work.partitions.length + free.length > this.fair(this.active) && this.renewedAt < now - lookGapMillis) {
        yield* this.renew
        this.share(this.renewedAt)
      }
      const before = work.partitions.length
      yield* this.acquire(free.slice(0, this.room(free.length)))
      const acquires = work.partitions.length > before
      // those that others acquire, or that are their share, would be found again and again
      if (acquires && found.length === partitionsPerLook) this.nextLook = now
      return acquires
    }).pipe(Effect.onError(() =>
      Effect.sync(() => {
        this.nextLook = -Infinity
      })
    ))
  }

  private room(free: number): number {
    return Math.max(0, this.fair(this.active + free) - this.parts.work.partitions.length)
  }

  /** Acquires partitions. `isLeased`: this worker has their leases by a call without a response, so its attempts of the last minute in them are unknown. */
  private acquire(partitions: ReadonlyArray<{ readonly tenantId: string; readonly partition: number }>, isLeased = false): Effect.Effect<void, StorageError> {
    const { store, work, worker } = this.parts
    return ofEachTenant(partitions, (tenantId, own) =>
      this.answered(Effect.flatMap(monotonicMillis, (asked) =>
        Effect.flatMap(store.acquire(worker, tenantId, own.map(({ partition }) => partition)), (answer) =>
          Effect.flatMap(monotonicMillis, (answered) => {
            const learned = this.parts.learnTime(answer.now, asked, answered)
            for (const each of answer.partitions) work.hold(isLeased ? { ...each, othersUntil: answer.now } : each, answered, this.parts.storeAhead)
            this.active += answer.partitions.length
            return learned
          }))))).pipe(Effect.onError(() =>
      Effect.sync(() => {
        // the next renewal returns whether this worker owns them
        this.nextRenewal = -Infinity
      })
    ))
  }

  /**
   * Continues while the worker stops: otherwise the store could acquire after the stop, and the partitions would have no worker until their leases
   * expire. `leave` waits for it.
   */
  private answered(acquire: Effect.Effect<void, StorageError>): Effect.Effect<void, StorageError> {
    return Effect.flatMap(Effect.forkDetach(acquire, { startImmediately: true }), (fiber) => {
      this.acquiring.add(fiber)
      fiber.addObserver(() => this.acquiring.delete(fiber))
      return Fiber.join(fiber)
    })
  }

  /** Releases partitions that are being released and have nothing in flight. */
  private giveBack(mayGo: (partition: OwnedPartitionState) => boolean): Effect.Effect<void, StorageError> {
    const { services, store, work } = this.parts
    const going = work.partitions.filter(mayGo)
    return ofEachTenant(going, (tenantId, partitions) =>
      Effect.gen({ self: this }, function*() {
        const now = yield* monotonicMillis
        const storeNow = this.parts.storeTime(now)
        const isWhole = work.tenants.get(tenantId)?.lostFlights.size === 0
        yield* store.release(
          tenantId,
          partitions.map((each) => {
            const { epoch, lastOutcome, othersUntil, partition } = each
            return { tenantId, partition, epoch, lastOutcome, othersUntil: othersUntil === -Infinity ? undefined : this.parts.storeTime(othersUntil), idle: isWhole && work.tidy(each, now, storeNow) }
          }),
          partitions.flatMap(({ destinations }) =>
            Array.from(destinations.values()).flatMap((each) => {
              const { destinationId, rateMark } = each
              return rateMark > now || isMarkAhead(each, storeNow) ? [{ destinationId, mark: this.parts.storeTime(Math.max(rateMark, now)) }] : []
            })
          )
        )
        for (const each of partitions) work.lose(each)
        this.active = Math.max(0, this.active - partitions.length)
        yield* services.wakeups.wake(tenantId)
      }))
  }
}

/** Runs the effect of each tenant, also after that of another has failed, which may be because a transaction of that tenant holds a lock. Fails with the first failure. */
const ofEachTenant = <P extends { readonly tenantId: string }>(
  partitions: ReadonlyArray<P>,
  run: (tenantId: string, own: ReadonlyArray<P>) => Effect.Effect<void, StorageError>
): Effect.Effect<void, StorageError> => Effect.asVoid(completeAll(Array.from(byTenant(partitions), ([tenantId, own]) => run(tenantId, own)), tenantsAtOnce))

const byTenant = <P extends { readonly tenantId: string }>(partitions: ReadonlyArray<P>): ReadonlyMap<string, ReadonlyArray<P>> => {
  const tenants = new Map<string, Array<P>>()
  for (const partition of partitions) {
    const own = tenants.get(partition.tenantId)
    if (own === undefined) tenants.set(partition.tenantId, [partition])
    else own.push(partition)
  }
  return tenants
}

/** Whether it is being released, no pending call can return deliveries of it, and every outcome is written. Takes of other partitions continue. */
const isDone = ({ calls, destinations, leaving }: OwnedPartitionState): boolean => {
  if (!leaving || calls > 0) return false
  for (const { inFlight, taking } of destinations.values()) if (taking || inFlight.size > 0) return false
  return true
}
