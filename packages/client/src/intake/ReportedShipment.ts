/** Shipments and what happens to them, as the carrier's own system hands them in and reads them back. */
import type { OpenList } from "../shared/OpenList.ts"
import type { ReferenceNumbers, TerminalInfo } from "../shipment-status/FreightShapes.ts"
import type { DeliveryInformation, DeliveryMessage, NotifiedTerminalStatus, TerminalType } from "../shipment-status/StatusNotification.ts"
import type { Milestone, VerifiedShipment } from "../shipment-status/TrackedShipment.ts"
import type { StatusOutcome } from "./IntakeReport.ts"

type Described = Pick<
  VerifiedShipment,
  | "ProNumber" | "UniqueID" | "PayType" | "ShipType" | "PickupAddress" | "BillToAddress" | "BillToAccountNumber" | "ConsigneeAddress"
  | "GrossWeight" | "EstimatedStandardDay" | "EstimatedDeliveryDate"
>

/** What nobody knows yet may be left out, or be `null`. */
type Unknown<A> = { readonly [Member in keyof A]?: A[Member] | null }

type Moving = Omit<VerifiedShipment, keyof Described | "ReferenceNumbers" | "ShipmentMilestoneStatus" | "ShipmentTerminalInfo">

/** Known by `shipmentId`. Handed in again, it replaces what was said of the shipment before. */
export interface ReportedShipment extends Described, Unknown<Moving> {
  readonly shipmentId: string
  /** Who may see it; left out, that stays as it is. */
  readonly accounts?: ReadonlyArray<string>
  /** Whose it is, where a tenant has several carriers; left out, that stays as it is. A key with a number may name its own only. */
  readonly carrier?: { readonly dot?: string; readonly mc?: string; readonly scac?: string }
  /** Further numbers; those of type PRO, BOL and PO find the shipment as well. */
  readonly references?: ReadonlyArray<{ readonly type: string; readonly value: string }>
  readonly pickupDate?: string | null
  /** When the status was as it is said here. */
  readonly occurredAt?: string
  readonly ReferenceNumbers?: Partial<ReferenceNumbers> | null
  /** Lookups find the shipment from its first milestone on. */
  readonly ShipmentMilestoneStatus?: Milestone | null
  readonly ShipmentTerminalInfo?: Partial<TerminalInfo> | null
}

interface ReportedOfShipment {
  /** This or `proNumber` names the shipment. */
  readonly shipmentId?: string
  readonly proNumber?: string
  /** RFC 3339 with an offset. Left out, it happened now. */
  readonly occurredAt?: string
  /**
   * Your own id: the same again is a duplicate. Left out, the content makes it the same; what may happen twice in the same
   * words needs an id or `occurredAt`.
   */
  readonly updateId?: string
  readonly TimeZoneOfShipment?: string | null
  readonly UpdatedETA?: string | null
  /** For people; made from the facts when it is left out. */
  readonly notificationMessage?: string | null
  readonly terminalStatus?: NotifiedTerminalStatus
}

/** What becomes a delivery update. */
export interface ReportedMovement extends ReportedOfShipment {
  readonly shipmentMilestoneStatus: Milestone
  readonly terminaltype?: TerminalType
  readonly terminalAddress?: Partial<TerminalInfo> | null
  readonly trailerNumber?: string | null
  /** Stops remaining; only when out for delivery. */
  readonly countsToDelivery?: number | null
  readonly UpdatedPro?: string | null
  readonly PartnerCarrierName?: string | null
  readonly PartnerCarrierSCAC?: string | null
}

type Informing = Omit<
  DeliveryInformation,
  "proNumber" | "shipmentReferenceNumbers" | "deliveryInformation_messages" | "TimeZoneOfShipment" | "UpdatedETA" | "terminalStatus"
>

/** What becomes a delivery information. */
export interface ReportedInformation extends ReportedOfShipment, Informing {
  readonly deliveryInformation_messages: DeliveryMessage
}

export type ReportedStatus = ReportedMovement | ReportedInformation

/** What one report made of a shipment. */
export interface StatusHistory {
  /** Counts the reports in the order they came. */
  readonly position: number
  readonly occurredAt: string
  readonly outcome: OpenList<StatusOutcome>
  /** What it said, as it was understood. */
  readonly report: Readonly<Record<string, unknown>>
}

/** All that is known of a shipment. */
export interface ShipmentRecord {
  readonly shipmentId: string
  /** Who may see it. */
  readonly accounts: ReadonlyArray<string>
  /** Whose it is, where somebody said it: numbers without prefix, separators and leading zeros. */
  readonly carrier: { readonly dot?: string; readonly mc?: string; readonly scac?: string } | null
  /** Whether lookups find it: its first milestone is known. */
  readonly covered: boolean
  /** What lookups answer; without a milestone before it is covered. */
  readonly shipment: Omit<VerifiedShipment, "ShipmentMilestoneStatus"> & Partial<Pick<VerifiedShipment, "ShipmentMilestoneStatus">>
  readonly history: ReadonlyArray<StatusHistory>
}
