/** A shipment as the carrier's system posts it. Unknown values may be left out. */
import { Schema, Struct } from "effect"
import { CarrierNumber } from "../../access/model/CarrierNumbers.ts"
import { type Fault, fault } from "../../shared/Fault.ts"
import { AccountNumber, ShipmentId } from "../../shared/Identifier.ts"
import { InstantText } from "../../shared/Instant.ts"
import { nullish } from "../../shared/Members.ts"
import { Commodities, DateOrInstant, HandlingUnits, nullishText, plainText, ReferenceNumbers, StandardAddress, TerminalInfo, TimeCriticalInfo } from "./FreightShapes.ts"
import { describedFields, type ShipmentView, VerifiedShipment } from "./VerifiedShipment.ts"

const known = VerifiedShipment.fields
const flag = nullish(Schema.Boolean)

const PostedReferences = ReferenceNumbers.mapFields(Struct.map(Schema.optionalKey))

/** The shipment's carrier, for tenants with several carriers: DOT or MC number, SCAC, or several of them. */
const PostedCarrier = Schema.Struct({
  dot: Schema.optionalKey(CarrierNumber),
  mc: Schema.optionalKey(CarrierNumber),
  scac: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[A-Za-z]{2,4}$/u, { message: "scac has 2 to 4 letters." })))
}).check(Schema.makeFilter((carrier) => Object.keys(carrier).length > 0 || "Name the carrier by dot, mc or scac.")).annotate({ identifier: "ShipmentCarrier" })

/** A shipment as a carrier's system posts it: verified fields of area A, and what names and shows it. */
export const PostedShipment = Schema.Struct({
  shipmentId: ShipmentId,
  /** Accounts that may see it. Unchanged when left out. */
  accounts: Schema.optionalKey(Schema.Array(AccountNumber).check(Schema.isMaxLength(1000, { message: "At most 1000 accounts." }))),
  /** The shipment's carrier, for tenants with several carriers. Unchanged when left out. */
  carrier: Schema.optionalKey(PostedCarrier),
  /** Additional numbers. Those of type PRO, BOL and PO also become lookup keys. */
  references: Schema.optionalKey(
    Schema.Array(Schema.Struct({ type: plainText(100), value: plainText(500) })).check(Schema.isMaxLength(200, { message: "At most 200 references." }))
  ),
  pickupDate: nullish(DateOrInstant),
  /** Time at which the posted status applied. */
  occurredAt: Schema.optionalKey(InstantText),
  ...describedFields,
  ReferenceNumbers: nullish(PostedReferences),
  UpdatedPro: nullishText(100),
  DESaccessorial: nullish(Schema.Array(Schema.NullOr(plainText(50))).check(Schema.isMaxLength(200, { message: "At most 200 accessorials." }))),
  DESLimitedAccess: nullish(known.DESLimitedAccess.members[0]),
  TimeCriticalType: nullish(known.TimeCriticalType.members[0]),
  TimeCriticalInfo: nullish(TimeCriticalInfo),
  Commodities: nullish(Commodities),
  HandlingUnits: nullish(HandlingUnits),
  ShipmentLocation: nullish(StandardAddress),
  ShipmentMilestoneStatus: nullish(known.ShipmentMilestoneStatus),
  ShipmentMilestoneStatusLong: nullish(plainText(500)),
  ShipmentTerminalInfo: nullish(Schema.Struct({ ...TerminalInfo.fields, TerminalID: Schema.optionalKey(TerminalInfo.fields.TerminalID) })),
  TimeZoneOfShipment: nullish(known.TimeZoneOfShipment.members[0]),
  UpdatedETA: nullish(DateOrInstant),
  OFDStopsAway: nullish(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }, { message: "OFDStopsAway is an integer from 0." }))),
  Reconsignment: flag,
  ShipmentShortage: flag,
  ShipmentDamage: flag,
  AllShortOrLostShipment: flag,
  Late: flag,
  DelayReasonCode: known.DelayReasonCode,
  AppointmentRequired: flag,
  AppointmentStatus: known.AppointmentStatus,
  AppointmentDate: nullish(DateOrInstant),
  PartnerCarrierName: nullishText(200),
  PartnerCarrierSCAC: nullishText(20),
  CrossBorder: flag,
  CrossBorderStatus: known.CrossBorderStatus,
  CrossBorderEntryNumber: nullish(plainText(100)),
  PODAvailable: flag
}).annotate({ identifier: "PostedShipment" })
export type PostedShipment = typeof PostedShipment.Type

/** Checks fields that other fields make required. */
export const contradictionsIn = (posted: PostedShipment, at: ReadonlyArray<PropertyKey>): ReadonlyArray<Fault> => {
  const missing = (member: keyof PostedShipment, when: boolean, why: string): ReadonlyArray<Fault> =>
    when && (posted[member] === undefined || posted[member] === null) ? [fault([...at, member], `${member} is required ${why}.`, "required")] : []
  const interline = posted.ShipmentMilestoneStatus === "Interline"
  return [
    ...missing("DelayReasonCode", posted.Late === true, "when Late is true"),
    ...missing("PartnerCarrierName", interline, "when ShipmentMilestoneStatus is Interline"),
    ...missing("PartnerCarrierSCAC", interline, "when ShipmentMilestoneStatus is Interline"),
    ...missing("CrossBorderStatus", posted.CrossBorder === true, "when CrossBorder is true")
  ]
}

/** The fields that movement does not change. */
export const describedOf = (posted: PostedShipment) => ({
  ...Struct.pick(posted, Struct.keys(describedFields)),
  DESaccessorial: accessorialsOf(posted),
  DESLimitedAccess: posted.DESLimitedAccess ?? null,
  TimeCriticalType: posted.TimeCriticalType ?? null,
  TimeCriticalInfo: posted.TimeCriticalInfo ?? {},
  ...(posted.Commodities === undefined || posted.Commodities === null ? {} : { Commodities: posted.Commodities }),
  ...(posted.HandlingUnits === undefined || posted.HandlingUnits === null ? {} : { HandlingUnits: posted.HandlingUnits })
})

/** The requested services, without `null`. */
export const accessorialsOf = (posted: PostedShipment): ReadonlyArray<string> => (posted.DESaccessorial ?? []).filter((code) => code !== null)

const noReferences: ReferenceNumbers = { bolNumber: null, QuoteID: null, ShipmentID: null, MasterBOL: null, poNumber: null, AdditionalReferences: null, trailerNumber: null }

/** The reference numbers, with `null` for missing ones. */
export const referenceNumbersOf = (posted: PostedShipment): ReferenceNumbers => ({ ...noReferences, ...posted.ReferenceNumbers })

/** The initial view, before any movement. */
export const unmovedOf = (posted: PostedShipment): ShipmentView => ({
  ...describedOf(posted),
  ReferenceNumbers: referenceNumbersOf(posted),
  UpdatedPro: null,
  ShipmentMilestoneStatusLong: null,
  ShipmentTerminalInfo: { TerminalID: null },
  TimeZoneOfShipment: null,
  UpdatedETA: posted.EstimatedDeliveryDate,
  OFDStopsAway: null,
  Reconsignment: false,
  ShipmentShortage: false,
  ShipmentDamage: false,
  AllShortOrLostShipment: false,
  Late: false,
  DelayReasonCode: null,
  AppointmentRequired: false,
  AppointmentStatus: null,
  AppointmentDate: null,
  PartnerCarrierName: null,
  PartnerCarrierSCAC: null,
  CrossBorder: false,
  CrossBorderStatus: null,
  CrossBorderEntryNumber: null,
  PODAvailable: false
})
