/**
 * Updates the status of shipments whose events were stored by a statement of the host instead of a call of the service. Such a statement
 * cannot run the rules of statuses, so they run here shortly after its commit.
 */
import { Context, Effect, Layer } from "effect"
import { Wakeups } from "../delivery/Wakeups.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { sweepWithPauses } from "../shared/Sweeps.ts"
import { Transaction } from "../shared/Transaction.ts"
import { mapPaced } from "../shared/Turns.ts"
import { ShipmentReports } from "../shipment-status/ShipmentReports.ts"
import type { ReportedEvent } from "../transit-events/model/TransitEvent.ts"
import type { StoredEvent } from "../transit-events/TransitEventStore.ts"
import { statusFromTransitEvent } from "./StatusFromTransitEvent.ts"

/** Storage port: events that were stored by SQL and have not changed their shipment's status yet. */
export interface AwaitingEvents {
  /** Tenants that have such events. */
  readonly tenants: (limit: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Shipments of the tenant that have such events. */
  readonly shipments: (tenantId: string, limit: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Returns the events of locked shipments in the order in which they were stored. They no longer wait when the transaction commits. */
  readonly take: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredEvent>, StorageError>
}

/** Optional storage port: stored events that have not changed the status of their shipment. `undefined`: this storage never has any. */
export class EventsAwaitingStatus extends Context.Reference<AwaitingEvents | undefined>("@waybill/core/intake/EventsAwaitingStatus", {
  defaultValue: () => undefined
}) {}

/** Tenants per read. */
const tenantLimit = 100

/** Shipments per transaction. */
const shipmentLimit = 100

const pauseMillis = 1_000

/** Pause after a failure, so that an unavailable storage does not fill the log. */
const failurePauseMillis = 10_000

const decoder = new TextDecoder()

/** Applies events that were stored by SQL to the statuses of their shipments. */
export class DeferredStatuses extends Context.Service<DeferredStatuses, {
  /** Applies all waiting events and returns their number. If one tenant fails, the others are still processed first. */
  readonly applyDue: Effect.Effect<number, StorageError>
  /** Applies waiting events every second, until interrupted. Several processes may run it. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/intake/DeferredStatuses") {
  static readonly layer = Layer.effect(
    DeferredStatuses,
    Effect.gen(function*() {
      const awaiting = yield* EventsAwaitingStatus
      const reports = yield* ShipmentReports
      const transaction = yield* Transaction
      const wakeups = yield* Wakeups
      if (awaiting === undefined) return DeferredStatuses.of({ applyDue: Effect.succeed(0), run: Effect.never })

      /** Takes the lock first: a process that waited for it finds no events that another process has applied. */
      const applySome = Effect.fnUntraced(function*(tenantId: string, shipmentIds: ReadonlyArray<string>) {
        const known = yield* reports.lock(tenantId, shipmentIds.map((shipmentId) => ({ shipmentId, accounts: undefined })))
        const events = yield* awaiting.take(tenantId, shipmentIds)
        const derived = yield* mapPaced(events, ({ body, eventId, shipmentId }) =>
          ({ shipmentId, report: statusFromTransitEvent(JSON.parse(decoder.decode(body)) as ReportedEvent, eventId) }))
        yield* reports.report(tenantId, known, derived)
        return events.length
      })

      const applyTenant = Effect.fnUntraced(function*(tenantId: string) {
        let applied = 0
        for (;;) {
          const shipmentIds = yield* awaiting.shipments(tenantId, shipmentLimit)
          if (shipmentIds.length === 0) return applied
          applied += yield* transaction.run(applySome(tenantId, shipmentIds))
          yield* wakeups.wake(tenantId)
          yield* Effect.yieldNow
        }
      })

      const applyDue = Effect.gen(function*() {
        const [counts, failures] = yield* Effect.partition(yield* awaiting.tenants(tenantLimit), applyTenant)
        return failures[0] === undefined ? counts.reduce((sum, count) => sum + count, 0) : yield* failures[0]
      })

      const applyThenPause = Effect.as(applyDue, pauseMillis)
      const run = sweepWithPauses(applyThenPause, failurePauseMillis, "Statuses not updated with events that were published from SQL. The next check tries again.")

      return DeferredStatuses.of({ applyDue, run })
    })
  )
}
