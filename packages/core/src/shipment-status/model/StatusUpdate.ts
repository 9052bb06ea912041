/** A status update as the carrier's system posts it: the fields of either notification, and the shipment. */
import { Schema } from "effect"
import { type Fault, fault } from "../../shared/Fault.ts"
import { ShipmentId } from "../../shared/Identifier.ts"
import { formatInstant, InstantText, parseInstant } from "../../shared/Instant.ts"
import { withoutUndefined } from "../../shared/Json.ts"
import { nullish } from "../../shared/Members.ts"
import { DeliveryMessage, type FreightException, freightExceptions, ShipmentMilestoneStatus, type TerminalStatus, TerminalType } from "./CodeLists.ts"
import { DateOrInstant, nullishText, plainText, someText, TerminalInfo, UtcOffset } from "./FreightShapes.ts"
import { informationFields } from "./StatusNotification.ts"
import type { Information, StatusReport } from "./StatusReport.ts"

/** A status update as a carrier's system posts it: members of either notification of area A. */
export const StatusUpdate = Schema.Struct({
  /** One of them names the shipment; of shipments with one PRO, `shipmentId` names one. */
  shipmentId: Schema.optionalKey(ShipmentId),
  proNumber: Schema.optionalKey(someText(100)),
  /** Now, if left out. */
  occurredAt: Schema.optionalKey(InstantText),
  /** The sender's id. An update with a known id is a duplicate. If left out, the content identifies the update. */
  updateId: Schema.optionalKey(someText(200)),
  shipmentMilestoneStatus: Schema.optionalKey(ShipmentMilestoneStatus),
  deliveryInformation_messages: Schema.optionalKey(DeliveryMessage),
  TimeZoneOfShipment: nullish(UtcOffset),
  UpdatedETA: nullish(DateOrInstant),
  notificationMessage: nullishText(2000),
  terminaltype: Schema.optionalKey(TerminalType),
  terminalAddress: nullish(Schema.Struct({ ...TerminalInfo.fields, TerminalID: Schema.optionalKey(TerminalInfo.fields.TerminalID) })),
  trailerNumber: nullish(plainText(100)),
  countsToDelivery: nullish(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }, { message: "countsToDelivery is an integer from 0." }))),
  UpdatedPro: nullishText(100),
  PartnerCarrierName: nullishText(200),
  PartnerCarrierSCAC: nullishText(20),
  ...informationFields
}).annotate({ identifier: "StatusUpdate" })
export type StatusUpdate = typeof StatusUpdate.Type

/** Checks how the fields of an update depend on each other. */
export const faultsIn = (update: StatusUpdate, at: ReadonlyArray<PropertyKey>): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  const { countsToDelivery, deliveryInformation_messages: message, proNumber, shipmentId, shipmentMilestoneStatus: milestone } = update
  if (shipmentId === undefined && proNumber === undefined) faults.push(fault([...at, "proNumber"], "Name the shipment by proNumber or shipmentId.", "required"))
  if (milestone === undefined && message === undefined) {
    const detail = "Send shipmentMilestoneStatus for a delivery update, or deliveryInformation_messages for a delivery information."
    faults.push(fault([...at, "shipmentMilestoneStatus"], detail, "required"))
  }
  if (milestone !== undefined && message !== undefined) {
    const detail = "An update is a delivery update or a delivery information. Send two updates."
    faults.push(fault([...at, "deliveryInformation_messages"], detail, "conflict"))
  }
  if (countsToDelivery != null && milestone !== "Out for Delivery") {
    faults.push(fault([...at, "countsToDelivery"], "countsToDelivery goes with shipmentMilestoneStatus Out for Delivery only.", "not_allowed"))
  }
  return faults
}

const isFreightException = (status: string): status is FreightException => (freightExceptions as ReadonlyArray<string>).includes(status)

/** Converts an update into a report. */
export const reportOfUpdate = (update: StatusUpdate, id: string, now: number): StatusReport => {
  const parts = update.deliveryInformation_messages === undefined ? movementIn(update) : informationIn(update)
  return {
    occurredAt: update.occurredAt ?? formatInstant(now),
    at: update.occurredAt === undefined ? now : parseInstant(update.occurredAt)!,
    ...(update.occurredAt === undefined ? { undated: true } : {}),
    source: { kind: "update", id },
    ...withoutUndefined({
      timeZone: update.TimeZoneOfShipment ?? undefined,
      updatedEta: update.UpdatedETA ?? undefined,
      message: update.notificationMessage ?? undefined,
      delayReasonCode: update.deliveryInformation_messages === "Noted late" ? update.delayReasonCode : undefined
    }),
    ...parts
  }
}

const movementIn = (update: StatusUpdate): Partial<StatusReport> => {
  const { PartnerCarrierName: name, PartnerCarrierSCAC: scac, terminalStatus, terminaltype } = update
  const status: TerminalStatus | undefined = terminalStatus === undefined || isFreightException(terminalStatus) ? undefined : terminalStatus
  const info = update.terminalAddress == null ? undefined : { TerminalID: null, ...update.terminalAddress }
  return withoutUndefined({
    milestone: update.shipmentMilestoneStatus,
    terminal: terminalStatus === undefined && info === undefined ? undefined : withoutUndefined({ status, type: terminaltype, info }),
    exceptions: terminalStatus !== undefined && isFreightException(terminalStatus) ? [terminalStatus] : undefined,
    stopsAway: update.countsToDelivery ?? undefined,
    trailerNumber: update.trailerNumber ?? undefined,
    updatedPro: update.UpdatedPro ?? undefined,
    partner: name == null && scac == null ? undefined : { name: name ?? null, scac: scac ?? null }
  })
}

const informationIn = (update: StatusUpdate): Partial<StatusReport> => {
  const fields = Object.keys(informationFields) as ReadonlyArray<keyof typeof informationFields>
  const information: Information = {
    deliveryInformation_messages: update.deliveryInformation_messages!,
    ...Object.fromEntries(fields.filter((field) => update[field] !== undefined).map((field) => [field, update[field]]))
  }
  // both kinds of update may contain a freight exception
  const exceptions = update.terminalStatus !== undefined && isFreightException(update.terminalStatus) ? { exceptions: [update.terminalStatus] } : {}
  return { information: [information], ...exceptions }
}
