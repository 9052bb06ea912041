/** The answer to a shipper (area C, pickup response: an array of one answer). */
import { Schema } from "effect"
import { given } from "./KeptText.ts"
import type { PickupRequest } from "./PickupRequest.ts"

/** A number promises that the request is carried out as sent, so only `Accept` has one. SPEC-GAP-C1 */
export const PickupAnswer = Schema.Struct({
  /** The shipper's references and PROs, as they were sent. */
  shipperRef: Schema.Array(Schema.String),
  carrierPickupNumber: Schema.NullOr(Schema.String),
  pickupStatus: Schema.Literals(["Accept", "Reject", "Call us"]),
  trailerNumber: Schema.NullOr(Schema.String),
  carrierName: Schema.NullOr(Schema.String),
  routing: Schema.NullOr(Schema.String),
  scac: Schema.NullOr(Schema.String),
  pickupMessage: Schema.Array(Schema.String)
}).annotate({ identifier: "PickupAnswer" })
export type PickupAnswer = typeof PickupAnswer.Type

/** Details that the carrier adds to its decision. */
export type CarrierDetails = Pick<PickupAnswer, "carrierName" | "scac" | "routing" | "trailerNumber">

/** `pickupStatus` of the answer, by decision. SPEC-GAP-C1 */
export const answerWords = { accept: "Accept", reject: "Reject", callUs: "Call us" } as const

/** The answer to an order or a change (area C). */
export const pickupAnswer = (
  request: PickupRequest,
  decided: Pick<PickupAnswer, "pickupStatus" | "carrierPickupNumber"> & { readonly carrier: CarrierDetails; readonly messages: ReadonlyArray<string> }
): PickupAnswer => ({
  shipperRef: referencesOf(request),
  carrierPickupNumber: decided.carrierPickupNumber,
  pickupStatus: decided.pickupStatus,
  trailerNumber: decided.carrier.trailerNumber,
  carrierName: decided.carrier.carrierName,
  routing: decided.carrier.routing,
  scac: decided.carrier.scac,
  pickupMessage: [...decided.messages]
})

const referencesOf = (request: PickupRequest): ReadonlyArray<string> => [
  ...new Set((request.shipmentDetails ?? []).flatMap((shipment) => [given(shipment.shipperRef), given(shipment.proNumber)])
    .filter((reference) => reference !== undefined))
]
