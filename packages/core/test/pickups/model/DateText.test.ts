import { assert, describe, it } from "@effect/vitest"
import { dateParts } from "../../../src/pickups/model/DateText.ts"

const minutes = 60_000
const hours = 60 * minutes
const day = Date.UTC(2026, 10, 20)

describe("a date or time of ISO 8601", () => {
  for (const [text, parts] of [
    ["2026-11-20", { day, clock: undefined, offset: undefined }],
    ["08:30", { day: undefined, clock: 8.5 * hours, offset: undefined }],
    ["08:30:15.250", { day: undefined, clock: 8.5 * hours + 15_250, offset: undefined }],
    ["2026-11-20T08:30:15.250", { day, clock: 8.5 * hours + 15_250, offset: undefined }],
    ["2026-11-20 08:30Z", { day, clock: 8.5 * hours, offset: 0 }],
    ["2026-11-20t08:30z", { day, clock: 8.5 * hours, offset: 0 }],
    ["2026-11-20T08:30+05:45", { day, clock: 8.5 * hours, offset: 5.75 * hours }],
    ["2026-11-20T08:30-23:59", { day, clock: 8.5 * hours, offset: -24 * hours + minutes }]
  ] as const) it(`has the parts of ${text}`, () => assert.deepStrictEqual(dateParts(text), parts))

  for (const text of ["2026-11-31", "24:00", "08:60", "2026-11-20T08:30+24:00", "2026-11-20T08:30+05:60", "2026-11-20Z", "08:30Z", "20.11.2026", ""]) {
    it(`is not ${JSON.stringify(text)}`, () => assert.isUndefined(dateParts(text)))
  }
})
