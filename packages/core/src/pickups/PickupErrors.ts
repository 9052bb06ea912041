/** How pickups can fail. */
import { Schema } from "effect"

/** No pickup of this number that the caller may see. Somebody else's answers the same. */
export class PickupNotFound extends Schema.TaggedError<PickupNotFound>()("PickupNotFound", { pickupId: Schema.String }) {
  override get message(): string {
    return `No pickup ${this.pickupId}. Use the carrierPickupNumber from the answer that accepted it.`
  }
}

/** The pickup has gone too far for what was asked. */
export class PickupFinal extends Schema.TaggedError<PickupFinal>()("PickupFinal", { pickupId: Schema.String, status: Schema.String }) {
  override get message(): string {
    return `Pickup ${this.pickupId} is ${this.status}; it is too late for this. Call the carrier, or send a new request.`
  }
}

/** The carrier's desk gave no usable decision. Nothing was changed as far as the service knows. */
export class PickupDeskFailed extends Schema.TaggedError<PickupDeskFailed>()("PickupDeskFailed", { cause: Schema.Defect() }) {
  override get message(): string {
    return "The carrier's pickup desk could not decide. Nothing was changed; send the same request again, with the same Idempotency-Key if it had one."
  }
}

/** The desk issued a number that another pickup of the tenant has. */
export class PickupNumberTaken extends Schema.TaggedError<PickupNumberTaken>()("PickupNumberTaken", { number: Schema.String }) {
  override get message(): string {
    return `Pickup number ${this.number} belongs to another pickup of this tenant. The desk must issue each number once.`
  }
}
