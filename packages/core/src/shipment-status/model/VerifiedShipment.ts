/** Lookup answers: every field for the owner of the freight, four public fields for other callers. */
import { Schema } from "effect"
import { Measure } from "../../shared/Members.ts"
import {
  AppointmentStatus,
  CrossBorderStatus,
  DelayReasonCode,
  LimitedAccessType,
  ShipmentMilestoneStatus,
  TimeCriticalType
} from "./CodeLists.ts"
import {
  Commodities,
  DateOrInstant,
  HandlingUnits,
  plainText,
  ReferenceNumbers,
  StandardAddress,
  TerminalInfo,
  TimeCriticalInfo,
  UtcOffset
} from "./FreightShapes.ts"

const orNull = Schema.NullOr

/** Days in transit. */
const StandardDay = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }, { message: "EstimatedStandardDay is an integer from 0." }))

/** Fields that describe the shipment. Intake sets them; movement does not change them. */
export const describedFields = {
  ProNumber: plainText(100).check(Schema.isPattern(/[^\s-]/u, { message: "ProNumber has at least one letter or digit." })),
  UniqueID: plainText(200),
  PayType: plainText(50),
  ShipType: plainText(50),
  PickupAddress: StandardAddress,
  BillToAddress: StandardAddress,
  BillToAccountNumber: plainText(100),
  ConsigneeAddress: StandardAddress,
  GrossWeight: Measure,
  EstimatedStandardDay: StandardDay,
  EstimatedDeliveryDate: DateOrInstant
}

/**
 * The full answer. Fields that the interface requires are always present, `null` when unknown. Optional code lists are left out when unknown,
 * because strict validators accept only the listed values.
 */
export const VerifiedShipment = Schema.Struct({
  ProNumber: describedFields.ProNumber,
  ReferenceNumbers,
  UniqueID: describedFields.UniqueID,
  UpdatedPro: orNull(plainText(100)),
  PayType: describedFields.PayType,
  ShipType: describedFields.ShipType,
  PickupAddress: StandardAddress,
  BillToAddress: StandardAddress,
  BillToAccountNumber: describedFields.BillToAccountNumber,
  ConsigneeAddress: StandardAddress,
  DESaccessorial: Schema.Array(plainText(50)),
  DESLimitedAccess: orNull(LimitedAccessType),
  TimeCriticalType: orNull(TimeCriticalType),
  TimeCriticalInfo,
  GrossWeight: describedFields.GrossWeight,
  Commodities: Schema.optionalKey(Commodities),
  HandlingUnits: Schema.optionalKey(HandlingUnits),
  ShipmentLocation: Schema.optionalKey(StandardAddress),
  ShipmentMilestoneStatus,
  ShipmentMilestoneStatusLong: orNull(plainText(500)),
  ShipmentTerminalInfo: TerminalInfo,
  TimeZoneOfShipment: orNull(UtcOffset),
  UpdatedETA: DateOrInstant,
  EstimatedStandardDay: StandardDay,
  EstimatedDeliveryDate: DateOrInstant,
  OFDStopsAway: orNull(Schema.Literals([3, 2, 1])),
  Reconsignment: Schema.Boolean,
  ShipmentShortage: Schema.Boolean,
  ShipmentDamage: Schema.Boolean,
  AllShortOrLostShipment: Schema.Boolean,
  Late: Schema.Boolean,
  DelayReasonCode: Schema.optionalKey(orNull(DelayReasonCode)),
  AppointmentRequired: Schema.Boolean,
  AppointmentStatus: Schema.optionalKey(orNull(AppointmentStatus)),
  AppointmentDate: orNull(DateOrInstant),
  PartnerCarrierName: orNull(plainText(200)),
  PartnerCarrierSCAC: orNull(plainText(20)),
  CrossBorder: Schema.Boolean,
  CrossBorderStatus: Schema.optionalKey(orNull(CrossBorderStatus)),
  CrossBorderEntryNumber: orNull(plainText(100)),
  PODAvailable: Schema.Boolean
}).annotate({ identifier: "VerifiedShipment" })
export type VerifiedShipment = typeof VerifiedShipment.Type

/** The public answer. */
export const PublicShipment = Schema.Struct({
  ProNumber: VerifiedShipment.fields.ProNumber,
  ShipmentMilestoneStatus,
  UpdatedETA: VerifiedShipment.fields.UpdatedETA,
  EstimatedStandardDay: VerifiedShipment.fields.EstimatedStandardDay
}).annotate({ identifier: "PublicShipment" })
export type PublicShipment = typeof PublicShipment.Type

/** Before the first milestone, a shipment has none and is not answered. */
export type ShipmentView = Omit<VerifiedShipment, "ShipmentMilestoneStatus"> & {
  readonly ShipmentMilestoneStatus?: VerifiedShipment["ShipmentMilestoneStatus"]
}

const optionalCodes: ReadonlySet<string> = new Set<keyof VerifiedShipment>(["DelayReasonCode", "AppointmentStatus", "CrossBorderStatus"])

/** The answer for a view. SPEC-GAP-A23 */
export const answerOf = (view: ShipmentView): ShipmentView =>
  Object.fromEntries(Object.entries(view).filter(([name, value]) => value !== null || !optionalCodes.has(name))) as ShipmentView

/** Selects the four public fields by name, so that a new field is not public by default. */
export const publicOf = (shipment: ShipmentView): Omit<PublicShipment, "ShipmentMilestoneStatus"> & Partial<PublicShipment> => ({
  ProNumber: shipment.ProNumber,
  ...(shipment.ShipmentMilestoneStatus === undefined ? {} : { ShipmentMilestoneStatus: shipment.ShipmentMilestoneStatus }),
  UpdatedETA: shipment.UpdatedETA,
  EstimatedStandardDay: shipment.EstimatedStandardDay
})

class AnswerBody<Shows extends string> {
  /** Makes the two kinds of answers incompatible although their members are equal. */
  declare protected readonly shows: Shows
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** JSON of a full answer. A separate class, so that it cannot be returned as a public answer by mistake. */
export class VerifiedBody extends AnswerBody<"every field"> {}

/** JSON of a public answer. */
export class PublicBody extends AnswerBody<"four fields"> {}
