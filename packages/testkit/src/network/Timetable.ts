/** Times of journey steps in a network: docks by day, road by night, no weekends. */
import type { NetworkRandom } from "./NetworkRandom.ts"
import { atMinuteOfDay, isWeekend, minuteOfDay } from "./LocalTime.ts"
import type { NetworkLane } from "./NetworkPlan.ts"

const minuteMillis = 60_000
const hourMillis = 3_600_000

export interface Timetable {
  readonly pickedUpAt: number
  /** The time at the given hour of the journey; never decreases. */
  readonly at: (afterHours: number) => number
}

/** The cutoff for pickups on the same day, in minutes of the local day. */
const latestOrder = 11 * 60 + 30

/** Minimum and maximum, in minutes of the local day. */
const [pickups, departures, arrivals, outings, deliveries] = [[13 * 60, 18 * 60], [19 * 60 + 30, 23 * 60], [90, 300], [7 * 60, 8 * 60 + 30], [9 * 60 + 30, 16 * 60]] as const

/** The given number of working days after the day of that instant. */
const workingDays = (from: number, zone: string, count: number): number => {
  let days = 0
  for (let left = count; left > 0;) {
    days += 1
    if (!isWeekend(atMinuteOfDay(from, zone, days, 720), zone)) left -= 1
  }
  return days
}

const pickupDays = (orderedAt: number, zone: string): number =>
  minuteOfDay(orderedAt, zone) <= latestOrder && !isWeekend(orderedAt, zone) ? 0 : workingDays(orderedAt, zone, 1)

/** Working days on the road. */
const transitDays = ({ isAbroad, miles }: NetworkLane): number => Math.min(5, 1 + Math.floor(miles / 550)) + (isAbroad ? 1 : 0)

/** A delivery tour: departure in the morning, arrival at the consignee later. */
const round = (day: number, zone: string, notBefore: number, random: NetworkRandom): readonly [out: number, delivered: number] => {
  const out = Math.max(notBefore + 30 * minuteMillis, atMinuteOfDay(day, zone, 0, random.between(...outings)))
  return [out, Math.max(out + 45 * minuteMillis, atMinuteOfDay(day, zone, 0, random.between(...deliveries)))]
}

export const timetableOf = (orderedAt: number, lane: NetworkLane, random: NetworkRandom): Timetable => {
  const { destinationZone, originZone } = lane
  const pickedUpAt = atMinuteOfDay(orderedAt, originZone, pickupDays(orderedAt, originZone), random.between(...pickups)) + random.between(0, 59) * 1000
  const atTerminal = pickedUpAt + random.between(45, 150) * minuteMillis
  const left = Math.max(atTerminal + 30 * minuteMillis, atMinuteOfDay(pickedUpAt, originZone, 0, random.between(...departures)))
  const deliveryDay = atMinuteOfDay(pickedUpAt, destinationZone, workingDays(pickedUpAt, destinationZone, transitDays(lane)), 0)
  const arrived = Math.max(left + 2 * hourMillis, atMinuteOfDay(deliveryDay, destinationZone, 0, random.between(...arrivals)))
  const [out, delivered] = round(deliveryDay, destinationZone, arrived, random)
  const nextDay = atMinuteOfDay(delivered, destinationZone, workingDays(delivered, destinationZone, 1), 0)
  const [outAgain, deliveredAgain] = round(nextDay, destinationZone, delivered, random)
  return {
    pickedUpAt,
    at: between([
      [-24, orderedAt],
      [-22, orderedAt + random.between(4, 20) * minuteMillis],
      [-1, pickedUpAt - random.between(40, 60) * minuteMillis],
      [-0.5, pickedUpAt - random.between(10, 30) * minuteMillis],
      [0, pickedUpAt],
      [3, atTerminal],
      [9, left],
      [27, arrived],
      [44, out],
      [48, delivered],
      [68, outAgain],
      [72, deliveredAgain]
    ])
  }
}

type Anchor = readonly [afterHours: number, millis: number]

/** Interpolates linearly between anchors, and hour by hour after the last one. To the second. */
const between = (anchors: ReadonlyArray<Anchor>) => (afterHours: number): number => {
  const later = anchors.findIndex(([hours]) => hours > afterHours)
  if (later === 0) return anchors[0]![1]
  const [hours, millis] = anchors[later < 0 ? anchors.length - 1 : later - 1]!
  const [nextHours, nextMillis] = anchors[later] ?? [hours + 1, millis + hourMillis]
  return Math.floor((millis + (nextMillis - millis) * (afterHours - hours) / (nextHours - hours)) / 1000) * 1000
}
