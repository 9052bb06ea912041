/** Freight bills as a carrier's system publishes them. */

const party = (account: string, name: string) => ({
  account,
  name,
  address1: "1 Main Street",
  city: "Boston",
  stateProvince: "MA",
  postalCode: "02134",
  country: "USA"
})

export interface BillSettings {
  readonly account?: string
  readonly total?: number
  readonly more?: Readonly<Record<string, unknown>>
}

/** A PFC object without a version, which the service counts. */
export const bill = (uniqueID: string, { account = "A1", more = {}, total = 263.78 }: BillSettings = {}) => ({
  pfc: { uniqueID, date: "2026-11-20T08:15:00.000", version: "v1.0", isTest: false },
  payment: { terms: "Prepaid" },
  shipmentTotals: { pickupDate: "2026-11-18T00:00:00.000", grossWeight: 2000.5, weightUnit: "Pounds", handlingUnits: 2 },
  accessorials: { codes: ["LFTD"] },
  referenceNumbers: { pro: "041-8367745", bol: ["B-1"] },
  origin: party("S1", "Shipper"),
  destination: party("C1", "Consignee"),
  billTo: { ...party(account, "Debtor"), locationID: "L1" },
  commodities: { handlingUnits: [] },
  charges: {
    grossCharges: 858.55,
    discountAmount: 657.65,
    discountPercent: 76.6,
    fuelSurchargePercent: 31.3,
    fuelSurchargeAmount: 62.88,
    currencyType: "USD",
    preliminaryTotalCharges: total
  },
  ...more
})

/** One item of an intake call. */
export const charge = (change: "created" | "updated" | "removed" | "final", uniqueID: string, settings: BillSettings & { readonly accounts?: ReadonlyArray<string> } = {}) => ({
  change,
  ...(settings.accounts === undefined ? {} : { accounts: settings.accounts }),
  pfc: bill(uniqueID, settings)
})
