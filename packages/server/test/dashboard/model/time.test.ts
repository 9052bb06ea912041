import { describe, expect, it } from "vitest"
import { durationText, inputOf, instantOfInput, relativeText, utcText } from "../../../dashboard/model/time.ts"

describe("times", () => {
  const now = Date.parse("2026-11-20T07:15:00Z")

  it("are shown in UTC, and invalid ones unchanged", () => {
    expect(utcText("2026-11-20T08:15:00.123+01:00")).toBe("2026-11-20 07:15:00")
    expect([utcText("soon"), relativeText("soon", now)]).toEqual(["soon", ""])
  })

  it("are shown relative to now", () => {
    const away = (seconds: number) => relativeText(new Date(now + seconds * 1000).toISOString(), now)
    expect([1, 0, -1, -12, -59.9, -60, -3_600, -86_400, -172_800, 12, 5_400].map(away)).toEqual([
      "now", "just now", "just now", "12 s ago", "59 s ago", "1 min ago", "1 h ago", "24 h ago", "2 days ago", "in 12 s", "in 1 h"
    ])
    expect([850, 1_250, 61_000].map(durationText)).toEqual(["850 ms", "1.3 s", "1 min"])
  })

  it("are UTC in input fields without a zone, in both directions", () => {
    expect(inputOf(now)).toBe("2026-11-20T07:15:00")
    expect(instantOfInput("2026-11-20T07:15")).toBe("2026-11-20T07:15:00.000Z")
    expect([instantOfInput(""), instantOfInput("yesterday")]).toEqual([undefined, undefined])
  })
})
