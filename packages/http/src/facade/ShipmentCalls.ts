/** Methods of area A over core's use cases. */
import { fault, InvalidInput, mapPaced, ShipmentIntake, StatusUpdateIntake } from "@waybill/core"
import { type LookupBy, ShipmentStatuses, StatusSubscriptions, type VerifiedShipment } from "@waybill/core/shipment-status"
import { Effect } from "effect"
import { anonymousClientNamed } from "../access/ClientAddress.ts"
import { parsed, plain } from "./Plain.ts"
import { type Around, as, callsOf, ofTenant, reportOf, type Run, served } from "./Run.ts"
import type { LookupMethods, PublicCaller } from "./ShipmentMethods.ts"
import type { WaybillWithin } from "./Waybill.ts"

export const shipmentsWithin = (run: Run, around: Around): Pick<WaybillWithin, "shipments" | "statusSubscriptions"> => {
  const subscriptions = callsOf(run, StatusSubscriptions, around)
  return {
    shipments: { register: reportOf(run, ShipmentIntake, around), report: reportOf(run, StatusUpdateIntake, around) },
    statusSubscriptions: {
      subscribe: (caller, subscription) => subscriptions(caller, (all, principal) => all.subscribe(principal, plain(subscription))),
      unsubscribe: (caller, id) => subscriptions(caller, (all, principal) => all.unsubscribe(principal, id))
    }
  }
}

export const lookupsOf = (run: Run): LookupMethods => ({
  verified: (caller, by) =>
    run(Effect.map(as(caller, ShipmentStatuses, (all, principal) => Effect.andThen(checkedLookup(by), all.verified(principal, by))), (found) =>
      found._tag === "Verified" ? { own: true, shipment: parsed(found.body.bytes) } : { own: false, shipment: parsed(found.body.bytes) })),
  public: (caller, by) =>
    run(Effect.flatMap(checkedPublicCaller(caller), ({ client = "", tenantId }) =>
      Effect.map(ofTenant(tenantId, ShipmentStatuses, (all) => Effect.andThen(Effect.andThen(served(tenantId), checkedLookup(by)), all.public({ tenantId, client: anonymousClientNamed(client) }, by))), ({ bytes }) => parsed(bytes)))),
  pickedUp: (caller, range) =>
    run(Effect.flatMap(as(caller, ShipmentStatuses, (all, principal) => all.pickedUp(principal, plain(range))), (found) => mapPaced(found, ({ bytes }) => parsed<VerifiedShipment>(bytes)))),
  record: (caller, shipmentId) =>
    run(Effect.map(as(caller, ShipmentStatuses, (all, principal) => all.record(principal, shipmentId)), (record) => ({
      ...record,
      shipment: parsed(record.shipment.bytes)
    })))
})

const lookupTexts: Readonly<Record<string, ReadonlyArray<string>>> = {
  pro: ["proNumber"],
  bol: ["bolNumber", "originPostalCode"],
  po: ["poNumber", "destinationPostalCode"]
}

/** For hosts without types. */
const checkedPublicCaller = (caller: PublicCaller): Effect.Effect<PublicCaller, InvalidInput> => {
  const { client = "", tenantId } = Object(caller) as Readonly<Record<string, unknown>>
  return typeof tenantId === "string" && typeof client === "string" ? Effect.succeed(caller) : InvalidInput.of(fault(
    ["caller"],
    "The first argument is { tenantId }, with client if you know by what the caller is counted, each of them text.",
    "invalid"
  ))
}

/** For hosts without types; over HTTP the path has every part. */
const checkedLookup = (by: LookupBy): Effect.Effect<void, InvalidInput> => {
  const given = Object(by) as Readonly<Record<string, unknown>>
  const texts = Object.hasOwn(lookupTexts, String(given["kind"])) ? lookupTexts[String(given["kind"])]! : undefined
  return texts !== undefined && texts.every((name) => typeof given[name] === "string") ? Effect.void : InvalidInput.of(fault(
    ["by"],
    "A lookup is { kind: \"pro\", proNumber }, { kind: \"bol\", bolNumber, originPostalCode } or { kind: \"po\", poNumber, destinationPostalCode }, each of them text.",
    "invalid"
  ))
}
