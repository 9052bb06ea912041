/** The shipments of a network. Each depends only on its number, not on earlier calls. */
import type { Freight } from "../journeys/Freight.ts"
import type { JourneyName } from "../journeys/Journeys.ts"
import type { Load } from "../journeys/Load.ts"
import { NetworkRandom } from "./NetworkRandom.ts"
import { proNumberOf } from "./ProNumbers.ts"
import { timetableOf } from "./Timetable.ts"
import type { NetworkLane, NetworkPlan } from "./NetworkPlan.ts"

interface NetworkShipment {
  readonly journey: JourneyName
  readonly lane: NetworkLane
  readonly freight: Freight
}

export interface Shape {
  readonly seed: string
  readonly startAt: number
  readonly days: number
  readonly shipmentsPerDay: number
  readonly exceptions: number
}

const dayMillis = 86_400_000

/** Pickups are ordered in the first hours of each day, counted from the start. */
const orderingMillis = 8 * 3_600_000

/** Exceptions and deviations from the order. */
const exceptions: ReadonlyArray<JourneyName> = ["refused", "missed delivery", "damaged", "reconsigned", "late with appointment", "party change"]

const accessorials: ReadonlyArray<Load["accessorials"][number]> = [
  { code: "LFTD", cents: 4_500 },
  { code: "LFTP", cents: 4_500 },
  { code: "RES", cents: 6_250 },
  { code: "IDL", cents: 5_500 },
  { code: "MNC", cents: 1_200 },
  { code: "LTDAD", cents: 7_000 }
]

/** The total number. */
export const shipmentCount = ({ days, shipmentsPerDay }: Shape): number => days * shipmentsPerDay

/** When its pickup is ordered; later than for the previous shipment. */
export const orderedAt = ({ shipmentsPerDay, startAt }: Shape, number: number): number =>
  Math.floor((startAt + Math.floor(number / shipmentsPerDay) * dayMillis + (number % shipmentsPerDay) / shipmentsPerDay * orderingMillis) / 1000) * 1000

/** Differs between seeds, so that two networks in one service do not collide. */
const firstSerial = (seed: string): number => new NetworkRandom(seed, "numbers").between(0, 90_000_000)

const loadOf = (lane: NetworkLane, number: number, random: NetworkRandom): Load => {
  const { piecesOfUnit, unitWeight, ...goods } = lane.goods
  const units = random.between(1, 8)
  const weight = units * random.between(...unitWeight)
  const reweighed = random.happens(0.12) ? weight + units * random.between(5, 40) : weight
  const order = String(4_500_000_000 + number)
  return {
    ...goods,
    bol: `${lane.customer.accounts[0]!.slice(0, 4)}${String(number).padStart(8, "0")}`,
    // several shipments with one order, and one shipment with several
    purchaseOrders: random.happens(0.1) ? [order, `${order}-2`] : [random.happens(0.1) ? String(4_500_000_000 + number - number % 10) : order],
    units,
    pieces: units * piecesOfUnit,
    weight,
    reweighed,
    accessorials: accessorials.filter(() => random.happens(0.07)),
    rate: lane.rate,
    discount: lane.discount,
    fuelSurcharge: 313
  }
}

const journeyOf = (lane: NetworkLane, shape: Shape, random: NetworkRandom): JourneyName => {
  const isException = random.happens(shape.exceptions)
  const exception = random.oneOf(exceptions)
  if (lane.isAbroad) return "cross-border"
  if (isException) return exception
  return lane.isInterline ? "interline" : "plain LTL"
}

/** The final debtor if the bill changes its debtor: another customer, if there is one. */
const nextAccountOf = ({ customers }: NetworkPlan, { account, customer }: NetworkLane, random: NetworkRandom): string => {
  const others = customers.filter((other) => other !== customer)
  return others.length === 0 ? `${account}-3P` : random.oneOf(random.oneOf(others).accounts)
}

/** The shipment of this number, from 0. */
export const shipmentOf = (plan: NetworkPlan, shape: Shape, number: number): NetworkShipment => {
  const random = new NetworkRandom(shape.seed, `shipment ${number}`)
  const lane = random.oneOf(plan.lanes)
  const journey = journeyOf(lane, shape, random)
  const load = loadOf(lane, number, random)
  const { at, pickedUpAt } = timetableOf(orderedAt(shape, number), lane, random)
  const nextAccount = journey === "party change" ? nextAccountOf(plan, lane, random) : lane.account
  const proNumber = proNumberOf(lane.carrier.proForm, firstSerial(shape.seed) + number)
  return {
    journey,
    lane,
    freight: { shipmentId: `${lane.scac}-${proNumber}`, proNumber, account: lane.account, nextAccount, pickedUpAt, lane, load, timetable: at }
  }
}
