/** Errors of pickups. */
import { Schema } from "effect"
import { taggedFailure } from "../shared/TaggedFailure.ts"

/** No pickup with this number is visible to the caller. A pickup of another client gives the same error. */
export class PickupNotFound extends taggedFailure<PickupNotFound>()("PickupNotFound", { pickupId: Schema.String }, ({ pickupId }) =>
  `No pickup ${pickupId}. Use the carrierPickupNumber of an accepted pickup, or the pickupId of the work list.`) {}

/** The pickup's status no longer allows the request. */
export class PickupFinal extends taggedFailure<PickupFinal>()("PickupFinal", { pickupId: Schema.String, status: Schema.String }, ({ pickupId, status }) =>
  `Pickup ${pickupId} is ${status}; it is too late for this. Call the carrier, or send a new request.`) {}

/** The carrier has decided: nothing waits for a decision. */
export class PickupDecided extends taggedFailure<PickupDecided>()("PickupDecided", { pickupId: Schema.String, status: Schema.String }, ({ pickupId, status }) =>
  `Pickup ${pickupId} is decided already, its status is ${status}. Report what happens next as its status.`) {}

/** The carrier's desk returned no usable decision. Waybill changed nothing. */
export class PickupDeskFailed extends taggedFailure<PickupDeskFailed>()("PickupDeskFailed", { cause: Schema.Defect() }, () =>
  "The carrier's pickup desk could not decide. Nothing was changed; send the same request again, with the same Idempotency-Key if it had one.") {}

/** The desk issued a number that another pickup of the tenant already has. */
export class PickupNumberTaken extends taggedFailure<PickupNumberTaken>()("PickupNumberTaken", { number: Schema.String }, ({ number }) =>
  `Pickup number ${number} belongs to another pickup of this tenant. The desk must issue each number once.`) {}
