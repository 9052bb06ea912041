/** Published code lists of shipment status. Closed lists refuse unknown codes; open lists accept new codes of a known form. SPEC-GAP-A25 */
import { Schema } from "effect"

/** `identifier` differs from those of other lists by more than case, because code generators write a file for each. `member` names the value in messages. */
const closed = <const L extends ReadonlyArray<string>>(identifier: string, member: string, values: L) =>
  Schema.Literals(values).annotate({ identifier, message: `${member} is one of ${values.join(", ")}.` })

/** Values of `ShipmentMilestoneStatus` (area A), in their usual order. */
export const milestones = ["Picked-up", "In Transit", "Interline", "Out for Delivery", "Delivered"] as const
/** One of `milestones`. */
export const ShipmentMilestoneStatus = closed("ShipmentMilestoneStatus", "ShipmentMilestoneStatus", milestones)
/** One of `milestones`. */
export type Milestone = typeof ShipmentMilestoneStatus.Type

/** Events at a terminal. */
export const terminalStatuses = ["Arrived", "Unloaded", "Loaded", "Departed"] as const
/** What happened at a terminal, in `ShipmentTerminalInfo`. */
export const TerminalStatus = closed("TerminalStatus", "TerminalStatus", terminalStatuses)
export type TerminalStatus = typeof TerminalStatus.Type

/** Exceptions of the freight itself. Once reported, they stay. */
export const freightExceptions = ["Damaged", "Short", "Lost", "Reconsigned"] as const
/** Damage, shortage, loss or reconsignment, in `terminalStatus` of notifications. */
export type FreightException = (typeof freightExceptions)[number]

/** `terminalStatus` of a notification: at a terminal, or an exception. */
export const NotifiedTerminalStatus = closed("NotifiedTerminalStatus", "terminalStatus", [...terminalStatuses, ...freightExceptions] as const)

/** `terminaltype` of a delivery update. */
export const TerminalType = closed("TerminalType", "terminaltype", ["origin", "intermediate", "delivery", "interline"] as const)
export type TerminalType = typeof TerminalType.Type

/** `AppointmentStatus` of a verified shipment. Notifications have `AppointmentChange`. */
export const AppointmentStatus = closed("AppointmentStatus", "AppointmentStatus", ["Requested", "Secured", "Missed"] as const)

/** Values of `appointmentStatus` of a notification. */
export const appointmentChanges = ["appointment scheduled", "appointment rescheduled", "appointment missed"] as const
/** One of `appointmentChanges`. */
export const AppointmentChange = closed("AppointmentChange", "appointmentStatus", appointmentChanges)
export type AppointmentChange = typeof AppointmentChange.Type

/** `CrossBorderStatus` of a verified shipment. Notifications have `CustomsStatus`. */
export const CrossBorderStatus = closed("CrossBorderStatus", "CrossBorderStatus", ["Bond", "Hold", "ClearedCustoms"] as const)
export type CrossBorderStatus = typeof CrossBorderStatus.Type

/** Values of `customsStatus` of a notification. */
export const customsStatuses = ["Broker Identified", "Bond", "Hold", "Cleared Customs"] as const
/** One of `customsStatuses`. */
export const CustomsStatus = closed("CustomsStatus", "customsStatus", customsStatuses)
export type CustomsStatus = typeof CustomsStatus.Type

/** Values of `deliveryInformation_messages`. */
export const deliveryMessages = [
  "POD available", "Noted late", "Accessorial added", "Noted reweigh", "Appointment Update", "Missed delivery", "Customs information"
] as const
/** One of `deliveryMessages`. */
export const DeliveryMessage = closed("DeliveryMessage", "deliveryInformation_messages", deliveryMessages)
export type DeliveryMessage = typeof DeliveryMessage.Type

/** `TimeCriticalType` of a verified shipment. SPEC-GAP-A25 */
export const TimeCriticalType = closed(
  "TimeCriticalType",
  "TimeCriticalType",
  ["Deliver On Date", "Deliver On or After Date", "Deliver By Date", "Delivery Window"] as const
)

/** `country` of an address. SPEC-GAP-A25 */
export const CountryCode = closed("NorthAmericanCountry", "country", ["USA", "CAN", "MEX"] as const)
/** `weightUnit` of a commodity or handling unit. SPEC-GAP-A25 */
export const WeightUnit = closed("WeightUnit", "weightUnit", ["kg", "lbs"] as const)
/** `dimensionsUnit` of a handling unit. SPEC-GAP-A25 */
export const DimensionsUnit = closed("DimensionsUnit", "dimensionsUnit", ["In", "Ft", "M", "CM"] as const)
/** `nestedOrStacked` of a commodity. SPEC-GAP-A25 */
export const NestedOrStacked = closed("NestedOrStacked", "nestedOrStacked", ["Nested", "Stacked"] as const)
/** `type` of a customs agent. SPEC-GAP-A25 */
export const BrokerType = closed("BrokerType", "type", ["Import", "Export"] as const)

const limitedAccessGroups = [
  "Airport", "Church", "Club", "Construction", "Fair", "Farm", "Hotel", "Mine", "Other", "Park", "Port", "School", "Secure",
  "Storage", "Tradeshow"
]

/** A group, or a group with a number, such as `Farm` or `Farm-87`. Any number of up to three digits is accepted. */
export const LimitedAccessType = Schema.String.check(
  Schema.isPattern(new RegExp(`^(?:${limitedAccessGroups.join("|")})(?:-\\d{1,3})?$`, "u"), {
    message: `A limited access type is one of ${limitedAccessGroups.join(", ")}, with or without a number, such as Farm-87.`
  })
)

/** The published texts of a delay reason code, as notifications contain them. */
export interface DelayReason {
  readonly generalDescription: string
  readonly carrierSpecificDescription: string | undefined
  readonly responsibleParty: string | undefined
  readonly majorStatusCategory: string | undefined
}

const published: Readonly<Record<string, readonly [general: string, specific: string, party: string, category: string]>> = {
  "100-1": ["Success", "Delivered Full and Complete", "No Fault", "Delivery Complete"],
  "100-2": ["Success", "Delivered Full and Complete within Appointment", "No Fault", "Delivery Complete"],
  "200-1": ["Delivery made with exception", "Delivered with superficial damage", "Carrier Action", "Delivery w/ Exception"],
  "200-2": ["Delivery made with exception", "Delivered with noted product damage", "Carrier Action", "Delivery w/ Exception"],
  "200-3": ["Delivery made with exception", "Delivered Short", "Carrier Action", "Delivery w/ Exception"],
  "200-4": ["Delivery made with exception", "Waiting on Inspection", "Shipper Action", "Delivery w/ Exception"],
  "310-1": ["Carrier not able to service", "Area not serviced today", "Carrier Action", "Reschedule"],
  "310-2": ["Carrier not able to service", "Equipment Breakdown", "Carrier Action", "Reschedule"],
  "310-3": ["Carrier not able to service", "Customer request to reschedule", "Shipper Action", "Reschedule"],
  "310-4": ["Carrier not able to service", "Dispatch error", "Carrier Action", "Reschedule"],
  "310-5": ["Carrier not able to service", "Driver cut off", "Carrier Action", "Reschedule"],
  "310-6": ["Carrier not able to service", "End of day", "Carrier Action", "Reschedule"],
  "310-7": ["Carrier not able to service", "Delivery terminal capacity constraint", "Carrier Action", "Reschedule"],
  "310-8": ["Carrier not able to service", "Accident", "Carrier Action", "Reschedule"],
  "310-9": ["Carrier not able to service", "Bad Address Data", "Shipper Action", "Reschedule"],
  "310-10": ["Carrier not able to service", "Hold For Payment", "Shipper Action", "Reschedule"],
  "320-1": ["Appointment Issue", "Need Contact Information", "Shipper Action", "Reschedule"],
  "320-2": ["Appointment Issue", "Need Appointment Number", "Shipper Action", "Reschedule"],
  "320-3": ["Appointment Issue", "Pending consolidation to full trailer", "Shipper Action", "Reschedule"],
  "320-4": ["Appointment Issue", "Left message requesting appointment", "Shipper Action", "Reschedule"],
  "390-1": ["Weather", "Inclement weather", "No Fault", "Reschedule"],
  "390-2": ["Civil Event", "Civil Event", "No Fault", "Reschedule"],
  "330-1": ["Consignee Closed", "Consignee closed - reschedule", "Shipper Action", "Reschedule"],
  "330-2": ["Consignee Closed", "Consignee closed due to holiday (dispatcher)", "Shipper Action", "Reschedule"],
  "330-3": ["Consignee Closed", "Consignee closed due to holiday (driver)", "Shipper Action", "Reschedule"],
  "450-1": ["Duplicate", "Duplicate delivery (dispatcher)", "Shipper Action", "Closed Shipment"],
  "450-2": ["Duplicate", "Duplicate delivery (driver)", "Shipper Action", "Closed Shipment"],
  "400-1": ["Delivery request cancelled", "Consignee closed - cancel", "Shipper Action", "Closed Shipment"],
  "400-2": ["Delivery request cancelled", "Customer request to hold at terminal", "Shipper Action", "Closed Shipment"],
  "400-3": ["Delivery request cancelled", "Customer request to cancel", "Shipper Action", "Closed Shipment"],
  "410-1": ["Carrier not able to service", "Embargo/capacity constraint", "Carrier Action", "Closed Shipment"],
  "410-2": ["Carrier not able to service", "Equipment not available", "Carrier Action", "Closed Shipment"],
  "440-1": ["Prohibited Items", "Prohibited or restricted freight (dispatcher)", "Carrier Action", "Closed Shipment"],
  "440-2": ["Prohibited Items", "Prohibited or restricted freight (driver)", "Carrier Action", "Closed Shipment"],
  "430-1": ["Consignee Closed", "Consignee closed due to strike (dispatcher)", "Shipper Action", "Closed Shipment"],
  "430-2": ["Consignee Closed", "Consignee closed due to strike (driver)", "Shipper Action", "Closed Shipment"],
  "460-1": ["Unable to Access Consignee", "Unable to access delivery location", "Shipper Action", "Closed Shipment"],
  "460-2": ["Unable to Access Consignee", "Unable to contact Consignee for appointment", "Shipper Action", "Closed Shipment"],
  "460-3": ["Unable to Access Consignee", "Refused Delivery", "Shipper Action", "Closed Shipment"]
}

/** The council defines the basic code, each carrier its own sub code from 0 to 999. A basic code with two published texts gets none. */
const basicCodes = new Map<string, string | undefined>()
for (const [code, [general]] of Object.entries(published)) {
  const basic = code.slice(0, 3)
  basicCodes.set(basic, !basicCodes.has(basic) || basicCodes.get(basic) === general ? general : undefined)
}

/** A published basic code, a hyphen and the carrier's sub code from 0 to 999. SPEC-GAP-A25 */
export const DelayReasonCode = Schema.String.annotate({ identifier: "DelayReasonCode" }).check(
  Schema.isPattern(new RegExp(`^(?:${[...basicCodes.keys()].join("|")})-(?:0|[1-9]\\d{0,2})$`, "u"), {
    message: `A delay reason code is <basic>-<sub>: one of ${[...basicCodes.keys()].join(", ")}, a hyphen and a number from 0 to 999, such as 310-2.`
  })
)

/** SPEC-GAP-A12: a late shipment needs a reason. Without one, this code says that the carrier could not service it. */
export const unstatedDelay = "310-0"

/** Looks up a code. For a carrier's own sub code, only the published text of the basic code is known. */
export const delayReason = (code: string): DelayReason | undefined => {
  const known = Object.hasOwn(published, code) ? published[code] : undefined
  if (known !== undefined) {
    const [generalDescription, carrierSpecificDescription, responsibleParty, majorStatusCategory] = known
    return { generalDescription, carrierSpecificDescription, responsibleParty, majorStatusCategory }
  }
  const generalDescription = basicCodes.get(code.slice(0, 3))
  return generalDescription === undefined
    ? undefined
    : { generalDescription, carrierSpecificDescription: undefined, responsibleParty: undefined, majorStatusCategory: undefined }
}

/** The delay reason codes that are published. Carriers may use other sub codes. */
export const delayReasonCodes: ReadonlyArray<string> = Object.keys(published)
