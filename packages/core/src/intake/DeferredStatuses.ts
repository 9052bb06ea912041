/**
 * Updates the status of shipments whose events were stored by a statement of the host instead of a call of the service. Such a statement
 * cannot run the rules of statuses, so they run here shortly after its commit.
 */
import { Context, Effect, Layer } from "effect"
import { Wakeups } from "../delivery/Wakeups.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import type { ListRange } from "../shared/ListPage.ts"
import { TenantSweep } from "../shared/TenantSweep.ts"
import { mapPaced } from "../shared/Turns.ts"
import { ShipmentReports } from "../shipment-status/ShipmentReports.ts"
import type { ReportedEvent } from "../transit-events/model/TransitEvent.ts"
import type { StoredEvent } from "../transit-events/TransitEventStore.ts"
import { statusFromTransitEvent } from "./StatusFromTransitEvent.ts"

/** Shipments that are locked by the transaction. */
export interface LockedShipments {
  readonly shipmentIds: ReadonlyArray<string>
  /** The last shipment of the range, from which the next read continues; `undefined` when there are no more. */
  readonly last: string | undefined
}

/** Storage port: events that were stored by SQL and have not changed their shipment's status yet. */
export interface AwaitingEvents {
  /** Tenants that have such events, in the order of their ids. */
  readonly tenants: (range: ListRange) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /**
   * Locks shipments of the tenant that have such events until the transaction ends: those of a range, in the order of their ids, without those that
   * other transactions have locked.
   */
  readonly lockShipments: (tenantId: string, range: ListRange) => Effect.Effect<LockedShipments, StorageError>
  /** Returns the events of locked shipments in the order in which they were stored. They no longer wait when the transaction commits. */
  readonly take: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredEvent>, StorageError>
}

/** Optional storage port: stored events that have not changed the status of their shipment. `undefined`: this storage never has any. */
export class EventsAwaitingStatus extends Context.Reference<AwaitingEvents | undefined>("@waybill/core/intake/EventsAwaitingStatus", {
  defaultValue: () => undefined
}) {}

/** Shipments per transaction. */
const shipmentLimit = 100

const pauseMillis = 1_000

const decoder = new TextDecoder()

/** Applies events that were stored by SQL to the statuses of their shipments. */
export class DeferredStatuses extends Context.Service<DeferredStatuses, {
  /** Applies all waiting events, except those of shipments that other transactions have locked, and returns their number. If one tenant fails, the others are still processed first. */
  readonly applyDue: Effect.Effect<number, StorageError>
  /** Applies waiting events every second, until interrupted. Several processes may run it. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/intake/DeferredStatuses") {
  static readonly layer = Layer.effect(DeferredStatuses, Effect.gen(function*() {
    const awaiting = yield* EventsAwaitingStatus
    const reports = yield* ShipmentReports
    const transaction = yield* Transaction
    const wakeups = yield* Wakeups
    if (awaiting === undefined) return DeferredStatuses.of({ applyDue: Effect.succeed(0), run: Effect.never })

    /** The shipment at which the last step of a tenant ended. */
    const positions = new Map<string, string>()
    /** Tenants with a shipment that failed: one shipment at a time until the last, so that the others do not fail with it. */
    const failed = new Set<string>()

    /** Takes the locks first: a process finds no events that another one has applied. */
    const applySome = Effect.fnUntraced(function*(tenantId: string) {
      const range = { after: positions.get(tenantId), limit: failed.has(tenantId) ? 1 : shipmentLimit }
      const { last, shipmentIds } = yield* awaiting.lockShipments(tenantId, range)
      // a shipment that fails is not the first one again
      if (last === undefined) positions.delete(tenantId)
      else positions.set(tenantId, last)
      if (shipmentIds.length > 0) {
        const known = yield* reports.lock(tenantId, shipmentIds.map((shipmentId) => ({ shipmentId, accounts: undefined })))
        const events = yield* awaiting.take(tenantId, shipmentIds)
        const derived = yield* mapPaced(events, ({ body, eventId, shipmentId }) =>
          ({ shipmentId, report: statusFromTransitEvent(JSON.parse(decoder.decode(body)) as ReportedEvent, eventId) }))
        yield* reports.report(tenantId, known, derived)
        return { done: events.length, more: last !== undefined }
      }
      return { done: 0, more: last !== undefined }
    })

    const sweep = new TenantSweep("Statuses not updated with events that were published from SQL", {
      tenants: awaiting.tenants,
      step: Effect.fnUntraced(function*(tenantId: string) {
        const step = yield* Effect.onError(transaction.run(applySome(tenantId)), () => Effect.sync(() => failed.add(tenantId)))
        if (!step.more) failed.delete(tenantId)
        if (step.done > 0) yield* wakeups.wake(tenantId)
        return step
      })
    })

    return DeferredStatuses.of({ applyDue: sweep.sweep, run: sweep.run(Effect.succeed(pauseMillis)) })
  }))
}
