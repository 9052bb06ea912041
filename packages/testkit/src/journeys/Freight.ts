/** The freight of a journey: its ids, accounts, lane and load. */
import { formatInstant } from "@waybill/core"
import { localInstant } from "../network/LocalTime.ts"
import { boston, type Lane, usualLane } from "./Lane.ts"
import type { Load } from "./Load.ts"

/** The shipment of a journey: its numbers and its parties. */
export interface Freight {
  readonly shipmentId: string
  readonly proNumber: string
  /** The shipper's account, which also pays. */
  readonly account: string
  /** The new debtor, if the bill changes its debtor. */
  readonly nextAccount: string
  /** When it is loaded, in milliseconds since 1970. */
  readonly pickedUpAt: number
  /** Its places and carriers; by default from Chicago to Boston. With a lane, times are local times of the place, not UTC. */
  readonly lane?: Lane
  /** Its goods and price; boxes of hand tools by default. */
  readonly load?: Load
  /** Maps hours of the journey to a time in milliseconds since 1970; by default exactly that many hours after loading. Never decreases. */
  readonly timetable?: (afterHours: number) => number
}

const hourMillis = 3_600_000

export const laneOf = ({ lane = usualLane }: Freight): Lane => lane

/** The place of arrival at the end of the journey. */
export const consigneeOf = (freight: Freight) => freight.lane?.consignee ?? boston

/** In milliseconds since 1970. */
export const millisOf = ({ pickedUpAt, timetable }: Freight, afterHours: number): number => timetable?.(afterHours) ?? pickedUpAt + afterHours * hourMillis

/** After this hour local times use the time zone of the destination. */
const atDeliveryTerminalHours = 27

const zoneOf = ({ originZone, destinationZone }: NonNullable<Freight["lane"]>, afterHours: number) => afterHours < atDeliveryTerminalHours ? originZone : destinationZone

/** The time the given number of hours after loading. */
export const momentOf = (freight: Freight, afterHours: number): string => {
  const millis = millisOf(freight, afterHours)
  return freight.lane === undefined ? formatInstant(millis) : localInstant(millis, zoneOf(freight.lane, afterHours))
}

/** Its calendar date. */
export const dateOf = (freight: Freight, afterHours: number): string => momentOf(freight, afterHours).slice(0, 10)

/** The freight bill's `uniqueID`: PRO, SCAC and ship date without separators. */
export const billIdOfFreight = (freight: Freight): string =>
  `${freight.proNumber.replaceAll(/[^0-9A-Z]/g, "")}${laneOf(freight).scac}${dateOf(freight, 0).replaceAll("-", "")}`
