/** The freight of a journey: what it is called, who pays for it, where it goes. */
import { formatInstant } from "@waybill/core"

export interface Freight {
  readonly shipmentId: string
  readonly proNumber: string
  /** The shipper's, who also pays. */
  readonly account: string
  /** Whoever else comes to pay, where the bill changes hands. */
  readonly nextAccount: string
  /** When it is loaded, in milliseconds since 1970. */
  readonly pickedUpAt: number
}

const hourMillis = 3_600_000

/** The moment so many hours after the freight was loaded. */
export const momentOf = ({ pickedUpAt }: Freight, afterHours: number): string => formatInstant(pickedUpAt + afterHours * hourMillis)

/** Its calendar date. */
export const dateOf = (freight: Freight, afterHours: number): string => momentOf(freight, afterHours).slice(0, 10)

/** The freight bill's `uniqueID`. */
export const billIdOfFreight = (freight: Freight): string => `${freight.proNumber}WAYB${dateOf(freight, 0).replaceAll("-", "")}`

export const chicago = { name: "Lakeshore Tools", address1: "2100 S Ashland Ave", city: "Chicago", state: "IL", postalCode: "60608", country: "USA" } as const
export const boston = { name: "Harbor Hardware", address1: "15 Court Square", city: "Boston", state: "MA", postalCode: "02108", country: "USA" } as const
export const providence = { name: "Bay Hardware", address1: "40 Westminster Street", city: "Providence", state: "RI", postalCode: "02903", country: "USA" } as const
export const toronto = { name: "Queen Street Tools", address1: "220 Queen Street West", city: "Toronto", state: "ON", postalCode: "M5V 1Z4", country: "CAN" } as const

export type Place = typeof chicago | typeof boston | typeof providence | typeof toronto

export const originTerminal = { locationId: "CHI", name: "Cicero terminal", type: "FACILITY", city: "Cicero", state: "IL", postalCode: "60804", country: "USA" } as const
export const deliveryTerminal = { locationId: "BOS", name: "Chelsea terminal", type: "FACILITY", city: "Chelsea", state: "MA", postalCode: "02150", country: "USA" } as const
export const borderTerminal = { locationId: "DTW", name: "Detroit terminal", type: "FACILITY", city: "Detroit", state: "MI", postalCode: "48216", country: "USA" } as const

/** As shipment status writes a place. */
export const addressOf = (place: Place, accountNumber: string | null) => ({
  addressName: place.name,
  addressLine1: place.address1,
  addressLine2: null,
  city: place.city,
  state: place.state,
  postalCode: place.postalCode,
  country: place.country,
  accountNumber
})
