/** The freight of sample bills, for receivers and for implementations. */

export const sampleTotals = { grossWeight: 1840, weightUnit: "Pounds", handlingUnits: 3 }

/** Commodities of the sample shipment. */
export const sampleCommodities = {
  handlingUnits: [{
    count: 3,
    type: "PLT",
    weight: 1840,
    weightUnit: "Pounds",
    length: 48,
    width: 40,
    height: 52.5,
    dimensionUnit: "Inches",
    lineItems: [{ description: "Sent by waybill check", weight: 1840, weightUnit: "Pounds", pieces: 96, packagingType: "BOX", classification: "60" }]
  }]
}
