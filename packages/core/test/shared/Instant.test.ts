import { assert, describe, it } from "@effect/vitest"
import { formatInstant, parseInstant } from "@waybill/core"
import * as Arbitrary from "effect/Arbitrary"
import { int, oneOf } from "../arbitraries.ts"

const two = (n: number) => String(n).padStart(2, "0")

/** Date-times of the years 1000 to 9999. Most are valid; some have a day that its month does not have. */
const dateTime = Arbitrary.map(
  Arbitrary.all({
    year: int(1000, 9999),
    month: int(1, 12),
    day: int(1, 31),
    hour: int(0, 23),
    minute: int(0, 59),
    second: int(0, 59),
    millis: int(0, 999),
    offset: oneOf(["Z", "+00:00", "-00:00", "+14:00", "-12:00", "+05:45", "-09:30", "+23:59", "-23:59"])
  }),
  (each) => ({
    ...each,
    text: `${each.year}-${two(each.month)}-${two(each.day)}T${two(each.hour)}:${two(each.minute)}:${two(each.second)}.${String(each.millis).padStart(3, "0")}${each.offset}`
  })
)

const isRealDay = (year: number, month: number, day: number) => new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day

describe("parseInstant", () => {
  it.prop("agrees with JavaScript's calendar, and refuses invalid days", [dateTime], ([{ day, month, text, year }]) => {
    assert.strictEqual(parseInstant(text), isRealDay(year, month, day) ? Date.parse(text) : undefined)
  })

  it.prop("parses the text that formatInstant writes", [int(-62_167_219_200_000, 253_402_300_799_999)], ([millis]) => {
    const text = formatInstant(millis)
    assert.strictEqual(parseInstant(text), millis)
    if (millis >= 0) assert.strictEqual(text, new Date(millis).toISOString())
  })

  it("follows the leap year rules of the Gregorian calendar", () => {
    for (const year of ["2024", "2000", "2400", "0004"]) assert.isDefined(parseInstant(`${year}-02-29T00:00:00Z`), year)
    for (const year of ["2023", "1900", "2100"]) assert.isUndefined(parseInstant(`${year}-02-29T00:00:00Z`), year)
  })

  it("parses the years 0 to 99 as written, not as 1900 to 1999", () => {
    assert.strictEqual(parseInstant("0001-01-01T00:00:00Z"), -62_135_596_800_000)
    assert.strictEqual(formatInstant(-62_135_596_800_000), "0001-01-01T00:00:00.000Z")
  })

  it("formats an instant with microseconds in whole milliseconds", () => {
    assert.strictEqual(formatInstant(1_795_401_835_489.229), "2026-11-23T02:43:55.489Z")
    assert.strictEqual(formatInstant(-0.5), "1969-12-31T23:59:59.999Z")
  })

  it("parses fractions of up to nine digits, to the millisecond", () => {
    const base = Date.parse("2026-11-20T08:15:00Z")
    assert.strictEqual(parseInstant("2026-11-20T08:15:00.5Z"), base + 500)
    assert.strictEqual(parseInstant("2026-11-20T08:15:00.123456789Z"), base + 123)
    assert.strictEqual(parseInstant("2026-11-20t08:15:00.9999z"), base + 999)
  })

  it.for([
    "2026-11-20",
    "2026-11-20T08:15Z",
    "2026-11-20T08:15:00",
    "2026-11-20 08:15:00Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T08:60:00Z",
    "2026-11-20T08:15:60Z",
    "2016-12-31T23:59:60Z",
    "2026-11-20T08:15:00.Z",
    "2026-11-20T08:15:00.1234567890Z",
    "2026-11-20T08:15:00+0600",
    "2026-11-20T08:15:00+24:00",
    "2026-11-20T08:15:00+06:60",
    "2026-00-20T08:15:00Z",
    "2026-13-20T08:15:00Z",
    "2026-11-00T08:15:00Z",
    "2026-11-31T08:15:00Z",
    "+2026-11-20T08:15:00Z",
    "12026-11-20T08:15:00Z",
    " 2026-11-20T08:15:00Z",
    "2026-11-20T08:15:00Z\n",
    "２０２６-11-20T08:15:00Z",
    ""
  ])("refuses %j (SPEC-GAP-X11)", (text) => assert.isUndefined(parseInstant(text)))
})
