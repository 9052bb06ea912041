/** Fields of journey steps for freight with a lane and a load, in addition to those of the samples. */
import type { PostedShipment } from "@waybill/core/shipment-status"
import type { BillChangeOverrides } from "../freight-charges/FreightChargeSamples.ts"
import type { InvoiceOverrides } from "../invoices/InvoiceSamples.ts"
import { utcForm } from "../network/LocalTime.ts"
import { type PickupOverrides, requestedShipment } from "../pickups/PickupSamples.ts"
import type { BillDetails } from "./FreightSteps.ts"
import { billIdOfFreight, consigneeOf, dateOf, type Freight, laneOf, millisOf, momentOf } from "./Freight.ts"
import { partyOf, type Place } from "./Lane.ts"
import { type Cost, costOf, dollars, type Load } from "./Load.ts"

type Priced = Pick<BillDetails, "extra" | "reweighed">

const weightOf = (load: Load, { reweighed = false }: Priced): number => reweighed ? load.reweighed : load.weight

const costOfFreight = (load: Load, priced: Priced): Cost => costOf(load, weightOf(load, priced), Math.round((priced.extra ?? 0) * 100))

/** Dollars of the sample bill, at first and after a reweigh. */
const [sampleTotal, sampleReweighed] = [263.78, 271.02]

/** The price of the freight, in dollars. */
export const totalOf = ({ load }: Freight, priced: Priced): number =>
  load === undefined
    ? Math.round(((priced.reweighed === true ? sampleReweighed : sampleTotal) + (priced.extra ?? 0)) * 100) / 100
    : dollars(costOfFreight(load, priced).total)

/** Reference numbers of an event's shipment. */
export const eventReferences = ({ load, proNumber }: Freight) => [
  { type: "PRO", value: proNumber },
  ...(load === undefined ? [] : [{ type: "BOL", value: load.bol }, ...load.purchaseOrders.map((value) => ({ type: "PO", value }))])
]

const linearFeetOf = ({ size, units }: Load): number => Math.ceil(units / 2) * Math.ceil(size.length / 12)

/** The pickup order. */
export const loadedPickup = (freight: Freight): PickupOverrides => {
  const { load } = freight
  if (load === undefined) return {}
  const { originZone, shipper } = laneOf(freight)
  const to = consigneeOf(freight)
  return {
    zone: utcForm(millisOf(freight, 0), originZone),
    ready: "12:00:00.000",
    close: "19:00:00.000",
    btAccountNumber: freight.account,
    more: {
      customer: shipper.name,
      grossPickupWeight: load.weight,
      handlingUnitCount: load.units,
      cubicFeet: Math.ceil(load.units * load.size.length * load.size.width * load.size.height / 1728),
      linearFeet: linearFeetOf(load),
      shipmentDetails: [requestedLoad(freight, load)],
      destinationAddress: [{ cneeAddressName: to.name, cneeAddressLine1: to.address1, cneeCity: to.city, cneeCountry: to.country, cneeState: to.state, cneeZip: to.postalCode }]
    }
  }
}

const requestedLoad = ({ proNumber }: Freight, load: Load) =>
  requestedShipment({
    proNumber,
    shipperRef: load.bol,
    description: load.description,
    descriptionDetails: [load.description],
    freightClass: load.freightClass,
    individualPieceType: load.packaging,
    individualPieces: load.pieces,
    nmfc: load.nmfc,
    nmfcSub: load.nmfcSub,
    weight: load.weight,
    grossShipmentWeight: load.weight,
    netShipmentWeight: load.weight,
    handlingUnitCount: load.units,
    handlingUnitType: load.unitType,
    handlingUnitDetails: [{
      ...load.size,
      unitCount: load.units,
      totalUnitCount: load.units,
      totalLinearFeetofShipment: linearFeetOf(load),
      unitType: load.unitType,
      totalWeight: load.weight
    }],
    referenceNumbers: load.purchaseOrders.map((referenceNumber) => ({ refPieceCount: load.pieces, referenceNumber, referenceType: "PO" })),
    shipmentServices: load.accessorials.map(({ code }) => ({ serviceCode: code, serviceDescription: null })),
    hazmatCheck: load.hazardous,
    ...(load.hazardous ? { hazmatContactName: "Chemtrec desk", hazmatContactPhoneNumber: "8005550142", hazmatContractNumber: "CCN-1021" } : {})
  })

/** The freight that the driver picked up. */
export const loadedReport = (freight: Freight) => {
  const { load, proNumber } = freight
  if (load === undefined) return {}
  const { country, postalCode } = consigneeOf(freight)
  return {
    shipmentArray: [{ proNumber, destinationPostalCode: postalCode, destinationCountry: country, handlingUnitQuantity: load.units, weight: load.weight }]
  }
}

/** The shipment, from its bill of lading. */
export const loadedShipment = (freight: Freight): Partial<PostedShipment> => {
  const { load } = freight
  if (load === undefined) return {}
  return {
    ReferenceNumbers: { bolNumber: load.bol, ShipmentID: freight.shipmentId, poNumber: load.purchaseOrders.join(", ") },
    DESaccessorial: load.accessorials.map(({ code }) => code),
    GrossWeight: load.weight,
    Commodities: [{
      description: load.description,
      weight: load.weight,
      weightUnit: "lbs",
      pieces: load.pieces,
      packagingType: load.packaging,
      classification: Number(load.freightClass),
      nmfc: load.nmfc,
      nmfcSub: load.nmfcSub,
      ...(load.hazardous ? { hazardous: true, hazmatContactName: "Chemtrec desk", hazmatContactPhoneNumber: "8005550142" } : {})
    }],
    HandlingUnits: [{ index: 1, count: load.units, type: load.unitType, weight: load.weight, weightUnit: "lbs", ...load.size, dimensionsUnit: "In", stackable: false }],
    EstimatedStandardDay: Math.max(1, Math.round((millisOf(freight, 48) - millisOf(freight, 0)) / 86_400_000))
  }
}

/** Bills have local times without a time zone. */
const withoutZone = (freight: Freight, afterHours: number): string => `${momentOf(freight, afterHours).slice(0, 19)}.000`

/** Fields of a version of the freight bill. */
export const loadedBill = (freight: Freight, afterHours: number, { account, changeLog }: BillDetails, priced: Priced): Pick<BillChangeOverrides, "more"> => {
  const { load } = freight
  if (load === undefined) return {}
  const { shipper } = laneOf(freight)
  const weight = weightOf(load, priced)
  const pickupDate = withoutZone(freight, 0)
  return {
    more: {
      pfc: { uniqueID: billIdOfFreight(freight), date: withoutZone(freight, afterHours), version: "v1.0", isTest: false },
      shipmentTotals: { pickupDate, grossWeight: weight, weightUnit: "Pounds", handlingUnits: load.units, declaredValue: 0, currency: "USD" },
      accessorials: { codes: load.accessorials.map(({ code }) => code) },
      referenceNumbers: { pro: freight.proNumber, shipmentId: freight.shipmentId, bol: [load.bol], po: load.purchaseOrders.map((number) => ({ number })) },
      origin: partyOf(shipper, freight.account),
      destination: partyOf(consigneeOf(freight), "CONSIGNEE"),
      billTo: partyOf(shipper, account ?? freight.account),
      commodities: { handlingUnits: [unitOf(load, weight)] },
      charges: { ...amountsOf(load, costOfFreight(load, priced)), ...(changeLog === undefined ? {} : { changeLog }) }
    }
  }
}

const unitOf = (load: Load, weight: number) => ({
  count: load.units,
  type: load.unitType,
  weight,
  weightUnit: "Pounds",
  ...load.size,
  dimensionUnit: "Inches",
  stackable: false,
  lineItems: [{
    description: load.description,
    weight,
    weightUnit: "Pounds",
    pieces: load.pieces,
    packagingType: load.packaging,
    classification: load.freightClass,
    nmfc: load.nmfc,
    nmfcSub: load.nmfcSub
  }]
})

const amountsOf = (load: Load, cost: Cost) => ({
  grossCharges: dollars(cost.gross),
  discountAmount: dollars(cost.discount),
  discountPercent: load.discount / 10,
  fuelSurchargePercent: load.fuelSurcharge / 10,
  fuelSurchargeAmount: dollars(cost.fuel),
  currencyType: "USD",
  preliminaryTotalCharges: dollars(cost.total),
  class: [{ freightClass: load.freightClass, cwt: dollars(load.rate) }]
})

const postalAddressOf = ({ address1, city, country, postalCode, state }: Place) => ({ streetAddress: address1, locality: city, adminArea1: state, postalCode, countryCode: country })

const usd = (cents: number) => ({ currencyCode: "USD", value: (cents / 100).toFixed(2) })

/** The invoice, line by line. */
export const invoiceMembers = (freight: Freight, afterHours: number, invoiceNumber: string, cost: BillDetails): Pick<InvoiceOverrides, "more"> => {
  const { load } = freight
  if (load === undefined) return {}
  const { shipper } = laneOf(freight)
  const consignee = consigneeOf(freight)
  const { accessorials, discount, fuel, gross, total } = costOfFreight(load, cost)
  const line = (chargeCode: string, chargeDescription: string, cents: number) => ({
    chargeType: "BASE_CHARGE",
    chargeCode,
    chargeUnitCode: "FLAT",
    chargeDescription,
    cost: usd(cents)
  })
  return {
    more: {
      invoiceHeader: {
        consignor: { consignorName: shipper.name, address: postalAddressOf(shipper) },
        consignee: { consigneeName: consignee.name, address: postalAddressOf(consignee) },
        billingParty: { billingPartyName: shipper.name, address: postalAddressOf(shipper) },
        terms: { billingTerms: "Prepaid", paymentTerms: "Net 30" },
        invoiceNumber,
        invoiceDate: dateOf(freight, afterHours),
        invoiceAmount: usd(total)
      },
      invoiceCharges: [
        line("LINEHAUL", `${weightOf(load, cost)} pounds of class ${load.freightClass}`, gross),
        line("DISCOUNT", `${load.discount / 10} percent`, -discount),
        line("FUEL", `Fuel surcharge, ${load.fuelSurcharge / 10} percent`, fuel),
        ...(accessorials === 0 ? [] : [line("ACCESSORIAL", load.accessorials.map(({ code }) => code).join(", "), accessorials)])
      ]
    }
  }
}
