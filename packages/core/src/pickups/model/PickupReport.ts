/** A progress report on a pickup from the carrier's system (intake). */
import { Schema } from "effect"
import { type Fault, fault } from "../../shared/Fault.ts"
import { listUpTo, nullish } from "../../shared/Members.ts"
import { DateTimeText } from "./DateText.ts"
import { ReportedInformationCode } from "./InformationCode.ts"
import { CarrierText, KeptText, nameUpTo } from "./KeptText.ts"
import { readPickupStatus, pickupStatusWords } from "./PickupStatus.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }, { message: "Use an integer from 0 to 1000000." }))
const degrees = (what: string, most: number) =>
  Schema.Finite.check(Schema.isBetween({ minimum: -most, maximum: most }, { message: `${what} is a number from -${most} to ${most}.` }))

const ReportedEquipment = Schema.Struct({
  driverName: nullish(CarrierText),
  trailerNumber: nullish(CarrierText),
  gpsCoordinates: nullish(Schema.Struct({ latitude: nullish(degrees("latitude", 90)), longitude: nullish(degrees("longitude", 180)) })),
  stopsAway: nullish(count)
})

const ReportedShipment = Schema.Struct({
  proNumber: nullish(KeptText),
  destinationPostalCode: nullish(KeptText),
  destinationCountry: nullish(nameUpTo(100)),
  handlingUnitQuantity: nullish(count),
  weight: nullish(count),
  referenceNumbers: nullish(listUpTo(Schema.Struct({ referenceType: nullish(CarrierText), referenceValue: nullish(KeptText) }), 500))
})

/** Members that are left out stay unchanged. `carrierPickupNumber` is for a pickup that has no number yet. */
export const PickupReport = Schema.Struct({
  status: Schema.optionalKey(Schema.String.check(Schema.makeFilter((text: string) =>
    readPickupStatus(text) !== undefined || `status is one of ${pickupStatusWords.join(", ")}.`
  ))),
  informationCode: nullish(ReportedInformationCode),
  stopEta: nullish(DateTimeText),
  stopEtaTimeZone: nullish(nameUpTo(100)),
  equipmentInformation: nullish(ReportedEquipment),
  shipmentArray: nullish(listUpTo(ReportedShipment, 500)),
  carrierPickupNumber: Schema.optionalKey(KeptText)
}).annotate({ identifier: "PickupReport" })
export type PickupReport = typeof PickupReport.Type
/** A carrier's report as it is sent. */
export type PickupReportInput = typeof PickupReport.Encoded

/** The fault of a report without members. */
export const emptyReport = (report: PickupReport): Fault | undefined =>
  Object.keys(report).length > 0 ? undefined : fault([], "The report is empty. Give at least a status.", "required")

/** Result of a report. */
export const PickupReportResult = Schema.Struct({
  result: Schema.Literals(["accepted", "duplicate"]),
  /** Waybill's id. */
  pickupId: Schema.String,
  carrierPickupNumber: Schema.NullOr(Schema.String),
  status: Schema.String
}).annotate({ identifier: "PickupReportResult" })
export type PickupReportResult = typeof PickupReportResult.Type

/** The answer to a carrier's report. */
export const reportResult = (
  result: PickupReportResult["result"],
  row: { readonly pickupId: string; readonly number: string | undefined },
  pickup: { readonly words: string }
): PickupReportResult => ({
  result,
  pickupId: row.pickupId,
  carrierPickupNumber: row.number ?? null,
  status: pickup.words
})
