/**
 * The codes of AT7 and their meaning. One code is one event type; the milestone follows from the type, its place and custody.
 * Codes are of 1650 and 1652, which 004010, 005010 and 008010 share. Partners redefine some: profiles have overrides.
 */
import type { EventType } from "@waybill/core/transit-events"

/** What a shipment status code of AT7-01 means as an event. */
export interface StatusMeaning {
  readonly type: EventType
  readonly status: string
  /** The meaning of the time: when it happened, or an estimate of the delivery, or another estimate. */
  readonly time?: "delivery-estimate" | "estimate"
  readonly exception?: "damaged" | "short" | "lost" | "reconsigned"
  readonly custody?: "partner"
  /** The code that is written for the event type if the event names none. */
  readonly written?: true
}

const other = (status: string): StatusMeaning => ({ type: "OTHER", status })

/** Element 1650, AT7-01. */
export const statusCodes: Readonly<Record<string, StatusMeaning>> = {
  A3: other("Returned to shipper"),
  A7: { type: "DELIVERY_ATTEMPTED", status: "Refused by consignee" },
  A9: { type: "EXCEPTION", status: "Damaged", exception: "damaged" },
  AF: { type: "PICKED_UP", status: "Departed pickup location with shipment", written: true },
  AG: { type: "OTHER", status: "Estimated delivery", time: "delivery-estimate" },
  AH: { type: "DELIVERY_ATTEMPTED", status: "Delivery attempted", written: true },
  AI: { type: "EXCEPTION", status: "Reconsigned", exception: "reconsigned" },
  AJ: other("Tendered for delivery"),
  AM: other("Loaded on truck"),
  AN: { type: "IN_TRANSIT", status: "Diverted to air carrier" },
  AP: { type: "DELIVERY_ATTEMPTED", status: "Delivery not completed" },
  AR: { type: "RAIL_ARRIVAL", status: "Arrived at destination ramp", written: true },
  AV: other("Available for delivery"),
  AW: other("Available for pickup"),
  B6: { type: "OTHER", status: "Estimated arrival at carrier terminal", time: "estimate" },
  BA: { type: "IN_TRANSIT", status: "Picked up by connecting line or cartage agent", custody: "partner" },
  BC: other("Storage in transit"),
  C1: { type: "OTHER", status: "Estimated departure from terminal", time: "estimate" },
  CA: { type: "CANCELLED", status: "Cancelled", written: true },
  CB: { type: "DELIVERED", status: "Last part of a shipment delivered" },
  CD: other("Departed delivery location"),
  CL: other("Trailer closed out"),
  CP: other("Completed loading at pickup location"),
  D1: { type: "DELIVERED", status: "Completed unloading at delivery location", written: true },
  E1: { type: "OTHER", status: "Estimated arrival at pickup location", time: "estimate" },
  I1: { type: "GATE_IN", status: "In-gate", written: true },
  J1: { type: "IN_TRANSIT", status: "Delivered to connecting line", custody: "partner" },
  K1: other("Arrived at customs"),
  L1: other("Loading"),
  OA: { type: "GATE_OUT", status: "Out-gate", written: true },
  OO: other("Paperwork received without shipment or equipment"),
  P1: { type: "DEPARTED_TERMINAL", status: "Departed terminal", written: true },
  PA: other("Part of the shipment delivered"),
  PR: { type: "CUSTOMS_HOLD", status: "Customs hold at in-bond location", written: true },
  R1: { type: "IN_TRANSIT", status: "Received from prior carrier" },
  RL: { type: "RAIL_DEPARTURE", status: "Departed origin ramp", written: true },
  S1: other("Trailer spotted at consignee"),
  SD: { type: "DELAY", status: "Delayed", written: true },
  X1: other("Arrived at delivery location"),
  X2: { type: "OTHER", status: "Estimated arrival at consignee", time: "delivery-estimate" },
  X3: other("Arrived at pickup location"),
  X4: { type: "ARRIVED_AT_TERMINAL", status: "Arrived at terminal", written: true },
  X5: other("Arrived at delivery dock"),
  X6: { type: "OUT_FOR_DELIVERY", status: "En route to delivery location", written: true },
  X8: other("Arrived at pickup dock"),
  XB: { type: "PICKUP_SCHEDULED", status: "Shipment acknowledged", written: true }
}

/** What an appointment code of AT7-03 means as an event. */
export interface AppointmentMeaning {
  readonly type: EventType
  readonly status: string
  /** Of a delivery: the appointment change of shipment status. */
  readonly change?: "appointment scheduled"
  readonly written?: true
}

/** Element 1652, AT7-03. */
export const appointmentCodes: Readonly<Record<string, AppointmentMeaning>> = {
  AA: { type: "PICKUP_SCHEDULED", status: "Pickup appointment" },
  AB: { type: "OTHER", status: "Delivery appointment", change: "appointment scheduled", written: true },
  AC: { type: "OTHER", status: "Estimated delivery appointment" },
  ED: { type: "OTHER", status: "Deliver no earlier than" },
  EP: { type: "OTHER", status: "Pickup no earlier than" },
  LD: { type: "OTHER", status: "Deliver no later than" },
  LP: { type: "OTHER", status: "Pickup no later than" },
  X9: { type: "OTHER", status: "Delivery appointment secured", change: "appointment scheduled" },
  XA: { type: "PICKUP_SCHEDULED", status: "Pickup appointment secured" }
}

/** Element 1651, AT7-02 and AT7-04, for reasons that shipment status has a delay reason code for. All others are kept as they are. */
export const delayReasons: Readonly<Record<string, string>> = {
  A2: "310-9",
  A5: "310-9",
  AD: "310-3",
  AF: "310-8",
  AI: "310-2",
  AN: "330-2",
  AO: "390-1",
  AU: "390-2",
  AV: "310-1",
  B1: "330-1",
  B4: "310-10",
  BH: "310-6"
}

/** Element 33, Q7-01, for exceptions that events have. */
export const ladingExceptions: Readonly<Record<string, NonNullable<StatusMeaning["exception"]>>> = { D: "damaged", S: "short" }

/** Normal status: no reason. */
export const normalStatus = "NS"
/** The same for appointments. */
export const normalAppointment = "NA"

/** The code for an event that names none. */
export const codeOfType = (type: string): string | undefined =>
  Object.keys(statusCodes).find((code) => statusCodes[code]!.type === type && statusCodes[code]!.written === true)
