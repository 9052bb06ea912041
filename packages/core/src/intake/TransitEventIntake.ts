/** The carrier's system posts transit events here. Status changes that follow from them are stored in the same transaction. */
import { Context, Effect, Layer } from "effect"
import type { NotPermitted } from "../access/AccessErrors.ts"
import type { Principal } from "../access/model/Principal.ts"
import { fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { traced } from "../shared/TraceContext.ts"
import { ShipmentReports } from "../shipment-status/ShipmentReports.ts"
import type { Publication } from "../transit-events/model/EventPublication.ts"
import type { ReportedEvent } from "../transit-events/model/TransitEvent.ts"
import type { AcceptedEvent } from "../transit-events/PublishEvents.ts"
import { TransitEvents } from "../transit-events/TransitEvents.ts"
import { type IntakeBody, itemsOf } from "./IntakeItems.ts"
import { statusFromTransitEvent } from "./StatusFromTransitEvent.ts"

/** The answer to reported events. */
export interface IntakeReport {
  /** One result per event, in the order of the events. */
  readonly results: ReadonlyArray<Publication>
}

/** Accepts events of a carrier's system, and updates the statuses of their shipments in the same transaction. */
export class TransitEventIntake extends Context.Service<TransitEventIntake, {
  /**
   * Accepts `{events: […]}`, `{events: {…}}`, a list, or one event. Updates the status of shipments that have one. The caller must not
   * change the events before the call ends, because they are not copied.
   */
  readonly report: (
    principal: Principal,
    body: IntakeBody<"events", typeof ReportedEvent.Encoded>,
    options?: { readonly partial?: boolean }
  ) => Effect.Effect<IntakeReport, InvalidInput | NotPermitted | StorageError>
}>()("@waybill/core/intake/TransitEventIntake") {
  static readonly layer = Layer.effect(TransitEventIntake, Effect.gen(function*() {
    const transitEvents = yield* TransitEvents
    const reports = yield* ShipmentReports

    /** Updates the statuses of shipments that have one. Tenants that do not use shipment status have none. */
    const updateStatuses = Effect.fnUntraced(function*(tenantId: string, withStatus: ReadonlyArray<AcceptedEvent>) {
      if (withStatus.length === 0) return
      const known = yield* reports.read(tenantId, [...new Set(withStatus.map(({ shipmentId }) => shipmentId))])
      const statusReports = withStatus.map(({ event, eventId, shipmentId }) => ({ shipmentId, report: statusFromTransitEvent(event, eventId) }))
      yield* reports.report(tenantId, known, statusReports)
    })

    return TransitEventIntake.of({
      report: Effect.fnUntraced(function*(principal: Principal, body: IntakeBody<"events", typeof ReportedEvent.Encoded>, options?: { readonly partial?: boolean }) {
        const events = itemsOf(body, "events", (one) => "shipment" in one)
        if (events === undefined) {
          return yield* InvalidInput.of(fault([], "Send {\"events\": [ … ]} with 1 to 1000 events, or one event.", "required"))
        }
        return { results: yield* transitEvents.append(principal, events, { ...options, also: (accepted) => updateStatuses(principal.tenantId, accepted.filter(({ hasStatus }) => hasStatus)) }) }
      }, traced("TransitEventIntake.report"))
    })
  }))
}
