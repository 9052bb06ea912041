/** Pickup reports that the carrier's system publishes, and the pickup record it reads back. */
import type { PageQuery } from "../connection/CursorPages.ts"
import type { PickupRequest } from "../pickups/PickupRequest.ts"
import type { PickupStatus, PickupVisibility } from "../pickups/PickupVisibility.ts"
import type { OpenList, Unknown } from "../shared/OpenList.ts"
import type { DeliveryMetadata, SubscriptionStatus } from "../transit-events/TransitSubscription.ts"

/** A published code needs no description; your own code needs one. */
interface ReportedPickupCode extends Unknown<{ codeDescription: string; subCode: string; subCodeDescription: string }> {
  /** `null` as in a visibility response without a code: the same as no `informationCode`. */
  readonly code: string | null
}

/** A shipment that the driver picked up, as the carrier reports it: part of `shipmentArray` of area C. */
type ReportedPickupShipment = Unknown<{
  readonly proNumber: string
  readonly destinationPostalCode: string
  readonly destinationCountry: string
  readonly handlingUnitQuantity: number
  readonly weight: number
  readonly referenceNumbers: ReadonlyArray<Unknown<{ referenceType: string; referenceValue: string }>>
}>

/** What happened; at least one member. Absent members keep their value. */
export interface ReportedPickup extends
  Unknown<{
    /** The reason; required with Rescheduled, Cancelled and Re-Attempt. */
    readonly informationCode: ReportedPickupCode
    /** When the driver is expected. Without an offset, local time of `stopEtaTimeZone` or of the location. */
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
  /** For a pickup without a number: it was answered with `Call us` and is accepted now. */
  readonly carrierPickupNumber?: string
}

/** Result of a report or a decision on a pickup. */
export interface PickupReported {
  readonly result: "accepted" | "duplicate"
  /** Id of the pickup in the service. */
  readonly pickupId: string
  readonly carrierPickupNumber: string | null
  readonly status: OpenList<PickupStatus>
}

/** An entry in the history of a pickup. */
export interface PickupHistory {
  /** Position in the history, in order of arrival. */
  readonly position: number
  readonly at: string
  readonly what: OpenList<"ordered" | "changed" | "change requested" | "change not accepted" | "decided" | "cancelled" | "reported">
  /** The client that made the entry. */
  readonly by: string
  /** Status after the entry. */
  readonly status: OpenList<PickupStatus>
  /** The carrier's decision. */
  readonly decision?: OpenList<"accept" | "reject" | "callUs">
  readonly messages?: ReadonlyArray<string>
  readonly request?: PickupRequest
  /** The report as the service read it. */
  readonly report?: unknown
}

/** Everything known about a pickup. */
export interface PickupRecord {
  /** Id of the pickup in the service. */
  readonly pickupId: string
  readonly carrierPickupNumber: string | null
  readonly isTest: boolean
  /** The client that ordered it. */
  readonly client: string
  /** Accounts that have access besides the client. */
  readonly accounts: ReadonlyArray<string>
  /** The carrier that decided on the pickup, where a tenant has several. */
  readonly carrier: { readonly dot?: string; readonly mc?: string } | null
  readonly createdAt: string
  /** The request that waits for your decision: the order, or a change of it. */
  readonly waiting: PickupRequest | null
  readonly request: PickupRequest
  /** `pickupConfirmationId` is empty until the pickup has a number. */
  readonly visibility: PickupVisibility
  readonly history: ReadonlyArray<PickupHistory>
}

/** A subscription of the carrier to the changes of pickups. */
export interface PickupSubscriptionCreate {
  readonly topics: readonly ["pickups"]
  readonly endpointUrl: string
  readonly hmacSecretId: string
  readonly delivery?: DeliveryMetadata
}

/** A carrier's subscription to the changes of pickups. */
export interface PickupSubscription extends Omit<PickupSubscriptionCreate, "topics"> {
  readonly id: string
  readonly topics: ReadonlyArray<OpenList<"pickups">>
  readonly createdAt: string
  readonly updatedAt: string
  readonly status: OpenList<SubscriptionStatus>
}

/** Changes only its members; `null` resets `delivery` to the default. */
export interface PickupSubscriptionPatch extends Partial<Omit<PickupSubscriptionCreate, "delivery">> {
  readonly delivery?: DeliveryMetadata | null
  readonly status?: SubscriptionStatus
}

/** A page of the caller's subscriptions to pickups, by id. `nextCursor` is `null` on the last one. */
export interface PickupSubscriptionsPage {
  readonly data: ReadonlyArray<PickupSubscription>
  readonly nextCursor: string | null
}

/** Your decision on a pickup that waits. */
export interface PickupDecision extends
  Unknown<{
    /** Only with `accept`: becomes the carrierPickupNumber. If left out, the service issues one. */
    readonly confirmationNumber: string
    readonly scac: string
    readonly carrierName: string
    /** For the shipper. */
    readonly message: string
  }>
{
  /** `call`: the shipper phones you, and you report the result as a status. */
  readonly decision: "accept" | "reject" | "call"
}

/** An entry of the carrier's work list. */
export interface PickupChange {
  readonly at: string
  readonly change: OpenList<"ordered" | "changed" | "cancelled" | "decided" | "status">
  /** Id of the pickup in the service, from the order on. */
  readonly pickupId: string
  /** The carrierPickupNumber; `null` until there is one. */
  readonly confirmationNumber: string | null
  /** Status after the change. */
  readonly status: OpenList<PickupStatus>
  readonly request: PickupRequest
}

/** Which part of the work list to read: `GET /intake/v1/pickups`. */
export interface PickupChangeQuery extends PageQuery {
  /** Where a list without cursor starts. */
  readonly since?: string | Date | undefined
  /** The present status of the pickup. */
  readonly status?: PickupStatus | undefined
}

/** A page of the work list, oldest change first. */
export interface PickupChanges {
  readonly data: ReadonlyArray<PickupChange>
  /** Always present: use it later to get newer changes. */
  readonly nextCursor: string
}
