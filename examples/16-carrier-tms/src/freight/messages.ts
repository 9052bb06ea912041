/** Messages to customers about a shipment, from the TMS's rows. Pure functions. */
import type { BillChangeReport, PostedShipment, ReportedEvent } from "@waybill/http"
import type { Charge, Customer, Shipment, Stop } from "../database/schema.ts"
import { carrier } from "./principals.ts"

/** A shipment with everything that messages need. */
export interface Freight {
  readonly shipment: Shipment
  readonly pickup: Stop
  readonly delivery: Stop
  readonly customer: Customer
}

export const shipmentIdOf = ({ number }: Pick<Shipment, "number">): string => `S-${number}`
/** Ten digits. */
export const proNumberOf = ({ number }: Pick<Shipment, "number">): string => String(4_700_000_000 + number)

/** PRO, SCAC and ship date: the id that all messages about a freight bill have. */
const uniqueIdOf = (shipment: Shipment): string =>
  `${proNumberOf(shipment)}${carrier.scac}${shipment.bookedAt.toISOString().slice(0, 10).replaceAll("-", "")}`

const country = "USA" as const
const days = 86_400_000
const transitDays = 3

export const registrationOf = ({ customer, delivery, pickup, shipment }: Freight): PostedShipment => {
  const address = ({ city, name, postalCode, state, street }: Omit<Customer, "id">) =>
    ({ addressName: name, addressLine1: street, city, state, postalCode, country })
  return {
    shipmentId: shipmentIdOf(shipment),
    accounts: [shipment.account],
    ProNumber: proNumberOf(shipment),
    UniqueID: uniqueIdOf(shipment),
    ReferenceNumbers: { bolNumber: shipment.bolNumber },
    PayType: "Prepaid",
    ShipType: "Shipper",
    BillToAccountNumber: shipment.account,
    PickupAddress: address(pickup),
    BillToAddress: address(customer),
    ConsigneeAddress: address(delivery),
    GrossWeight: shipment.pounds,
    EstimatedStandardDay: transitDays,
    EstimatedDeliveryDate: new Date(shipment.bookedAt.getTime() + transitDays * days).toISOString().slice(0, 10)
  }
}

export interface Happening {
  readonly type: ReportedEvent["type"]
  readonly at: Date
  /** The stop where it happened. */
  readonly stop?: Stop
  readonly notes?: string
}

/** The service assigns id and sequence. The event moves the status that customers look up. */
export const eventOf = ({ delivery, pickup, shipment }: Freight, { at, notes, stop, type }: Happening): ReportedEvent => {
  const place = ({ city, name, postalCode, state, street }: Stop) => ({ name, address1: street, city, state, postalCode, country })
  return {
    type,
    occurredAt: at.toISOString(),
    ...(stop === undefined ? {} : { location: place(stop) }),
    ...(notes === undefined ? {} : { notes }),
    shipment: {
      shipmentId: shipmentIdOf(shipment),
      mode: "LTL",
      scac: carrier.scac,
      references: [{ type: "PRO", value: proNumberOf(shipment) }, { type: "BOL", value: shipment.bolNumber }],
      origin: place(pickup),
      destination: place(delivery)
    },
    parties: { accounts: [shipment.account] }
  }
}

/** The dimensions of a standard pallet, in inches. */
const pallet = { length: 48, width: 40 }

/** The freight bill with all charges so far; the account that pays gets it. */
export const billOf = ({ customer, delivery, pickup, shipment }: Freight, charges: ReadonlyArray<Charge>, change: BillChangeReport["change"], at: Date): BillChangeReport => {
  const cents = (kinds: ReadonlyArray<Charge["kind"]>) => charges.filter(({ kind }) => kinds.includes(kind)).reduce((sum, each) => sum + each.cents, 0)
  const [linehaul, fuel, total] = [cents(["linehaul"]), cents(["fuel"]), charges.reduce((sum, each) => sum + each.cents, 0)]
  const accessorials = charges.flatMap(({ kind }) => kind === "liftgate" ? ["LFTD"] : kind === "detention" ? ["DET"] : [])
  const party = (account: string, { city, name, postalCode, state, street }: Omit<Customer, "id">) =>
    ({ account, name, address1: street, city, stateProvince: state, postalCode, country })
  return {
    change,
    pfc: {
      pfc: { uniqueID: uniqueIdOf(shipment), date: at.toISOString(), version: "v1.0", isTest: false },
      payment: { terms: "Prepaid" },
      shipmentTotals: {
        pickupDate: (pickup.doneAt ?? shipment.bookedAt).toISOString(),
        grossWeight: shipment.pounds,
        weightUnit: "Pounds",
        handlingUnits: shipment.pallets
      },
      ...(accessorials.length === 0 ? {} : { accessorials: { codes: accessorials } }),
      referenceNumbers: { pro: proNumberOf(shipment), shipmentId: shipmentIdOf(shipment), bol: [shipment.bolNumber] },
      origin: party("SHIPPER", pickup),
      destination: party("CONSIGNEE", delivery),
      billTo: party(shipment.account, customer),
      commodities: {
        handlingUnits: [{
          count: shipment.pallets,
          type: "PLT",
          weight: shipment.pounds,
          weightUnit: "Pounds",
          ...pallet,
          height: shipment.heightInches,
          dimensionUnit: "Inches",
          lineItems: [{
            description: shipment.description,
            weight: shipment.pounds,
            weightUnit: "Pounds",
            pieces: shipment.pallets,
            packagingType: "PLT",
            classification: shipment.freightClass
          }]
        }]
      },
      charges: {
        grossCharges: linehaul / 100,
        discountAmount: 0,
        discountPercent: 0,
        fuelSurchargePercent: linehaul === 0 ? 0 : Math.round(fuel / linehaul * 1000) / 10,
        fuelSurchargeAmount: fuel / 100,
        currencyType: "USD",
        preliminaryTotalCharges: total / 100
      }
    }
  }
}
