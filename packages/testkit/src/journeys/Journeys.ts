/** Nine journeys as data. Each is ordered (C), booked (A), moved (D), charged (E), invoiced and proven (B). */
import { consigneeOf, dateOf, type Freight, laneOf, momentOf } from "./Freight.ts"
import { reasonOf, billed, type EventDetails, happened, documentSteps, pickupSteps, registered } from "./FreightSteps.ts"
import type { JourneyStep } from "./JourneyStep.ts"

type Steps = ReadonlyArray<JourneyStep>

const atOriginTerminal = (freight: Freight, details: EventDetails): EventDetails => ({
  ...details,
  location: laneOf(freight).originTerminal,
  attributes: { terminalType: "origin" }
})

const loaded = (freight: Freight, details: EventDetails = {}): Steps => [
  ...pickupSteps(freight),
  happened("pickup scheduled", -22, freight, "PICKUP_SCHEDULED", details),
  happened("picked up", 0, freight, "PICKED_UP", details),
  happened("arrived at origin terminal", 3, freight, "ARRIVED_AT_TERMINAL", atOriginTerminal(freight, details)),
  billed("bill entered", 6, freight, "created"),
  happened("departed origin terminal", 9, freight, "DEPARTED_TERMINAL", atOriginTerminal(freight, details)),
  happened("on the road", 15, freight, "IN_TRANSIT", details)
]

const atDeliveryTerminal = (freight: Freight, afterHours: number, details: EventDetails = {}): JourneyStep =>
  happened("arrived at delivery terminal", afterHours, freight, "ARRIVED_AT_TERMINAL", {
    ...details,
    location: laneOf(freight).deliveryTerminal,
    attributes: { terminalType: "delivery" }
  })

const outForDelivery = (freight: Freight, afterHours: number, details: EventDetails = {}, name = "out for delivery"): JourneyStep =>
  happened(name, afterHours, freight, "OUT_FOR_DELIVERY", { ...details, attributes: { stopsAway: 3 } })

const handedOver = (freight: Freight, afterHours: number, details: EventDetails = {}): Steps => [
  happened("delivered", afterHours, freight, "DELIVERED", { ...details, location: details.to ?? consigneeOf(freight), attributes: { custody: "consignee" } }),
  happened("proof of delivery", afterHours + 1, freight, "PROOF_OF_DELIVERY", details)
]

const booked = (freight: Freight, changes: Parameters<typeof registered>[3] = {}): JourneyStep => registered("booked", -23, freight, changes)

/** The carrier reweighs the freight, unless the load says that the weight is right. */
const reweighed = (freight: Freight): Steps =>
  freight.load !== undefined && freight.load.reweighed === freight.load.weight
    ? []
    : [billed("reweighed", 12, freight, "updated", { reweighed: true, ...reasonOf("Reweigh", "RWE") })]

const plainLtl = (freight: Freight): Steps => [
  booked(freight),
  ...loaded(freight),
  ...reweighed(freight),
  atDeliveryTerminal(freight, 27),
  outForDelivery(freight, 44),
  ...handedOver(freight, 48),
  ...documentSteps(freight, 50, { reweighed: true })
]

const interline = (freight: Freight): Steps => {
  const { deliveryTerminal, partner } = laneOf(freight)
  const attributes = { custody: "partner", partnerCarrierName: partner.name, partnerCarrierScac: partner.scac }
  return [
    booked(freight),
    ...loaded(freight),
    happened("handed to the partner carrier", 24, freight, "IN_TRANSIT", { location: deliveryTerminal, attributes }),
    happened("arrived at the partner's terminal", 30, freight, "ARRIVED_AT_TERMINAL", { location: deliveryTerminal, attributes: { ...attributes, terminalType: "interline" } }),
    outForDelivery(freight, 44),
    ...handedOver(freight, 48),
    ...documentSteps(freight, 50)
  ]
}

/** The first delivery attempt fails, and the driver comes again the next day. */
const attempted = (freight: Freight, name: string, delayReasonCode: string, generalDescription: string): Steps => {
  const { deliveryTerminal } = laneOf(freight)
  return [
    booked(freight),
    ...loaded(freight),
    atDeliveryTerminal(freight, 27),
    outForDelivery(freight, 44),
    happened(name, 46, freight, "DELIVERY_ATTEMPTED", {
      location: consigneeOf(freight),
      attributes: { delayReasonCode, updatedEta: dateOf(freight, 72), generalDescription }
    }),
    happened("back at delivery terminal", 50, freight, "ARRIVED_AT_TERMINAL", { location: deliveryTerminal, attributes: { terminalType: "delivery" } }),
    billed("redelivery charged", 51, freight, "updated", { extra: redelivery, ...reasonOf("Redelivery", "RDL") }),
    outForDelivery(freight, 68, {}, "out for redelivery"),
    ...handedOver(freight, 72),
    ...documentSteps(freight, 74, { extra: redelivery })
  ]
}

/** Price of services that were not ordered, in dollars. */
const [redelivery, reconsignment, appointment] = [85, 97.5, 32.5]

const refused = (freight: Freight): Steps => attempted(freight, "refused by the consignee", "460-3", "Refused Delivery")

const missed = (freight: Freight): Steps => attempted(freight, "nobody there to take it", "460-1", "Unable to access delivery location")

const damaged = (freight: Freight): Steps => [
  booked(freight),
  ...loaded(freight),
  atDeliveryTerminal(freight, 27),
  happened("noted damaged", 28, freight, "EXCEPTION", { location: laneOf(freight).deliveryTerminal, attributes: { exception: "damaged" } }),
  outForDelivery(freight, 44),
  ...handedOver(freight, 48),
  ...documentSteps(freight, 50, { documents: ["INSP", "IMG"] })
]

const reconsigned = (freight: Freight): Steps => {
  const to = { to: laneOf(freight).otherConsignee }
  return [
    booked(freight),
    ...loaded(freight),
    happened("reconsigned", 20, freight, "EXCEPTION", { ...to, attributes: { exception: "reconsigned" } }),
    registered("booked to the new consignee", 20.5, freight, to),
    billed("reconsignment charged", 21, freight, "updated", { extra: reconsignment, ...reasonOf("Reconsignment", "RCC") }),
    atDeliveryTerminal(freight, 27, to),
    outForDelivery(freight, 44, to),
    ...handedOver(freight, 48, to),
    ...documentSteps(freight, 50, { extra: reconsignment })
  ]
}

const crossBorder = (freight: Freight): Steps => {
  const { borderTerminal, foreignConsignee } = laneOf(freight)
  const to = { to: foreignConsignee }
  const entry = { customsEntryNumber: `ENTRY-${freight.proNumber}` }
  return [
    booked(freight, { ...to, CrossBorder: true, CrossBorderStatus: "Bond" }),
    ...loaded(freight, to),
    happened("held by customs", 20, freight, "CUSTOMS_HOLD", { ...to, location: borderTerminal, attributes: { customsStatus: "Hold", ...entry } }),
    happened("cleared by customs", 26, freight, "CUSTOMS_CLEARED", { ...to, location: borderTerminal, attributes: { customsStatus: "Cleared Customs", ...entry } }),
    outForDelivery(freight, 44, to),
    ...handedOver(freight, 48, to),
    ...documentSteps(freight, 50, { documents: ["COMM"] })
  ]
}

const lateWithAppointment = (freight: Freight): Steps => [
  booked(freight, { AppointmentRequired: true }),
  ...loaded(freight),
  happened("noted late", 18, freight, "DELAY", { attributes: { delayReasonCode: "390-1", updatedEta: dateOf(freight, 76) } }),
  atDeliveryTerminal(freight, 51),
  {
    name: "appointment made",
    afterHours: 52,
    area: "A",
    call: "shipments.report",
    update: {
      shipmentId: freight.shipmentId,
      updateId: `${freight.shipmentId}/appointment`,
      occurredAt: momentOf(freight, 52),
      deliveryInformation_messages: "Appointment Update",
      appointmentStatus: "appointment scheduled",
      appointmentDate: momentOf(freight, 76)
    }
  },
  billed("appointment charged", 53, freight, "updated", { extra: appointment, ...reasonOf("Appointments", "APTD") }),
  outForDelivery(freight, 73),
  ...handedOver(freight, 76),
  ...documentSteps(freight, 78, { extra: appointment })
]

const partyChange = (freight: Freight): Steps => [
  booked(freight, { accounts: [freight.account, freight.nextAccount] }),
  ...loaded(freight),
  billed("billed to somebody else", 20, freight, "updated", { account: freight.nextAccount, ...reasonOf("BOL Name or Address Changes", "CBL") }),
  atDeliveryTerminal(freight, 27),
  outForDelivery(freight, 44),
  ...handedOver(freight, 48),
  ...documentSteps(freight, 50, { account: freight.nextAccount })
]

const journeys = {
  "plain LTL": plainLtl,
  "interline": interline,
  "refused": refused,
  "missed delivery": missed,
  "damaged": damaged,
  "reconsigned": reconsigned,
  "cross-border": crossBorder,
  "late with appointment": lateWithAppointment,
  "party change": partyChange
}

/** Name of a journey, such as `damaged`. */
export type JourneyName = keyof typeof journeys

/** All journeys. */
export const journeyNames = Object.keys(journeys) as ReadonlyArray<JourneyName>

/** The steps of a journey in order of time, then in the order of their definition. Throws a `RangeError` for an unknown name. */
export const journeySteps = (name: JourneyName, freight: Freight): Steps => {
  if (!Object.hasOwn(journeys, name)) throw new RangeError(`There is no journey ${JSON.stringify(name)}. Take one of: ${journeyNames.join(", ")}.`)
  return journeys[name](freight).toSorted((one, other) => one.afterHours - other.afterHours)
}
