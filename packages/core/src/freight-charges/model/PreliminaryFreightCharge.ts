/** A freight bill before invoicing: the freight, the parties and the charges (area E, PFC object). */
import { Schema } from "effect"
import { AccountNumber } from "../../shared/Identifier.ts"
import { parseInstant } from "../../shared/Instant.ts"
import { Count, listUpTo, Measure, textUpTo } from "../../shared/Members.ts"

const short = textUpTo(200)
const long = textUpTo(2000)
const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)

const localTime = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(Z|[+-]\d{2}:\d{2})?$/

/** Carriers write local times without a zone here. Waybill does not add one. SPEC-GAP-E3 */
const isDateTime = (given: string): boolean => {
  const parts = localTime.exec(given)
  return parts !== null && parseInstant(`${parts[1]}${parts[2] ?? "Z"}`) !== undefined
}

const ChargeDate = Schema.String.check(
  Schema.makeFilter((given: string) => isDateTime(given) || "Use an ISO 8601 date-time, such as 2026-11-20T08:15:00.000.", {
    // a pattern, because the format date-time has a zone
    toJsonSchema: () => ({ pattern: localTime.source }),
    description: "A date-time, local without a zone or with an offset."
  })
)

/** Parses `PFC1`, `PFC2` and so on. */
export const versionOf = (name: string): number => Number(name.slice(3))

const VersionName = Schema.String.check(
  Schema.isPattern(/^PFC[1-9]\d{0,8}$/u, { message: "header.function is PFC1, PFC2 and so on." })
)

/** Separators are removed. Other letters and digits would be, too, and make the ids of two bills one. SPEC-GAP-E4 */
const UniqueId = textUpTo(200).check(
  Schema.isPattern(/^(?:[A-Za-z0-9]|[^\p{L}\p{N}])*$/u, { message: "uniqueID has no letters but A to Z and no digits but 0 to 9." }),
  Schema.isPattern(/[A-Za-z0-9]/u, { message: "uniqueID is the PRO, the SCAC and the ship date: letters and digits." })
)

/** Normalises the id of a bill. SPEC-GAP-E4 */
export const billIdOf = (uniqueId: string): string => uniqueId.toUpperCase().replaceAll(/[^A-Z0-9]/gu, "")

const identity = { uniqueID: UniqueId, date: ChargeDate, version: short, isTest: Schema.Boolean }

const place = {
  name: long,
  address1: long,
  address2: optional(long),
  city: short,
  stateProvince: short,
  postalCode: short,
  country: short
}

const Party = Schema.Struct({ account: short, locationId: optional(short), ...place })

/** The published schema spells `locationID` differently here than in the other two parties. */
const BillTo = Schema.Struct({ account: AccountNumber, locationID: optional(short), ...place })

const PurchaseOrder = Schema.Struct({
  number: optional(short),
  pieces: optional(Count),
  weight: optional(short),
  weightUnit: optional(short),
  palletized: optional(Schema.Boolean),
  additionalShipperInfo: optional(long)
})

const LineItem = Schema.Struct({
  description: long,
  weight: Measure,
  weightUnit: short,
  pieces: Measure,
  packagingType: short,
  classification: short,
  nmfc: optional(short),
  nmfcSub: optional(short)
})

const HandlingUnit = Schema.Struct({
  count: Count,
  type: short,
  tareWeight: optional(Measure),
  weight: Measure,
  weightUnit: short,
  length: Measure,
  width: Measure,
  height: Measure,
  dimensionUnit: short,
  stackable: optional(Schema.Boolean),
  lineItems: optional(listUpTo(LineItem, 1000))
})

const LogEntry = Schema.Struct({
  eventCategoryName: optional(short),
  eventCode: optional(short),
  eventSubCode: optional(short),
  carrierCode: optional(short),
  carrierDescription: optional(long),
  weightAndResearchDocAvailable: optional(Schema.Boolean)
})

const LogMessage = Schema.Struct({ informationalMessage: optional(long) })

/** `Reported` names what senders post, because it may have nulls that Waybill never sends. */
type Prefix = "" | "Reported"

const logAs = (prefix: Prefix) => ({
  changeLog: optional(listUpTo(LogEntry.annotate({ identifier: `${prefix}ChargeLogEntry` }), 1000)),
  changeLogMessages: optional(listUpTo(LogMessage.annotate({ identifier: `${prefix}ChargeLogMessage` }), 1000))
})

/** A schema is annotated once, so that it gets one name. */
const log = logAs("")
const reportedLog = logAs("Reported")

const describedAs = (prefix: Prefix, log: ReturnType<typeof logAs>, party = Party.annotate({ identifier: `${prefix}ChargeParty` })) => ({
  payment: Schema.Struct({ terms: short }),
  shipmentTotals: Schema.Struct({
    pickupDate: ChargeDate,
    grossWeight: Measure,
    netWeight: optional(Measure),
    weightUnit: short,
    handlingUnits: Measure,
    linearLength: optional(Measure),
    dimensionsUnit: optional(short),
    cube: optional(Measure),
    cubeDimensionsUnit: optional(short),
    declaredValue: optional(Measure),
    currency: optional(short)
  }),
  accessorials: optional(Schema.Struct({ codes: optional(listUpTo(short, 500)) })),
  referenceNumbers: Schema.Struct({
    pro: short,
    quoteId: optional(short),
    shipmentId: optional(short),
    masterBol: optional(short),
    trailerId: optional(short),
    manifestId: optional(short),
    bol: optional(listUpTo(short, 500)),
    po: optional(listUpTo(PurchaseOrder, 500)),
    additionalReferences: optional(listUpTo(Schema.Struct({ name: optional(short), value: optional(short) }), 500))
  }),
  origin: party,
  destination: party,
  billTo: BillTo.annotate({ identifier: `${prefix}ChargeBillTo` }),
  commodities: Schema.Struct({ handlingUnits: listUpTo(HandlingUnit, 1000) }),
  charges: Schema.Struct({
    grossCharges: Schema.Finite,
    discountAmount: Schema.Finite,
    discountPercent: Schema.Finite,
    totalTareWeight: optional(Schema.Finite),
    tareWeightAmount: optional(Schema.Finite),
    deficitWeight: optional(Schema.Finite),
    fuelSurchargePercent: Schema.Finite,
    fuelSurchargeAmount: Schema.Finite,
    currencyType: short,
    weightUnit: optional(short),
    detail: optional(long),
    preliminaryTotalCharges: Schema.Finite,
    class: optional(listUpTo(Schema.Struct({ freightClass: optional(short), cwt: optional(Schema.Finite) }), 500)),
    ...log
  })
})

/** As Waybill returns it, with the version in both places. Unknown fields are kept and returned. SPEC-GAP-E5, SPEC-GAP-E20 */
export const PreliminaryFreightCharge = Schema.Struct({
  pfc: Schema.Struct({ ...identity, function: VersionName, header: Schema.Struct({ function: VersionName }) }),
  ...describedAs("", log)
}).annotate({ identifier: "PreliminaryFreightCharge" })
export type PreliminaryFreightCharge = typeof PreliminaryFreightCharge.Type

const version = { function: optional(VersionName), header: optional(Schema.Struct({ function: optional(VersionName) })) }

/** As the carrier's system posts it. Waybill assigns the version if it is left out. Required members are the published ones. SPEC-GAP-E21 */
export const ReportedCharge = Schema.Struct({ pfc: Schema.Struct({ ...identity, ...version }), ...describedAs("Reported", reportedLog) }).annotate({
  identifier: "ReportedFreightCharge"
})
export type ReportedCharge = typeof ReportedCharge.Type

const accounts = Schema.Array(AccountNumber).check(
  Schema.isMinLength(1, { message: "Name at least one account, or leave accounts out." }),
  Schema.isMaxLength(1000, { message: "At most 1000 accounts." })
)

/** One change of a bill. Without `accounts`, the debtor is the account in `billTo`. SPEC-GAP-E6 */
export const BillChangeReport = Schema.Struct({
  // a removal has a schema of its own
  change: Schema.Literals(["created", "updated", "final"]).annotate({ message: "change is created, updated, removed or final." }),
  accounts: optional(accounts),
  pfc: ReportedCharge
}).annotate({ identifier: "FreightBillChange" })
export type BillChangeReport = typeof BillChangeReport.Type

/** The bill has no debtor any more. Only its id is needed; the log and messages may give the reason. */
export const BillRemovalReport = Schema.Struct({
  change: Schema.Literal("removed"),
  accounts: optional(Schema.Array(AccountNumber).check(Schema.isMaxLength(1000, { message: "At most 1000 accounts." }))),
  pfc: Schema.Struct({ pfc: Schema.Struct({ uniqueID: UniqueId, ...version }), charges: optional(Schema.Struct(reportedLog)) })
}).annotate({ identifier: "FreightBillRemoval" })
export type BillRemovalReport = typeof BillRemovalReport.Type

/** A PFC object as it was sent, without change log and version, which are stored separately. */
export type ChargeJson = Readonly<Record<string, unknown>>

/** What a report says about a bill: `removed` voids it, `final` is its invoice. */
export const billChanges = ["created", "updated", "removed", "final"] as const
/** One of `billChanges`. */
export type BillChange = typeof billChanges[number]

/** The largest PFC object, in bytes of JSON. */
export const maxChargeBytes = 64 * 1024
