/** Sample freight charges as a carrier's system reports them: valid, arbitrary, and all versions of a bill. */
import type { BillChange, BillChangeReport, BillRemovalReport, ReportedCharge } from "@waybill/core/freight-charges"
import { Arbitrary } from "effect"
import { boston, chicago, partyOf } from "../journeys/Lane.ts"
import { oneOf, wholeNumber } from "../shared/Draws.ts"

/** The parts of a sample that tests usually set. */
export interface ChargeOverrides {
  /** The debtor; account A by default. */
  readonly account?: string
  /** By default the service counts. */
  readonly version?: number
  readonly total?: number
  readonly weight?: number
  readonly changeLog?: ReportedCharge["charges"]["changeLog"]
  readonly changeLogMessages?: ReportedCharge["charges"]["changeLogMessages"]
  /** Any further member of the object. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** A PFC object that tests may change. */
export type SampleCharge = ReportedCharge & Readonly<Record<string, unknown>>

const header = (version: number | undefined) => version === undefined ? {} : { function: `PFC${version}`, header: { function: `PFC${version}` } }

const date = "2026-11-20T08:15:00.000"

/** A valid PFC object. */
export const freightCharge = (uniqueID: string, overrides: ChargeOverrides = {}): SampleCharge => {
  const { account = "A", changeLog, changeLogMessages, more, total = 263.78, version, weight = 1840 } = overrides
  return {
    pfc: { uniqueID, ...header(version), date, version: "v1.0", isTest: false },
    payment: { terms: "Prepaid" },
    shipmentTotals: { pickupDate: date, grossWeight: weight, weightUnit: "Pounds", handlingUnits: 3, declaredValue: 0, currency: "USD" },
    accessorials: { codes: ["LFTD"] },
    referenceNumbers: { pro: uniqueID.slice(0, 10), bol: [`BOL-${uniqueID}`] },
    origin: partyOf(chicago, "SHIPPER"),
    destination: partyOf(boston, "CONSIGNEE"),
    billTo: partyOf({ ...chicago, name: "Debtor" }, account),
    commodities: {
      handlingUnits: [{
        count: 3,
        type: "PLT",
        weight,
        weightUnit: "Pounds",
        length: 48,
        width: 40,
        height: 52.5,
        dimensionUnit: "Inches",
        stackable: false,
        lineItems: [{ description: "Hand tools, boxed", weight, weightUnit: "Pounds", pieces: 96, packagingType: "BOX", classification: "60" }]
      }]
    },
    charges: {
      grossCharges: 858.55,
      discountAmount: 657.65,
      discountPercent: 76.6,
      fuelSurchargePercent: 31.3,
      fuelSurchargeAmount: 62.88,
      currencyType: "USD",
      preliminaryTotalCharges: total,
      ...(changeLog === undefined ? {} : { changeLog }),
      ...(changeLogMessages === undefined ? {} : { changeLogMessages })
    },
    ...more
  }
}

/** Members that differ from the sample of a reported bill. */
export interface BillChangeOverrides extends ChargeOverrides {
  /** The debtors, if there are several or the debtor is not the bill-to account. */
  readonly accounts?: ReadonlyArray<string>
}

/** A reported bill that tests may change. */
export type SampleChange = (BillChangeReport | BillRemovalReport) & Readonly<Record<string, unknown>>

/** One change of a bill, as an item of an intake call. */
export const billChange = (change: BillChange, uniqueID: string, overrides: BillChangeOverrides = {}): SampleChange => ({
  change,
  ...(overrides.accounts === undefined ? {} : { accounts: overrides.accounts }),
  pfc: change === "removed" ? { pfc: { uniqueID, ...header(overrides.version) } } : freightCharge(uniqueID, overrides)
} as SampleChange)

/** Four versions of a bill: entered, reweighed, inspected, invoiced. */
export const billJourney = (uniqueID: string, overrides: BillChangeOverrides = {}): ReadonlyArray<SampleChange> => [
  billChange("created", uniqueID, overrides),
  billChange("updated", uniqueID, {
    weight: 1912,
    total: 271.02,
    changeLog: [{ eventCategoryName: "Reweigh", eventCode: "RWE" }],
    changeLogMessages: [{ informationalMessage: "Reweighed at the origin terminal: 1912 pounds." }],
    ...overrides
  }),
  billChange("updated", uniqueID, {
    weight: 1912,
    total: 301.02,
    changeLog: [{ eventCategoryName: "Accessorial", eventCode: "LFTD", carrierCode: "LGD", carrierDescription: "Liftgate at delivery" }],
    ...overrides
  }),
  billChange("final", uniqueID, { weight: 1912, total: 301.02, ...overrides })
]

/** A valid PFC object with arbitrary content, and members that the service does not know. */
export const arbitraryFreightCharge: Arbitrary.Arbitrary<SampleCharge> = Arbitrary.map(
  Arbitrary.all({
    uniqueID: oneOf(["0418367745WAYB20261120", "041-8367745 WAYB 2026-11-20", "0418367746wayb20261120", "7"]),
    account: oneOf(["A", "B", "0042", "Müller & Söhne, {1}"]),
    total: wholeNumber(-100_000, 100_000),
    weight: wholeNumber(1, 40_000),
    code: oneOf(["RWE", "RCL", "LFTD", "FINL", "house code 7"]),
    message: oneOf([undefined, "", "Reweighed: 1912 lbs", "käse, \"船\" 😀 \\ {}"]),
    unknown: oneOf([{}, { custom: { deep: [1, null, "x"] } }, { "ä": true }])
  }),
  ({ account, code, message, total, uniqueID, unknown, weight }) =>
    freightCharge(uniqueID, {
      account,
      total: total / 100,
      weight,
      changeLog: [{ eventCategoryName: "Change", eventCode: code }],
      ...(message === undefined ? {} : { changeLogMessages: [{ informationalMessage: message }] }),
      more: unknown
    })
)
