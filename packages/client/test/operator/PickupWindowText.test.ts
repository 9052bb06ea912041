import { describe, expect, it } from "vitest"
import { pickupWindowText } from "../../src/operator/PickupWindowText.ts"

const text = (readyDate: string | null, readyTime: string | null, closeTime: string | null, timeZone: string | null = null) => pickupWindowText({ readyDate, readyTime, closeTime, timeZone })

describe("the window of a pickup", () => {
  it("has each day once and no seconds that are zero", () => {
    expect(text("2026-11-20", "2026-11-20T08:00:00", "2026-11-20T16:30:15", "UTC-6")).toBe("2026-11-20 08:00 to 16:30:15, UTC-6")
    expect(text("2026-11-20", "2026-11-20T22:00", "2026-11-21T02:00:00.000")).toBe("2026-11-20 22:00 to 2026-11-21 02:00")
  })

  it("shows other texts as they were sent", () => {
    expect(text("2026-11-20", "08:00", "noon", "CST")).toBe("2026-11-20 08:00 to noon, CST")
    expect(text("2026-11-19", "2026-11-20T08:00:00", null)).toBe("2026-11-19 2026-11-20 08:00")
    expect(text("2026-11-20", null, "2026-11-20T16:00:00")).toBe("2026-11-20 until 16:00")
    expect(text(null, "", "", null)).toBe("no time given")
  })
})
