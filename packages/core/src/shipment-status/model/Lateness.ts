/** Whether a shipment is late, and why. */
import { unstatedDelay } from "./CodeLists.ts"
import { localDate } from "./FreightShapes.ts"
import type { Mutable } from "./ShipmentDraft.ts"
import type { ShipmentState } from "./ShipmentState.ts"
import type { ShipmentView } from "./VerifiedShipment.ts"

/** SPEC-GAP-A10: late is a matter of calendar days where the freight is delivered. */
export const isOverdue = (view: Pick<ShipmentView, "UpdatedETA" | "EstimatedDeliveryDate">): boolean =>
  localDate(view.UpdatedETA) > localDate(view.EstimatedDeliveryDate)

/** `Late` and its reason as the dates have it. */
export const judgeLate = (view: Mutable<ShipmentView>, state: Mutable<ShipmentState>): void => {
  const wasLate = view.Late
  view.Late = isOverdue(view) || state.lateSaid
  if (wasLate && !view.Late) {
    state.delayReasonCode = null
    state.lateTold = null
  }
  view.DelayReasonCode = view.Late ? state.delayReasonCode ?? unstatedDelay : null
}
