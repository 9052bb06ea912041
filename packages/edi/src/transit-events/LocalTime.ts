/**
 * Times of X12 are local, with or without a code for their zone (element 623). Waybill needs an offset, and none is invented: it comes from the
 * code, from the state or province of the event, or from the partner profile.
 */
import { DateTime } from "effect"
import { own } from "../mapping/Members.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"

/** Zones of letter codes whose offset depends on the date. */
const zonesOfCodes: Readonly<Record<string, string>> = {
  ET: "America/New_York",
  CT: "America/Chicago",
  MT: "America/Denver",
  PT: "America/Los_Angeles",
  AT: "America/Anchorage",
  HT: "Pacific/Honolulu",
  NT: "America/St_Johns",
  TT: "America/Halifax"
}

/** Offsets in minutes of letter codes for standard and daylight time. */
const offsetsOfCodes: Readonly<Record<string, number>> = {
  UT: 0, GM: 0, ES: -300, ED: -240, CS: -360, CD: -300, MS: -420, MD: -360, PS: -480, PD: -420, AS: -540, AD: -480, HS: -600, HD: -540, NS: -210, ND: -150, TS: -240, TD: -180
}

const inZone = (zone: string, states: string): ReadonlyArray<readonly [string, string]> => states.split(" ").map((state) => [state, zone])

/** States and provinces that lie in one zone as a whole. Others need the partner profile. */
const zonesOfStates: Readonly<Record<string, string>> = Object.fromEntries([
  ...inZone("America/New_York", "CT DE DC GA ME MD MA NH NJ NY NC OH PA RI SC VT VA WV"),
  ...inZone("America/Chicago", "AL AR IL IA LA MN MS MO OK WI"),
  ...inZone("America/Denver", "CO MT NM UT WY"),
  ...inZone("America/Los_Angeles", "CA WA"),
  ...inZone("Pacific/Honolulu", "HI"),
  ...inZone("America/Edmonton", "AB"),
  ...inZone("America/Winnipeg", "MB"),
  ...inZone("America/Halifax", "NS PE"),
  ...inZone("America/Moncton", "NB")
])

/** Numbers 01 to 12 are hours east of UTC, 13 to 24 are 12 to 1 hours west. */
const offsetOfNumber = (code: string): number | undefined => {
  if (!/^\d\d$/u.test(code)) return undefined
  const number = Number(code)
  return number >= 1 && number <= 12 ? number * 60 : number >= 13 && number <= 24 ? (number - 25) * 60 : undefined
}

/** The code of an offset in minutes: `UT`, or a number for whole hours. */
export const codeOfOffset = (minutes: number): string | undefined => {
  const hours = minutes / 60
  if (hours === 0) return "UT"
  if (!Number.isInteger(hours) || Math.abs(hours) > 12) return undefined
  return String(hours > 0 ? hours : 25 + hours).padStart(2, "0")
}

/** States and provinces of these countries are in the table; codes such as MO and CO mean others in Mexico. */
const countriesOfStates: ReadonlySet<string> = new Set(["", "US", "USA", "CA", "CAN"])

/** MS1-02 and MS1-03: where a local time was read off a clock. */
interface ClockPlace {
  readonly state: string
  /** Empty where it is not named. */
  readonly country: string
}

const zoneOf = ({ country, state }: ClockPlace, { times = {} }: PartnerProfile): string | undefined =>
  own(times.states ?? {}, state) ?? (countriesOfStates.has(country.trim().toUpperCase()) ? own(zonesOfStates, state) : undefined)

interface ZonedTime {
  readonly text: string
  /** The clock shows this time twice on the day when daylight time ends. The earlier one was taken. */
  readonly isAmbiguous: boolean
}

/** A local time `CCYY-MM-DDTHH:MM:SS` with its offset; `undefined` if no zone is known. */
export const zoned = (local: string, code: string, place: ClockPlace | undefined, partner: PartnerProfile): ZonedTime | undefined => {
  const fixed = own(offsetsOfCodes, code) ?? offsetOfNumber(code)
  if (fixed !== undefined) return { text: `${local}${offsetText(fixed)}`, isAmbiguous: false }
  const ofCode = own(zonesOfCodes, code)
  if (code !== "" && code !== "LT" && ofCode === undefined) return undefined
  const zone = ofCode ?? (place === undefined ? undefined : zoneOf(place, partner)) ?? partner.times?.zone
  if (zone === undefined) return undefined
  const offsets = offsetsAt(local, zone)
  return { text: `${local}${offsetText(offsets[0]!)}`, isAmbiguous: offsets.length > 1 }
}

/** `Z`, `-06:00`. */
const offsetText = (minutes: number): string => {
  if (minutes === 0) return "Z"
  const size = Math.abs(minutes)
  return `${minutes < 0 ? "-" : "+"}${String(Math.floor(size / 60)).padStart(2, "0")}:${String(size % 60).padStart(2, "0")}`
}

/** Offsets with which the clock of a zone shows a local time: two when it is set back, and the one before it is set forward for a time that it skips. */
const offsetsAt = (local: string, zone: string): ReadonlyArray<number> => {
  const asUtc = Date.parse(`${local}Z`)
  const before = offsetOf(zone, asUtc - 86_400_000)
  const after = offsetOf(zone, asUtc + 86_400_000)
  const fitting = [...new Set([before, after])].filter((minutes) => offsetOf(zone, asUtc - minutes * 60_000) === minutes)
  return fitting.length === 0 ? [before] : fitting.sort((a, b) => b - a)
}

const known = new Map<string, number>()
const mostKnown = 20_000

/** Offset of a zone in minutes at an instant. Zones change at quarters of an hour, so each quarter is computed once. */
export const offsetOf = (zone: string, instant: number): number => {
  const quarter = Math.floor(instant / 900_000)
  const key = `${zone} ${quarter}`
  const remembered = known.get(key)
  if (remembered !== undefined) return remembered
  const minutes = DateTime.zonedOffset(DateTime.makeZonedUnsafe(quarter * 900_000, { timeZone: DateTime.zoneMakeNamedUnsafe(zone) })) / 60_000
  if (known.size >= mostKnown) known.clear()
  known.set(key, minutes)
  return minutes
}
