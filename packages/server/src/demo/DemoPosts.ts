/** The shipment and the freight bill that the demo's carrier publishes besides events. */
import { dayOf, demoAccount, demoScac, type DemoShipment, type Place, uniqueIdOf } from "./DemoFreight.ts"

const addressOf = ({ address1, city, country, name, postalCode, state }: Place) => ({
  addressName: name,
  addressLine1: address1,
  city,
  state,
  postalCode,
  country
})

const daysInTransit = 2
const dayMillis = 86_400_000

/** The shipment, as on its bill of lading. It has no status, which follows from the events. */
export const postedShipment = (shipment: DemoShipment) => {
  const { bolNumber, poNumber, proNumber, route, shipmentId, startedAt } = shipment
  const { destination, freight, origin } = route
  const expected = dayOf(startedAt + daysInTransit * dayMillis)
  return {
    shipmentId,
    accounts: [demoAccount],
    ProNumber: proNumber,
    ReferenceNumbers: {
      bolNumber,
      QuoteID: null,
      ShipmentID: shipmentId,
      MasterBOL: null,
      poNumber,
      AdditionalReferences: null,
      trailerNumber: null
    },
    UniqueID: uniqueIdOf(shipment),
    PayType: "Prepaid",
    ShipType: "Shipper",
    PickupAddress: addressOf(origin),
    BillToAddress: { ...addressOf(origin), accountNumber: demoAccount },
    BillToAccountNumber: demoAccount,
    ConsigneeAddress: addressOf(destination),
    GrossWeight: freight.statedWeight,
    Commodities: [{
      description: freight.description,
      weight: freight.statedWeight,
      weightUnit: "lbs",
      pieces: freight.pieces,
      packagingType: "CTN",
      classification: Number(freight.freightClass)
    }],
    HandlingUnits: [{ count: freight.pallets, type: "PLT", weight: freight.statedWeight, weightUnit: "lbs" }],
    EstimatedStandardDay: daysInTransit,
    EstimatedDeliveryDate: expected
  } as const
}

/** Versions of a bill: created at pickup, updated after weighing, final at delivery. */
export const chargeVersions = ["created", "updated", "final"] as const
export type ChargeVersion = typeof chargeVersions[number]

/** A version of the shipment's freight bill. It includes the version number, so that a repeated call is a duplicate. */
export const postedCharge = (shipment: DemoShipment, change: ChargeVersion, at: number) => {
  const { freight } = shipment.route
  const weight = change === "created" ? freight.statedWeight : freight.reweighed
  return {
    change,
    pfc: {
      pfc: {
        uniqueID: uniqueIdOf(shipment),
        header: { function: `PFC${chargeVersions.indexOf(change) + 1}` },
        date: withoutZone(at),
        version: "v1.0",
        isTest: false
      },
      payment: { terms: "Prepaid" },
      shipmentTotals: { pickupDate: withoutZone(shipment.startedAt), grossWeight: weight, weightUnit: "Pounds", handlingUnits: freight.pallets },
      referenceNumbers: { pro: shipment.proNumber, shipmentId: shipment.shipmentId, bol: [shipment.bolNumber], po: [{ number: shipment.poNumber }] },
      origin: partyOf(shipment.route.origin),
      destination: partyOf(shipment.route.destination),
      billTo: partyOf(shipment.route.origin),
      commodities: { handlingUnits: [unitOf(shipment, weight)] },
      charges: chargesOf(shipment, change, weight)
    }
  } as const
}

const partyOf = ({ address1, city, country, name, postalCode, state }: Place) => ({
  account: demoAccount,
  name,
  address1,
  city,
  stateProvince: state,
  postalCode,
  country
})

const unitOf = ({ route: { freight } }: DemoShipment, weight: number) => ({
  count: freight.pallets,
  type: "PLT",
  weight,
  weightUnit: "Pounds",
  length: 48,
  width: 40,
  height: 52,
  dimensionUnit: "Inches",
  lineItems: [{
    description: freight.description,
    weight,
    weightUnit: "Pounds",
    pieces: freight.pieces,
    packagingType: "CTN",
    classification: freight.freightClass
  }]
})

const discountPercent = 40
const fuelSurchargePercent = 24.5

/** Charges of a version of the bill. */
export const chargesOf = ({ route: { freight } }: DemoShipment, change: ChargeVersion, weight: number) => {
  const grossCharges = cents(freight.rate * weight / 100)
  const discountAmount = cents(grossCharges * discountPercent / 100)
  const fuelSurchargeAmount = cents((grossCharges - discountAmount) * fuelSurchargePercent / 100)
  return {
    grossCharges,
    discountAmount,
    discountPercent,
    fuelSurchargePercent,
    fuelSurchargeAmount,
    currencyType: "USD",
    preliminaryTotalCharges: cents(grossCharges - discountAmount + fuelSurchargeAmount),
    class: [{ freightClass: freight.freightClass, cwt: freight.rate }],
    ...(change === "updated"
      ? {
        changeLog: [{ eventCategoryName: "Reweigh", eventCode: "RWE", carrierCode: demoScac }],
        changeLogMessages: [{ informationalMessage: `Weighed ${freight.reweighed} pounds instead of ${freight.statedWeight}.` }]
      }
      : {})
  }
}

const cents = (amount: number): number => Math.round(amount * 100) / 100

/** Bills contain local times without a zone. */
const withoutZone = (millis: number): string => new Date(millis).toISOString().slice(0, -1)
