/** Freight charges with the number of their report in every field, so that leaks are detectable. */
import type { Json } from "./Charges.ts"

/** Marks of report 17: the text `name @17@`, the number 1001712, a date in the year 3017. */
const text = (id: number, name: string) => `${name} @${id}@`

const number = (id: number, nth: number) => 10_000_000 + id * 1000 + nth

const date = (id: number) => `${3000 + id}-01-02T03:04:05.000`

/** Every report and every account that appears in a text. */
export const marksIn = (body: string): ReadonlySet<string> =>
  new Set([
    ...[...body.matchAll(/@(\d+)@/gu)].map((match) => match[1]!),
    ...[...body.matchAll(/(?<![\w.])1(\d{4})\d{3}(?![\w.])/gu)].map((match) => String(Number(match[1]))),
    ...[...body.matchAll(/"(3\d{3})-01-02T03:04:05/gu)].map((match) => String(Number(match[1]) - 3000)),
    ...[...body.matchAll(/account-[A-D]/gu)].map((match) => match[0])
  ])

const party = (id: number, side: string, account: string, location: string) => ({
  account,
  [location]: text(id, `${side} location`),
  name: text(id, `${side} name`),
  address1: text(id, `${side} address1`),
  address2: text(id, `${side} address2`),
  city: text(id, `${side} city`),
  stateProvince: text(id, `${side} state`),
  postalCode: text(id, `${side} postal code`),
  country: text(id, `${side} country`),
  more: text(id, `${side} more`)
})

export const logEntry = (id: number): Json => ({
  eventCategoryName: text(id, "category"),
  eventCode: "RWE",
  eventSubCode: text(id, "sub"),
  carrierCode: text(id, "carrier"),
  carrierDescription: text(id, "description"),
  weightAndResearchDocAvailable: true
})

export const logMessage = (id: number): Json => ({ informationalMessage: text(id, "message") })

/** A PFC object of report `id`, without log. */
export const markedCharge = (id: number, uniqueID: string, debtor: string | undefined) => ({
  pfc: { uniqueID, header: { more: text(id, "header") }, date: date(id), version: text(id, "version"), isTest: false },
  payment: { terms: text(id, "terms") },
  shipmentTotals: {
    pickupDate: date(id),
    grossWeight: number(id, 1),
    netWeight: number(id, 2),
    weightUnit: text(id, "unit"),
    handlingUnits: number(id, 3),
    linearLength: number(id, 4),
    dimensionsUnit: text(id, "dimensions"),
    cube: number(id, 5),
    cubeDimensionsUnit: text(id, "cube"),
    declaredValue: number(id, 6),
    currency: text(id, "currency")
  },
  accessorials: { codes: [text(id, "code")] },
  referenceNumbers: {
    pro: text(id, "pro"),
    quoteId: text(id, "quote"),
    shipmentId: text(id, "shipment"),
    masterBol: text(id, "master"),
    trailerId: text(id, "trailer"),
    manifestId: text(id, "manifest"),
    bol: [text(id, "bol")],
    po: [{ number: text(id, "po"), pieces: number(id, 7), weight: text(id, "po weight"), weightUnit: text(id, "po unit"), palletized: true, additionalShipperInfo: text(id, "info") }],
    additionalReferences: [{ name: text(id, "reference"), value: text(id, "value") }]
  },
  origin: party(id, "origin", text(id, "origin account"), "locationId"),
  destination: party(id, "destination", text(id, "destination account"), "locationId"),
  billTo: party(id, "billTo", debtor ?? text(id, "billTo account"), "locationID"),
  commodities: {
    handlingUnits: [{
      count: number(id, 8),
      type: text(id, "type"),
      tareWeight: number(id, 9),
      weight: number(id, 10),
      weightUnit: text(id, "hu unit"),
      length: number(id, 11),
      width: number(id, 12),
      height: number(id, 13),
      dimensionUnit: text(id, "hu dimension"),
      stackable: false,
      lineItems: [{ description: text(id, "line"), weight: number(id, 14), weightUnit: text(id, "line unit"), pieces: number(id, 15), packagingType: text(id, "packaging"), classification: text(id, "class"), nmfc: text(id, "nmfc"), nmfcSub: text(id, "nmfcSub") }]
    }]
  },
  charges: {
    grossCharges: number(id, 16),
    discountAmount: number(id, 17),
    discountPercent: number(id, 18),
    totalTareWeight: number(id, 19),
    tareWeightAmount: number(id, 20),
    deficitWeight: number(id, 21),
    fuelSurchargePercent: number(id, 22),
    fuelSurchargeAmount: number(id, 23),
    currencyType: text(id, "charges currency"),
    weightUnit: text(id, "charges unit"),
    detail: text(id, "detail"),
    preliminaryTotalCharges: number(id, 24),
    class: [{ freightClass: text(id, "freightClass"), cwt: number(id, 25) }],
    more: text(id, "charges more")
  },
  more: { deep: [text(id, "more")] }
})
