/** Deletes old data: settled deliveries, delivered shipments, ended bills, old pickups, notices and audit entries. */
import { Context, Effect, Layer } from "effect"
import * as Clock from "effect/Clock"
import { AccessStore } from "../access/AccessStore.ts"
import { AuditStore } from "../audit/AuditStore.ts"
import { DeliveryOptions } from "../delivery/DeliveryOptions.ts"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { StatisticsStore } from "../delivery/StatisticsStore.ts"
import { FreightBillStore } from "../freight-charges/FreightBillStore.ts"
import { DocumentContents } from "../invoices/DocumentContents.ts"
import { PickupStore } from "../pickups/PickupStore.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { sweepEvery } from "../shared/Sweeps.ts"
import { firstIdAt } from "../shared/UniqueIds.ts"
import { throttled } from "../shared/Throttling.ts"
import { ShipmentStatusStore } from "../shipment-status/ShipmentStatusStore.ts"

const pauseMillis = 3_600_000

/** An upload without an end after this time has failed. */
const uploadDays = 1

/** How long an idempotency key of a pickup is remembered. SPEC-GAP-C18 */
const keyDays = 30

/** How long delivery statistics by minute are kept: a day, and an hour so that a chart of a day has all of it. */
export const keepMinutesMillis = 25 * 3_600_000

const days = (count: number): number => count * 86_400_000

/** Retention periods. Settled deliveries have their own in `DeliveryOptions`. */
export class RetentionOptions extends Context.Reference<{
  /** Shipments after their delivery, with their status history. */
  readonly keepDeliveredShipmentsMillis: number
  /** Freight bills after they were invoiced or removed. */
  readonly keepEndedBillsMillis: number
  /** Bodies of notifications. At least as long as deliveries are kept. */
  readonly keepNoticesMillis: number
  /** Pickups after they were ordered. */
  readonly keepPickupsMillis: number
  /** Entries of the audit log. */
  readonly keepAuditMillis: number
  /** Delivery statistics by hour. Those by minute are kept for a day. */
  readonly keepStatisticsMillis: number
}>("@waybill/core/retention/RetentionOptions", {
  defaultValue: () => ({
    keepDeliveredShipmentsMillis: days(365),
    keepEndedBillsMillis: days(365),
    keepNoticesMillis: days(180),
    keepPickupsMillis: days(365),
    keepAuditMillis: days(400),
    keepStatisticsMillis: days(90)
  })
}) {}

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
      const statuses = yield* ShipmentStatusStore
      const bills = yield* FreightBillStore
      const pickups = yield* PickupStore
      const contents = yield* DocumentContents
      const access = yield* AccessStore
      const audit = yield* AuditStore
      const statistics = yield* StatisticsStore
      const { keepSettledMillis } = yield* DeliveryOptions
      const windows = yield* RetentionOptions

      const sweepTenant = Effect.fnUntraced(function*(tenantId: string, now: number) {
        const noticed = now - Math.max(windows.keepNoticesMillis, keepSettledMillis)
        return (yield* pruneAll(queue.prune(tenantId, now - keepSettledMillis))) +
          (yield* pruneAll(statuses.prune(tenantId, { delivered: now - windows.keepDeliveredShipmentsMillis, noticed }))) +
          (yield* pruneAll(bills.prune(tenantId, { ended: now - windows.keepEndedBillsMillis, noticed }))) +
          (yield* pruneAll(pickups.prune(tenantId, { ordered: now - windows.keepPickupsMillis, answered: now - days(keyDays) }))) +
          (yield* pruneAll(statistics.prune(tenantId, { minutes: now - keepMinutesMillis, hours: now - windows.keepStatisticsMillis }))) +
          (yield* contents.sweep(tenantId, now - days(uploadDays)))
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

/** Deletes in steps of a few thousand rows, with a pause after each, so that other work never waits long. */
const pruneAll = Effect.fnUntraced(function*(prune: Effect.Effect<number, StorageError>) {
  let removed = 0
  for (;;) {
    const some = yield* throttled(prune, (count) => count > 0)
    removed += some
    if (some === 0) return removed
  }
})
