/** Deletes old data: settled deliveries, deleted subscriptions, delivered shipments, ended bills, old pickups, notices and audit entries. */
import { Context, Effect, Layer } from "effect"
import { areas, type AreaStores, subscriptionsOfArea } from "../Areas.ts"
import { AccessStore } from "../access/AccessStore.ts"
import { AuditStore } from "../audit/AuditStore.ts"
import { DeliveryOptions } from "../delivery/DeliveryOptions.ts"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { StatisticsStore } from "../delivery/statistics/StatisticsStore.ts"
import { MailStore } from "../mail/MailStore.ts"
import { NoticeStore } from "../notices/NoticeStore.ts"
import type { AreaRetention, SubscriptionDocuments } from "../shared/Area.ts"
import { completeAll } from "../shared/CompleteAll.ts"
import { RetentionOptions } from "../shared/RetentionOptions.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { TenantSweep } from "../shared/TenantSweep.ts"
import { pruneSome } from "../shared/Throttling.ts"
import { firstIdAt } from "../shared/UniqueIds.ts"

const pauseMillis = 3_600_000

/** A step prunes each store some times, with pauses. A store that is blocked ends with its statement. */
const stepMillis = 1_800_000

/** Stands for all tenants in the sweep: the audit log also has entries of removed tenants. */
const anyTenant = "*"

/** The outbox removes a mail after a day. An older one was stored while a mail server was configured, and none is now. */
const keepMailsMillis = 2 * 86_400_000

/** How long delivery statistics by minute are kept: a day, and an hour so that a chart of a day has all of it. */
export const keepMinutesMillis = 25 * 3_600_000

/** Deletes data that is older than `RetentionOptions` keep it, by the clock of the storage: that of a process may be years ahead. */
export class Retention extends Context.Service<Retention, {
  /** Processes all tenants once. Returns the number of deleted rows. A tenant or a store that fails does not keep the others from being pruned. */
  readonly sweep: Effect.Effect<number, StorageError>
  /** Sweeps every hour until interrupted. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/retention/Retention") {
  static readonly layer = Layer.effect(Retention, Effect.gen(function*() {
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

    const ofSubscriptions = yield* Effect.forEach(Object.values(subscriptionsOfArea), ({ store }): Effect.Effect<SubscriptionDocuments, never, AreaStores> => store)

    /** One that fails does not keep the others of the tenant from being pruned. */
    const step = Effect.fnUntraced(function*(tenantId: string) {
      const now = yield* access.now
      const prunes = [
        queue.prune(tenantId, now - keepSettledMillis),
        ...ofAreas.map((prune) => prune(tenantId, now, windows)),
        ...ofSubscriptions.flatMap(({ prune }) => prune === undefined ? [] : [prune(tenantId, now - keepSettledMillis)]),
        notices.pruneBodies(tenantId, now - windows.keepNoticesMillis),
        mails.prune(tenantId, now - keepMailsMillis),
        statistics.prune(tenantId, { minutes: now - keepMinutesMillis, hours: now - windows.keepStatisticsMillis })
      ]
      const steps = yield* completeAll(prunes.map(pruneSome))
      return { done: steps.reduce((sum, { done }) => sum + done, 0), more: steps.some(({ more }) => more) }
    })

    const ofTenants = new TenantSweep("Old data not removed", {
      tenants: (range) => Effect.map(access.pageTenants(range), (tenants) => tenants.map(({ tenantId }) => tenantId)),
      tenantsAtOnce: 1,
      stepMillis,
      step
    })
    const ofAudit = new TenantSweep("Old entries of the audit log not removed", {
      tenants: ({ after }) => Effect.succeed(after === undefined ? [anyTenant] : []),
      stepMillis,
      step: () => Effect.flatMap(access.now, (now) => pruneSome(audit.prune(firstIdAt(now - windows.keepAuditMillis))))
    })

    const sweep = Effect.map(completeAll([ofTenants.sweep, ofAudit.sweep]), ([rows = 0, entries = 0]) => rows + entries).pipe(Effect.withSpan("Retention.sweep"))

    const pause = Effect.succeed(pauseMillis)
    return Retention.of({ sweep, run: Effect.raceFirst(ofTenants.run(pause), ofAudit.run(pause)) })
  }))
}
