/** What followers of a shipment are told: a delivery update or a delivery information (area A). */
import type { OpenList } from "../shared/OpenList.ts"
import { BodyMalformed, checksOf } from "../shared/ReceivedJson.ts"
import type { CustomsAgentBroker, ReferenceNumbers, TerminalInfo, TerminalStatus } from "./FreightShapes.ts"
import type { Milestone } from "./TrackedShipment.ts"

/** What happened at a terminal, or to the freight itself. */
export type NotifiedTerminalStatus = TerminalStatus | "Damaged" | "Short" | "Lost" | "Reconsigned"

export type TerminalType = "origin" | "intermediate" | "delivery" | "interline"

/** Physical movement. */
export interface DeliveryUpdate {
  readonly proNumber: string
  readonly shipmentReferenceNumbers: ReferenceNumbers
  readonly shipmentMilestoneStatus: OpenList<Milestone>
  /** UTC offset of where it is, such as `-6`. */
  readonly TimeZoneOfShipment: string | null
  /** A date, or a date-time with its offset. */
  readonly UpdatedETA: string
  /** For people. */
  readonly notificationMessage: string
  readonly terminalStatus?: OpenList<NotifiedTerminalStatus>
  readonly terminaltype?: OpenList<TerminalType>
  readonly terminalAddress?: TerminalInfo
  readonly trailerNumber?: string | null
  /** Stops remaining when out for delivery: 3, 2, 1. */
  readonly countsToDelivery?: number
  readonly UpdatedPro?: string | null
  readonly PartnerCarrierName?: string | null
  readonly PartnerCarrierSCAC?: string | null
}

/** The published messages of a delivery information, in published order. */
export const deliveryMessages = [
  "POD available",
  "Noted late",
  "Accessorial added",
  "Noted reweigh",
  "Appointment Update",
  "Missed delivery",
  "Customs information"
] as const

export type DeliveryMessage = typeof deliveryMessages[number]

export type AppointmentChange = "appointment scheduled" | "appointment rescheduled" | "appointment missed"
export type CustomsStatus = "Broker Identified" | "Bond" | "Hold" | "Cleared Customs"

/** Something to know that is no movement. */
export interface DeliveryInformation {
  readonly proNumber: string
  readonly shipmentReferenceNumbers: ReferenceNumbers
  readonly deliveryInformation_messages: OpenList<DeliveryMessage>
  readonly TimeZoneOfShipment?: string | null
  readonly UpdatedETA?: string
  /** `<basic>-<sub>`, such as `310-2`; the second number may be the carrier's own. */
  readonly delayReasonCode?: string
  readonly appointmentDate?: string
  readonly appointmentStatus?: OpenList<AppointmentChange>
  readonly utcOffset?: string
  readonly terminalStatus?: OpenList<NotifiedTerminalStatus>
  readonly responsibleParty?: string
  readonly majorStatusCategory?: string
  readonly generalDescription?: string
  readonly carrierSpecificDescription?: string
  readonly customsAgent?: CustomsAgentBroker
  readonly customsStatus?: OpenList<CustomsStatus> | null
  readonly customsEntryNumber?: string | null
}

export type StatusNotification = DeliveryUpdate | DeliveryInformation

/** Whether a notification tells of movement; otherwise it is a `DeliveryInformation`. */
export const isDeliveryUpdate = (notification: StatusNotification): notification is DeliveryUpdate =>
  !("deliveryInformation_messages" in notification)

/** The bytes are no notification. `pointer` says where. */
export class StatusNotificationMalformed extends BodyMalformed {
  override readonly name = "StatusNotificationMalformed"
}

const { json, object, text } = checksOf(StatusNotificationMalformed)

/**
 * Reads a delivery's body.
 *
 * Checks what a receiver relies on: which shipment, and what is said of it. Anything else is passed on as it came, with
 * fields and values this version has not heard of.
 */
export const parseStatusNotification = (body: Uint8Array): StatusNotification => checkStatusNotification(json(body))

/** The same, of JSON that was parsed already. */
export const checkStatusNotification = (body: unknown): StatusNotification => {
  const notification = object("", body)
  text("/proNumber", notification["proNumber"])
  object("/shipmentReferenceNumbers", notification["shipmentReferenceNumbers"])
  const said = Object.hasOwn(notification, "deliveryInformation_messages") ? "deliveryInformation_messages" : "shipmentMilestoneStatus"
  text(`/${said}`, notification[said])
  return notification as unknown as StatusNotification
}
