import { afterEach, describe, expect, it, vi } from "@effect/vitest"
import { Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { createHash } from "node:crypto"
import { freightNetwork, type NetworkCall, type NetworkOptions } from "../../src/index.ts"
import { minuteOfDay } from "../../src/network/LocalTime.ts"
import { isProNumber } from "./CheckDigits.ts"

afterEach(() => void vi.useRealTimers())

const small = { days: 2, shipmentsPerDay: 6, customers: 4 } as const

const bytesOf = (calls: Iterable<NetworkCall>): string =>
  Array.from(calls, (call) => JSON.stringify(call, (_, value: unknown) => value instanceof Uint8Array ? createHash("sha256").update(value).digest("hex") : value)).join("\n")

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const shapes: Arbitrary.Arbitrary<NetworkOptions> = Arbitrary.map(
  Arbitrary.all({
    seed: Arbitrary.schema(Schema.Union([Schema.Int, Schema.String])),
    days: Arbitrary.schema(whole(1, 3)),
    shipmentsPerDay: Arbitrary.schema(whole(1, 6)),
    customers: Arbitrary.schema(whole(1, 6)),
    carriers: Arbitrary.schema(whole(1, 4)),
    hundredths: Arbitrary.schema(whole(0, 100)),
    startAt: Arbitrary.schema(whole(Date.UTC(2020, 0), Date.UTC(2035, 0)))
  }),
  ({ hundredths, startAt, ...shape }) => ({ ...shape, exceptions: hundredths / 100, startAt: new Date(startAt) })
)

const drawn = { timeout: 60_000, arbitrary: { runs: 40 } }

describe("a freight network", () => {
  it.prop("is the same, byte for byte, for the same seed and options", [shapes], ([options]) => {
    expect(bytesOf(freightNetwork(options))).toBe(bytesOf(freightNetwork(options)))
  }, drawn)

  it.prop("does not depend on how it is consumed", [shapes, whole(1, 200)], ([options, after]) => {
    const network = freightNetwork(options)
    const all = Array.from(network)
    // two iterators at different positions, and a third that is not finished
    const [one, other, left] = [network[Symbol.iterator](), freightNetwork(options)[Symbol.iterator](), network[Symbol.iterator]()]
    const seen: [Array<NetworkCall>, Array<NetworkCall>] = [[], []]
    for (let at = 0; at < all.length + after; at++) {
      const ahead = one.next()
      if (ahead.done !== true) seen[0].push(ahead.value)
      if (at === after) left.return?.()
      else if (at < after) left.next()
      if (at < after) continue
      const behind = other.next()
      if (behind.done !== true) seen[1].push(behind.value)
    }
    expect(bytesOf(seen[0])).toBe(bytesOf(all))
    expect(bytesOf(seen[1])).toBe(bytesOf(all))
  }, drawn)

  it.prop("makes calls in order of time, each shipment's steps in order and once", [shapes], ([options]) => {
    let before = -Infinity
    const names = new Map<string, Array<string>>()
    for (const { at, name, shipmentId } of freightNetwork(options)) {
      expect(at).toBeGreaterThanOrEqual(before)
      before = at
      const known = names.get(shipmentId) ?? []
      names.set(shipmentId, known)
      known.push(name)
    }
    expect(names.size).toBe(options.days! * options.shipmentsPerDay!)
    for (const told of names.values()) {
      expect(new Set(told).size).toBe(told.length)
      expect([told[0], told.at(-1)]).toEqual(["pickup ordered", "papers uploaded"])
      const places = ["booked", "driver departed", "picked up", "out for delivery", "delivered", "invoiced"].map((name) => told.indexOf(name))
      expect(places).toEqual(places.toSorted((one, other) => one - other))
      expect(places).not.toContain(-1)
    }
  }, drawn)

  it("does not depend on the current time", () => {
    vi.useFakeTimers({ now: Date.parse("2001-01-01T00:00:00Z"), toFake: ["Date"] })
    const before = bytesOf(freightNetwork({ seed: 1, ...small }))
    vi.setSystemTime(Date.parse("2040-06-01T00:00:00Z"))
    expect(bytesOf(freightNetwork({ seed: 1, ...small }))).toBe(before)
  })

  it("differs for another seed, with other numbers", () => {
    const [one, other] = [freightNetwork({ seed: 1, ...small }), freightNetwork({ seed: "2", ...small })]
    expect(bytesOf(one)).not.toBe(bytesOf(other))
    const numbers = new Set(Array.from(one, ({ shipmentId }) => shipmentId))
    expect(Array.from(other).some(({ shipmentId }) => numbers.has(shipmentId))).toBe(false)
    expect(bytesOf(freightNetwork({ seed: 2, ...small }))).toBe(bytesOf(other))
  })

  it("is generated lazily, and endless if it has no end", () => {
    const calls = freightNetwork({ seed: 3, days: Infinity, shipmentsPerDay: 1_000_000 })[Symbol.iterator]()
    expect(Array.from({ length: 50 }, () => calls.next().value?.call)).toContain("pickups.create")
  })

  it("numbers shipments in its carriers' formats, without repeats", () => {
    const network = freightNetwork({ seed: 4, days: 3, shipmentsPerDay: 60 })
    const forms = new Map(network.carriers.map(({ proForm, scac }) => [scac, proForm]))
    const seen = new Set<string>()
    for (const call of network) {
      if (call.call !== "shipments.register" || call.name !== "booked") continue
      const { ProNumber, UniqueID } = call.shipment
      const scac = UniqueID.slice(-12, -8)
      expect(isProNumber(forms.get(scac)!, ProNumber)).toBe(true)
      seen.add(ProNumber.replaceAll("-", ""))
    }
    expect(seen.size).toBe(180)
    expect(new Set(Array.from(network, ({ by }) => "scac" in by ? by.scac : undefined))).toEqual(new Set([undefined, ...forms.keys()]))
  })

  it("works by day and drives by night, by the clocks of each place, weekends and clock changes included", () => {
    const network = freightNetwork({ seed: 5, days: 14, shipmentsPerDay: 20, startAt: "2026-03-01T14:00:00Z" })
    const lanes = new Map(network.lanes.map((lane) => [`${lane.shipper.address1} ${lane.consignee.address1}`, lane]))
    let told = 0
    for (const call of network) {
      if (call.call !== "events.publish" || call.journey !== "plain LTL") continue
      const { destination, origin } = call.event.shipment
      const { destinationZone, originZone } = lanes.get(`${origin.address1} ${destination.address1}`)!
      const [zone, from, to] = call.name === "picked up" ? [originZone, 13, 18.1] : call.name === "delivered" ? [destinationZone, 7, 18] : [undefined, 0, 24]
      if (zone === undefined) continue
      told += 1
      const hour = minuteOfDay(call.at, zone) / 60
      expect(hour).toBeGreaterThanOrEqual(from)
      expect(hour).toBeLessThan(to)
      expect(Date.parse(call.event.occurredAt)).toBe(call.at)
      expect(Number(call.event.occurredAt.slice(11, 13))).toBe(Math.floor(hour))
      // printed days are local days of the place
      const day = new Date(`${call.event.occurredAt.slice(0, 10)}T12:00:00Z`).getUTCDay()
      expect([0, 6]).not.toContain(day)
    }
    expect(told).toBeGreaterThan(100)
  })

  it("agrees about a shipment in every area, to the cent and by the local day", () => {
    interface Told {
      readonly numbers: Set<string>
      readonly totals: Map<string, string>
      readonly days: Set<string>
      readonly weights: Set<number>
    }
    const network = freightNetwork({ seed: 8, days: 3, shipmentsPerDay: 60, exceptions: 0.4 })
    const told = new Map<string, Told>()
    for (const call of network) {
      const known = told.get(call.shipmentId) ?? { numbers: new Set(), totals: new Map(), days: new Set(), weights: new Set() }
      told.set(call.shipmentId, known)
      const { days, numbers, totals, weights } = known
      if (call.call === "pickups.create") {
        const [shipment] = call.request.shipmentDetails!
        numbers.add(shipment!.proNumber as string)
        days.add(call.request.readyDate!.slice(0, 10))
        weights.add(call.request.grossPickupWeight)
      } else if (call.call === "shipments.register") {
        numbers.add(call.shipment.ProNumber)
        days.add(call.shipment.pickupDate!)
        weights.add(call.shipment.GrossWeight)
      } else if (call.call === "events.publish") {
        numbers.add(call.event.shipment.references![0]!.value!)
        if (call.name === "picked up") days.add(call.event.occurredAt.slice(0, 10))
      } else if (call.call === "freightCharges.publish") {
        const { charges, referenceNumbers, shipmentTotals } = call.charge.pfc
        numbers.add(referenceNumbers.pro!)
        days.add(shipmentTotals.pickupDate.slice(0, 10))
        if (call.name === "bill entered") weights.add(shipmentTotals.grossWeight)
        if (call.name === "bill final") totals.set("bill", charges.preliminaryTotalCharges.toFixed(2))
      } else if (call.call === "invoices.create") {
        const cents = call.invoice.invoiceCharges.reduce((sum, { cost }) => sum + Math.round(Number(cost!.value) * 100), 0)
        totals.set("invoice", call.invoice.invoiceHeader.invoiceAmount.value).set("lines", (cents / 100).toFixed(2))
      }
    }
    expect(told.size).toBe(180)
    for (const { days, numbers, totals, weights } of told.values()) {
      expect([numbers.size, days.size, weights.size]).toEqual([1, 1, 1])
      expect(totals.size).toBe(3)
      expect(new Set(totals.values()).size).toBe(1)
    }
  })

  it("has its share of exceptions", () => {
    const journeysOf = (exceptions: number) => new Set(Array.from(freightNetwork({ seed: 6, days: 1, shipmentsPerDay: 150, exceptions }), ({ journey }) => journey))
    expect(journeysOf(0)).toEqual(new Set(["plain LTL", "interline", "cross-border"]))
    expect(journeysOf(1)).toEqual(new Set(["refused", "missed delivery", "damaged", "reconsigned", "late with appointment", "party change", "cross-border"]))
  })

  it("rejects impossible options with a message", () => {
    expect(() => freightNetwork({ seed: 1, days: 0 })).toThrow("days is a whole number from 1")
    expect(() => freightNetwork({ seed: 1, shipmentsPerDay: 1.5 })).toThrow("shipmentsPerDay")
    expect(() => freightNetwork({ seed: 1, customers: 0 })).toThrow("customers")
    expect(() => freightNetwork({ seed: 1, carriers: 5 })).toThrow("carriers is a whole number from 1 to 4, not 5.")
    expect(() => freightNetwork({ seed: 1, exceptions: 2 })).toThrow("exceptions")
    expect(() => freightNetwork({ seed: 1, startAt: "soon" })).toThrow("RFC 3339")
  })
})
