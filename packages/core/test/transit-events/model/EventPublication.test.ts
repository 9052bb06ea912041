import { assert, describe, it } from "@effect/vitest"
import { eventText, type KnownEvent, makeDuplicateFilter, type ReadEvent, reportedText, sameContent, textOfKey } from "@waybill/core/transit-events"
import { reportedEvent } from "@waybill/testkit"
import * as Arbitrary from "effect/Arbitrary"
import { json, listOf, oneOf } from "../../arbitraries.ts"

const read = (index: number, event: ReturnType<typeof reportedEvent>): ReadEvent => ({ index, event })

const keyOf = (shipmentId: string, eventId: string) => textOfKey({ shipmentId, eventId })

const known = (event: ReturnType<typeof reportedEvent>, sequence: number): KnownEvent => ({
  eventId: event.eventId!,
  shipmentId: event.shipment.shipmentId,
  sequence,
  json: { ...event, sequence }
})

describe("eventText", () => {
  it.prop("is the event as sent, with id and sequence in front", [json], ([attributes]) => {
    const event = reportedEvent("S", { accounts: ["A"], more: { attributes, "unknown field": { kept: true } } })
    const { parties: _, ...rest } = event
    const text = eventText(reportedText(event), "e \"1\"", 7)
    assert.deepStrictEqual(JSON.parse(text), { eventId: "e \"1\"", sequence: 7, ...JSON.parse(JSON.stringify(rest)) })
    assert.isTrue(text.startsWith("{\"eventId\":\"e \\\"1\\\"\",\"sequence\":7,"))
  })
})

describe("sameContent (SPEC-GAP-D17)", () => {
  const event = { eventId: "e", type: "DELAY", shipment: { shipmentId: "S", scac: "X" } }

  it("ignores the order of members, the parties, and a sequence that only one event has", () => {
    assert.isTrue(sameContent({ shipment: { scac: "X", shipmentId: "S" }, type: "DELAY", eventId: "e" }, event))
    assert.isTrue(sameContent({ ...event, parties: { accounts: ["A"] } }, event))
    assert.isTrue(sameContent(event, { ...event, sequence: 4 }))
    assert.isTrue(sameContent({ ...event, sequence: 4 }, event))
  })

  it("compares the JSON that is sent, not a host's objects", () => {
    const attributes = { at: new Date(0), none: undefined, wrong: NaN }
    assert.isTrue(sameContent({ ...event, attributes }, JSON.parse(JSON.stringify({ ...event, attributes }))))
  })

  it("ignores how a serializer writes a time", () => {
    assert.isTrue(sameContent({ ...event, occurredAt: "2026-11-20T08:00:00.000+00:00" }, { ...event, occurredAt: "2026-11-20T08:00:00Z" }))
    assert.isFalse(sameContent({ ...event, occurredAt: "2026-11-20T02:00:00-06:00" }, { ...event, occurredAt: "2026-11-20T08:00:00Z" }))
  })

  it("compares everything else", () => {
    assert.isFalse(sameContent({ ...event, sequence: 4 }, { ...event, sequence: 5 }))
    assert.isFalse(sameContent({ ...event, type: "DELIVERED" }, event))
    assert.isFalse(sameContent({ ...event, unknown: null }, event))
    assert.isFalse(sameContent({ ...event, shipment: { shipmentId: "S" } }, event))
  })
})

const partitionDuplicates = (read: ReadonlyArray<ReadEvent>, before: ReadonlyMap<string, KnownEvent>) => {
  const { add, sorted } = makeDuplicateFilter(before)
  read.forEach(add)
  return sorted
}

describe("makeDuplicateFilter", () => {
  it("separates new events, duplicates and conflicts", () => {
    const events = [
      read(0, reportedEvent("S")),
      read(1, reportedEvent("S", { eventId: "new" })),
      read(2, reportedEvent("S", { eventId: "known" })),
      read(3, reportedEvent("S", { eventId: "changed", type: "DELIVERED" })),
      read(4, reportedEvent("S", { eventId: "new" })),
      read(5, reportedEvent("T", { eventId: "new" })),
      read(6, reportedEvent("T", { eventId: "known", type: "DELIVERED" })),
      read(7, reportedEvent("S", { eventId: "new", type: "DELIVERED" }))
    ]
    const before = new Map(["known", "changed"].map((eventId) => [keyOf("S", eventId), known(reportedEvent("S", { eventId }), 1)]))
    const { newEvents, refused, repeats } = partitionDuplicates(events, before)
    assert.deepStrictEqual(newEvents.map((each) => each.index), [0, 1, 5, 6])
    assert.deepStrictEqual(repeats, [{ index: 2, key: keyOf("S", "known") }, { index: 4, key: keyOf("S", "new") }])
    assert.deepStrictEqual(refused.map((each) => [each.index, each.faults[0]!.pointer, each.faults[0]!.code]), [
      [3, "/events/3/eventId", "conflict"],
      [7, "/events/7/eventId", "conflict"]
    ])
  })

  it.prop(
    "puts every event into exactly one group, and no id of a shipment into newEvents twice",
    [listOf(Arbitrary.all({ eventId: oneOf(["a", "b", "c", undefined]), shipmentId: oneOf(["S", "T"]) }), 0, 12)],
    ([events]) => {
      const all = events.map(({ eventId, shipmentId }, index) => read(index, reportedEvent(shipmentId, eventId === undefined ? {} : { eventId })))
      const { newEvents, refused, repeats } = partitionDuplicates(all, new Map([[keyOf("S", "a"), known(reportedEvent("S", { eventId: "a" }), 1)]]))
      const indices = [...newEvents, ...repeats, ...refused].map((each) => each.index)
      assert.deepStrictEqual(indices.toSorted((a, b) => a - b), all.map((each) => each.index))
      const keys = newEvents.flatMap(({ event: { eventId, shipment } }) => eventId === undefined ? [] : [keyOf(shipment.shipmentId, eventId)])
      assert.strictEqual(new Set(keys).size, keys.length)
    }
  )
})
