/** Sample pickup requests. */
import { type PickupInput, type PickupRequest, withNulls } from "@waybill/core/pickups"

/** A pickup request as JSON. */
export type PickupJson = Readonly<Record<string, unknown>>

/** The parts of a sample that tests usually set; `more` has other members of the request. */
export interface PickupOverrides {
  readonly isTest?: SamplePickup["isTest"]
  /** The day, as `2026-11-20`. */
  readonly day?: string
  readonly ready?: string
  readonly close?: string
  readonly zone?: string | null
  readonly orgAccountNumber?: string | null
  readonly btAccountNumber?: string | null
  readonly pro?: unknown
  readonly shipment?: PickupJson
  /** Makes it a change of the pickup with this number. */
  readonly number?: string
  readonly more?: PickupJson
}

/** A valid pickup request that tests may change. */
export type SamplePickup = typeof PickupRequest.Encoded & PickupJson

/** One shipment of a request. */
export const requestedShipment = (overrides: PickupJson = {}): NonNullable<SamplePickup["shipmentDetails"]>[number] & PickupJson => ({
  shipperRef: "LOAD-7",
  proNumber: "041-8367745",
  crossRefPro: null,
  deliveryBeginDate: null,
  deliveryDateType: null,
  deliveryEndDate: null,
  descriptionDetails: ["Closet doors"],
  additionalShipperInfo: null,
  description: "Closet doors",
  freightClass: "77.5",
  hazmatCheck: false,
  individualPieceType: "CTN",
  individualPieces: 40,
  nmfc: "39240",
  nmfcSub: "02",
  weight: 1200,
  grossShipmentWeight: 1250,
  netShipmentWeight: 1200,
  handlingUnitCount: 2,
  handlingUnitDetails: [{
    height: 48,
    length: 48,
    unitCount: 2,
    totalUnitCount: 2,
    totalLinearFeetofShipment: 4,
    unitType: "SKD",
    width: 40,
    weight: 625,
    totalWeight: 1250
  }],
  handlingUnitType: "SKD",
  hazmatContactName: null,
  hazmatContactPhoneNumber: null,
  hazmatContractNumber: null,
  referenceNumbers: [{ refPieceCount: 40, referenceNumber: "0045001", referenceType: "PO" }],
  shipmentServices: [{ serviceCode: "LGATE", serviceDescription: null }],
  specialInstructionsDelivery: null,
  specialInstructionsPickup: "Ring at dock 3.",
  ...overrides
})

/** A valid request with every member. */
export const pickupRequest = (overrides: PickupOverrides = {}): SamplePickup => {
  const day = overrides.day ?? "2026-11-20"
  const request: PickupInput = {
    isTest: overrides.isTest ?? "False",
    pickupAddress: [{
      orgAccountNumber: overrides.orgAccountNumber ?? null,
      orgAddressName: "Closets Inc.",
      orgAddressLine1: "12 S. Closets Place",
      orgAddressLine2: null,
      orgCity: "Boston",
      orgContactName: "Dana",
      orgCountry: "USA",
      orgPhoneNumber: "6175550100",
      orgState: "MA",
      orgStoreNumber: null,
      orgZip: "02134"
    }],
    customer: "Closets",
    grossPickupWeight: 1250,
    weightUofM: "LB",
    handlingUnitCount: 2,
    cubicFeet: 107,
    loadedBy: "driver",
    warehouseName: null,
    readyDate: `${day}T00:00:00.000`,
    readyTime: `${day}T${overrides.ready ?? "08:00:00.000"}`,
    closeTime: `${day}T${overrides.close ?? "17:00:00.000"}`,
    openDate: null,
    openTime: null,
    pickupLocationTimeZone: overrides.zone === undefined ? "UTC-5" : overrides.zone,
    dockDoorNumber: "3",
    dockContactName: "Dana",
    shipmentDetails: [requestedShipment({ ...(overrides.pro === undefined ? {} : { proNumber: overrides.pro }), ...overrides.shipment })],
    destinationAddress: [{
      cneeAddressName: "Mirrors Ltd.",
      cneeAddressLine1: "1 Glass Road",
      cneeAddressLine2: null,
      cneeCity: "Toronto",
      cneeContactName: null,
      cneeCountry: "CAN",
      cneePhoneNumber: null,
      cneeState: "ON",
      cneeStoreNumber: null,
      cneeZip: "M5V 2T6"
    }],
    billToAddress: overrides.btAccountNumber === undefined ? null : [{
      btAccountNumber: overrides.btAccountNumber,
      btAddressName: "Closets Inc.",
      btAddressLine1: "12 S. Closets Place",
      btAddressLine2: null,
      btCity: "Boston",
      btContactName: null,
      btCountry: "USA",
      btPhoneNumber: null,
      btState: "MA",
      btStoreNumber: null,
      btZip: "02134"
    }],
    requestFunction: overrides.number === undefined ? "NewPickup" : "ModifyExisting"
  }
  return { ...withNulls(request, overrides.number), ...overrides.more }
}
