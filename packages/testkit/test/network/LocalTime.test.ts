import { describe, expect, it } from "vitest"
import { atMinuteOfDay, isWeekend, localInstant, minuteOfDay, utcForm } from "../../src/network/LocalTime.ts"

const at = (text: string) => Date.parse(text)

describe("clocks of places", () => {
  it("return local times and offsets", () => {
    expect(localInstant(at("2026-11-20T14:00:00Z"), "America/Chicago")).toBe("2026-11-20T08:00:00-06:00")
    expect(localInstant(at("2026-07-20T14:00:00Z"), "America/Chicago")).toBe("2026-07-20T09:00:00-05:00")
    expect(localInstant(at("2026-07-20T14:00:00Z"), "America/Phoenix")).toBe("2026-07-20T07:00:00-07:00")
    expect(localInstant(at("2026-11-20T02:00:00Z"), "America/Los_Angeles")).toBe("2026-11-19T18:00:00-08:00")
    expect(localInstant(at("2026-11-20T14:00:00Z"), "Asia/Kolkata")).toBe("2026-11-20T19:30:00+05:30")
    expect(utcForm(at("2026-11-20T14:00:00Z"), "America/Chicago")).toBe("UTC-6")
    expect(utcForm(at("2026-11-20T14:00:00Z"), "Asia/Kolkata")).toBe("UTC+5:30")
    expect(minuteOfDay(at("2026-11-20T14:07:00Z"), "America/New_York")).toBe(9 * 60 + 7)
  })

  it("follow daylight saving changes and local days", () => {
    // the night to the 8th of March has 23 hours, that to the 1st of November 25
    const spring = atMinuteOfDay(at("2026-03-07T18:00:00Z"), "America/Chicago", 1, 12 * 60)
    expect(localInstant(spring, "America/Chicago")).toBe("2026-03-08T12:00:00-05:00")
    const autumn = atMinuteOfDay(at("2026-10-31T18:00:00Z"), "America/Chicago", 1, 12 * 60)
    expect(localInstant(autumn, "America/Chicago")).toBe("2026-11-01T12:00:00-06:00")
    expect(autumn - atMinuteOfDay(autumn, "America/Chicago", 0, 0)).toBe(13 * 3_600_000)
    // still Friday in Los Angeles
    expect(isWeekend(at("2026-11-21T05:00:00Z"), "America/Los_Angeles")).toBe(false)
    expect(isWeekend(at("2026-11-21T05:00:00Z"), "America/New_York")).toBe(true)
    expect(isWeekend(at("1969-12-28T12:00:00Z"), "America/New_York")).toBe(true)
  })
})
