import type { JourneyEntry } from "@waybill/client"
import { describe, expect, it } from "vitest"
import { placed, type Stop, stopsOf } from "../../../dashboard/model/journeyMap.ts"

const entry = (title: string, location: unknown, more: Record<string, unknown> = {}): JourneyEntry =>
  ({ at: `2026-11-20T0${title.length}:00:00.000Z`, area: "transit-events", kind: title, title, reference: null, document: { location, ...more } })

const stop = (number: number, latitude?: number, longitude?: number): Stop =>
  ({ number, place: `P${number}`, at: "", title: "", entries: 1, point: latitude === undefined ? undefined : { latitude, longitude: longitude! } })

const size = { width: 400, height: 200, padding: 20 }

describe("stops of a journey", () => {
  it("are the places of entries in their order, with entries in a row at one place as one stop", () => {
    const stops = stopsOf([
      entry("a", { city: "Chicago", state: "IL", country: "USA", latitude: 41.9, longitude: -87.6 }),
      entry("bb", { city: "Chicago", state: "IL", country: "US" }),
      entry("ccc", undefined),
      entry("dddd", { name: "Hub 7" }),
      entry("eeeee", { city: "Chicago", stateOrProvince: "IL" })
    ])
    expect(stops.map(({ entries, number, place, title }) => [number, place, entries, title])).toEqual([[1, "Chicago, IL", 2, "bb"], [2, "Hub 7", 1, "dddd"], [3, "Chicago, IL", 1, "eeeee"]])
    expect(stops.map(({ point }) => point?.latitude)).toEqual([41.9, undefined, 41.9])
  })

  it("take coordinates from the ends of the shipment, and are named by their coordinates without a name", () => {
    const shipment = { origin: { city: "Reno", state: "NV", latitude: 39.5, longitude: -119.8 }, destination: null }
    const stops = stopsOf([entry("a", { city: "Reno", state: "NV" }, { shipment }), entry("b", { latitude: 1, longitude: 2 })])
    expect(stops.map(({ place, point }) => [place, point])).toEqual([["Reno, NV", { latitude: 39.5, longitude: -119.8 }], ["1.00, 2.00", { latitude: 1, longitude: 2 }]])
  })

  it("do not rely on what documents contain", () => {
    const odd = [undefined, null, 7, "x", [], { city: 7, name: {} }, { latitude: 91, longitude: 0 }, { latitude: "1", longitude: 2 }, { latitude: NaN, longitude: 0 }]
    expect(stopsOf(odd.map((location) => entry("a", location)))).toEqual([])
    expect(stopsOf([{ ...entry("a", {}), document: null }, { ...entry("a", {}), document: "text" }])).toEqual([])
  })
})

describe("a map of stops", () => {
  it("has north up and east on the right, inside its padding", () => {
    const [south, north] = placed([stop(1, 30, -100), stop(2, 40, -80)], size)
    expect(south!.y).toBeGreaterThan(north!.y)
    expect(south!.x).toBeLessThan(north!.x)
    for (const { x, y } of [south!, north!]) {
      expect(x).toBeGreaterThanOrEqual(size.padding - 0.001)
      expect(x).toBeLessThanOrEqual(size.width - size.padding + 0.001)
      expect(y).toBeGreaterThanOrEqual(size.padding - 0.001)
      expect(y).toBeLessThanOrEqual(size.height - size.padding + 0.001)
    }
  })

  it("draws a stop without coordinates on the way between its neighbours", () => {
    const [a, b, c] = placed([stop(1, 0, 0), stop(2), stop(3, 0, 10)], size)
    expect(b!.x).toBeCloseTo((a!.x + c!.x) / 2)
    expect(b!.y).toBeCloseTo(a!.y)
  })

  it("crosses the date line the short way", () => {
    const [a, b] = placed([stop(1, 0, 170), stop(2, 0, -170)], size)
    expect(b!.x).toBeGreaterThan(a!.x)
  })

  it("hides no stop behind another, and stands in a row without any coordinates", () => {
    const same = placed([stop(1, 5, 5), stop(2, 5, 5), stop(3, 5.0001, 5)], size)
    for (const [n, { x, y }] of same.entries()) for (const other of same.slice(n + 1)) expect(Math.hypot(x - other.x, y - other.y)).toBeGreaterThan(18)
    const row = placed([stop(1), stop(2), stop(3)], size)
    expect(new Set(row.map(({ y }) => y)).size).toBe(1)
    expect(row.map(({ x }) => x)).toEqual(row.map(({ x }) => x).toSorted((a, b) => a - b))
  })
})
