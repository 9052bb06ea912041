/** Where a shipment is: what a lookup answers (area A). */
import type { OpenList } from "../shared/OpenList.ts"
import type {
  Commodity,
  HandlingUnit,
  ReferenceNumbers,
  StandardAddress,
  TerminalInfo,
  TimeCriticalInfo
} from "./FreightShapes.ts"

/** The published milestones, in the order of a journey. */
export const milestones = ["Picked-up", "In Transit", "Interline", "Out for Delivery", "Delivered"] as const

export type Milestone = typeof milestones[number]

export type TimeCriticalType = "Deliver On Date" | "Deliver On or After Date" | "Deliver By Date" | "Delivery Window"
export type AppointmentStatus = "Requested" | "Secured" | "Missed"
export type CrossBorderStatus = "Bond" | "Hold" | "ClearedCustoms"

/** What anybody may know of a shipment. */
export interface PublicShipment {
  readonly ProNumber: string
  readonly ShipmentMilestoneStatus: OpenList<Milestone>
  /** Expected delivery: a date, or a date-time with its offset. */
  readonly UpdatedETA: string
  /** Days in transit. */
  readonly EstimatedStandardDay: number
}

/** Everything, for whoever the shipment belongs to. `null` where nothing is known. */
export interface VerifiedShipment extends PublicShipment {
  readonly ReferenceNumbers: ReferenceNumbers
  readonly UniqueID: string
  /** After a reconsignment, or the partner carrier's. */
  readonly UpdatedPro: string | null
  /** Such as `Prepaid`. */
  readonly PayType: string
  /** Who pays: `Shipper`, `Consignee` or `Third Party`. */
  readonly ShipType: string
  readonly PickupAddress: StandardAddress
  readonly BillToAddress: StandardAddress
  readonly BillToAccountNumber: string
  readonly ConsigneeAddress: StandardAddress
  /** Codes of the services that were asked for. */
  readonly DESaccessorial: ReadonlyArray<string> | null
  /** Such as `Farm-87`. */
  readonly DESLimitedAccess: string | null
  readonly TimeCriticalType: OpenList<TimeCriticalType> | null
  readonly TimeCriticalInfo: TimeCriticalInfo
  /** Pounds, of the whole shipment. */
  readonly GrossWeight: number
  /** One or several, as the carrier gave them. */
  readonly Commodities?: Commodity | ReadonlyArray<Commodity>
  readonly HandlingUnits?: HandlingUnit | ReadonlyArray<HandlingUnit>
  /** Where it is now. */
  readonly ShipmentLocation?: StandardAddress
  /** The carrier's own words. */
  readonly ShipmentMilestoneStatusLong: string | null
  readonly ShipmentTerminalInfo: TerminalInfo
  /** UTC offset of where it is, such as `-6`. */
  readonly TimeZoneOfShipment: string | null
  /** As first expected; a date, or a date-time with its offset. */
  readonly EstimatedDeliveryDate: string
  /** 3, 2 or 1 stops before the delivery. */
  readonly OFDStopsAway?: number | null
  readonly Reconsignment: boolean | null
  readonly ShipmentShortage: boolean | null
  readonly ShipmentDamage: boolean | null
  readonly AllShortOrLostShipment: boolean | null
  readonly Late: boolean | null
  /** There when `Late`, such as `310-2`. */
  readonly DelayReasonCode?: string | null
  readonly AppointmentRequired: boolean | null
  readonly AppointmentStatus?: OpenList<AppointmentStatus> | null
  readonly AppointmentDate?: string | null
  /** There when the milestone is Interline. */
  readonly PartnerCarrierName?: string | null
  readonly PartnerCarrierSCAC?: string | null
  readonly CrossBorder: boolean | null
  /** There when `CrossBorder`. */
  readonly CrossBorderStatus?: OpenList<CrossBorderStatus> | null
  readonly CrossBorderEntryNumber?: string | null
  readonly PODAvailable?: boolean | null
}
