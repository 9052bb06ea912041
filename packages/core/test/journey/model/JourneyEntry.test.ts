import { assert, describe, it } from "@effect/vitest"
import { type TimelineEvent, orderTimeline } from "../../../src/journey/model/JourneyEntry.ts"

const event = (at: number, parts: Partial<TimelineEvent> = {}): TimelineEvent => ({
  at,
  area: "transit-events",
  kind: "k",
  title: "t",
  reference: `r${at}`,
  document: { at },
  size: 1,
  ...parts
})

const generous = { entries: 100, size: 1000 }

const ordered = (events: ReadonlyArray<TimelineEvent>, limits = generous) => {
  const { entries, truncated } = orderTimeline(events, limits)
  return [entries.map((each) => each.reference), truncated]
}

describe("orderTimeline", () => {
  it("orders entries oldest first, then by area and reference", () => {
    const same = [
      event(5, { area: "transit-events", reference: "a" }),
      event(5, { area: "invoices", reference: "z" }),
      event(5, { area: "transit-events", reference: null }),
      event(5, { area: "freight-charges", reference: "b" })
    ]
    assert.deepStrictEqual(ordered([event(9), ...same, event(-1)]), [["r-1", "b", "z", null, "a", "r9"], false])
    assert.deepStrictEqual(ordered([]), [[], false])
  })

  it("formats instants as UTC text, and leaves out the sizes", () => {
    assert.deepStrictEqual(orderTimeline([event(1_000)], generous).entries, [
      { at: "1970-01-01T00:00:01.000Z", area: "transit-events", kind: "k", title: "t", reference: "r1000", document: { at: 1000 } }
    ])
  })

  it("leaves out the oldest entries beyond the limit, and sets truncated", () => {
    const five = [4, 1, 3, 2, 5].map((at) => event(at))
    assert.deepStrictEqual(ordered(five, { entries: 5, size: 1000 }), [["r1", "r2", "r3", "r4", "r5"], false])
    assert.deepStrictEqual(ordered(five, { entries: 2, size: 1000 }), [["r4", "r5"], true])
  })

  it("leaves out the oldest entries beyond the size limit, but never the newest", () => {
    const sized = [1, 2, 3].map((at) => event(at, { size: 10 }))
    assert.deepStrictEqual(ordered(sized, { entries: 9, size: 30 }), [["r1", "r2", "r3"], false])
    assert.deepStrictEqual(ordered(sized, { entries: 9, size: 29 }), [["r2", "r3"], true])
    assert.deepStrictEqual(ordered(sized, { entries: 9, size: 1 }), [["r3"], true])
  })
})
