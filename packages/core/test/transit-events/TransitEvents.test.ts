import { assert, describe, it } from "@effect/vitest"
import type { Principal } from "@waybill/core"
import { Wakeups } from "@waybill/core/delivery"
import { maxEventBytes, maxEventsPerCall, TransitEvents, cursorMillis } from "@waybill/core/transit-events"
import { arbitraryReportedEvent, ltlJourney, reportedEvent, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { int, json, listOf } from "../arbitraries.ts"
import { untyped } from "../untyped.ts"
import { inService } from "../inService.ts"

const setup = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const events = yield* TransitEvents
  return { tenant, carrier: tenant.carrier, customer: tenant.customer("client", ["A"]), events, publish: (...each: ReadonlyArray<unknown>) => events.append(tenant.carrier, untyped(each)) }
})

const decoded = (data: ReadonlyArray<Uint8Array>): ReadonlyArray<Record<string, unknown>> =>
  data.map((body) => JSON.parse(new TextDecoder().decode(body)))

const listed = (principal: Principal, query: unknown = {}) =>
  Effect.flatMap(TransitEvents, (events) => Effect.map(events.list(principal, untyped(query)), ({ data }) => decoded(data)))

const faultsOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.strictEqual(error._tag, "InvalidInput")
    return (error as unknown as { faults: ReadonlyArray<{ pointer: string; code: string; detail: string }> }).faults
  })

describe("publishing", () => {
  it.effect("assigns ids and gapless sequences per shipment if the sender gives none (SPEC-GAP-D16)", Effect.fnUntraced(function*() {
    const { carrier, publish } = yield* setup
    const published = yield* publish(reportedEvent("S"), reportedEvent("T"), reportedEvent("S"), reportedEvent("S", { sequence: 9 }), reportedEvent("S"))
    assert.deepStrictEqual(
      published.map((each) => each.result === "refused" ? "" : `${each.index} ${each.shipmentId}/${each.sequence}`),
      ["0 S/10", "1 T/1", "2 S/11", "3 S/9", "4 S/12"]
    )
    const all = yield* listed(carrier)
    assert.deepStrictEqual(all.map((event) => event["sequence"]), [9, 10, 11, 12, 1])
    assert.strictEqual(new Set(all.map((event) => event["eventId"])).size, 5)
    const later = yield* publish(reportedEvent("S"), reportedEvent("T"), reportedEvent("S"))
    assert.deepStrictEqual(later.map((each) => each.result === "refused" ? 0 : each.sequence), [13, 2, 14])
    assert.strictEqual((yield* publish(reportedEvent("S"))).map((each) => each.result === "refused" ? 0 : each.sequence)[0], 15)
  }, inService))

  it.effect("returns an event as sent, with unknown fields and without parties (SPEC-GAP-D8)", Effect.fnUntraced(function*() {
    const { carrier, publish } = yield* setup
    const more = { "temperature °C": -3.5, nested: { deep: [null, { __proto__x: 1 }] }, notes: "ä \u0000 \ud800 😀" }
    yield* publish(reportedEvent("S", { eventId: "e", accounts: ["A"], more }))
    const [event] = yield* listed(carrier)
    const { parties: _, ...sent } = reportedEvent("S", { eventId: "e", accounts: ["A"], more })
    assert.deepStrictEqual(event, JSON.parse(JSON.stringify({ ...sent, sequence: 1 })))
  }, inService))

  it.effect("needs the role carrier", Effect.fnUntraced(function*() {
    const { customer, events } = yield* setup
    assert.strictEqual((yield* Effect.flip(events.append(customer, [reportedEvent("S")])))._tag, "NotPermitted")
  }, inService))

  it.effect("answers repeated content as a duplicate, with the stored values, and queues nothing twice (SPEC-GAP-D17)", Effect.fnUntraced(function*() {
    const { carrier, publish } = yield* setup
    const event = reportedEvent("S", { eventId: "e", accounts: ["A"] })
    yield* publish(event)
    const turned = Object.fromEntries(Object.entries(event).toReversed())
    const [again, twice] = yield* publish({ ...turned, parties: { accounts: ["B"] } }, { ...event, sequence: 1 })
    assert.deepStrictEqual(again, { index: 0, result: "duplicate", eventId: "e", shipmentId: "S", sequence: 1 })
    assert.strictEqual(twice!.result, "duplicate")
    assert.lengthOf(yield* listed(carrier), 1)
  }, inService))

  it.effect("refuses other content under a known id, and a different sequence", Effect.fnUntraced(function*() {
    const { publish } = yield* setup
    yield* publish(reportedEvent("S", { eventId: "e" }))
    for (const other of [reportedEvent("S", { eventId: "e", type: "DELAY" }), reportedEvent("S", { eventId: "e", sequence: 2 })]) {
      const [fault] = yield* faultsOf(publish(other))
      assert.deepStrictEqual([fault!.pointer, fault!.code], ["/events/0/eventId", "conflict"])
    }
  }, inService))

  it.effect("stores an event of another shipment under a known id", Effect.fnUntraced(function*() {
    const { publish } = yield* setup
    yield* publish(reportedEvent("S", { eventId: "e" }))
    const results = yield* publish(reportedEvent("T", { eventId: "e" }), reportedEvent("S", { eventId: "e" }), reportedEvent("U", { eventId: "e" }))
    assert.deepStrictEqual(
      results.map((each) => each.result === "refused" ? "" : `${each.result} ${each.shipmentId}/${each.sequence}`),
      ["accepted T/1", "duplicate S/1", "accepted U/1"]
    )
  }, inService))

  it.effect("distinguishes duplicates within one call from conflicts", Effect.fnUntraced(function*() {
    const { events, publish, tenant } = yield* setup
    const event = reportedEvent("S", { eventId: "e" })
    assert.deepStrictEqual((yield* publish(event, event)).map((each) => each.result), ["accepted", "duplicate"])
    const other = reportedEvent("S", { eventId: "f" })
    const partial = yield* events.append(tenant.carrier, [other, { ...other, type: "DELAY" }], { partial: true })
    assert.deepStrictEqual(partial.map((each) => each.result), ["accepted", "refused"])
  }, inService))

  it.effect("refuses the whole call for one invalid event, and stores nothing, not even a sequence", Effect.fnUntraced(function*() {
    const { carrier, publish } = yield* setup
    const faults = yield* faultsOf(publish(reportedEvent("S"), { ...reportedEvent("S"), type: "TELEPORTED" }, { shipment: {} }))
    assert.deepStrictEqual([...new Set(faults.map((each) => each.pointer.split("/").slice(0, 3).join("/")))], ["/events/1", "/events/2"])
    assert.deepStrictEqual(yield* listed(carrier), [])
    const [next] = yield* publish(reportedEvent("S"))
    assert.strictEqual(next!.result === "accepted" && next!.sequence, 1)
  }, inService))

  it.effect("accepts the valid events of a partial call, and answers each in order", Effect.fnUntraced(function*() {
    const { carrier, events } = yield* setup
    const call = ["garbage", reportedEvent("S"), { ...reportedEvent("S"), occurredAt: "yesterday" }, reportedEvent("S", { eventId: "e" })]
    const published = yield* events.append(carrier, untyped(call), { partial: true })
    assert.deepStrictEqual(published.map((each) => each.result), ["refused", "accepted", "refused", "accepted"])
    assert.deepStrictEqual(published.map((each) => each.index), [0, 1, 2, 3])
    assert.lengthOf(yield* listed(carrier), 2)
  }, inService))

  it.effect("accepts 1 to 1,000 events per call", Effect.fnUntraced(function*() {
    const { events, carrier } = yield* setup
    const many = (count: number) => events.append(carrier, Array.from({ length: count }, () => reportedEvent("S")))
    for (const count of [0, maxEventsPerCall + 1]) {
      assert.deepStrictEqual((yield* faultsOf(many(count))).map(({ code, pointer }) => [pointer, code]), [["/events", "out_of_bounds"]])
    }
    assert.lengthOf(yield* many(maxEventsPerCall), maxEventsPerCall)
  }, inService))

  it.effect("lists 100 faults of a refused call, and at least one of every refused event of a partial call", Effect.fnUntraced(function*() {
    const { carrier, events } = yield* setup
    // each has three faults
    const invalid = Array.from({ length: 60 }, () => ({ ...reportedEvent("S"), type: "X", occurredAt: "X", status: 1 }))
    assert.lengthOf(yield* faultsOf(events.append(carrier, untyped(invalid))), 100)
    const partial = yield* events.append(carrier, untyped(invalid), { partial: true })
    assert.deepStrictEqual(partial.map((each) => each.result === "refused" ? each.faults.length : 0), [...Array.from({ length: 33 }, () => 3), ...Array.from({ length: 27 }, () => 1)])
  }, inService))

  it.effect("accepts an event of 64 KiB, and refuses one more byte, of any characters", Effect.fnUntraced(function*() {
    const { publish } = yield* setup
    const eventOf = (notes: string) => reportedEvent("S", { more: { attributes: { notes } } })
    const left = maxEventBytes - JSON.stringify(eventOf("")).length
    for (const notes of ["x".repeat(left), `${"船".repeat(Math.floor(left / 3))}${"x".repeat(left % 3)}`]) {
      assert.deepStrictEqual((yield* publish(eventOf(notes))).map((each) => each.result), ["accepted"])
      assert.deepStrictEqual((yield* faultsOf(publish(eventOf(`${notes}x`)))).map((each) => each.code), ["out_of_bounds"])
    }
  }, inService))

  it.effect("wakes the worker", Effect.fnUntraced(function*() {
    const { publish, tenant } = yield* setup
    yield* publish(reportedEvent("S"))
    assert.deepStrictEqual([...(yield* Effect.flatMap(Wakeups, ({ next }) => next))], [tenant.tenantId])
  }, inService))

  it.effect("refuses an event that is too large or too deep", Effect.fnUntraced(function*() {
    const { publish } = yield* setup
    let deep: unknown = 1
    for (let n = 0; n < 10_000; n++) deep = { deep }
    for (const more of [{ attributes: { x: "x".repeat(maxEventBytes) } }, { attributes: { x: "船".repeat(maxEventBytes / 3) } }, { deep }]) {
      const [fault] = yield* faultsOf(publish(reportedEvent("S", { more })))
      assert.deepStrictEqual([fault!.pointer, fault!.code], ["/events/0", "out_of_bounds"])
    }
  }, inService))

  it.effect("refuses a host's objects that are not JSON", Effect.fnUntraced(function*() {
    const { carrier, publish } = yield* setup
    const cycle: Record<string, unknown> = {}
    cycle["cycle"] = cycle
    const odd = [{ count: 1n }, { toJSON: () => "text" }, { toJSON: () => undefined }, { toJSON: () => ({}) }, cycle]
    for (const more of odd) {
      assert.deepStrictEqual((yield* faultsOf(publish({ ...reportedEvent("S"), ...more }))).map((each) => each.pointer), ["/events/0"])
    }
    assert.deepStrictEqual(yield* listed(carrier), [])
  }, inService))

  it.effect("refuses numbers that JSON would round or write as null, at any depth (SPEC-GAP-D8)", Effect.fnUntraced(function*() {
    const { carrier, publish } = yield* setup
    for (const inexact of [JSON.parse("12345678901234567890"), JSON.parse("1e999"), Number.NaN]) {
      const faults = yield* faultsOf(publish(reportedEvent("S", { more: { attributes: { legs: [{ id: inexact }] } } })))
      assert.deepStrictEqual(faults.map((each) => [each.pointer, each.code]), [["/events/0/attributes/legs/0/id", "out_of_bounds"]])
    }
    assert.deepStrictEqual(yield* listed(carrier), [])
  }, inService))

  it.effect("lists the required members (SPEC-GAP-D7)", Effect.fnUntraced(function*() {
    const { publish } = yield* setup
    const faults = yield* faultsOf(publish({ shipment: {} }, {}))
    assert.deepStrictEqual(faults.filter((each) => each.code === "required").map((each) => each.pointer).toSorted(), [
      "/events/0/occurredAt",
      "/events/0/shipment/destination",
      "/events/0/shipment/origin",
      "/events/0/shipment/shipmentId",
      "/events/0/type",
      "/events/1/occurredAt",
      "/events/1/shipment",
      "/events/1/type"
    ])
  }, inService))

  it.effect("stores one of several concurrent calls with the same event, and answers the others as duplicates", Effect.fnUntraced(function*() {
    const { publish } = yield* setup
    const event = reportedEvent("S", { eventId: "same" })
    const results = yield* Effect.all(Array.from({ length: 8 }, () => publish(event)), { concurrency: "unbounded" })
    assert.deepStrictEqual(results.flat().map((each) => each.result).toSorted(), ["accepted", ...Array.from({ length: 7 }, () => "duplicate")])
  }, inService))

  it.effect("changes access to the shipment with a later event's parties, and keeps it without parties (SPEC-GAP-D23)", Effect.fnUntraced(function*() {
    const { customer, publish } = yield* setup
    yield* publish(reportedEvent("S"))
    assert.lengthOf(yield* listed(customer), 0)
    yield* publish(reportedEvent("S", { accounts: ["A"] }))
    yield* publish(reportedEvent("S"))
    assert.lengthOf(yield* listed(customer), 3)
    yield* publish(reportedEvent("S", { accounts: ["B"] }))
    assert.lengthOf(yield* listed(customer), 0)
  }, inService))

  it.effect.prop("accepts every valid event, and returns it as the same JSON", [listOf(arbitraryReportedEvent, 1, 6)], Effect.fnUntraced(function*([reported]) {
    const { carrier, events } = yield* setup
    const published = yield* events.append(carrier, reported)
    assert.isTrue(published.every((each) => each.result === "accepted"))
    const all = yield* listed(carrier, { pageSize: 500 })
    for (const [n, each] of published.entries()) {
      assert(each.result === "accepted")
      const stored = all.find((event) => event["eventId"] === each.eventId)
      assert.deepStrictEqual(stored, { ...JSON.parse(JSON.stringify(reported[n])), eventId: each.eventId, sequence: each.sequence })
    }
  }, inService))

  it.effect.prop("handles arbitrary input, and a refused call stores nothing", [listOf(json, 1, 4), int(0, 3)], Effect.fnUntraced(function*([garbage, at]) {
    const { carrier, events } = yield* setup
    const call = garbage.flatMap((each, n) => n === at ? [reportedEvent("S"), each] : [each])
    assert.isAtLeast((yield* faultsOf(events.append(carrier, untyped(call)))).length, 1)
    assert.deepStrictEqual(yield* listed(carrier), [])
    const partial = yield* events.append(carrier, untyped([...call, reportedEvent("T")]), { partial: true })
    assert.lengthOf(partial, call.length + 1)
    assert.strictEqual((yield* listed(carrier)).length, partial.filter((each) => each.result === "accepted").length)
  }, inService))
})

describe("publishing by one of several carriers", () => {
  const carriers = Effect.map(setup, ({ carrier, events }): { readonly one: Principal; readonly two: Principal; readonly all: Principal; readonly events: typeof events } => ({
    one: { ...carrier, client: "one", dot: "1" },
    two: { ...carrier, client: "two", dot: "2" },
    all: carrier,
    events
  }))

  it.effect("is refused for a shipment of another one, as a whole or in part", Effect.fnUntraced(function*() {
    const { all, events, one, two } = yield* carriers
    yield* events.append(one, [reportedEvent("S", { eventId: "e" })])
    // the id of an event that the other one published reveals nothing either
    for (const event of [reportedEvent("S"), reportedEvent("S", { eventId: "e" })]) {
      const call = [reportedEvent("T"), event, reportedEvent("T")]
      assert.deepStrictEqual((yield* faultsOf(events.append(two, call))).map(({ code, pointer }) => [pointer, code]), [["/events/1/shipment/shipmentId", "unknown_reference"]])
      assert.deepStrictEqual((yield* events.append(two, call, { partial: true })).map(({ index, result }) => [index, result]), [[0, "accepted"], [1, "refused"], [2, "accepted"]])
    }
    assert.lengthOf(yield* listed(two), 4)
    assert.lengthOf(yield* listed(one), 1)
    assert.deepStrictEqual((yield* events.append(all, [reportedEvent("S"), reportedEvent("T")])).map(({ result }) => result), ["accepted", "accepted"])
  }, inService))

  it.effect("repeats its own events as duplicates", Effect.fnUntraced(function*() {
    const { events, one } = yield* carriers
    const results = Effect.map(events.append(one, [reportedEvent("S", { eventId: "e" })]), (each) => each.map(({ result }) => result))
    assert.deepStrictEqual([yield* results, yield* results], [["accepted"], ["duplicate"]])
  }, inService))
})

describe("listing", () => {
  /** Three shipments with nine events each, visible to accounts A, B and none. */
  const journeys = Effect.gen(function*() {
    const made = yield* setup
    yield* made.events.append(made.carrier, ltlJourney("S1", { accounts: ["A"] }))
    yield* made.events.append(made.carrier, ltlJourney("S2", { accounts: ["A", "B"] }))
    yield* made.events.append(made.carrier, ltlJourney("S3"))
    return made
  })

  const names = (events: ReadonlyArray<Record<string, unknown>>) =>
    events.map((event) => `${(event["shipment"] as { shipmentId: string }).shipmentId}/${String(event["sequence"])}`)

  it.effect("returns the events that the caller may see", Effect.fnUntraced(function*() {
    const { carrier, tenant } = yield* journeys
    assert.lengthOf(yield* listed(carrier), 27)
    assert.lengthOf(yield* listed(tenant.customer("a", ["A"])), 18)
    assert.lengthOf(yield* listed(tenant.customer("b", ["B"])), 9)
    assert.lengthOf(yield* listed(tenant.customer("c", [])), 0)
  }, inService))

  it.effect("filters by shipment, types and a half-open time range, and reverses the whole key (SPEC-GAP-D5)", Effect.fnUntraced(function*() {
    const { customer } = yield* journeys
    const found = (query: unknown) => Effect.map(listed(customer, query), names)
    assert.deepStrictEqual(yield* found({ shipmentId: "S2", eventTypes: ["DELIVERED", "PICKED_UP"] }), ["S2/2", "S2/8"])
    assert.deepStrictEqual(yield* found({ eventTypes: ["DELIVERED"], order: "desc" }), ["S2/8", "S1/8"])
    assert.deepStrictEqual(yield* found({ shipmentId: "S3" }), [])
    const pickedUp = "2026-11-20T14:00:00Z"
    assert.deepStrictEqual(yield* found({ shipmentId: "S1", occurredTo: pickedUp }), ["S1/1"])
    assert.deepStrictEqual(yield* found({ shipmentId: "S1", occurredFrom: "2026-11-20T08:00:00-06:00", occurredTo: "2026-11-20T17:00:00.001Z" }), ["S1/2", "S1/3"])
  }, inService))

  it.effect("finds an event in exactly one of two ranges that meet within its millisecond (SPEC-GAP-D27)", Effect.fnUntraced(function*() {
    const { customer, publish } = yield* setup
    yield* publish(reportedEvent("S1", { accounts: ["A"], more: { occurredAt: "2026-11-20T08:00:00.123456Z" } }))
    for (const bound of ["2026-11-20T08:00:00.1231Z", "2026-11-20T08:00:00.123456Z", "2026-11-20T08:00:00.1239Z"]) {
      const before = yield* listed(customer, { occurredFrom: "2026-11-20T08:00:00Z", occurredTo: bound })
      const after = yield* listed(customer, { occurredFrom: bound, occurredTo: "2026-11-20T08:00:01Z" })
      assert.deepStrictEqual([before.length, after.length], [0, 1])
      assert.strictEqual(after[0]!["occurredAt"], "2026-11-20T08:00:00.123456Z")
    }
  }, inService))

  it.effect("returns pages with totals, and marks the last page", Effect.fnUntraced(function*() {
    const { customer, events } = yield* journeys
    const page = (n: number) => events.list(customer, { page: n, pageSize: 7 })
    const pages = [yield* page(1), yield* page(2), yield* page(3)]
    assert.deepStrictEqual(pages.map((each) => [each.page, each.data.length, each.pageSize, each.totalCount, each.totalPages, each.hasMore]), [
      [1, 7, 7, 18, 3, true],
      [2, 7, 7, 18, 3, true],
      [3, 4, 7, 18, 3, false]
    ])
    assert.isFalse((yield* events.list(customer, { page: 2, pageSize: 9 })).hasMore)
    assert.deepStrictEqual(names(pages.flatMap((each) => [...decoded(each.data)])), names(yield* listed(customer)))
    assert.isUndefined(pages[2]!.nextCursor)
    assert.deepStrictEqual((yield* page(9)).data, [])
  }, inService))

  it.effect("keeps pages on one snapshot while events arrive, by Link cursor or stored cursor (SPEC-GAP-D19)", Effect.fnUntraced(function*() {
    const { carrier, customer, events } = yield* journeys
    const before = names(yield* listed(customer))
    const first = yield* events.list(customer, { pageSize: 7 })
    yield* events.append(carrier, [reportedEvent("S0", { accounts: ["A"] }), reportedEvent("S1"), reportedEvent("S9", { accounts: ["A"] })])
    const byNumber = [first, yield* events.list(customer, { pageSize: 7, page: 2 }), yield* events.list(customer, { pageSize: 7, page: 3 })]
    assert.deepStrictEqual(byNumber.flatMap((each) => names(decoded(each.data))), before)
    const second = yield* events.list(customer, { pageSize: 7, page: 2, cursor: first.nextCursor! })
    const third = yield* events.list(customer, { pageSize: 7, page: 3, cursor: second.nextCursor! })
    assert.deepStrictEqual([first, second, third].flatMap((each) => names(decoded(each.data))), before)
    assert.deepStrictEqual([third.hasMore, third.totalCount], [false, 18])
    assert.strictEqual((yield* events.list(customer, { pageSize: 7 })).totalCount, 21)
  }, inService))

  it.effect("drops a stored cursor after half an hour, and continues with the current events", Effect.fnUntraced(function*() {
    const { carrier, customer, events } = yield* journeys
    yield* events.list(customer, { pageSize: 7 })
    yield* events.append(carrier, [reportedEvent("S0", { accounts: ["A"] })])
    yield* TestClock.adjust(cursorMillis + 1)
    assert.strictEqual(names(decoded((yield* events.list(customer, { pageSize: 7, page: 2 })).data))[0], "S1/7")
  }, inService))

  it.effect("refuses an invalid cursor, and one of another page", Effect.fnUntraced(function*() {
    const { customer, events } = yield* journeys
    const { nextCursor } = yield* events.list(customer, { pageSize: 7 })
    const forged = Buffer.from(JSON.stringify({ page: 2, snapshot: "99999", after: { shipmentId: "S", sequence: 1, eventId: "e" }, totalCount: 1 })).toString("base64url")
    for (const query of [{ page: 3, cursor: nextCursor }, { cursor: nextCursor }, { page: 2, cursor: "garbage" }, { page: 2, cursor: "bnVsbA" }, { page: 2, cursor: forged }]) {
      assert.deepStrictEqual((yield* faultsOf(events.list(customer, untyped({ pageSize: 7, ...query })))).map((each) => each.pointer), ["/cursor"])
    }
  }, inService))

  it.effect("refuses the cursor of another list: of other filters or page sizes, of another client or tenant (SPEC-GAP-D19)", Effect.fnUntraced(function*() {
    const { customer, events, tenant } = yield* journeys
    const { nextCursor } = yield* events.list(customer, { pageSize: 7 })
    const others: ReadonlyArray<readonly [Principal, Readonly<Record<string, unknown>>]> = [
      [customer, { pageSize: 7, shipmentId: "S1" }],
      [customer, { pageSize: 7, order: "desc" }],
      [customer, { pageSize: 8 }],
      [tenant.customer("b", ["B"]), { pageSize: 7 }],
      [{ ...customer, tenantId: `${customer.tenantId}-other` }, { pageSize: 7 }]
    ]
    for (const [caller, query] of others) {
      const faults = yield* faultsOf(events.list(caller, untyped({ page: 2, cursor: nextCursor, ...query })))
      assert.deepStrictEqual(faults.map((each) => each.pointer), ["/cursor"])
    }
  }, inService))

  it.effect("reads the next page for a client that names its accounts in another order", Effect.fnUntraced(function*() {
    const { events, tenant } = yield* journeys
    const { nextCursor } = yield* events.list(tenant.customer("a", ["A", "B"]), { pageSize: 7 })
    const next = yield* events.list(tenant.customer("a", ["B", "A"]), untyped({ pageSize: 7, page: 2, cursor: nextCursor }))
    assert.lengthOf(decoded(next.data), 7)
  }, inService))

  it.effect("refuses unknown and invalid parameters, all at once", Effect.fnUntraced(function*() {
    const { customer, events } = yield* journeys
    const faults = yield* faultsOf(events.list(customer, untyped({ page: 0, pageSize: 501, order: "up", eventTypes: ["X"], occurredFrom: "today", shipmentId: "", colour: "red" })))
    assert.deepStrictEqual([...new Set(faults.map((each) => each.pointer))].toSorted(), [
      "/colour",
      "/eventTypes/0",
      "/occurredFrom",
      "/order",
      "/page",
      "/pageSize",
      "/shipmentId"
    ])
  }, inService))

  it.effect("is refused to operators, who have no tenant", Effect.fnUntraced(function*() {
    const { events } = yield* setup
    const operator: Principal = { tenantId: "", client: "", roles: ["operator"], accounts: [], origin: "key" }
    assert.strictEqual((yield* Effect.flip(events.list(operator, {})))._tag, "NotPermitted")
  }, inService))

  it.effect.prop("handles arbitrary input", [json], Effect.fnUntraced(function*([query]) {
    const { customer, events } = yield* setup
    const exit = yield* Effect.exit(events.list(customer, untyped(query)))
    if (exit._tag === "Failure") assert.deepStrictEqual(exit.cause.reasons.map((reason) => reason._tag), ["Fail"])
  }, inService))
})
