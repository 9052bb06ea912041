/** A freight lane: origin, destination, carriers and terminals. */

/** A shipper's or consignee's dock. */
export interface Place {
  readonly name: string
  readonly address1: string
  readonly city: string
  /** Two letters. */
  readonly state: string
  readonly postalCode: string
  readonly country: "USA" | "CAN" | "MEX"
}

/** A carrier's. */
export interface Terminal extends Omit<Place, "address1"> {
  readonly locationId: string
  readonly type: "FACILITY"
}

/** A carrier, a shipper and a consignee between whom freight moves. */
export interface Lane {
  /** The carrier's. */
  readonly scac: string
  readonly dot: string
  readonly mc: string
  readonly shipper: Place
  readonly consignee: Place
  /** The new consignee after a reconsignment. */
  readonly otherConsignee: Place
  /** The consignee of cross-border freight. */
  readonly foreignConsignee: Place
  readonly originTerminal: Terminal
  readonly deliveryTerminal: Terminal
  readonly borderTerminal: Terminal
  /** The partner carrier for the last miles, if the carrier does not deliver itself. */
  readonly partner: { readonly name: string; readonly scac: string }
  /** IANA names. */
  readonly originZone: string
  readonly destinationZone: string
}

export const chicago: Place = { name: "Lakeshore Tools", address1: "2100 S Ashland Ave", city: "Chicago", state: "IL", postalCode: "60608", country: "USA" }
export const boston: Place = { name: "Harbor Hardware", address1: "15 Court Square", city: "Boston", state: "MA", postalCode: "02108", country: "USA" }

/** The default lane. */
export const usualLane: Lane = {
  scac: "WAYB",
  dot: "1234567",
  mc: "MC-765432",
  shipper: chicago,
  consignee: boston,
  otherConsignee: { name: "Bay Hardware", address1: "40 Westminster Street", city: "Providence", state: "RI", postalCode: "02903", country: "USA" },
  foreignConsignee: { name: "Queen Street Tools", address1: "220 Queen Street West", city: "Toronto", state: "ON", postalCode: "M5V 1Z4", country: "CAN" },
  originTerminal: { locationId: "CHI", name: "Cicero terminal", type: "FACILITY", city: "Cicero", state: "IL", postalCode: "60804", country: "USA" },
  deliveryTerminal: { locationId: "BOS", name: "Chelsea terminal", type: "FACILITY", city: "Chelsea", state: "MA", postalCode: "02150", country: "USA" },
  borderTerminal: { locationId: "DTW", name: "Detroit terminal", type: "FACILITY", city: "Detroit", state: "MI", postalCode: "48216", country: "USA" },
  partner: { name: "Partner Freight", scac: "PRTN" },
  originZone: "America/Chicago",
  destinationZone: "America/New_York"
}

/** The place in the format of shipment status. */
export const addressOf = ({ address1, city, country, name, postalCode, state }: Place, accountNumber: string | null, addressLine2: string | null = null) =>
  ({ addressName: name, addressLine1: address1, addressLine2, city, state, postalCode, country, accountNumber })

/** The place in the format of freight bills. */
export const partyOf = ({ address1, city, country, name, postalCode, state }: Place, account: string) =>
  ({ account, name, address1, city, stateProvince: state, postalCode, country })
