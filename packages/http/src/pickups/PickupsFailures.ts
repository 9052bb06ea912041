/** Failures of area C, with their statuses, codes and details. */
import type { PickupDecided, PickupDeskFailed, PickupFinal, PickupNotFound } from "@waybill/core/pickups"
import type { FailureTable } from "../shared/FailureTable.ts"

export type PickupsFailure = PickupDecided | PickupDeskFailed | PickupFinal | PickupNotFound

export const pickupsFailures = {
  PickupFinal: [400, "pickup_final"],
  PickupNotFound: [404, "pickup_not_found"],
  PickupDecided: [409, "pickup_decided"],
  PickupDeskFailed: [503, "pickup_desk_failed", () => ({ headers: { "retry-after": "1" } })]
} as const satisfies FailureTable<PickupsFailure>
