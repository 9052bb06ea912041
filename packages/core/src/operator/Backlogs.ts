/**
 * Enforces the quotas on waiting entries, for any reason that entries wait: a pause, ended access, or a failing receiver. Its counts are
 * also samples for the charts of operators.
 */
import { Context, Effect, Layer } from "effect"
import { AccessStore } from "../access/AccessStore.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { type BacklogCounts, type BacklogExcess, type BacklogPosition, DeliveryControl, type PurgePosition, type PurgeStep } from "../delivery/DeliveryControl.ts"
import { reportDropped } from "../delivery/DeliveryReport.ts"
import { partitionOf } from "../delivery/DeliveryStore.ts"
import { StatisticsStore, statisticsPerWrite, totalOf, type WaitingSample } from "../delivery/statistics/StatisticsStore.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import type { ListRange } from "../shared/ListPage.ts"
import { TenantSweep } from "../shared/TenantSweep.ts"
import { throttled } from "../shared/Throttling.ts"

const sweepMillis = 300_000

/** A step counts all entries of a tenant, with pauses. One that is blocked ends with its statement. */
const stepMillis = 3_600_000

const dayMillis = 86_400_000

/** Entries queued within this time count as equally old. */
const minWidthMillis = 60_000

/** Approximate number of time ranges in which one subscription's entries are counted. */
const maxRanges = 10_000

/** The waiting entries of one subscription. */
interface Backlog {
  readonly destinationId: string
  /** Its number of dropped entries when the count began. */
  readonly dropped: number
  /** Number of entries by the start of their time range. */
  readonly ranges: Map<number, number>
}

/** How many entries of one subscription wait, in all time ranges. */
interface Waiting {
  readonly destinationId: string
  readonly client: string
  readonly waiting: number
}

interface Bounds {
  readonly width: number
  /** Entries queued before this instant exceed the maximum age. */
  readonly oldest: number
  readonly entries: number
}

/** Drops entries that wait beyond the quotas `waitingPerSubscription` and `waitingDays`, oldest first. */
export class Backlogs extends Context.Service<Backlogs, {
  /** Checks all tenants once. Returns the number of dropped entries. */
  readonly sweep: Effect.Effect<number, StorageError>
  /** Sweeps every five minutes until interrupted. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/operator/Backlogs") {
  static readonly layer = Layer.effect(Backlogs, Effect.gen(function*() {
    const access = yield* AccessStore
    const limits = yield* TenantLimits
    const control = yield* DeliveryControl
    const statistics = yield* StatisticsStore

    /** Returns the number of dropped entries, which is lower than requested if a concurrent call drops the same ones. */
    const drop = Effect.fnUntraced(function*(tenantId: string, destinationId: string, excess: BacklogExcess) {
      let droppedCount = 0
      let after: PurgePosition | undefined
      while (droppedCount < excess.limit) {
        const rest: BacklogExcess = { ...excess, limit: excess.limit - droppedCount, dropped: excess.dropped + droppedCount }
        const step: PurgeStep = yield* throttled("Backlogs.step", control.dropExcess(tenantId, destinationId, rest, after))
        if (step.dropped > 0) yield* reportDropped(tenantId, excess.reason, step.dropped)
        droppedCount += step.dropped
        after = step.next
        if (after === undefined) break
      }
      return droppedCount
    })

    const bound = Effect.fnUntraced(function*(tenantId: string, { dropped, destinationId, ranges }: Backlog, { entries, oldest, width }: Bounds) {
      const counts = [...ranges].sort(([a], [b]) => a - b)
      const all = counts.reduce((sum, [, count]) => sum + count, 0)
      let droppedCount = 0
      const dropBefore = Effect.fnUntraced(function*(queuedBefore: number, limit: number, reason: BacklogExcess["reason"]) {
        if (limit > 0) droppedCount += yield* drop(tenantId, destinationId, { queuedBefore, limit, reason, dropped: dropped + droppedCount })
      })
      if (counts.length > 0 && counts[0]![0] < oldest) yield* dropBefore(oldest, all, "over_age")
      const excess = all - entries
      if (excess <= droppedCount) return droppedCount
      // drop whole time ranges first, then part of the next one
      let before = 0
      for (const [from, count] of counts) {
        if (before + count < excess) {
          before += count
          continue
        }
        const rest = excess - Math.max(before, droppedCount)
        if (before > droppedCount) yield* dropBefore(from, before - droppedCount, "over_count")
        yield* dropBefore(from + width, rest, "over_count")
        break
      }
      return droppedCount
    })

    /** Tenants in which nothing waited at the last sweep of this process. */
    const idle = new Set<string>()

    /**
     * A sample without waiting entries says that the tenant was sampled. Tenants that were idle before get none, or there would be a row for
     * every tenant, process and sweep.
     */
    const sample = Effect.fnUntraced(function*(tenantId: string, now: number, waiting: ReadonlyMap<string, Waiting>) {
      if (waiting.size === 0 && idle.has(tenantId)) return
      const samples = samplesOf(waiting.values())
      for (let n = 0; n < samples.length; n += statisticsPerWrite) yield* throttled("Backlogs.step", statistics.sample(tenantId, now, samples.slice(n, n + statisticsPerWrite)))
      if (waiting.size === 0) idle.add(tenantId)
      else idle.delete(tenantId)
    })

    const sweepTenant = Effect.fnUntraced(function*(tenantId: string) {
      const { waitingDays, waitingPerSubscription } = yield* limits.of(tenantId)
      const width = Math.max(minWidthMillis, Math.ceil(waitingDays * dayMillis / maxRanges))
      let removed = 0
      let backlog: Backlog | undefined
      const waiting = new Map<string, Waiting>()
      let after: BacklogPosition | undefined
      for (;;) {
        const { counts, next, now }: BacklogCounts = yield* throttled("Backlogs.step", control.countBacklog(tenantId, width, after))
        const bounds = { width, oldest: now - waitingDays * dayMillis, entries: waitingPerSubscription }
        // entries beyond the maximum age count as one range, so that the number of ranges stays small
        const first = Math.floor(bounds.oldest / width) * width
        for (const { client, dropped, entries, destinationId, queuedFrom } of counts) {
          if (backlog?.destinationId !== destinationId) {
            if (backlog !== undefined) removed += yield* bound(tenantId, backlog, bounds)
            backlog = { destinationId, dropped, ranges: new Map() }
          }
          waiting.set(destinationId, { destinationId, client, waiting: (waiting.get(destinationId)?.waiting ?? 0) + entries })
          const from = Math.max(queuedFrom, first - width)
          backlog.ranges.set(from, (backlog.ranges.get(from) ?? 0) + entries)
        }
        if (next === undefined) {
          if (backlog !== undefined) removed += yield* bound(tenantId, backlog, bounds)
          yield* sample(tenantId, now, waiting)
          return removed
        }
        after = next
      }
    })

    const tenants = Effect.fnUntraced(function*(range: ListRange) {
      const ids = (yield* access.pageTenants(range)).map(({ tenantId }) => tenantId)
      const known = new Set(ids)
      const last = ids.length < range.limit ? undefined : ids.at(-1)
      // tenants of this page that were removed
      for (const each of idle) if (each > (range.after ?? "") && (last === undefined || each <= last) && !known.has(each)) idle.delete(each)
      return ids
    })

    const sweep = new TenantSweep("Waiting entries not checked against quotas", {
      tenants,
      tenantsAtOnce: 2,
      stepMillis,
      step: (tenantId) => Effect.map(sweepTenant(tenantId), (removed) => ({ done: removed, more: false }))
    })

    return Backlogs.of({ sweep: Effect.withSpan(sweep.sweep, "Backlogs.sweep"), run: sweep.run(Effect.succeed(sweepMillis)) })
  }))
}

/** Those of subscriptions, and their totals by client and partition, and by partition. The total of the first partition is among them even if it is 0. */
const samplesOf = (waiting: Iterable<Waiting>): ReadonlyArray<WaitingSample> => {
  const samples = new Map<string, WaitingSample>([[totalOf(0), { destinationId: totalOf(0), waiting: 0 }]])
  for (const { client, destinationId, waiting: count } of waiting) {
    const total = totalOf(partitionOf(destinationId))
    samples.set(destinationId, { destinationId, waiting: count })
    samples.set(total + client, { destinationId: total, client, waiting: (samples.get(total + client)?.waiting ?? 0) + count })
    samples.set(total, { destinationId: total, waiting: (samples.get(total)?.waiting ?? 0) + count })
  }
  return [...samples.values()]
}
