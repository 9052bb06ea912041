/** Where a shipment was, read from the documents of its journey. They were written by others, so nothing in them is relied on. */
import type { JourneyEntry } from "@waybill/client/operator"

export interface Point {
  readonly latitude: number
  readonly longitude: number
}

/** Entries in a row that name one place. */
export interface Stop {
  /** From 1. */
  readonly number: number
  readonly place: string
  readonly at: string
  /** Of its last entry. */
  readonly title: string
  readonly entries: number
  /** Of the entry, or of the same place in another entry. */
  readonly point: Point | undefined
}

/** A stop on the drawing. */
export interface PlacedStop extends Stop {
  readonly x: number
  readonly y: number
}

interface Place {
  readonly name: string
  readonly point: Point | undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null && !Array.isArray(value)

const textOf = (value: unknown): string => typeof value === "string" ? value.trim() : ""

const isWithin = (value: unknown, most: number): value is number => typeof value === "number" && Math.abs(value) <= most

const degrees = (value: number): string => value.toFixed(2)

/** A place that has neither a name nor coordinates is none. */
const placeOf = (location: unknown): Place | undefined => {
  if (!isObject(location)) return undefined
  const { city, country, latitude, locationId, longitude, name, state, stateOrProvince } = location
  const point = isWithin(latitude, 90) && isWithin(longitude, 180) ? { latitude, longitude } : undefined
  // areas write countries in different ways, so that a country would make two places of one
  const area = [textOf(city), textOf(state) || textOf(stateOrProvince) || textOf(country)].filter((part) => part !== "").join(", ")
  const known = area || textOf(name) || textOf(locationId)
  if (known !== "") return { name: known, point }
  return point === undefined ? undefined : { name: `${degrees(point.latitude)}, ${degrees(point.longitude)}`, point }
}

/** Coordinates of every named place of the journey, the shipment's ends included. */
const knownPoints = (entries: ReadonlyArray<JourneyEntry>): ReadonlyMap<string, Point> => {
  const points = new Map<string, Point>()
  for (const { document } of entries) {
    if (!isObject(document)) continue
    const { location, shipment } = document
    for (const each of [location, ...isObject(shipment) ? [shipment["origin"], shipment["destination"]] : []]) {
      const place = placeOf(each)
      if (place?.point !== undefined && !points.has(place.name)) points.set(place.name, place.point)
    }
  }
  return points
}

/** In the order of the journey. Entries without a place, such as invoices, are left out. */
export const stopsOf = (entries: ReadonlyArray<JourneyEntry>): ReadonlyArray<Stop> => {
  const points = knownPoints(entries)
  const stops: Array<Stop> = []
  for (const { at, document, title } of entries) {
    const place = isObject(document) ? placeOf(document["location"]) : undefined
    if (place === undefined) continue
    const last = stops.at(-1)
    if (last?.place === place.name) stops[stops.length - 1] = { ...last, title, entries: last.entries + 1, point: last.point ?? place.point }
    else stops.push({ number: stops.length + 1, place: place.name, at, title, entries: 1, point: place.point ?? points.get(place.name) })
  }
  return stops
}

/** Longitudes that go on beyond 180 degrees where the shorter way crosses the date line. */
const unwrapped = (points: ReadonlyArray<Point | undefined>): ReadonlyArray<Point | undefined> => {
  let before: number | undefined
  return points.map((point) => {
    if (point === undefined) return undefined
    let { longitude } = point
    while (before !== undefined && longitude - before > 180) longitude -= 360
    while (before !== undefined && longitude - before < -180) longitude += 360
    before = longitude
    return { latitude: point.latitude, longitude }
  })
}

/** A stop without coordinates lies on the way between its neighbours that have some, and beside the only neighbour. */
const filled = (points: ReadonlyArray<Point | undefined>): ReadonlyArray<Point> =>
  points.map((point, at) => {
    if (point !== undefined) return point
    const from = points.findLastIndex((each, n) => n < at && each !== undefined)
    const to = points.findIndex((each, n) => n > at && each !== undefined)
    const [before, after] = [points[from], points[to]]
    if (before === undefined || after === undefined) return before ?? after ?? { latitude: 0, longitude: at }
    const share = (at - from) / (to - from)
    return { latitude: before.latitude + (after.latitude - before.latitude) * share, longitude: before.longitude + (after.longitude - before.longitude) * share }
  })

/** Stops less than this apart on the drawing are moved aside, so that none hides another. */
const apart = 22

/** North is up; distances are right at the middle latitude. Without any coordinates the stops stand in a row. */
export const placed = (stops: ReadonlyArray<Stop>, { height, padding, width }: { readonly width: number; readonly height: number; readonly padding: number }): ReadonlyArray<PlacedStop> => {
  const points = filled(unwrapped(stops.map(({ point }) => point)))
  const [latitudes, longitudes] = [points.map(({ latitude }) => latitude), points.map(({ longitude }) => longitude)]
  const [south, north, west, east] = [Math.min(...latitudes), Math.max(...latitudes), Math.min(...longitudes), Math.max(...longitudes)]
  const narrowing = Math.max(0.1, Math.cos(((south + north) / 2) * Math.PI / 180))
  const scale = Math.min((width - 2 * padding) / Math.max((east - west) * narrowing, 0.01), (height - 2 * padding) / Math.max(north - south, 0.01))
  const found: Array<PlacedStop> = []
  for (const [at, stop] of stops.entries()) {
    const { latitude, longitude } = points[at]!
    const x = width / 2 + (longitude - (west + east) / 2) * narrowing * scale
    let y = height / 2 - (latitude - (south + north) / 2) * scale
    // the same place again may share its spot
    while (found.some((each) => each.place !== stop.place && Math.hypot(each.x - x, each.y - y) < apart)) y += apart
    found.push({ ...stop, x, y })
  }
  return found
}
