/** Keeps what waits for each subscription within its tenant's quotas, whatever holds it up: a pause, access that ended, a receiver that is down. */
import { Context, Effect, Layer } from "effect"
import { AccessStore } from "../access/AccessStore.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { type BacklogCounts, type BacklogExcess, type BacklogPosition, DeliveryControl, type PurgePosition, type PurgeStep } from "../delivery/DeliveryControl.ts"
import { reportDropped } from "../delivery/DeliveryReport.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { sweepEvery } from "../shared/Sweeps.ts"
import { throttled } from "../shared/Throttling.ts"

const sweepMillis = 300_000

const dayMillis = 86_400_000

/** Entries queued within so long count as equally old. */
const leastWidthMillis = 60_000

/** Stretches of time that one subscription's entries are counted in, about. */
const maxStretches = 10_000

/** What waits for one subscription. */
interface Backlog {
  readonly laneId: string
  /** What it had lost when the count began. */
  readonly dropped: number
  /** Entries by the beginning of their stretch of time. */
  readonly stretches: Map<number, number>
}

interface Bounds {
  readonly width: number
  /** What was queued before this waited too long. */
  readonly oldest: number
  readonly entries: number
}

export class Backlogs extends Context.Service<Backlogs, {
  /** Once through all tenants; answers how many entries were dropped. */
  readonly sweep: Effect.Effect<number, StorageError>
  /** Sweeps every five minutes until interrupted. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/operator/Backlogs") {
  static readonly layer = Layer.effect(
    Backlogs,
    Effect.gen(function*() {
      const access = yield* AccessStore
      const limits = yield* TenantLimits
      const control = yield* DeliveryControl

      /** Answers how many were dropped: fewer than there are where somebody else drops at the same time. */
      const drop = Effect.fnUntraced(function*(tenantId: string, laneId: string, excess: BacklogExcess) {
        let gone = 0
        let after: PurgePosition | undefined
        while (gone < excess.limit) {
          const rest: BacklogExcess = { ...excess, limit: excess.limit - gone, dropped: excess.dropped + gone }
          const step: PurgeStep = yield* throttled(control.dropExcess(tenantId, laneId, rest, after))
          if (step.dropped > 0) yield* reportDropped(tenantId, excess.reason, step.dropped)
          gone += step.dropped
          after = step.next
          if (after === undefined) break
        }
        return gone
      })

      const bound = Effect.fnUntraced(function*(tenantId: string, { dropped, laneId, stretches }: Backlog, { entries, oldest, width }: Bounds) {
        const counts = [...stretches].sort(([a], [b]) => a - b)
        const all = counts.reduce((sum, [, count]) => sum + count, 0)
        let gone = 0
        const dropBefore = Effect.fnUntraced(function*(queuedBefore: number, limit: number, reason: BacklogExcess["reason"]) {
          if (limit > 0) gone += yield* drop(tenantId, laneId, { queuedBefore, limit, reason, dropped: dropped + gone })
        })
        if (counts.length > 0 && counts[0]![0] < oldest) yield* dropBefore(oldest, all, "over_age")
        const excess = all - entries
        if (excess <= gone) return gone
        // whole stretches first, then what is still too much of the next one
        let before = 0
        for (const [from, count] of counts) {
          if (before + count < excess) {
            before += count
            continue
          }
          const rest = excess - Math.max(before, gone)
          if (before > gone) yield* dropBefore(from, before - gone, "over_count")
          yield* dropBefore(from + width, rest, "over_count")
          break
        }
        return gone
      })

      const sweepTenant = Effect.fnUntraced(function*(tenantId: string) {
        const { waitingDays, waitingPerSubscription } = yield* limits.of(tenantId)
        const width = Math.max(leastWidthMillis, Math.ceil(waitingDays * dayMillis / maxStretches))
        let removed = 0
        let backlog: Backlog | undefined
        let after: BacklogPosition | undefined
        for (;;) {
          const { counts, next, now }: BacklogCounts = yield* throttled(control.countBacklog(tenantId, width, after))
          const bounds = { width, oldest: now - waitingDays * dayMillis, entries: waitingPerSubscription }
          // whatever is older than that counts as one stretch, so that there are never many
          const first = Math.floor(bounds.oldest / width) * width
          for (const { dropped, entries, laneId, queuedFrom } of counts) {
            if (backlog?.laneId !== laneId) {
              if (backlog !== undefined) removed += yield* bound(tenantId, backlog, bounds)
              backlog = { laneId, dropped, stretches: new Map() }
            }
            const from = Math.max(queuedFrom, first - width)
            backlog.stretches.set(from, (backlog.stretches.get(from) ?? 0) + entries)
          }
          if (next === undefined) return backlog === undefined ? removed : removed + (yield* bound(tenantId, backlog, bounds))
          after = next
        }
      })

      const sweep = Effect.gen(function*() {
        const removed = yield* Effect.forEach(yield* access.listTenants, ({ tenantId }) => sweepTenant(tenantId))
        return removed.reduce((sum, each) => sum + each, 0)
      }).pipe(Effect.withSpan("Backlogs.sweep"))

      return Backlogs.of({ sweep, run: sweepEvery(sweepMillis, sweep, "Backlog sweep failed, waiting entries not checked against quotas. The next sweep tries again.") })
    })
  )
}
