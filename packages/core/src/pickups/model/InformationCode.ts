/** The published codes that explain a pickup's status. Carriers add codes and sub codes of their own. */
import { Schema } from "effect"
import { nullish } from "../../shared/Members.ts"
import { CarrierText, KeptText } from "./KeptText.ts"

interface PublishedCode {
  readonly description: string
  readonly subCodes: Readonly<Record<string, string>>
}

/** The first digit gives the result: 1 and 2 picked up, 3 rescheduled, 4 not picked up. SPEC-GAP-C11 */
export const informationCodes: Readonly<Record<string, PublishedCode>> = {
  "100": { description: "Pick up made with match", subCodes: { "1": "Matched eBOL to PU#", "2": "Matched eBOL to PU# with additional freight" } },
  "200": { description: "Pick up made undefined match", subCodes: {
    "1": "Freight picked-up not matched to e-BOL",
    "2": "More freight than scheduled was pick-up",
    "3": "Less freight than scheduled was pick-up"
  } },
  "300": { description: "Shipper Rescheduled", subCodes: { "3": "Customer request to reschedule" } },
  "310": { description: "Carrier not able to service - Rescheduled", subCodes: {
    "1": "Area not serviced today",
    "2": "Breakdown",
    "4": "Dispatch error",
    "5": "Driver cut off",
    "6": "End of day",
    "7": "Origin terminal capacity constraint",
    "8": "Received PU request too late for same day"
  } },
  "320": { description: "Freight not available - Rescheduled", subCodes: {
    "1": "No freight (driver)",
    "2": "No freight (dispatcher)",
    "3": "Shipper had no knowledge of freight (driver)",
    "4": "Shipper had no knowledge of freight (dispatcher)"
  } },
  "330": { description: "Shipper Closed - Rescheduled", subCodes: {
    "1": "Shipper closed due to holiday (dispatcher)",
    "2": "Shipper closed due to holiday (driver)"
  } },
  "380": { description: "Prohibited items - Rescheduled", subCodes: { "1": "Prohibited or restricted freight rescheduled" } },
  "390": { description: "Weather - Rescheduled", subCodes: { "1": "Inclement weather" } },
  "400": { description: "Pick-up request cancelled - Not Rescheduled", subCodes: {
    "1": "Shipper closed - cancel",
    "2": "Shipper initiated cancellation"
  } },
  "410": { description: "Carrier not able to service - Not Rescheduled", subCodes: {
    "1": "Embargo/capacity constraint",
    "2": "Equipment not available"
  } },
  "420": { description: "Freight not available - Not Rescheduled", subCodes: {
    "1": "Shipper had no knowledge of freight (dispatcher)",
    "2": "Freight improperly packaged (dispatcher)",
    "3": "Freight improperly packaged (driver)",
    "4": "Freight not ready",
    "5": "Freight released to another carrier (driver)",
    "6": "Freight released to another carrier (dispatcher)",
    "7": "No freight for daily (driver)"
  } },
  "430": { description: "Shipper Closed - Not Rescheduled", subCodes: {
    "1": "Shipper closed due to strike (dispatcher)",
    "2": "Shipper closed due to strike (driver)",
    "3": "Unable to access pickup PU location (dispatcher)"
  } },
  "440": { description: "Prohibited items - Not Rescheduled", subCodes: {
    "1": "Prohibited or restricted freight (dispatcher)",
    "2": "Prohibited or restricted freight (driver)"
  } },
  "450": { description: "Duplicate - Not Rescheduled", subCodes: { "1": "Duplicate PU request (dispatcher)", "2": "Duplicate PU request (driver)" } },
  "460": { description: "Unable to Access Shipper - Not Rescheduled", subCodes: {
    "1": "Unable to access pickup PU location (driver)",
    "2": "Unable to contact shipper for appointment"
  } },
  "470": { description: "Weather - Not Rescheduled", subCodes: { "1": "Unable to reschedule due to weather" } }
}

/** A code as the carrier reports it. A published code needs no description. Without a code it says what `status` says. SPEC-GAP-C37 */
export const ReportedInformationCode = Schema.Struct({
  code: Schema.NullOr(KeptText),
  codeDescription: nullish(CarrierText),
  subCode: nullish(KeptText),
  subCodeDescription: nullish(CarrierText)
}).annotate({ identifier: "ReportedPickupInformationCode" })

/** A code as Waybill returns it. Without a code, the description is the status. */
export const InformationCode = Schema.Struct({
  code: Schema.NullOr(Schema.String),
  codeDescription: Schema.String,
  subCode: Schema.NullOr(Schema.String),
  subCodeDescription: Schema.NullOr(Schema.String)
}).annotate({ identifier: "PickupInformationCode" })
export type InformationCode = typeof InformationCode.Type

/** A code as Waybill stores it, as text. */
export interface KeptInformationCode extends InformationCode {
  readonly code: string
}

const own = <A>(table: Readonly<Record<string, A>>, key: string): A | undefined => Object.hasOwn(table, key) ? table[key] : undefined

/** Completes a code with its published descriptions. `null`: no code. `undefined`: an unpublished code without a description. */
export const readInformationCode = (reported: typeof ReportedInformationCode.Type): KeptInformationCode | null | undefined => {
  const { code } = reported
  if (code === null) return null
  const published = own(informationCodes, code)
  const codeDescription = reported.codeDescription ?? published?.description
  if (codeDescription === undefined) return undefined
  const subCode = reported.subCode ?? null
  return {
    code,
    codeDescription,
    subCode,
    subCodeDescription: reported.subCodeDescription ?? (subCode === null ? null : own(published?.subCodes ?? {}, subCode) ?? null)
  }
}

/** A published code with its descriptions. */
const publishedCode = (code: string, subCode: string): KeptInformationCode => readInformationCode({ code, subCode })!

/** The shipper moved the pickup to another day. */
export const shipperRescheduled = publishedCode("300", "3")

/** The shipper cancelled the pickup. */
export const shipperCancelled = publishedCode("400", "2")

/** Before the carrier has reported a code, the status describes itself. SPEC-GAP-C37 */
export const visibleInformationCode = (kept: KeptInformationCode | null, status: string): InformationCode =>
  kept ?? { code: null, codeDescription: status, subCode: null, subCodeDescription: null }
