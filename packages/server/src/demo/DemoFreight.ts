/** The demo's freight: three less-than-truckload shipments with their routes and charges. */

/** The shipper's account. */
export const demoAccount = "DEMO-SHIPPER"

export const demoScac = "WAYB"

export interface Place {
  readonly name: string
  readonly type: "FACILITY"
  readonly address1: string
  readonly city: string
  readonly state: string
  readonly postalCode: string
  readonly country: "USA"
}

export interface Freight {
  readonly description: string
  readonly pallets: number
  readonly pieces: number
  /** Pounds: on the bill of lading, and on the carrier's scale. */
  readonly statedWeight: number
  readonly reweighed: number
  readonly freightClass: string
  /** Dollars per hundred pounds. */
  readonly rate: number
}

export interface Route {
  readonly origin: Place
  /** IANA name. */
  readonly originTimeZone: string
  readonly originTerminal: Place
  readonly destinationTerminal: Place
  readonly destination: Place
  readonly freight: Freight
}

const facility = (name: string, address1: string, city: string, state: string, postalCode: string): Place => ({
  name,
  type: "FACILITY",
  address1,
  city,
  state,
  postalCode,
  country: "USA"
})

export const routes: ReadonlyArray<Route> = [
  {
    origin: facility("Lakeshore Tools", "2100 S Ashland Ave", "Chicago", "IL", "60608"),
    originTimeZone: "America/Chicago",
    originTerminal: facility("Chicago terminal", "5300 W 47th St", "Cicero", "IL", "60804"),
    destinationTerminal: facility("Dallas terminal", "3400 Irving Blvd", "Irving", "TX", "75061"),
    destination: facility("Trinity Hardware", "610 Elm St", "Dallas", "TX", "75201"),
    freight: { description: "Hand tools, boxed", pallets: 3, pieces: 96, statedWeight: 1840, reweighed: 1912, freightClass: "60", rate: 38.4 }
  },
  {
    origin: facility("Puget Paper", "6700 E Marginal Way S", "Seattle", "WA", "98108"),
    originTimeZone: "America/Los_Angeles",
    originTerminal: facility("Seattle terminal", "8500 S 212th St", "Kent", "WA", "98032"),
    destinationTerminal: facility("Denver terminal", "5600 E 58th Ave", "Commerce City", "CO", "80022"),
    destination: facility("Mile High Office Supply", "2400 Larimer St", "Denver", "CO", "80205"),
    freight: { description: "Copy paper, cartons", pallets: 4, pieces: 160, statedWeight: 4100, reweighed: 4236, freightClass: "55", rate: 29.75 }
  },
  {
    origin: facility("Peachtree Textiles", "900 Marietta Blvd NW", "Atlanta", "GA", "30318"),
    originTimeZone: "America/New_York",
    originTerminal: facility("Atlanta terminal", "4400 Old Dixie Rd", "Forest Park", "GA", "30297"),
    destinationTerminal: facility("Newark terminal", "120 Federal Blvd", "Carteret", "NJ", "07008"),
    destination: facility("Harbor Outfitters", "150 Bay St", "Jersey City", "NJ", "07302"),
    freight: { description: "Work wear, cartons", pallets: 2, pieces: 48, statedWeight: 760, reweighed: 798, freightClass: "100", rate: 64.2 }
  }
]

/** One shipment of a journey with all its numbers. */
export interface DemoShipment {
  readonly route: Route
  readonly shipmentId: string
  readonly proNumber: string
  readonly bolNumber: string
  readonly poNumber: string
  /** Start of its journey, in milliseconds since 1970. */
  readonly startedAt: number
}

/** Deterministic: the same start gives the same shipments and numbers, another millisecond gives others. */
export const shipmentsOf = (startedAt: number): ReadonlyArray<DemoShipment> =>
  routes.map((route, index) => {
    const number = proNumber(startedAt * routes.length + index)
    return {
      route,
      shipmentId: `DEMO-${stampOf(startedAt)}-${index + 1}`,
      proNumber: number,
      bolNumber: `BOL${number}`,
      poNumber: `PO-${number.slice(-6)}`,
      startedAt
    }
  })

/** Id of the shipment in bills and statuses: PRO, SCAC and ship date. */
export const uniqueIdOf = ({ proNumber, startedAt }: DemoShipment): string => `${proNumber}${demoScac}${dayOf(startedAt).replaceAll("-", "")}`

/** The carrier's invoice number. */
export const invoiceNumberOf = ({ proNumber }: DemoShipment): string => `W${proNumber}`

/** The UTC date, such as `2026-11-20`. */
export const dayOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10)

/** A sortable timestamp with milliseconds. */
const stampOf = (millis: number): string => new Date(millis).toISOString().slice(0, -1).replaceAll(/[-:.]/g, "").replace("T", "-")

/** Ten digits, as some carriers print them: those of one millisecond come again after 38 days. */
const proNumber = (seed: number): string => String(seed % 10_000_000_000).padStart(10, "0")
