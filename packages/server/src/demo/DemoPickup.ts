/** The shipper's pickup order and the driver reports of the carrier. */
import type { PickupOrder, ReportedPickup } from "@waybill/client"
import { demoAccount, type DemoShipment } from "./DemoFreight.ts"

const hourMillis = 3_600_000

/** Local time in a zone, as ISO 8601 without an offset. */
const localTime = (millis: number, timeZone: string): string =>
  // The Swedish locale uses this date format.
  new Date(millis).toLocaleString("sv-SE", { timeZone }).replace(" ", "T")

/** A window that starts four hours from now and stays within one local day: late in the evening, on the next day. */
export const pickupWindow = (millis: number, timeZone: string) => {
  const day = localTime(millis + 2 * hourMillis, timeZone).slice(0, 10)
  const ready = localTime(millis, timeZone)
  const close = localTime(millis + 4 * hourMillis, timeZone)
  return {
    readyDate: day,
    readyTime: ready.startsWith(day) ? ready : `${day}T00:00:00`,
    closeTime: close.startsWith(day) ? close : `${day}T23:59:00`
  }
}

/** The pickup order. */
export const pickupOrder = ({ bolNumber, proNumber, route, startedAt }: DemoShipment): PickupOrder => {
  const { destination, freight, origin, originTimeZone } = route
  return {
    isTest: false,
    pickupAddress: [{
      orgAccountNumber: demoAccount,
      orgAddressName: origin.name,
      orgAddressLine1: origin.address1,
      orgCity: origin.city,
      orgState: origin.state,
      orgZip: origin.postalCode,
      orgCountry: origin.country,
      orgContactName: "Shipping",
      orgPhoneNumber: "555-0100"
    }],
    grossPickupWeight: freight.statedWeight,
    weightUofM: "LB",
    handlingUnitCount: freight.pallets,
    linearFeet: freight.pallets * 2,
    loadedBy: "shipper",
    ...pickupWindow(startedAt, originTimeZone),
    pickupLocationTimeZone: originTimeZone,
    shipmentDetails: [{
      shipperRef: bolNumber,
      proNumber,
      description: freight.description,
      freightClass: freight.freightClass,
      hazmatCheck: false,
      weight: freight.statedWeight,
      handlingUnitCount: freight.pallets,
      handlingUnitType: "PLT"
    }],
    destinationAddress: [{
      cneeAddressName: destination.name,
      cneeAddressLine1: destination.address1,
      cneeCity: destination.city,
      cneeState: destination.state,
      cneeZip: destination.postalCode,
      cneeCountry: destination.country
    }]
  }
}

/** Driver reports of a pickup, in order. */
export const driverStatuses = ["En Route", "Arrived", "Departed with Exact Match"] as const
export type DriverStatus = typeof driverStatuses[number]

export const driverReport = ({ proNumber, route, startedAt }: DemoShipment, status: DriverStatus): ReportedPickup => {
  const { destination, freight, originTimeZone } = route
  const equipmentInformation = { driverName: "Robin", trailerNumber: `TR-${proNumber.slice(-4)}` }
  switch (status) {
    case "En Route":
      return { status, stopEta: localTime(startedAt + 60_000, originTimeZone), equipmentInformation: { ...equipmentInformation, stopsAway: 1 } }
    case "Arrived":
      return { status, equipmentInformation }
    case "Departed with Exact Match":
      return {
        status,
        informationCode: { code: "100", subCode: "1" },
        shipmentArray: [{
          proNumber,
          destinationPostalCode: destination.postalCode,
          destinationCountry: destination.country,
          handlingUnitQuantity: freight.pallets,
          weight: freight.statedWeight
        }]
      }
  }
}
