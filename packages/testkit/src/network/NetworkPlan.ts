/** The participants of a network: carriers, terminals, customers with accounts, and freight lanes. */
import type { Lane, Place, Terminal } from "../journeys/Lane.ts"
import { NetworkRandom } from "./NetworkRandom.ts"
import { cities, type City, milesBetween } from "./Cities.ts"
import { type Goods, goods } from "./Goods.ts"
import type { ProForm } from "./ProNumbers.ts"

/** A carrier of the network. */
export interface NetworkCarrier {
  readonly scac: string
  readonly name: string
  readonly dot: string
  readonly mc: string
  /** The format of its PRO numbers. */
  readonly proForm: ProForm
}

/** A customer of the network with its accounts. */
export interface NetworkCustomer {
  /** Its client name in the service. */
  readonly client: string
  readonly name: string
  /** Its own accounts; never shared with another customer. */
  readonly accounts: ReadonlyArray<string>
}

/** A route from one dock to another, with its goods, carrier and price. */
export interface NetworkLane extends Lane {
  readonly carrier: NetworkCarrier
  readonly customer: NetworkCustomer
  readonly account: string
  readonly miles: number
  readonly isAbroad: boolean
  /** Whether a partner carrier delivers the last miles. */
  readonly isInterline: boolean
  readonly goods: Goods
  /** As in `Load`. */
  readonly rate: number
  readonly discount: number
}

export interface NetworkPlan {
  readonly carriers: ReadonlyArray<NetworkCarrier>
  readonly terminals: ReadonlyArray<Terminal>
  readonly customers: ReadonlyArray<NetworkCustomer>
  readonly lanes: ReadonlyArray<NetworkLane>
}

/** Codes of no real carrier; each carrier has its own PRO format. */
const allCarriers: ReadonlyArray<NetworkCarrier> = [
  { scac: "WAYB", name: "Waybill Freight", dot: "3141592", mc: "271828", proForm: "modulo 7" },
  { scac: "NLKX", name: "Northern Lakes Express", dot: "1618033", mc: "414213", proForm: "modulo 11" },
  { scac: "TSMX", name: "Three Summits Motor Lines", dot: "1732050", mc: "223606", proForm: "modulo 10" },
  { scac: "PLNX", name: "Plains and Coast", dot: "2645751", mc: "331662", proForm: "plain" }
]

export const mostCarriers = allCarriers.length

const partners: ReadonlyArray<Lane["partner"]> = [
  { name: "Partner Freight", scac: "PRTN" },
  { name: "Cape and Islands Cartage", scac: "CICX" },
  { name: "High Desert Delivery", scac: "HDDX" }
]

const terminalOf = ({ city, code, country, postalCode, state }: City): Terminal => ({ locationId: code, name: `${city} terminal`, type: "FACILITY", city, state, postalCode, country })

const homeCities = cities.filter(({ country }) => country === "USA")
const foreignCities = cities.filter(({ country }) => country !== "USA")
const borderCities = cities.filter(({ code }) => code === "DTW" || code === "MSP" || code === "SEA")

const firstNames = ["Lakeshore", "Harbor", "Puget", "Peachtree", "Trinity", "Mile High", "Prairie", "Bay", "Cascade", "Gateway", "Granite", "Delta", "Ironwood", "Summit", "Juniper", "Blue Heron"]
const trades = ["Tools", "Hardware", "Paper", "Textiles", "Office Supply", "Outfitters", "Furniture", "Fitness", "Foods", "Paints", "Bearings", "Mirrors"]
const streets = ["S Ashland Ave", "Commerce St", "Industrial Blvd", "E Marginal Way S", "Dock Road", "Elm St", "W 47th St", "Larimer St", "Foundry Ln", "Federal Blvd"]

const placeIn = ({ city, country, postalCode, state }: City, name: string, random: NetworkRandom): Place => ({
  name,
  address1: `${random.between(1, 9900)} ${random.oneOf(streets)}`,
  city,
  state,
  postalCode,
  country
})

const customersOf = (count: number, random: NetworkRandom): ReadonlyArray<NetworkCustomer> =>
  Array.from({ length: count }, (_, at) => {
    const name = `${random.oneOf(firstNames)} ${random.oneOf(trades)}`
    const first = (1001 + at) * 100
    return {
      client: `customer-${at + 1}`,
      name: count > firstNames.length ? `${name} ${at + 1}` : name,
      accounts: Array.from({ length: random.between(1, 3) }, (__, number) => String(first + number))
    }
  })

/** Shares of all lanes. */
const [abroad, interline] = [0.08, 0.1]

const borderOf = (origin: City, destination: City): City =>
  borderCities.reduce((best, city) =>
    milesBetween(origin, city) + milesBetween(city, destination) < milesBetween(origin, best) + milesBetween(best, destination) ? city : best)

const laneOf = (customer: NetworkCustomer, carrier: NetworkCarrier, random: NetworkRandom): NetworkLane => {
  const origin = random.oneOf(homeCities)
  const isAbroad = random.happens(abroad)
  const destination = random.oneOf(isAbroad ? foreignCities : homeCities.filter((city) => city !== origin))
  const elsewhere = random.oneOf(homeCities.filter((city) => city !== origin && city !== destination))
  const consigneeName = `${random.oneOf(firstNames)} ${random.oneOf(trades)}`
  const consignee = placeIn(destination, consigneeName, random)
  const sent = random.oneOf(goods)
  const miles = milesBetween(origin, destination)
  return {
    scac: carrier.scac,
    dot: carrier.dot,
    mc: carrier.mc,
    carrier,
    customer,
    account: random.oneOf(customer.accounts),
    shipper: placeIn(origin, customer.name, random),
    consignee,
    foreignConsignee: consignee,
    otherConsignee: placeIn(elsewhere, consigneeName, random),
    originTerminal: terminalOf(origin),
    deliveryTerminal: terminalOf(destination),
    borderTerminal: terminalOf(borderOf(origin, destination)),
    partner: random.oneOf(partners),
    originZone: origin.zone,
    destinationZone: destination.zone,
    miles,
    isAbroad,
    isInterline: !isAbroad && random.happens(interline),
    goods: sent,
    // light freight of a high class takes as much space as heavy freight
    rate: Math.round((1400 + miles) * (0.6 + Number(sent.freightClass) / 100)),
    discount: random.between(400, 780)
  }
}

/** The same for the same seed and numbers. */
export const networkPlanOf = (seed: string, { carriers, customers }: { readonly carriers: number; readonly customers: number }): NetworkPlan => {
  const random = new NetworkRandom(seed, "world")
  const carrying = allCarriers.slice(0, carriers)
  const known = customersOf(customers, random)
  const lanes = known.flatMap((customer) => Array.from({ length: random.between(2, 5) }, () => laneOf(customer, random.oneOf(carrying), random)))
  return { carriers: carrying, terminals: cities.map(terminalOf), customers: known, lanes }
}
