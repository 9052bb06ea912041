/** A report that decides a waiting request, because it contains the outcome of the pickup. */
import { type KeptPickup, withAnswer } from "./Pickup.ts"
import { type PickupAnswer, pickupAnswer } from "./PickupAnswer.ts"
import { isFinalPickup } from "./PickupStatus.ts"

/** `pickup` and `number` are those after the report. */
export const settledByReport = (pickupId: string, pickup: KeptPickup, number: string | undefined): KeptPickup => {
  const { carrier, status, waiting, words } = pickup
  if (waiting === null) return pickup
  const answer = (pickupStatus: PickupAnswer["pickupStatus"], messages: ReadonlyArray<string>): KeptPickup =>
    withAnswer(pickup, waiting, pickupAnswer(waiting.request, { pickupStatus, carrierPickupNumber: pickupStatus === "Accept" ? number ?? null : null, carrier, messages }))
  if (waiting.id === pickupId) {
    if (status === "Call us") return pickup
    return status === "Accepted" ? answer("Accept", []) : answer("Reject", [`The pickup is ${words}.`])
  }
  return isFinalPickup(status) || status === "Arrived" ? answer("Reject", [`The pickup is ${words}; it can no longer be changed.`]) : pickup
}
