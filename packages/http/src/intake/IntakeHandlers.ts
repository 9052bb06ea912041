/** HTTP handlers of intake over core's use cases. */
import { FreightChargeIntake, type IntakeResults, ShipmentIntake, StatusUpdateIntake, TransitEventIntake } from "@waybill/core"
import { Pickups, PickupSubscriptions } from "@waybill/core/pickups"
import { ShipmentStatuses } from "@waybill/core/shipment-status"
import { Effect } from "effect"
import { encodedCursorPage, json, jsonWithList, listPage, noContent } from "../shared/Answer.ts"
import type { HandlersOf } from "../shared/Contract.ts"
import { bounded } from "../shared/ProblemDetails.ts"
import type { IntakeContract } from "./IntakeContract.ts"

export const IntakeHandlers = Effect.gen(function*() {
  const events = yield* TransitEventIntake
  const shipments = yield* ShipmentIntake
  const updates = yield* StatusUpdateIntake
  const charges = yield* FreightChargeIntake
  const statuses = yield* ShipmentStatuses
  const pickups = yield* Pickups
  const subscriptions = yield* PickupSubscriptions

  const handlers: HandlersOf<typeof IntakeContract> = {
    reportTransitEvents: ({ body, principal, query }) => Effect.map(events.report(principal, body, { partial: query.partial === true }), answer),
    registerShipments: ({ body, principal, query }) => Effect.map(shipments.report(principal, body, { partial: query.partial === true }), answer),
    getShipmentRecord: ({ params, principal }) => Effect.flatMap(statuses.record(principal, params.shipmentId), (record) =>
      jsonWithList({ ...record, shipment: JSON.parse(decoder.decode(record.shipment.bytes)) }, "history")),
    reportStatusUpdates: ({ body, principal, query }) => Effect.map(updates.report(principal, body, { partial: query.partial === true }), answer),
    reportFreightCharges: ({ body, principal, query }) => Effect.map(charges.report(principal, body, { partial: query.partial === true }), answer),
    reportPickupStatus: ({ body, params, principal }) => Effect.map(pickups.report(principal, params.pickupId, body), json),
    listPickupChanges: ({ principal, query }) => Effect.map(pickups.changes(principal, query), encodedCursorPage),
    decidePickup: ({ body, params, principal }) => Effect.map(pickups.decide(principal, params.pickupId, body), json),
    getPickupRecord: ({ params, principal }) => Effect.flatMap(pickups.record(principal, params.pickupId), (record) => jsonWithList(record, "history")),
    createPickupSubscription: ({ body, principal, site }) =>
      Effect.map(subscriptions.create(principal, body), (created) =>
        json(created, { status: 201, headers: { location: site.urlOf(`${site.path}/${created.id}`) } })),
    listPickupSubscriptions: ({ principal, query }) => Effect.flatMap(subscriptions.list(principal, query), listPage),
    getPickupSubscription: ({ params, principal }) => Effect.map(subscriptions.get(principal, params.subscriptionId), json),
    updatePickupSubscription: ({ body, params, principal }) => Effect.map(subscriptions.patch(principal, params.subscriptionId, body), json),
    deletePickupSubscription: ({ params, principal }) => Effect.as(subscriptions.remove(principal, params.subscriptionId), noContent)
  }
  return handlers
})

const decoder = new TextDecoder()

const answer = <Key>({ results }: IntakeResults<Key>) =>
  json({
    results: results.map((each) =>
      "faults" in each && each.result === "refused" ? { index: each.index, result: "error", errors: each.faults.map(bounded) } : each)
  })
