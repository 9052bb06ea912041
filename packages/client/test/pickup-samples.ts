/** Pickups with every field. */
import type { ReportedPickup } from "../src/intake/index.ts"
import type { PickupAnswer, PickupOrder, PickupShipment, PickupVisibility } from "../src/pickups/index.ts"

const shipment: Required<PickupShipment> = {
  shipperRef: "R-1", proNumber: "041-8367745", crossRefPro: "0099", deliveryBeginDate: "2099-11-24", deliveryDateType: "Delivery Window",
  deliveryEndDate: "2099-11-26", descriptionDetails: ["Paint", "red"], additionalShipperInfo: "gate 4", description: "Paint", freightClass: "92.5",
  hazmatCheck: true, individualPieceType: "Drum", individualPieces: 4, nmfc: "149980", nmfcSub: "2", weight: 600, grossShipmentWeight: 640,
  netShipmentWeight: 600, handlingUnitCount: 2,
  handlingUnitDetails: [{
    height: 60, length: 48.5, width: 40, unitCount: 2, totalUnitCount: 2, totalLinearFeetofShipment: 4, unitType: "Pallet", weight: 300, totalWeight: 600
  }],
  handlingUnitType: "Pallet", hazmatContactName: "Kim", hazmatContactPhoneNumber: "4025550100", hazmatContractNumber: "H-1",
  referenceNumbers: [{ refPieceCount: 4, referenceNumber: "0815", referenceType: "PO" }],
  shipmentServices: [{ serviceCode: "LFTP", serviceDescription: "Liftgate" }],
  specialInstructionsDelivery: "ring", specialInstructionsPickup: "knock"
}

export const fullOrder: Required<PickupOrder> = {
  isTest: false,
  pickupAddress: [{
    orgAccountNumber: "4711", orgAddressName: "Acme", orgAddressLine1: "1 Main St", orgAddressLine2: "Rear", orgCity: "Omaha", orgContactName: "Kim",
    orgCountry: "USA", orgPhoneNumber: "4025550100", orgState: "NE", orgStoreNumber: "12", orgZip: "68102"
  }],
  customer: "Acme",
  emergencyContact: [{ emergName: "Lee", emergPhone: "4025550101", emergEmail: "lee@acme.test" }],
  grossPickupWeight: 640,
  weightUofM: "LBS",
  handlingUnitCount: 2,
  cubicFeet: 100,
  linearFeet: 4,
  trailerNumber: "53",
  loadedBy: "shipper",
  sealNumber: "S-9",
  warehouseName: "North",
  readyDate: "2099-11-20T00:00:00",
  readyTime: "2099-11-20T08:00:00",
  closeTime: "2099-11-20T17:00:00",
  openDate: "2099-11-20T00:00:00",
  openTime: "2099-11-20T07:00:00",
  pickupLocationTimeZone: "UTC-6",
  dockDoorNumber: "4",
  dockContactEmail: "dock@acme.test",
  dockContactName: "Sam",
  dockContactPhone: "4025550102",
  confirmationEmail: "sam@acme.test",
  shipmentDetails: [shipment],
  destinationAddress: [{
    cneeAddressName: "Bolt", cneeAddressLine1: "2 Dock Rd", cneeAddressLine2: "Rear", cneeCity: "Tulsa", cneeContactName: "Pat", cneeCountry: "USA",
    cneePhoneNumber: "9185550100", cneeState: "OK", cneeStoreNumber: "3", cneeZip: "02134"
  }],
  billToAddress: [{
    btAccountNumber: "4711", btAddressName: "Acme", btAddressLine1: "1 Main St", btAddressLine2: "Rear", btCity: "Omaha", btContactName: "Kim",
    btCountry: "USA", btPhoneNumber: "4025550100", btState: "NE", btStoreNumber: "12", btZip: "68102"
  }]
}

/** The fewest fields that the service accepts. */
export const leastOrder: PickupOrder = {
  isTest: false,
  pickupAddress: [{ orgAddressName: "Acme", orgAddressLine1: "1 Main St", orgCity: "Omaha", orgState: "NE", orgZip: "68102", orgCountry: "USA" }],
  grossPickupWeight: 640,
  weightUofM: "LB",
  handlingUnitCount: 2,
  linearFeet: 4
}

export const pickupAnswer: PickupAnswer = {
  shipperRef: ["R-1"], carrierPickupNumber: "100000001", pickupStatus: "Accept", trailerNumber: null, carrierName: "Carrier", routing: null, scac: "ABCD",
  pickupMessage: []
}

export const pickupVisibility: PickupVisibility = {
  pickupConfirmationId: "100000001",
  status: "En Route",
  informationCode: { code: "310", codeDescription: "Carrier not able to service - Rescheduled", subCode: "2", subCodeDescription: "Breakdown" },
  stopEta: "2099-11-20T09:15:00",
  stopEtaTimeZone: "UTC-6",
  equipmentInformation: { driverName: "Pat", trailerNumber: "53", gpsCoordinates: { latitude: 41.25, longitude: -95.99 }, stopsAway: 3 },
  shipmentArray: [{
    proNumber: "041-8367745", destinationPostalCode: "02134", destinationCountry: "USA", handlingUnitQuantity: 2, weight: 640,
    referenceNumbers: [{ referenceType: "PO", referenceValue: "0815" }]
  }]
}

export const fullReport: Required<ReportedPickup> = {
  status: "Pickup Rescheduled",
  informationCode: { code: "310", codeDescription: "Late", subCode: "02", subCodeDescription: "Breakdown" },
  stopEta: "2099-11-20T09:15:00",
  stopEtaTimeZone: "UTC-6",
  equipmentInformation: { driverName: "Pat", trailerNumber: "53", gpsCoordinates: { latitude: 41.25, longitude: -95.99 }, stopsAway: 3 },
  shipmentArray: [{
    proNumber: "041-8367745", destinationPostalCode: "02134", destinationCountry: "USA", handlingUnitQuantity: 2, weight: 640,
    referenceNumbers: [{ referenceType: "PO", referenceValue: "0815" }]
  }],
  carrierPickupNumber: "C-1"
}
