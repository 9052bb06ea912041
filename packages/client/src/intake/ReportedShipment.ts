/** Shipments and status reports that the carrier's system publishes, and the shipment record it reads back. */
import type { OpenList, Unknown } from "../shared/OpenList.ts"
import type { ReferenceNumbers, TerminalInfo } from "../shipment-status/FreightShapes.ts"
import type { DeliveryInformation, DeliveryMessage, DeliveryUpdate, NotifiedTerminalStatus, TerminalType } from "../shipment-status/StatusNotification.ts"
import type { Milestone, VerifiedShipment } from "../shipment-status/TrackedShipment.ts"
import type { StatusOutcome } from "./IntakeReport.ts"

type Described = Pick<
  VerifiedShipment,
  | "ProNumber" | "UniqueID" | "PayType" | "ShipType" | "PickupAddress" | "BillToAddress" | "BillToAccountNumber" | "ConsigneeAddress"
  | "GrossWeight" | "EstimatedStandardDay" | "EstimatedDeliveryDate"
>

type Moving = Omit<VerifiedShipment, keyof Described | "ReferenceNumbers" | "ShipmentMilestoneStatus" | "ShipmentTerminalInfo">

/** Identified by `shipmentId`. Registering it again replaces what was registered before. */
export interface ReportedShipment extends Described, Unknown<Moving> {
  readonly shipmentId: string
  /** Accounts that have access; left out, they stay unchanged. */
  readonly accounts?: ReadonlyArray<string>
  /** The carrier, where a tenant has several; left out, it stays unchanged. A key with a carrier number may name only its own. */
  readonly carrier?: { readonly dot?: string; readonly mc?: string; readonly scac?: string }
  /** Further numbers. Lookups find the shipment by those of type PRO, BOL and PO. */
  readonly references?: ReadonlyArray<{ readonly type: string; readonly value: string }>
  readonly pickupDate?: string | null
  /** When the shipment was in this state. */
  readonly occurredAt?: string
  readonly ReferenceNumbers?: Partial<ReferenceNumbers> | null
  /** Lookups find the shipment once it has a milestone. */
  readonly ShipmentMilestoneStatus?: Milestone | null
  readonly ShipmentTerminalInfo?: Partial<TerminalInfo> | null
}

interface ReportedOfShipment {
  /** Give `shipmentId` or `proNumber` to identify the shipment. */
  readonly shipmentId?: string
  readonly proNumber?: string
  /** RFC 3339 with an offset. Default: now. */
  readonly occurredAt?: string
  /**
   * Your own id, which makes a repeated report a duplicate. Without it, equal content is a duplicate: give an id or
   * `occurredAt` to updates that may happen twice in the same words.
   */
  readonly updateId?: string
  readonly TimeZoneOfShipment?: string | null
  readonly UpdatedETA?: string | null
  /** Text for people. Default: generated from the other fields. */
  readonly notificationMessage?: string | null
  readonly terminalStatus?: NotifiedTerminalStatus
}

/** A report that becomes a delivery update. */
export interface ReportedMovement extends ReportedOfShipment, Pick<DeliveryUpdate, "trailerNumber" | "UpdatedPro" | "PartnerCarrierName" | "PartnerCarrierSCAC"> {
  readonly shipmentMilestoneStatus: Milestone
  readonly terminaltype?: TerminalType
  readonly terminalAddress?: Partial<TerminalInfo> | null
  /** Stops remaining; only with the milestone Out for Delivery. */
  readonly countsToDelivery?: number | null
}

type Informing = Omit<
  DeliveryInformation,
  "proNumber" | "shipmentReferenceNumbers" | "deliveryInformation_messages" | "TimeZoneOfShipment" | "UpdatedETA" | "terminalStatus"
>

/** A report that becomes a delivery information. */
export interface ReportedInformation extends ReportedOfShipment, Informing {
  readonly deliveryInformation_messages: DeliveryMessage
}

/** One item of `POST /intake/v1/status-updates`: a delivery update or a delivery information of area A. */
export type ReportedStatus = ReportedMovement | ReportedInformation

/** One report and its effect on the shipment. */
export interface StatusHistory {
  /** Position in the history, in order of arrival. */
  readonly position: number
  readonly occurredAt: string
  readonly outcome: OpenList<StatusOutcome>
  /** The report as the service read it. */
  readonly report: Readonly<Record<string, unknown>>
}

/** Everything known about a shipment. */
export interface ShipmentRecord {
  readonly shipmentId: string
  /** Accounts that have access. */
  readonly accounts: ReadonlyArray<string>
  /** The carrier, if it was given: numbers without prefix, separators and leading zeros. */
  readonly carrier: { readonly dot?: string; readonly mc?: string; readonly scac?: string } | null
  /** Whether lookups find it: true once it has a milestone. */
  readonly covered: boolean
  /** The fields that lookups return. Without a milestone until it is covered. */
  readonly shipment: Omit<VerifiedShipment, "ShipmentMilestoneStatus"> & Partial<Pick<VerifiedShipment, "ShipmentMilestoneStatus">>
  readonly history: ReadonlyArray<StatusHistory>
}
