/** The freight bill that a webhook test sends. */
import type { PreliminaryFreightCharge } from "./PreliminaryFreightCharge.ts"

const party = {
  account: "TEST",
  name: "Webhook Test",
  address1: "1 Sample Street",
  city: "Chicago",
  stateProvince: "IL",
  postalCode: "60601",
  country: "USA"
}

/** `date` has no zone. SPEC-GAP-E17 */
export const sampleCharge = (date: string): PreliminaryFreightCharge => ({
  pfc: { uniqueID: "TEST", function: "PFC1", header: { function: "PFC1" }, date, version: "v1.0", isTest: true },
  payment: { terms: "Prepaid" },
  shipmentTotals: { pickupDate: date, grossWeight: 1500, weightUnit: "Pounds", handlingUnits: 2 },
  referenceNumbers: { pro: "0000000000" },
  origin: party,
  destination: party,
  billTo: party,
  commodities: {
    handlingUnits: [{
      count: 2,
      type: "SKD",
      weight: 1500,
      weightUnit: "Pounds",
      length: 48,
      width: 48,
      height: 48,
      dimensionUnit: "Inches",
      lineItems: [{ description: "Sample freight", weight: 1500, weightUnit: "Pounds", pieces: 2, packagingType: "BOX", classification: "55" }]
    }]
  },
  charges: {
    grossCharges: 858.55,
    discountAmount: 657.65,
    discountPercent: 76.6,
    fuelSurchargePercent: 31.3,
    fuelSurchargeAmount: 62.88,
    currencyType: "USD",
    preliminaryTotalCharges: 263.78,
    changeLog: [{ eventCategoryName: "Bill Entry", eventCode: "OTHR", carrierCode: "BILL" }]
  }
})
