/** Notifications to a shipment's subscribers: one of two published shapes, in the published spelling. SPEC-GAP-A28 */
import { Schema } from "effect"
import { nullish } from "../../shared/Members.ts"
import {
  AppointmentChange,
  CustomsStatus,
  DelayReasonCode,
  DeliveryMessage,
  NotifiedTerminalStatus,
  ShipmentMilestoneStatus,
  TerminalType
} from "./CodeLists.ts"
import { CustomsAgentBroker, DateOrInstant, plainText, ReferenceNumbers, TerminalInfo, UtcOffset } from "./FreightShapes.ts"

const nullable = (maxLength: number) => nullish(plainText(maxLength))

/** A physical movement. */
export const DeliveryUpdate = Schema.Struct({
  proNumber: plainText(100),
  shipmentReferenceNumbers: ReferenceNumbers,
  shipmentMilestoneStatus: ShipmentMilestoneStatus,
  TimeZoneOfShipment: Schema.NullOr(UtcOffset),
  UpdatedETA: DateOrInstant,
  notificationMessage: plainText(2000),
  terminalStatus: Schema.optionalKey(NotifiedTerminalStatus),
  terminaltype: Schema.optionalKey(TerminalType),
  terminalAddress: Schema.optionalKey(TerminalInfo),
  trailerNumber: nullable(100),
  /** Remaining stops: 3, 2, 1. Each is notified once. */
  countsToDelivery: Schema.optionalKey(Schema.Literals([3, 2, 1])),
  UpdatedPro: nullable(100),
  PartnerCarrierName: nullable(200),
  PartnerCarrierSCAC: nullable(20)
}).annotate({ identifier: "DeliveryUpdate" })
export type DeliveryUpdate = typeof DeliveryUpdate.Type

/** Fields of a delivery information other than the message. Carrier systems may report them too. */
export const informationFields = {
  delayReasonCode: Schema.optionalKey(DelayReasonCode),
  appointmentDate: Schema.optionalKey(DateOrInstant),
  appointmentStatus: Schema.optionalKey(AppointmentChange),
  utcOffset: Schema.optionalKey(UtcOffset),
  terminalStatus: Schema.optionalKey(NotifiedTerminalStatus),
  responsibleParty: Schema.optionalKey(plainText(200)),
  majorStatusCategory: Schema.optionalKey(plainText(200)),
  generalDescription: Schema.optionalKey(plainText(1000)),
  carrierSpecificDescription: Schema.optionalKey(plainText(1000)),
  customsAgent: Schema.optionalKey(CustomsAgentBroker),
  customsStatus: nullish(CustomsStatus),
  customsEntryNumber: nullable(100)
}

/** Information that is not a movement. */
export const DeliveryInformation = Schema.Struct({
  proNumber: plainText(100),
  shipmentReferenceNumbers: ReferenceNumbers,
  deliveryInformation_messages: DeliveryMessage,
  TimeZoneOfShipment: nullish(UtcOffset),
  UpdatedETA: Schema.optionalKey(DateOrInstant),
  ...informationFields
}).annotate({ identifier: "DeliveryInformation" })
export type DeliveryInformation = typeof DeliveryInformation.Type

/** Body of a status webhook (area A): one of two shapes, told apart by `shipmentMilestoneStatus`. */
export const StatusNotification = Schema.Union([DeliveryUpdate, DeliveryInformation])
export type StatusNotification = DeliveryUpdate | DeliveryInformation

/** The name of a notification: its message, or its milestone and terminal status. */
export const wordOf = (notification: StatusNotification): string =>
  "deliveryInformation_messages" in notification
    ? notification.deliveryInformation_messages
    : [notification.shipmentMilestoneStatus, ...(notification.terminalStatus === undefined ? [] : [notification.terminalStatus])].join(", ")
