/** Creates through intake what a customer cannot create: shipments, events and bills. For implementations that offer Waybill's intake. */
import { IntakeClient } from "@waybill/client"
import type { Fixtures, KnownShipment } from "./Fixtures.ts"
import { sampleCommodities, sampleTotals } from "./SampleFreight.ts"
import type { Area } from "./Rule.ts"

interface Seeded {
  readonly fixtures: Fixtures
  readonly trigger: (area: Area) => Promise<void>
}

const shipper = { name: "Waybill check shipper", address1: "1 Check St", city: "Chicago", state: "IL", postalCode: "60608", country: "USA" } as const
const consignee = { name: "Waybill check consignee", address1: "2 Check St", city: "Boston", state: "MA", postalCode: "02108", country: "USA" } as const
type Place = typeof shipper | typeof consignee

const dayMillis = 86_400_000

/** The accounts of the customer are the first, with freight, and the last, without. `run` makes all numbers new. */
export const seedThroughIntake = async (baseUrl: string, given: Fixtures, run: string): Promise<Seeded> => {
  const { carrier, customer, other } = given.clients ?? {}
  if (carrier === undefined || customer === undefined || other === undefined) throw new RangeError("--intake needs clients.carrier, clients.customer and clients.other in the fixtures.")
  const own = customer.accounts[0]
  const empty = customer.accounts.at(-1)!
  const foreign = other.accounts[0]
  if (own === empty) throw new RangeError("--intake needs a second account of clients.customer, which has no freight.")
  const intake = new IntakeClient({ baseUrl, ...("bearer" in carrier ? { bearer: carrier.bearer } : { apiKey: carrier.apiKey }) })
  const seed = makeSeeding(intake, run, Date.now())
  const shipment = await seed.shipment("1", own)
  const foreignShipment = await seed.shipment("2", foreign)
  const events = { shipmentIds: [`CHECK-${run}-E1`, `CHECK-${run}-E2`], foreignShipmentId: `CHECK-${run}-E3` }
  const publishEvents = async () => {
    for (const shipmentId of events.shipmentIds) await seed.events(shipmentId, own)
    await seed.events(events.foreignShipmentId, foreign)
  }
  await publishEvents()
  const uniqueIDs = [await seed.bill("created", "B1", own)]
  await seed.bill("created", "B2", foreign)
  let bills = 2
  return {
    fixtures: { shipment, foreignShipment, events, bills: { account: own, uniqueIDs, emptyAccount: empty, foreignAccount: foreign }, ...given },
    trigger: async (area) => {
      if (area === "d") await publishEvents()
      if (area === "a") for (const each of [shipment, foreignShipment]) await seed.movements(each)
      if (area === "e") for (const account of [own, foreign]) await seed.billChanges(`B${++bills}`, account)
    }
  }
}

const makeSeeding = (intake: IntakeClient, run: string, now: number) => {
  /** Makes every event and movement later than the one before. */
  let steps = 0

  const instant = (): string => {
    steps += 1
    return new Date(now - 3_600_000 + steps * 1000).toISOString()
  }

  const day = (offset: number): string => new Date(now + offset * dayMillis).toISOString().slice(0, 10)

  const shipment = async (name: string, account: string): Promise<KnownShipment> => {
    const proNumber = `9${run.toUpperCase()}${name}`
    const known = {
      shipmentId: `CHECK-${run}-S${name}`,
      proNumber,
      bolNumber: `CBOL${proNumber}`,
      originPostalCode: shipper.postalCode,
      poNumber: `CPO${proNumber}`,
      destinationPostalCode: consignee.postalCode,
      accountNumber: account,
      pickupDate: day(-1)
    }
    await intake.registerShipments([{
      shipmentId: known.shipmentId,
      accounts: [account],
      pickupDate: known.pickupDate,
      occurredAt: instant(),
      ShipmentMilestoneStatus: "In Transit",
      ProNumber: proNumber,
      ReferenceNumbers: { bolNumber: known.bolNumber, QuoteID: null, ShipmentID: known.shipmentId, MasterBOL: null, poNumber: known.poNumber, AdditionalReferences: null, trailerNumber: null },
      UniqueID: `${proNumber}WAYB${known.pickupDate.replaceAll("-", "")}`,
      PayType: "Prepaid",
      ShipType: "Shipper",
      PickupAddress: addressOf(shipper),
      BillToAddress: addressOf(shipper),
      BillToAccountNumber: account,
      ConsigneeAddress: addressOf(consignee),
      GrossWeight: 1840,
      EstimatedStandardDay: 3,
      EstimatedDeliveryDate: day(2)
    }])
    return known
  }

  /** Three events of two types, of which one is IN_TRANSIT. */
  const events = async (shipmentId: string, account: string): Promise<void> => {
    const [origin, destination] = [placeOf(shipper), placeOf(consignee)]
    const types = ["DEPARTED_TERMINAL", "IN_TRANSIT", "ARRIVED_AT_TERMINAL"] as const
    await intake.publishTransitEvents(types.map((type) => ({
      type,
      occurredAt: instant(),
      location: { ...origin, type: "FACILITY" as const },
      shipment: { shipmentId, mode: "LTL" as const, scac: "WAYB", origin, destination },
      parties: { accounts: [account] }
    })))
  }

  const movements = async ({ shipmentId }: KnownShipment): Promise<void> => {
    for (const terminalStatus of ["Arrived", "Departed"] as const) {
      await intake.reportStatus([{
        shipmentId,
        occurredAt: instant(),
        shipmentMilestoneStatus: "In Transit",
        terminalStatus,
        terminaltype: "intermediate",
        terminalAddress: { TerminalID: "CHK" }
      }])
    }
  }

  const bill = async (change: "created" | "updated" | "removed", name: string, account: string): Promise<string> => {
    const uniqueID = `9${run.toUpperCase()}${name}WAYB${day(-1).replaceAll("-", "")}`
    const date = instant().slice(0, -1)
    const log = { changeLog: [{ eventCategoryName: "Reweigh", eventCode: "RWE" }] }
    await intake.publishFreightCharges([
      change === "removed"
        ? { change, accounts: [account], pfc: { pfc: { uniqueID } } }
        : { change, accounts: [account], pfc: { ...billOf(uniqueID, account, date), charges: { ...charges, ...(change === "updated" ? { preliminaryTotalCharges: 271.02, ...log } : {}) } } }
    ])
    return uniqueID
  }

  const billChanges = async (name: string, account: string): Promise<void> => {
    for (const change of ["created", "updated", "removed"] as const) await bill(change, name, account)
  }

  return { shipment, events, movements, bill, billChanges }
}

const addressOf = ({ address1, name, ...rest }: Place) => ({ addressName: name, addressLine1: address1, ...rest })
const placeOf = ({ city, country, name, postalCode, state }: Place) => ({ name, city, state, postalCode, country })
const partyOf = ({ address1, city, country, name, postalCode, state }: Place, account: string) => ({ account, name, address1, city, stateProvince: state, postalCode, country })

const charges = { grossCharges: 858.55, discountAmount: 657.65, discountPercent: 76.6, fuelSurchargePercent: 31.3, fuelSurchargeAmount: 62.88, currencyType: "USD", preliminaryTotalCharges: 263.78 }

const billOf = (uniqueID: string, account: string, date: string) => ({
  pfc: { uniqueID, date, version: "v1.0", isTest: false },
  payment: { terms: "Prepaid" },
  shipmentTotals: { pickupDate: date, ...sampleTotals },
  referenceNumbers: { pro: uniqueID.slice(0, 12) },
  origin: partyOf(shipper, account),
  destination: partyOf(consignee, "CONSIGNEE"),
  billTo: partyOf(shipper, account),
  commodities: sampleCommodities
})
