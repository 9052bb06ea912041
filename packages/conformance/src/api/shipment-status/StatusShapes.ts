/** Shapes and calls of area A, as strict as the interface: members that it types by a name without a shape are any object, or `null` where the published file says so. */
import { AppointmentChange, CustomsStatus, DeliveryMessage, NotifiedTerminalStatus, ShipmentMilestoneStatus, TerminalType } from "@waybill/core/shipment-status"
import { Schema } from "effect"
import type { Post } from "../Callback.ts"
import { DateText, jsonOf, optional, orNull, read } from "../Expectations.ts"
import type { KnownShipment } from "../Fixtures.ts"

const named = Schema.Record(Schema.String, Schema.Unknown)
const text = Schema.String
const flag = orNull(Schema.Boolean)
const maybeText = optional(orNull(text))

export const PublicShipment = Schema.Struct({
  ProNumber: text,
  ShipmentMilestoneStatus,
  UpdatedETA: DateText,
  EstimatedStandardDay: Schema.Int
})

/** The members of the public answer. */
export const publicMembers = Object.keys(PublicShipment.fields)

export const VerifiedShipment = Schema.Struct({
  ProNumber: text,
  ReferenceNumbers: named,
  UniqueID: text,
  UpdatedPro: orNull(text),
  PayType: text,
  ShipType: text,
  PickupAddress: named,
  BillToAddress: named,
  BillToAccountNumber: text,
  ConsigneeAddress: named,
  DESaccessorial: orNull(Schema.Array(orNull(text))),
  DESLimitedAccess: orNull(text),
  TimeCriticalType: orNull(text),
  TimeCriticalInfo: named,
  GrossWeight: Schema.Finite,
  ShipmentMilestoneStatus,
  ShipmentMilestoneStatusLong: orNull(text),
  ShipmentTerminalInfo: orNull(named),
  TimeZoneOfShipment: orNull(text),
  UpdatedETA: DateText,
  EstimatedStandardDay: Schema.Int,
  EstimatedDeliveryDate: DateText,
  OFDStopsAway: optional(orNull(Schema.Int)),
  Reconsignment: flag,
  ShipmentShortage: flag,
  ShipmentDamage: flag,
  AllShortOrLostShipment: flag,
  Late: flag,
  DelayReasonCode: maybeText,
  AppointmentRequired: flag,
  AppointmentStatus: optional(orNull(Schema.Literals(["Requested", "Secured", "Missed"]))),
  AppointmentDate: optional(orNull(DateText)),
  PartnerCarrierName: maybeText,
  PartnerCarrierSCAC: maybeText,
  CrossBorder: flag,
  CrossBorderStatus: optional(orNull(Schema.Literals(["Bond", "Hold", "ClearedCustoms"]))),
  CrossBorderEntryNumber: maybeText,
  PODAvailable: optional(flag)
})

/** One shipment, or a list of them: the interface does not say which. */
export const ShipmentsInRange = Schema.Union([Schema.Array(VerifiedShipment), VerifiedShipment])

export const SubscriptionResult = Schema.Struct({ message: text, transactionId: Schema.Union([text, Schema.Int]) })

const DeliveryUpdate = Schema.Struct({
  proNumber: text,
  shipmentReferenceNumbers: named,
  shipmentMilestoneStatus: ShipmentMilestoneStatus,
  TimeZoneOfShipment: orNull(text),
  UpdatedETA: DateText,
  notificationMessage: text,
  terminalStatus: optional(NotifiedTerminalStatus),
  terminaltype: optional(TerminalType),
  terminalAddress: optional(orNull(named)),
  trailerNumber: maybeText,
  countsToDelivery: optional(Schema.Int),
  UpdatedPro: maybeText,
  PartnerCarrierName: maybeText,
  PartnerCarrierSCAC: maybeText
})

const DeliveryInformation = Schema.Struct({
  proNumber: text,
  shipmentReferenceNumbers: named,
  deliveryInformation_messages: DeliveryMessage,
  TimeZoneOfShipment: maybeText,
  UpdatedETA: optional(DateText),
  delayReasonCode: optional(text),
  appointmentDate: optional(DateText),
  appointmentStatus: optional(AppointmentChange),
  utcOffset: optional(text),
  terminalStatus: optional(NotifiedTerminalStatus),
  customsAgent: optional(named),
  customsStatus: optional(orNull(CustomsStatus)),
  customsEntryNumber: maybeText
})

export const notificationOf = (post: Post): typeof DeliveryUpdate.Type | typeof DeliveryInformation.Type => {
  const json = jsonOf(post)
  const isInformation = typeof json === "object" && json !== null && "deliveryInformation_messages" in json
  return isInformation ? read(DeliveryInformation, json, "A notification", post) : read(DeliveryUpdate, json, "A notification", post)
}

const segment = encodeURIComponent

/** The three lookups of a shipment. */
export const lookupsOf = (shipment: KnownShipment, form: "verified" | "public") => ({
  pro: `/shipment/pro/${segment(shipment.proNumber)}/${form}`,
  bol: `/shipment/bol/${segment(shipment.bolNumber)}/${segment(shipment.originPostalCode)}/${form}`,
  po: `/shipment/po/${segment(shipment.poNumber)}/${segment(shipment.destinationPostalCode)}/${form}`
})

export const rangePath = (account: string, start: string, end: string): string => `/shipment/po/${segment(account)}/${segment(start)}/${segment(end)}/verified`

/** Letters and digits, as people compare numbers. */
export const comparable = (number: string): string => number.toUpperCase().replaceAll(/[\s-]/gu, "")

const dayMillis = 86_400_000

/** Three days around a day. */
export const around = (day: string): readonly [string, string] => {
  const at = Date.parse(`${day.slice(0, 10)}T00:00:00Z`)
  return [new Date(at - dayMillis).toISOString(), new Date(at + 2 * dayMillis).toISOString()]
}
