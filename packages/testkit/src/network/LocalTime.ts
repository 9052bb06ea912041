/** Local times: conversion between instants and local times. Zones are IANA names. */
import { formatInstant } from "@waybill/core"
import { entryIn } from "../shared/EntryIn.ts"

const minuteMillis = 60_000
const hourMillis = 3_600_000
const dayMillis = 86_400_000

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (zone: string): Intl.DateTimeFormat =>
  entryIn(formats, zone, () =>
    new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" }))

const computeOffset = (millis: number, zone: string): number => {
  const shown: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
  for (const { type, value } of formatOf(zone).formatToParts(millis)) shown[type] = Number(value)
  const local = Date.UTC(shown.year!, shown.month! - 1, shown.day!, shown.hour!, shown.minute!)
  return local - Math.floor(millis / minuteMillis) * minuteMillis
}

/** Offsets by zone and hour, because clocks change at full hours. Bounded, because a network may be endless. */
const offsets = new Map<string, Map<number, number>>()
const maxHours = 5_000

/** The UTC offset in milliseconds; negative west of Greenwich. */
export const offsetAt = (millis: number, zone: string): number => {
  const hour = Math.floor(millis / hourMillis)
  const hours = entryIn(offsets, zone, () => new Map<number, number>())
  const known = hours.get(hour)
  if (known !== undefined) return known
  const offset = computeOffset(hour * hourMillis, zone)
  if (hours.size >= maxHours) hours.clear()
  hours.set(hour, offset)
  return offset
}

/** Minutes since local midnight. */
export const minuteOfDay = (millis: number, zone: string): number => {
  const local = millis + offsetAt(millis, zone)
  return Math.floor(local / minuteMillis) - Math.floor(local / dayMillis) * 1440
}

/** The instant of this local minute of the day, the given number of days after the day of `millis`. */
export const atMinuteOfDay = (millis: number, zone: string, days: number, minute: number): number => {
  const midnight = Math.floor((millis + offsetAt(millis, zone)) / dayMillis) * dayMillis
  const target = midnight + days * dayMillis + minute * minuteMillis
  // use the offset of that time, which daylight saving may have changed
  const estimate = target - offsetAt(millis, zone)
  return target - offsetAt(estimate, zone)
}

/** Whether it is Saturday or Sunday in the zone. */
export const isWeekend = (millis: number, zone: string): boolean => {
  const day = Math.floor((millis + offsetAt(millis, zone)) / dayMillis)
  // the first of January 1970 was a Thursday
  return (((day + 4) % 7) + 7) % 7 % 6 === 0
}

const two = (number: number): string => String(number).padStart(2, "0")

/** `-06:00`. */
const offsetText = (offset: number): string => {
  const minutes = Math.abs(offset) / minuteMillis
  return `${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** RFC 3339 with the local offset, to the second. */
export const localInstant = (millis: number, zone: string): string => {
  const offset = offsetAt(millis, zone)
  return `${formatInstant(millis + offset).slice(0, 19)}${offsetText(offset)}`
}

/** `UTC-6`, the zone format of pickups. */
export const utcForm = (millis: number, zone: string): string => {
  const offset = offsetAt(millis, zone)
  const [sign, minutes] = [offset < 0 ? "-" : "+", Math.abs(offset) / minuteMillis]
  return `UTC${sign}${Math.floor(minutes / 60)}${minutes % 60 === 0 ? "" : `:${two(minutes % 60)}`}`
}
