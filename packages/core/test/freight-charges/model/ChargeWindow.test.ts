import { assert, describe, it } from "@effect/vitest"
import { closingTimes, localText, offsetsOf } from "@waybill/core/freight-charges"
import { int, oneOf } from "../../arbitraries.ts"

const zones = ["UTC", "America/Chicago", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "America/St_Johns"]

/** Instants within a day of a clock change in either direction, and one on a day without a change. */
const edges = [
  "2026-03-08T08:00:00Z", // Chicago, forward
  "2026-11-01T07:00:00Z", // Chicago, back
  "2026-03-29T01:00:00Z", // Berlin, forward
  "2026-10-25T01:00:00Z", // Berlin, back
  "2018-11-04T03:00:00Z", // Sao Paulo, forward over midnight
  "2019-02-17T02:00:00Z", // Sao Paulo, back over midnight
  "2011-12-30T10:00:00Z", // Apia, over a whole day
  "2026-04-04T15:00:00Z", // Lord Howe, back by half an hour
  "2026-10-03T15:30:00Z", // Lord Howe, forward by half an hour
  "2006-10-29T02:31:00Z", // St. John's, back at one past midnight
  "2026-07-01T12:00:00Z"
].map((text) => Date.parse(text))

/** Local time, computed in another way than the code under test. */
const clocks = (zone: string) => {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit"
  })
  return (at: number) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
    return { day: `${parts["year"]}-${parts["month"]}-${parts["day"]}`, clock: `${parts["minute"]}:${parts["second"]}`, hour: parts["hour"] }
  }
}

const near = (edge: number, minutes: number, millis: number) => edge + minutes * 60_000 + millis

const of = (frequency: "hourly" | "daily", zone: string, now: number) => closingTimes(frequency, now, offsetsOf(zone))!

const iso = (at: number) => new Date(at).toISOString()

describe("closingTimes", () => {
  it("sends real-time changes at once", () => assert.isUndefined(closingTimes("real_time", 0, () => 0)))

  it.prop("puts every change into exactly one window (SPEC-GAP-E16)", [
    oneOf(["hourly", "daily"] as const),
    oneOf(zones),
    oneOf(edges),
    int(-2000, 2000),
    int(0, 59_999),
    int(0, 1000)
  ], ([frequency, zone, edge, minutes, millis, later]) => {
    const now = near(edge, minutes, millis)
    const { closesAt, following } = of(frequency, zone, now)
    assert.isAbove(closesAt, now)
    assert.isAbove(following, closesAt)
    // every instant within the window gives the same window; its closing time gives the next one
    const within = now + Math.floor((closesAt - 1 - now) * later / 1000)
    assert.deepStrictEqual(of(frequency, zone, within), { closesAt, following })
    assert.strictEqual(of(frequency, zone, closesAt).closesAt, following)
    assert.isAtMost(closesAt - now, frequency === "hourly" ? 1.5 * 3_600_000 : 25.5 * 3_600_000)
  }, { arbitrary: { runs: 500 } })

  it.prop("closes hourly windows when local time shows a full hour, and not earlier", [oneOf(zones), oneOf(edges), int(-2000, 2000)], ([zone, edge, minutes]) => {
    const now = near(edge, minutes, 1)
    const shown = clocks(zone)
    const { closesAt } = of("hourly", zone, now)
    assert.strictEqual(shown(closesAt).clock, "00:00")
    for (let at = Math.ceil(now / 60_000) * 60_000; at < closesAt; at += 60_000) assert.notStrictEqual(shown(at).clock, "00:00", iso(at))
  })

  it.prop("closes daily windows at the end of the local day, of any length", [oneOf(zones), oneOf(edges), int(-2000, 2000)], ([zone, edge, minutes]) => {
    const now = near(edge, minutes, 1)
    const shown = clocks(zone)
    const { closesAt } = of("daily", zone, now)
    assert.isTrue(shown(closesAt).day > shown(closesAt - 1).day)
    for (let at = Math.ceil(now / 900_000) * 900_000; at < closesAt; at += 900_000) {
      assert.isFalse(shown(at).day > shown(at - 1).day && at !== closesAt, iso(at))
    }
  })

  it("supports days of 23, 24 and 25 hours (SPEC-GAP-E16)", () => {
    const day = (zone: string, noon: string) => {
      const { closesAt } = of("daily", zone, Date.parse(noon))
      return [iso(closesAt), (closesAt - of("daily", zone, Date.parse(noon) - 86_400_000).closesAt) / 3_600_000]
    }
    assert.deepStrictEqual(day("America/Chicago", "2026-03-08T18:00:00Z"), ["2026-03-09T05:00:00.000Z", 23])
    assert.deepStrictEqual(day("America/Chicago", "2026-11-01T18:00:00Z"), ["2026-11-02T06:00:00.000Z", 25])
    assert.deepStrictEqual(day("Europe/Berlin", "2026-03-29T12:00:00Z"), ["2026-03-29T22:00:00.000Z", 23])
    assert.deepStrictEqual(day("Europe/Berlin", "2026-10-25T12:00:00Z"), ["2026-10-25T23:00:00.000Z", 25])
    assert.deepStrictEqual(day("Asia/Kolkata", "2026-03-29T12:00:00Z"), ["2026-03-29T18:30:00.000Z", 24])
  })

  it("starts a day without midnight at its first instant (SPEC-GAP-E16)", () => {
    // on 2018-11-04 the clocks of Sao Paulo went from 23:59:59 to 01:00:00
    const { closesAt, following } = of("daily", "America/Sao_Paulo", Date.parse("2018-11-03T15:00:00Z"))
    assert.deepStrictEqual([iso(closesAt), iso(following)], ["2018-11-04T03:00:00.000Z", "2018-11-05T02:00:00.000Z"])
    // on 2019-02-16 they went from 23:59:59 back to 23:00:00, and the day had 25 hours
    const back = of("daily", "America/Sao_Paulo", Date.parse("2019-02-16T15:00:00Z"))
    assert.deepStrictEqual([iso(back.closesAt), iso(back.following)], ["2019-02-17T03:00:00.000Z", "2019-02-18T03:00:00.000Z"])
  })

  it("closes at every full hour of local time, twice if it occurs twice", () => {
    const strikes: Array<string> = []
    for (let at = Date.parse("2026-11-01T04:30:00Z"); strikes.length < 4; at = Date.parse(strikes.at(-1)!)) strikes.push(iso(of("hourly", "America/Chicago", at).closesAt))
    assert.deepStrictEqual(strikes, ["2026-11-01T05:00:00.000Z", "2026-11-01T06:00:00.000Z", "2026-11-01T07:00:00.000Z", "2026-11-01T08:00:00.000Z"])
    assert.strictEqual(iso(of("hourly", "Asia/Kolkata", Date.parse("2026-11-01T05:00:00Z")).closesAt), "2026-11-01T05:30:00.000Z")
  })
})

describe("localText", () => {
  it("formats local time without a zone", () => {
    assert.strictEqual(localText(Date.parse("2026-11-20T14:15:00.250Z"), offsetsOf("America/Chicago")), "2026-11-20T08:15:00.250")
    assert.strictEqual(localText(0, offsetsOf("UTC")), "1970-01-01T00:00:00.000")
  })
})
