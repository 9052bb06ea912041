/** Deletes old data: settled deliveries, delivered shipments, ended bills, old pickups, notices and audit entries. */
import { Context, Effect, Layer } from "effect"
import * as Clock from "effect/Clock"
import { areas, type AreaStores } from "../Areas.ts"
import { AccessStore } from "../access/AccessStore.ts"
import { AuditStore } from "../audit/AuditStore.ts"
import { DeliveryOptions } from "../delivery/DeliveryOptions.ts"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { StatisticsStore } from "../delivery/statistics/StatisticsStore.ts"
import { MailStore } from "../mail/MailStore.ts"
import { NoticeStore } from "../notices/NoticeStore.ts"
import type { AreaRetention } from "../shared/Area.ts"
import { RetentionOptions } from "../shared/RetentionOptions.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { sweepEvery } from "../shared/Sweeps.ts"
import { pruneAll } from "../shared/Throttling.ts"
import { firstIdAt } from "../shared/UniqueIds.ts"

const pauseMillis = 3_600_000

/** The outbox gives a mail up after a day. One that is older was put in when there was a mail server, and there is none now. */
const keepMailsMillis = 2 * 86_400_000

/** How long delivery statistics by minute are kept: a day, and an hour so that a chart of a day has all of it. */
export const keepMinutesMillis = 25 * 3_600_000

/** Deletes data that is older than `RetentionOptions` keep it. */
export class Retention extends Context.Service<Retention, {
  /** Processes all tenants once. Returns the number of deleted rows. */
  readonly sweep: Effect.Effect<number, StorageError>
  /** Sweeps every hour until interrupted. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/retention/Retention") {
  static readonly layer = Layer.effect(
    Retention,
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const access = yield* AccessStore
      const audit = yield* AuditStore
      const statistics = yield* StatisticsStore
      const mails = yield* MailStore
      const notices = yield* NoticeStore
      const { keepSettledMillis } = yield* DeliveryOptions
      const options = yield* RetentionOptions
      const windows = { ...options, keepNoticesMillis: Math.max(options.keepNoticesMillis, keepSettledMillis) }
      const ofAreas = yield* Effect.forEach(
        areas.filter((area) => "retention" in area),
        ({ retention }): Effect.Effect<AreaRetention, never, AreaStores> => retention
      )

      const sweepTenant = Effect.fnUntraced(function*(tenantId: string, now: number) {
        const settled = yield* pruneAll(queue.prune(tenantId, now - keepSettledMillis))
        const removed = yield* Effect.forEach(ofAreas, (prune) => prune(tenantId, now, windows))
        return removed.reduce((sum, each) => sum + each, settled) +
          (yield* pruneAll(notices.pruneBodies(tenantId, now - windows.keepNoticesMillis))) +
          (yield* pruneAll(mails.prune(tenantId, now - keepMailsMillis))) +
          (yield* pruneAll(statistics.prune(tenantId, { minutes: now - keepMinutesMillis, hours: now - windows.keepStatisticsMillis })))
      })

      const sweep = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const tenants = yield* access.listTenants
        const removed = yield* Effect.forEach(tenants, ({ tenantId }) => sweepTenant(tenantId, now))
        const entries = yield* pruneAll(audit.prune(firstIdAt(now - windows.keepAuditMillis)))
        return removed.reduce((sum, each) => sum + each, entries)
      }).pipe(Effect.withSpan("Retention.sweep"))

      return Retention.of({ sweep, run: sweepEvery(pauseMillis, sweep, "Retention sweep failed. The next sweep tries again.") })
    })
  )
}
