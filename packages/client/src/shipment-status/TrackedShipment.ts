/** State of a shipment, as lookups return it (area A). */
import type { OpenList } from "../shared/OpenList.ts"
import type {
  Commodity,
  HandlingUnit,
  ReferenceNumbers,
  StandardAddress,
  TerminalInfo,
  TimeCriticalInfo
} from "./FreightShapes.ts"

/** The published milestones, in chronological order. */
export const milestones = ["Picked-up", "In Transit", "Interline", "Out for Delivery", "Delivered"] as const

/** How far a shipment is, from `Picked-up` to `Delivered`. */
export type Milestone = typeof milestones[number]

/** What the date of a time-critical shipment means. */
export type TimeCriticalType = "Deliver On Date" | "Deliver On or After Date" | "Deliver By Date" | "Delivery Window"

/** State of the delivery appointment. */
export type AppointmentStatus = "Requested" | "Secured" | "Missed"

/** Where a shipment is in customs, as lookups say it. */
export type CrossBorderStatus = "Bond" | "Hold" | "ClearedCustoms"

/** Public fields of a shipment. */
export interface PublicShipment {
  readonly ProNumber: string
  readonly ShipmentMilestoneStatus: OpenList<Milestone>
  /** Expected delivery: a date, or a date-time with its offset. */
  readonly UpdatedETA: string
  /** Days in transit. */
  readonly EstimatedStandardDay: number
}

/** All fields, for callers with access to the shipment. Unknown values are `null`. */
export interface VerifiedShipment extends PublicShipment {
  readonly ReferenceNumbers: ReferenceNumbers
  readonly UniqueID: string
  /** The new PRO after a reconsignment, or the partner carrier's PRO. */
  readonly UpdatedPro: string | null
  /** Such as `Prepaid`. */
  readonly PayType: string
  /** The payer: `Shipper`, `Consignee` or `Third Party`. */
  readonly ShipType: string
  readonly PickupAddress: StandardAddress
  readonly BillToAddress: StandardAddress
  readonly BillToAccountNumber: string
  readonly ConsigneeAddress: StandardAddress
  /** Codes of the requested services. */
  readonly DESaccessorial: ReadonlyArray<string> | null
  /** Such as `Farm-87`. */
  readonly DESLimitedAccess: string | null
  readonly TimeCriticalType: OpenList<TimeCriticalType> | null
  readonly TimeCriticalInfo: TimeCriticalInfo
  /** Pounds, for the whole shipment. */
  readonly GrossWeight: number
  /** One or several, as the carrier sent them. */
  readonly Commodities?: Commodity | ReadonlyArray<Commodity>
  readonly HandlingUnits?: HandlingUnit | ReadonlyArray<HandlingUnit>
  /** Current location. */
  readonly ShipmentLocation?: StandardAddress
  /** Text of the carrier. */
  readonly ShipmentMilestoneStatusLong: string | null
  readonly ShipmentTerminalInfo: TerminalInfo
  /** UTC offset at the shipment's location, such as `-6`. */
  readonly TimeZoneOfShipment: string | null
  /** Original estimate: a date, or a date-time with its offset. */
  readonly EstimatedDeliveryDate: string
  /** Stops before the delivery: 3, 2 or 1. */
  readonly OFDStopsAway?: number | null
  readonly Reconsignment: boolean | null
  readonly ShipmentShortage: boolean | null
  readonly ShipmentDamage: boolean | null
  readonly AllShortOrLostShipment: boolean | null
  readonly Late: boolean | null
  /** Present when `Late`, such as `310-2`. */
  readonly DelayReasonCode?: string | null
  readonly AppointmentRequired: boolean | null
  readonly AppointmentStatus?: OpenList<AppointmentStatus> | null
  readonly AppointmentDate?: string | null
  /** Present when the milestone is Interline. */
  readonly PartnerCarrierName?: string | null
  readonly PartnerCarrierSCAC?: string | null
  readonly CrossBorder: boolean | null
  /** Present when `CrossBorder`. */
  readonly CrossBorderStatus?: OpenList<CrossBorderStatus> | null
  readonly CrossBorderEntryNumber?: string | null
  readonly PODAvailable?: boolean | null
}
