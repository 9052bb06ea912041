import { assert, describe, it } from "@effect/vitest"
import { readPickupWindow } from "@waybill/core/pickups"
import { routes } from "../../src/demo/DemoFreight.ts"
import { pickupWindow } from "../../src/demo/DemoPickup.ts"

describe("the demo's pickup window", () => {
  it("opens for four hours of local time", () => {
    assert.deepStrictEqual(pickupWindow(Date.UTC(2026, 10, 20, 15, 15), "America/Chicago"), {
      readyDate: "2026-11-20",
      readyTime: "2026-11-20T09:15:00",
      closeTime: "2026-11-20T13:15:00"
    })
  })

  it("ends with the day, and late in the evening is the next morning's", () => {
    assert.deepStrictEqual(pickupWindow(Date.UTC(2026, 10, 21, 3), "America/Chicago"), {
      readyDate: "2026-11-20",
      readyTime: "2026-11-20T21:00:00",
      closeTime: "2026-11-20T23:59:00"
    })
    assert.deepStrictEqual(pickupWindow(Date.UTC(2026, 10, 21, 5, 30), "America/Chicago"), {
      readyDate: "2026-11-21",
      readyTime: "2026-11-21T00:00:00",
      closeTime: "2026-11-21T03:30:00"
    })
  })

  it("is acceptable for the service at every hour, also when clocks change, and lasts at least two hours", () => {
    const hour = 3_600_000
    for (const { originTimeZone } of routes) {
      for (const day of ["2026-03-07", "2026-07-01", "2026-10-31"]) {
        for (let at = Date.parse(`${day}T00:30Z`), last = at + 72 * hour; at < last; at += hour) {
          const reading = readPickupWindow({ ...pickupWindow(at, originTimeZone), pickupLocationTimeZone: originTimeZone })
          const when = `${new Date(at).toISOString()} in ${originTimeZone}`
          if (reading._tag === "Refused") throw new Error(`${when}: ${reading.fault.detail}`)
          assert.isAtLeast(reading.window!.instants!.last, at + 1.9 * hour, when)
        }
      }
    }
  })
})
