/** The freight of a journey: what it is called, who pays for it, where it goes. */
import { formatInstant } from "@waybill/core"
import { localInstant } from "../network/LocalTime.ts"
import { boston, type Lane, usualLane } from "./Lane.ts"
import type { Load } from "./Load.ts"

export interface Freight {
  readonly shipmentId: string
  readonly proNumber: string
  /** The shipper's, who also pays. */
  readonly account: string
  /** Whoever else comes to pay, where the bill changes hands. */
  readonly nextAccount: string
  /** When it is loaded, in milliseconds since 1970. */
  readonly pickedUpAt: number
  /** Its places and carriers; from Chicago to Boston otherwise. Times are told by the clocks of the place then, not by UTC. */
  readonly lane?: Lane
  /** What it is and what it costs; boxes of hand tools otherwise. */
  readonly load?: Load
  /** When it is, in milliseconds since 1970, that so many hours have gone by on the journey; exactly then otherwise. Never decreases. */
  readonly timetable?: (afterHours: number) => number
}

const hourMillis = 3_600_000

export const laneOf = ({ lane = usualLane }: Freight): Lane => lane

/** Where it arrives when it comes to an end there. */
export const consigneeOf = (freight: Freight) => freight.lane?.consignee ?? boston

/** In milliseconds since 1970. */
export const millisOf = ({ pickedUpAt, timetable }: Freight, afterHours: number): number => timetable?.(afterHours) ?? pickedUpAt + afterHours * hourMillis

/** From then on the clocks of the other end count. */
const atDeliveryTerminalHours = 27

const zoneOf = ({ originZone, destinationZone }: NonNullable<Freight["lane"]>, afterHours: number) => afterHours < atDeliveryTerminalHours ? originZone : destinationZone

/** The moment so many hours after the freight was loaded. */
export const momentOf = (freight: Freight, afterHours: number): string => {
  const millis = millisOf(freight, afterHours)
  return freight.lane === undefined ? formatInstant(millis) : localInstant(millis, zoneOf(freight.lane, afterHours))
}

/** Its calendar date. */
export const dateOf = (freight: Freight, afterHours: number): string => momentOf(freight, afterHours).slice(0, 10)

/** The freight bill's `uniqueID`: PRO, SCAC and ship date without separators. */
export const billIdOfFreight = (freight: Freight): string =>
  `${freight.proNumber.replaceAll(/[^0-9A-Z]/g, "")}${laneOf(freight).scac}${dateOf(freight, 0).replaceAll("-", "")}`
