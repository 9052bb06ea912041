/** Sample freight charges of a carrier's system. */
import { type BillChange, type ChargeSubscriptionSettings, type ReadChange, readChange } from "@waybill/core/freight-charges"
import { Effect } from "effect"

export type Json = Readonly<Record<string, unknown>>

export interface ChargeOverrides {
  readonly uniqueID?: string
  readonly account?: string
  readonly version?: number
  readonly total?: number
  readonly terms?: string
  readonly originName?: string
  readonly log?: ReadonlyArray<Json>
  readonly messages?: ReadonlyArray<Json>
  readonly more?: Json
}

const party = (name: string, account: string) => ({
  account,
  name,
  address1: "12 S. Closets Place",
  city: "Los Angeles",
  stateProvince: "CA",
  postalCode: "90001",
  country: "USA"
})

/** A valid PFC object. */
export const charge = (overrides: ChargeOverrides = {}) => ({
  pfc: {
    uniqueID: overrides.uniqueID ?? "1234567890EXLA20241120",
    ...(overrides.version === undefined ? {} : { header: { function: `PFC${overrides.version}` } }),
    date: "2024-11-20T00:00:00.000",
    version: "v1.0",
    isTest: false
  },
  payment: { terms: overrides.terms ?? "Prepaid" },
  shipmentTotals: { pickupDate: "2024-11-20T00:00:00.000", grossWeight: 2000, weightUnit: "Pounds", handlingUnits: 2 },
  referenceNumbers: { pro: "1234567890" },
  origin: party(overrides.originName ?? "Closets", "O"),
  destination: party("Mirrors", "D"),
  billTo: party("Debtor", overrides.account ?? "A"),
  commodities: {
    handlingUnits: [{ count: 2, type: "SKD", weight: 2000, weightUnit: "Pounds", length: 48, width: 48, height: 48.5, dimensionUnit: "Inches" }]
  },
  charges: {
    grossCharges: 858.55,
    discountAmount: 657.65,
    discountPercent: 76.6,
    fuelSurchargePercent: 31.3,
    fuelSurchargeAmount: 62.88,
    currencyType: "USD",
    preliminaryTotalCharges: overrides.total ?? 263.78,
    ...(overrides.log === undefined ? {} : { changeLog: overrides.log }),
    ...(overrides.messages === undefined ? {} : { changeLogMessages: overrides.messages })
  },
  ...overrides.more
})

/** A PFC object as an item of an intake call. */
export const change = (what: BillChange, overrides: ChargeOverrides & { readonly accounts?: ReadonlyArray<string> } = {}) => ({
  change: what,
  ...(overrides.accounts === undefined ? {} : { accounts: overrides.accounts }),
  pfc: what === "removed"
    ? { pfc: { uniqueID: overrides.uniqueID ?? "1234567890EXLA20241120", ...(overrides.version === undefined ? {} : { header: { function: `PFC${overrides.version}` } }) } }
    : charge(overrides)
})

/** A PFC object as a parsed change. */
export const read = (...args: Parameters<typeof change>): Effect.Effect<ReadChange> =>
  Effect.orDie(readChange(JSON.parse(JSON.stringify(change(...args))), ["charges", 0]))

export const settings = (overrides: Partial<ChargeSubscriptionSettings> = {}): ChargeSubscriptionSettings => ({
  webhookUrl: "https://debtor.example/pfc",
  accounts: ["A"],
  dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
  frequency: "real_time",
  includeEventLog: true,
  billScope: "subscribed_accounts",
  ...overrides
})
