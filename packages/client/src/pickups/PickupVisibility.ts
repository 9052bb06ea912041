/** What the carrier answers, and where a pickup is (area C). */
import type { OpenList } from "../shared/OpenList.ts"

export interface PickupAnswer {
  /** Your own references and PROs of the request. */
  readonly shipperRef: ReadonlyArray<string>
  /** Promises the truck; only with `Accept`. */
  readonly carrierPickupNumber: string | null
  /** `Call us`: the carrier has not decided; phone it. */
  readonly pickupStatus: OpenList<"Accept" | "Reject" | "Call us">
  readonly trailerNumber: string | null
  readonly carrierName: string | null
  readonly routing: string | null
  readonly scac: string | null
  readonly pickupMessage: ReadonlyArray<string>
}

/** At least one; Waybill gives one for the request. */
export type PickupAnswers = readonly [PickupAnswer, ...ReadonlyArray<PickupAnswer>]

/** The states of a pickup, and the published words that say more than some of them. */
export const pickupStatuses = [
  "Accepted",
  "Rejected",
  "Call us",
  "Rescheduled",
  "En Route",
  "Arrived",
  "Re-Attempt",
  "Departed",
  "Cancelled",
  "Departed with Exact Match",
  "Departed with Shipments",
  "Departed with No Freight",
  "Departed with Exceptions",
  "Pickup Rescheduled",
  "Pickup Cancelled"
] as const

export type PickupStatus = typeof pickupStatuses[number]

/** An integer where nothing is lost by it, else text: `02134` and `A1A 1A1` stay as they are. */
export type NumberOrText = number | string

export interface PickupInformationCode {
  readonly code: NumberOrText | null
  /** The status, while there is no code. */
  readonly codeDescription: string
  readonly subCode: NumberOrText | null
  readonly subCodeDescription: string | null
}

export interface PickupEquipment {
  readonly driverName: string | null
  readonly trailerNumber: string | null
  readonly gpsCoordinates: { readonly latitude: number | null; readonly longitude: number | null } | null
  /** 3, 2 or 1; `null` while it is further. */
  readonly stopsAway: number | null
}

export interface VisibleShipment {
  readonly proNumber: NumberOrText | null
  readonly destinationPostalCode: NumberOrText | null
  readonly destinationCountry: string | null
  readonly handlingUnitQuantity: number | null
  readonly weight: number | null
  readonly referenceNumbers: ReadonlyArray<{ readonly referenceType: string | null; readonly referenceValue: string | null }> | null
}

export interface PickupVisibility {
  readonly pickupConfirmationId: NumberOrText
  readonly status: OpenList<PickupStatus>
  readonly informationCode: PickupInformationCode
  /** What the clocks of the location show, without a zone of its own: do not parse it as UTC. */
  readonly stopEta: string | null
  /** `UTC-5`, `UTC+5:30`. */
  readonly stopEtaTimeZone: string | null
  readonly equipmentInformation: PickupEquipment | null
  readonly shipmentArray: ReadonlyArray<VisibleShipment>
}
