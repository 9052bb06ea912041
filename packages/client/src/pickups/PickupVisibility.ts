/** The carrier's response to a pickup request, and the visibility of a pickup (area C). */
import type { OpenList } from "../shared/OpenList.ts"

/** The carrier's answer to an order or a change. */
export interface PickupAnswer {
  /** Your references and PROs from the request. */
  readonly shipperRef: ReadonlyArray<string>
  /** Confirms the pickup; only with `Accept`. */
  readonly carrierPickupNumber: string | null
  /** `Call us`: the carrier has not decided yet; call it. */
  readonly pickupStatus: OpenList<"Accept" | "Reject" | "Call us">
  readonly trailerNumber: string | null
  readonly carrierName: string | null
  readonly routing: string | null
  readonly scac: string | null
  readonly pickupMessage: ReadonlyArray<string>
}

/** At least one; Waybill returns one per request. */
export type PickupAnswers = readonly [PickupAnswer, ...ReadonlyArray<PickupAnswer>]

/** The states of a pickup, including the published, more specific terms for some of them. */
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

/** A status of the published list, such as `En Route`. */
export type PickupStatus = typeof pickupStatuses[number]

/** Why a pickup has its status: a code of the published list, or one of the carrier. */
export interface PickupInformationCode {
  readonly code: string | null
  /** The status, if there is no code. */
  readonly codeDescription: string
  readonly subCode: string | null
  readonly subCodeDescription: string | null
}

/** The driver and the trailer on the way. Coordinates are decimal degrees. */
export interface PickupEquipment {
  readonly driverName: string | null
  readonly trailerNumber: string | null
  readonly gpsCoordinates: { readonly latitude: number | null; readonly longitude: number | null } | null
  /** 3, 2 or 1; `null` when it is further away. */
  readonly stopsAway: number | null
}

/** A shipment that was picked up. */
export interface VisibleShipment {
  readonly proNumber: string | null
  readonly destinationPostalCode: string | null
  readonly destinationCountry: string | null
  readonly handlingUnitQuantity: number | null
  readonly weight: number | null
  readonly referenceNumbers: ReadonlyArray<{ readonly referenceType: string | null; readonly referenceValue: string | null }> | null
}

/** The present state of a pickup: the visibility answer of area C. */
export interface PickupVisibility {
  readonly pickupConfirmationId: string
  readonly status: OpenList<PickupStatus>
  readonly informationCode: PickupInformationCode
  /** Local time of the location, without a zone: do not parse it as UTC. */
  readonly stopEta: string | null
  /** `UTC-5`, `UTC+5:30`. */
  readonly stopEtaTimeZone: string | null
  readonly equipmentInformation: PickupEquipment | null
  readonly shipmentArray: ReadonlyArray<VisibleShipment>
}
