/** Methods of area A over core's use cases. */
import { mapPaced, ShipmentIntake, StatusUpdateIntake } from "@waybill/core"
import { ShipmentStatuses, StatusSubscriptions, type VerifiedShipment } from "@waybill/core/shipment-status"
import { Effect } from "effect"
import { anonymousClientNamed } from "../access/ClientAddress.ts"
import { parsed, plain } from "./Plain.ts"
import { type Around, as, callsOf, ofTenant, reportOf, type Run, served } from "./Run.ts"
import type { LookupMethods, WaybillShipmentsWithin } from "./ShipmentMethods.ts"

export const shipmentsWithin = (run: Run, around: Around): WaybillShipmentsWithin => {
  const subscriptions = callsOf(run, StatusSubscriptions, around)
  return {
    shipments: { register: reportOf(run, ShipmentIntake, around), report: reportOf(run, StatusUpdateIntake, around) },
    statusSubscriptions: {
      subscribe: (said, subscription) => subscriptions(said, (all, principal) => all.subscribe(principal, plain(subscription))),
      unsubscribe: (said, id) => subscriptions(said, (all, principal) => all.unsubscribe(principal, id))
    }
  }
}

export const lookupsOf = (run: Run): LookupMethods => ({
  verified: (said, by) =>
    run(Effect.map(as(said, ShipmentStatuses, (all, principal) => all.verified(principal, by)), (found) =>
      found._tag === "Verified" ? { own: true, shipment: parsed(found.body.bytes) } : { own: false, shipment: parsed(found.body.bytes) })),
  public: ({ client = "", tenantId }, by) =>
    run(Effect.map(ofTenant(tenantId, ShipmentStatuses, (all) => Effect.andThen(served(tenantId), all.public({ tenantId, client: anonymousClientNamed(client) }, by))), ({ bytes }) => parsed(bytes))),
  pickedUp: (said, range) =>
    run(Effect.flatMap(as(said, ShipmentStatuses, (all, principal) => all.pickedUp(principal, plain(range))), (found) => mapPaced(found, ({ bytes }) => parsed<VerifiedShipment>(bytes)))),
  record: (said, shipmentId) =>
    run(Effect.map(as(said, ShipmentStatuses, (all, principal) => all.record(principal, shipmentId)), (record) => ({
      ...record,
      shipment: parsed(record.shipment.bytes)
    })))
})
