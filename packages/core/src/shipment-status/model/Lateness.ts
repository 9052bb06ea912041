/** Decides whether a shipment is late, and why. */
import { unstatedDelay } from "./CodeLists.ts"
import { localDate } from "./FreightShapes.ts"
import type { Mutable } from "./ShipmentDraft.ts"
import type { ShipmentState } from "./ShipmentState.ts"
import type { ShipmentView } from "./VerifiedShipment.ts"

/** SPEC-GAP-A10: compares calendar days at the place of delivery. */
export const isOverdue = (view: Pick<ShipmentView, "UpdatedETA" | "EstimatedDeliveryDate">): boolean =>
  localDate(view.UpdatedETA) > localDate(view.EstimatedDeliveryDate)

/** Sets `Late` and its reason from the dates. */
export const judgeLate = (view: Mutable<ShipmentView>, state: Mutable<ShipmentState>): void => {
  const wasLate = view.Late
  view.Late = isOverdue(view) || state.reportedLate
  if (wasLate && !view.Late) {
    state.delayReasonCode = null
    state.notifiedLateness = null
  }
  view.DelayReasonCode = view.Late ? state.delayReasonCode ?? unstatedDelay : null
}
