/** What becomes of pickups, as the carrier's own system hands it in and reads it back. */
import type { PickupRequest } from "../pickups/PickupRequest.ts"
import type { PickupStatus, PickupVisibility } from "../pickups/PickupVisibility.ts"
import type { OpenList } from "../shared/OpenList.ts"

/** What nobody knows may be left out, or be `null`. */
type Unknown<A> = { readonly [Member in keyof A]?: A[Member] | null }

/** A published code needs no words; one of your own needs its description. */
export interface ReportedPickupCode extends Unknown<{ codeDescription: string; subCode: string; subCodeDescription: string }> {
  readonly code: string
}

export type ReportedPickupShipment = Unknown<{
  readonly proNumber: string
  readonly destinationPostalCode: string
  readonly destinationCountry: string
  readonly handlingUnitQuantity: number
  readonly weight: number
  readonly referenceNumbers: ReadonlyArray<Unknown<{ referenceType: string; referenceValue: string }>>
}>

/** What happened; at least one member. What is left out stays as it is known. */
export interface ReportedPickup extends
  Unknown<{
    /** Why; needed with Rescheduled, Cancelled and Re-Attempt. */
    readonly informationCode: ReportedPickupCode
    /** When the driver is expected. Without an offset, by the clocks of `stopEtaTimeZone` or of the location. */
    readonly stopEta: string
    readonly stopEtaTimeZone: string
    readonly equipmentInformation: Unknown<{
      readonly driverName: string
      readonly trailerNumber: string
      readonly gpsCoordinates: Unknown<{ latitude: number; longitude: number }>
      readonly stopsAway: number
    }>
    readonly shipmentArray: ReadonlyArray<ReportedPickupShipment>
  }>
{
  readonly status?: PickupStatus
  /** For a pickup that has none yet: it was to call you, and is accepted now. */
  readonly carrierPickupNumber?: string
}

export interface PickupReported {
  readonly result: "accepted" | "duplicate"
  /** The service's own. */
  readonly pickupId: string
  readonly carrierPickupNumber: string | null
  readonly status: OpenList<PickupStatus>
}

export interface PickupHistory {
  /** Counts the entries in the order they came. */
  readonly position: number
  readonly at: string
  readonly what: OpenList<"ordered" | "changed" | "change not accepted" | "cancelled" | "reported">
  /** The client. */
  readonly by: string
  /** Afterwards. */
  readonly status: OpenList<PickupStatus>
  readonly messages?: ReadonlyArray<string>
  readonly request?: PickupRequest
  /** What was reported, as it was understood. */
  readonly report?: unknown
}

/** All that is known of a pickup. */
export interface PickupRecord {
  /** The service's own. */
  readonly pickupId: string
  readonly carrierPickupNumber: string | null
  readonly isTest: boolean
  /** Who ordered it. */
  readonly client: string
  /** Who else may see it. */
  readonly accounts: ReadonlyArray<string>
  /** The one carrier of several that has it, once it decided. */
  readonly carrier: { readonly dot?: string; readonly mc?: string } | null
  readonly createdAt: string
  readonly request: PickupRequest
  /** `pickupConfirmationId` is empty while there is no number. */
  readonly visibility: PickupVisibility
  readonly history: ReadonlyArray<PickupHistory>
}
