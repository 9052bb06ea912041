import { assert, describe, it } from "@effect/vitest"
import { isWindowOver, readPickupWindow, type WindowTexts } from "@waybill/core/pickups"
import { int, oneOf } from "../../arbitraries.ts"

const texts = (parts: Partial<WindowTexts> = {}): WindowTexts => ({
  readyDate: "2026-11-20T00:00:00.000",
  readyTime: "2026-11-20T08:00:00.000",
  closeTime: "2026-11-20T17:00:00.000",
  pickupLocationTimeZone: "UTC-5",
  ...parts
})

const windowOf = (parts: Partial<WindowTexts> = {}) => {
  const reading = readPickupWindow(texts(parts))
  assert(reading._tag === "Window", JSON.stringify(reading))
  assert(reading.window !== undefined)
  return reading.window
}

const refusal = (parts: Partial<WindowTexts>): string | undefined => {
  const reading = readPickupWindow(texts(parts))
  return reading._tag === "Refused" ? reading.fault.pointer : undefined
}

const iso = (at: number | undefined) => at === undefined ? undefined : new Date(at).toISOString()

const instantsOf = (parts: Partial<WindowTexts>) => {
  const { instants } = windowOf(parts)
  return [iso(instants?.first), iso(instants?.last)]
}

const zones = ["UTC", "America/Chicago", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Kiritimati"]

/** Days with a clock change in these zones, and days without. */
const days = ["2026-03-08", "2026-11-01", "2026-03-29", "2026-10-25", "2018-11-04", "2019-02-16", "2026-04-05", "2026-10-04", "2026-07-01"]

/** Local time, computed in another way than the code under test. */
const clocks = (zone: string) => {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit"
  })
  return (at: number) => {
    const { day, hour, minute, month, year } = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
    return `${year}-${month}-${day}T${hour}:${minute}`
  }
}

const clockText = (minutes: number) => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`

describe("readPickupWindow", () => {
  it.prop("covers exactly the instants with its local times, on days of any length", [
    oneOf(zones),
    oneOf(days),
    int(0, 1438),
    int(1, 300)
  ], ([zone, day, ready, length]) => {
    const close = Math.min(1439, ready + length)
    const shown = clocks(zone)
    const [from, to] = [`${day}T${clockText(ready)}`, `${day}T${clockText(close)}`]
    const inside: Array<number> = []
    const noon = Date.parse(`${day}T12:00:00Z`)
    for (let at = noon - 30 * 3_600_000; at < noon + 30 * 3_600_000; at += 60_000) {
      const now = shown(at)
      if (now >= from && now <= to) inside.push(at)
    }
    const reading = readPickupWindow(texts({ readyDate: day, readyTime: from, closeTime: to, pickupLocationTimeZone: zone }))
    if (reading._tag === "Refused") {
      // almost none of it exists on that day
      assert.isAtMost(inside.length, 1, `${zone} ${from} ${to}`)
      return
    }
    const { first, last } = reading.window!.instants!
    assert.strictEqual(iso(first), iso(inside[0]), `${zone} ${from}`)
    // if the clock skips the end of the window, it ends at the skipped minute
    assert.isTrue(last === inside.at(-1) || last === inside.at(-1)! + 60_000, `${zone} ${to} ${iso(last)} ${iso(inside.at(-1))}`)
  })

  it.prop("gives the same window for local times and for times with any offset (SPEC-GAP-C8)", [oneOf(zones), oneOf(days), int(4 * 60, 22 * 60), oneOf([-720, -330, 0, 60, 840])], ([zone, day, ready, offset]) => {
    const local = windowOf({ readyDate: day, readyTime: `${day}T${clockText(ready)}`, closeTime: `${day}T${clockText(ready + 60)}`, pickupLocationTimeZone: zone })
    const sign = offset < 0 ? "-" : "+"
    const written = (at: number) => `${new Date(at + offset * 60_000).toISOString().slice(0, -1)}${sign}${clockText(Math.abs(offset))}`
    const { first, last } = local.instants!
    const again = readPickupWindow(texts({ readyDate: day, readyTime: written(first), closeTime: written(last), pickupLocationTimeZone: zone }))
    assert.deepStrictEqual(again, { _tag: "Window", window: local })
  })

  it("supports days with a clock change", () => {
    const chicago = (day: string, ready: string, close: string) =>
      instantsOf({ readyDate: day, readyTime: `${day}T${ready}`, closeTime: `${day}T${close}`, pickupLocationTimeZone: "America/Chicago" })
    assert.deepStrictEqual(chicago("2026-03-07", "08:00", "17:00"), ["2026-03-07T14:00:00.000Z", "2026-03-07T23:00:00.000Z"])
    assert.deepStrictEqual(chicago("2026-03-08", "08:00", "17:00"), ["2026-03-08T13:00:00.000Z", "2026-03-08T22:00:00.000Z"])
    // the hour from two does not exist
    assert.deepStrictEqual(chicago("2026-03-08", "01:30", "03:30"), ["2026-03-08T07:30:00.000Z", "2026-03-08T08:30:00.000Z"])
    assert.deepStrictEqual(chicago("2026-03-08", "02:15", "03:10"), ["2026-03-08T08:00:00.000Z", "2026-03-08T08:10:00.000Z"])
    // the hour from one occurs twice
    assert.deepStrictEqual(chicago("2026-11-01", "01:15", "01:45"), ["2026-11-01T06:15:00.000Z", "2026-11-01T07:45:00.000Z"])
  })

  it("refuses times that the clock skips", () => {
    const parts = { readyDate: "2026-03-08", readyTime: "2026-03-08T02:10", closeTime: "2026-03-08T02:50" }
    assert.strictEqual(refusal({ ...parts, pickupLocationTimeZone: "America/Chicago" }), "/readyTime")
    assert.isUndefined(refusal({ ...parts, pickupLocationTimeZone: "UTC-6" }))
    // Samoa skipped 30 December 2011
    const day = { readyDate: "2011-12-30", readyTime: "2011-12-30T08:00", closeTime: "2011-12-30T17:00" }
    assert.strictEqual(refusal({ ...day, pickupLocationTimeZone: "Pacific/Apia" }), "/readyTime")
  })

  it("accepts zones as offset or name, and no other text (SPEC-GAP-C9)", () => {
    const opens = (zone: string) => iso(windowOf({ pickupLocationTimeZone: zone }).instants?.first)
    for (const zone of ["UTC-5", "utc-5", "UTC-05:00", "UTC-0500", "GMT-5", "-05:00", "UTC -5", "America/New_York", "US/Eastern"]) {
      assert.strictEqual(opens(zone), "2026-11-20T13:00:00.000Z", zone)
    }
    assert.strictEqual(opens("UTC+5:30"), "2026-11-20T02:30:00.000Z")
    assert.strictEqual(opens("UTC+14"), "2026-11-19T18:00:00.000Z")
    for (const zone of ["UTC", "GMT", "Z", "z", "UTC+0", "UTC-0"]) assert.strictEqual(opens(zone), "2026-11-20T08:00:00.000Z", zone)
    for (const zone of ["Mars/Olympus", "UTC+15", "UTC-5:75", "five", "UTC+", "America/", "../etc", "5Z", "NotUTC", "x".repeat(300)]) {
      assert.strictEqual(refusal({ pickupLocationTimeZone: zone }), "/pickupLocationTimeZone", zone)
    }
  })

  it("may last over night: to a time on the next day, or to an earlier time within 12 hours (SPEC-GAP-C8)", () => {
    const night = (closeTime: string, readyTime = "2026-11-20T20:00:00") => {
      const { closes, day, opens } = windowOf({ readyTime, closeTime })
      return [day, opens, closes].map(iso).join(" ")
    }
    const expected = "2026-11-20T00:00:00.000Z 2026-11-20T20:00:00.000Z 2026-11-21T02:00:00.000Z"
    for (const closeTime of ["2026-11-21T02:00:00", "2026-11-20T02:00:00", "02:00", "2026-11-21T07:00:00Z"]) assert.strictEqual(night(closeTime), expected, closeTime)
    assert.strictEqual(night("02:00", "20:00"), expected)
    assert.strictEqual(night("00:00"), "2026-11-20T00:00:00.000Z 2026-11-20T20:00:00.000Z 2026-11-21T00:00:00.000Z")
    assert.isUndefined(refusal({ readyTime: "2026-11-20T20:00:00", closeTime: "2026-11-20T08:00:00" }))
    assert.strictEqual(refusal({ readyTime: "2026-11-20T20:00:00", closeTime: "2026-11-20T08:01:00" }), "/closeTime")
    assert.isUndefined(refusal({ closeTime: "2026-11-21T08:00:00" }))
    assert.strictEqual(refusal({ closeTime: "2026-11-21T08:01:00" }), "/closeTime")
    assert.strictEqual(refusal({ readyTime: "2026-11-20T20:00:00", closeTime: "2026-11-19T22:00:00" }), "/closeTime")
  })

  it("has its readyTime on readyDate, and before closeTime", () => {
    assert.strictEqual(refusal({ closeTime: "2026-11-20T08:00:00" }), "/closeTime")
    assert.strictEqual(refusal({ closeTime: "2026-11-20T07:59:00" }), "/closeTime")
    assert.strictEqual(refusal({ closeTime: "2026-11-21T17:00:00" }), "/closeTime")
    assert.strictEqual(refusal({ readyDate: "2026-11-21T00:00:00" }), "/readyTime")
    // 23:30 in Boston is the next day in London
    assert.isUndefined(refusal({ readyTime: "2026-11-20T23:00:00", closeTime: "2026-11-21T04:30:00Z" }))
  })

  it("treats a readyDate at midnight as that day, with any offset (SPEC-GAP-C8)", () => {
    for (const readyDate of ["2026-11-20", "2026-11-20T00:00:00Z", "2026-11-20T00:00:00+09:00", "2026-11-20T05:00:00Z", "2026-11-20T13:00:00Z"]) {
      assert.strictEqual(iso(windowOf({ readyDate }).day), "2026-11-20T00:00:00.000Z", readyDate)
      assert.strictEqual(iso(windowOf({ readyDate, readyTime: "08:00", closeTime: "17:00:00" }).opens), "2026-11-20T08:00:00.000Z", readyDate)
    }
    // equal instants
    assert.isUndefined(refusal({ readyDate: "2026-11-21T00:00:00Z", readyTime: "2026-11-21T00:00:00Z", closeTime: "2026-11-21T02:00:00Z" }))
  })

  it("accepts incomplete windows (SPEC-GAP-C8)", () => {
    const local = (parts: Partial<WindowTexts>) => {
      const { closes, opens } = windowOf(parts)
      return [iso(opens), iso(closes)]
    }
    assert.deepStrictEqual(local({ readyTime: null }), ["2026-11-20T00:00:00.000Z", "2026-11-20T17:00:00.000Z"])
    assert.deepStrictEqual(local({ readyTime: null, readyDate: "2026-11-20T09:30:00" }), ["2026-11-20T09:30:00.000Z", "2026-11-20T17:00:00.000Z"])
    assert.deepStrictEqual(local({ closeTime: null }), ["2026-11-20T08:00:00.000Z", "2026-11-20T23:59:59.999Z"])
    assert.deepStrictEqual(local({ readyDate: null }), ["2026-11-20T08:00:00.000Z", "2026-11-20T17:00:00.000Z"])
    assert.deepStrictEqual(local({ readyDate: null, readyTime: null }), ["2026-11-20T00:00:00.000Z", "2026-11-20T17:00:00.000Z"])
    for (const [readyTime, closeTime] of [["08:00", "17:00"], ["08:00", null], [null, "17:00"]] as const) {
      assert.strictEqual(refusal({ readyDate: null, readyTime, closeTime }), "/readyDate")
    }
    assert.deepStrictEqual(readPickupWindow(texts({ readyDate: null, readyTime: null, closeTime: null })), { _tag: "Window", window: undefined })
  })

  it("has no zone if only a readyDate at midnight Z could name one (SPEC-GAP-C9)", () => {
    for (const readyDate of ["2026-11-20T00:00:00Z", "2026-11-20T00:00:00.000+00:00"]) {
      assert.isUndefined(windowOf({ pickupLocationTimeZone: null, readyDate }).instants, readyDate)
      assert.deepStrictEqual(
        instantsOf({ pickupLocationTimeZone: null, readyDate, closeTime: "2026-11-20T17:00:00-06:00" }),
        ["2026-11-20T14:00:00.000Z", "2026-11-20T23:00:00.000Z"]
      )
    }
    // still open in Chicago at noon there
    const afternoon = windowOf({ pickupLocationTimeZone: null, readyDate: "2026-11-20T00:00:00Z" })
    assert.isFalse(isWindowOver(afternoon, Date.parse("2026-11-20T18:00:00Z")))
  })

  it("has no zone if none was named", () => {
    assert.isUndefined(windowOf({ pickupLocationTimeZone: null }).instants)
    assert.deepStrictEqual(
      instantsOf({ pickupLocationTimeZone: null, readyTime: "2026-11-20T08:00:00-06:00", closeTime: "2026-11-20T17:00:00-06:00" }),
      ["2026-11-20T14:00:00.000Z", "2026-11-20T23:00:00.000Z"]
    )
    // the first offset that is written
    for (const parts of [{ closeTime: "2026-11-20T17:00:00-06:00" }, { readyDate: "2026-11-20T00:00:00-06:00" }]) {
      assert.deepStrictEqual(instantsOf({ pickupLocationTimeZone: null, ...parts }), ["2026-11-20T14:00:00.000Z", "2026-11-20T23:00:00.000Z"])
    }
  })
})

describe("isWindowOver", () => {
  it("is true after its end in local time", () => {
    const closes = Date.parse("2026-11-20T22:00:00Z")
    assert.isFalse(isWindowOver(windowOf(), closes - 1))
    assert.isTrue(isWindowOver(windowOf(), closes))
  })

  it("is true without a zone when it has ended in every zone", () => {
    const lastPlace = Date.parse("2026-11-21T05:00:00Z")
    assert.isFalse(isWindowOver(windowOf({ pickupLocationTimeZone: null }), lastPlace - 1))
    assert.isTrue(isWindowOver(windowOf({ pickupLocationTimeZone: null }), lastPlace))
  })
})
