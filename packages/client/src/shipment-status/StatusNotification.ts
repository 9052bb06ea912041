/** Notifications about a shipment: delivery updates and delivery information (area A). */
import type { OpenList } from "../shared/OpenList.ts"
import { BodyMalformed, checksOf } from "../shared/ReceivedJson.ts"
import type { CustomsAgentBroker, ReferenceNumbers, TerminalInfo, TerminalStatus } from "./FreightShapes.ts"
import type { Milestone } from "./TrackedShipment.ts"

/** A status at a terminal, or of the freight itself. */
export type NotifiedTerminalStatus = TerminalStatus | "Damaged" | "Short" | "Lost" | "Reconsigned"

/** The role of a terminal on the way. */
export type TerminalType = "origin" | "intermediate" | "delivery" | "interline"

/** A physical movement. */
export interface DeliveryUpdate {
  readonly proNumber: string
  readonly shipmentReferenceNumbers: ReferenceNumbers
  readonly shipmentMilestoneStatus: OpenList<Milestone>
  /** UTC offset at the shipment's location, such as `-6`. */
  readonly TimeZoneOfShipment: string | null
  /** A date, or a date-time with its offset. */
  readonly UpdatedETA: string
  /** Text for people. */
  readonly notificationMessage: string
  readonly terminalStatus?: OpenList<NotifiedTerminalStatus>
  readonly terminaltype?: OpenList<TerminalType>
  readonly terminalAddress?: TerminalInfo
  readonly trailerNumber?: string | null
  /** Stops remaining when out for delivery: 3, 2 or 1. */
  readonly countsToDelivery?: number
  readonly UpdatedPro?: string | null
  readonly PartnerCarrierName?: string | null
  readonly PartnerCarrierSCAC?: string | null
}

/** The published messages of delivery information, in published order. */
export const deliveryMessages = [
  "POD available",
  "Noted late",
  "Accessorial added",
  "Noted reweigh",
  "Appointment Update",
  "Missed delivery",
  "Customs information"
] as const

/** A message of the published list for delivery information. */
export type DeliveryMessage = typeof deliveryMessages[number]

/** What changed in the delivery appointment. */
export type AppointmentChange = "appointment scheduled" | "appointment rescheduled" | "appointment missed"

/** Where a shipment is in customs, as notifications say it. */
export type CustomsStatus = "Broker Identified" | "Bond" | "Hold" | "Cleared Customs"

/** Information that is not a movement. */
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

/** One body of area A; `isDeliveryUpdate` tells the two kinds apart. */
export type StatusNotification = DeliveryUpdate | DeliveryInformation

/** Whether a notification is a movement; otherwise it is a `DeliveryInformation`. */
export const isDeliveryUpdate = (notification: StatusNotification): notification is DeliveryUpdate =>
  !("deliveryInformation_messages" in notification)

/** The body is not a notification. `pointer` is the location of the error. */
export class StatusNotificationMalformed extends BodyMalformed {
  override readonly name = "StatusNotificationMalformed"
}

const { json, object, text } = checksOf(StatusNotificationMalformed)

/**
 * Parses the body of a delivery.
 *
 * Checks only what a receiver relies on: the shipment and the status. Everything else passes unchanged, unknown fields
 * and values included.
 */
export const parseStatusNotification = (body: Uint8Array): StatusNotification => checkStatusNotification(json(body))

/** Like `parseStatusNotification`, for a parsed body. */
export const checkStatusNotification = (body: unknown): StatusNotification => {
  const notification = object("", body)
  text("/proNumber", notification["proNumber"])
  object("/shipmentReferenceNumbers", notification["shipmentReferenceNumbers"])
  const member = Object.hasOwn(notification, "deliveryInformation_messages") ? "deliveryInformation_messages" : "shipmentMilestoneStatus"
  text(`/${member}`, notification[member])
  return notification as unknown as StatusNotification
}
