import { assert, describe, it } from "@effect/vitest"
import type { Principal } from "@waybill/core"
import { maxPickedUp, maxPickedUpBytes, ShipmentStatuses, ShipmentStatusOptions } from "@waybill/core/shipment-status"
import { arbitraryVerifiedShipment, postedShipment, TestWaybill } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { inService } from "../inService.ts"
import { faultsOf, makeCarrier, pro, shown, shownTo, tagOf } from "./Carrier.ts"
import { untyped } from "../untyped.ts"

const publicFields = ["EstimatedStandardDay", "ProNumber", "ShipmentMilestoneStatus", "UpdatedETA"]

const caller = { tenantId: "acme", client: "192.0.2.7" }

describe("a verified lookup", () => {
  it.effect("shows every field of the caller's own freight, by PRO, bill of lading and purchase order", Effect.fnUntraced(function*() {
    const { customer, post, statuses } = yield* makeCarrier
    yield* post("041-8367745", { ShipmentMilestoneStatus: "Picked-up" })
    const ways = [
      pro("0418367745"),
      { kind: "bol", bolNumber: "bol 041-8367745", originPostalCode: "60608-1234" },
      { kind: "po", poNumber: "PO-0418367745", destinationPostalCode: "02108" }
    ] as const
    for (const by of ways) {
      const answer = shownTo(yield* statuses.verified(customer, by))
      assert.deepInclude(answer, { tag: "Verified", ProNumber: "041-8367745", BillToAccountNumber: "A" })
    }
  }, inService))

  it.effect("shows four fields of other freight, and everything to carriers", Effect.fnUntraced(function*() {
    const { post, statuses, tenant } = yield* makeCarrier
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    const other = yield* statuses.verified(tenant.customer("other", ["B"]), pro("S1"))
    assert(other._tag === "Public")
    assert.deepStrictEqual(Object.keys(shown(other.body)).toSorted(), publicFields)
    assert.strictEqual((yield* statuses.verified(tenant.carrier, pro("S1")))._tag, "Verified")
  }, inService))

  it.effect("uses the latest accounts of a shipment, from any source", Effect.fnUntraced(function*() {
    const { customer, happen, post, statuses } = yield* makeCarrier
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    yield* happen("S1", { accounts: ["B"] })
    assert.strictEqual((yield* statuses.verified(customer, pro("S1")))._tag, "Public")
  }, inService))

  it.effect("does not find shipments without a milestone or of another tenant, nor invalid numbers", Effect.fnUntraced(function*() {
    const { customer, post, statuses } = yield* makeCarrier
    yield* post("S1")
    yield* TestWaybill.tenant("other")
    const elsewhere: Principal = { ...customer, tenantId: "other" }
    for (const [who, by] of [[customer, pro("S1")], [customer, pro("- ")], [customer, pro("")], [customer, pro("\u0000")], [customer, pro("x".repeat(1000))], [elsewhere, pro("S1")]] as const) {
      assert.strictEqual(yield* tagOf(statuses.verified(who, by)), "ShipmentNotFound")
    }
  }, inService))

  it.effect("explains what to check, and mentions the postal code only if the lookup has one", Effect.fnUntraced(function*() {
    const { customer, statuses } = yield* makeCarrier
    const why = (by: Parameters<typeof statuses.verified>[1]) => Effect.map(Effect.flip(statuses.verified(customer, by)), (error) => error.message)
    assert.strictEqual(yield* why(pro("7")), "No shipment with PRO 7. Check the number; a shipment is found once the carrier has picked it up.")
    assert.include(yield* why({ kind: "bol", bolNumber: "7", originPostalCode: "02134" }), "Check the number and the postal code")
    assert.include(yield* why({ kind: "po", poNumber: "7", destinationPostalCode: "02134" }), "Check the number and the postal code")
  }, inService))

  it.effect("prefers the caller's own shipment, then the latest pickup (SPEC-GAP-A5)", Effect.fnUntraced(function*() {
    const { customer, post, statuses, tenant } = yield* makeCarrier
    const same = { ProNumber: "777", ShipmentMilestoneStatus: "In Transit" } as const
    yield* post("old", { ...same, pickupDate: "2026-11-01", accounts: ["A"], PayType: "old" })
    yield* post("mine", { ...same, pickupDate: "2026-11-05", accounts: ["A"], PayType: "mine" })
    yield* post("new", { ...same, pickupDate: "2026-11-09", accounts: ["B"], PayType: "new", EstimatedStandardDay: 9 })
    assert.deepInclude(shownTo(yield* statuses.verified(customer, pro("777"))), { PayType: "mine" })
    assert.deepInclude(shownTo(yield* statuses.verified(tenant.carrier, pro("777"))), { PayType: "new" })
    assert.deepInclude(shown(yield* statuses.public(caller, pro("777"))), { EstimatedStandardDay: 9 })
  }, inService))

  it.effect("is allowed to carriers and customers only", Effect.fnUntraced(function*() {
    const { statuses } = yield* makeCarrier
    const operator: Principal = { tenantId: "", client: "", roles: ["operator"], accounts: [], origin: "key" }
    assert.strictEqual(yield* tagOf(statuses.verified(operator, pro("1"))), "NotPermitted")
    assert.strictEqual(yield* tagOf(statuses.pickedUp(operator, untyped({}))), "NotPermitted")
  }, inService))

  it.effect("answers concurrent lookups in batches, each correctly", Effect.fnUntraced(function*() {
    const { customer, shipments, statuses, tenant } = yield* makeCarrier
    const ids = Array.from({ length: 700 }, (_, n) => `S${n}`)
    yield* shipments.report(tenant.carrier, ids.map((id) => postedShipment(id, { accounts: ["A"], ShipmentMilestoneStatus: "Picked-up" })))
    const answers = yield* Effect.forEach([...ids, ...ids], (id) => statuses.verified(customer, pro(id)), { concurrency: "unbounded" })
    assert.deepStrictEqual(answers.map((each) => shownTo(each).ProNumber), [...ids, ...ids])
  }, inService))
})

describe("a carrier with a number", () => {
  it.effect("finds and reads only its own shipments, in every way to ask", Effect.fnUntraced(function*() {
    const { shipments, statuses, tenant } = yield* makeCarrier
    const [one, two] = [{ ...tenant.carrier, client: "one", dot: "1" }, { ...tenant.carrier, client: "two", dot: "2" }]
    yield* shipments.report(one, postedShipment("S1", { accounts: ["A"], ShipmentMilestoneStatus: "Picked-up" }))
    const ways = (who: Principal) => ({
      verified: statuses.verified(who, pro("S1")),
      public: statuses.public({ ...caller, client: who.client }, pro("S1"), who),
      record: statuses.record(who, "S1")
    })
    for (const [way, ask] of Object.entries(ways(two))) assert.strictEqual(yield* tagOf<unknown, { readonly _tag: string }, never>(ask), "ShipmentNotFound", way)
    yield* Effect.all(ways(one))
  }, inService))
})

describe("a public answer", () => {
  it.effect.prop("has exactly the four public fields, and no other value of the shipment", [arbitraryVerifiedShipment], Effect.fnUntraced(function*([verified]) {
    const { shipments, statuses, tenant } = yield* makeCarrier
    yield* shipments.report(tenant.carrier, { shipmentId: "S", ...verified, PayType: "secret", accounts: ["A"] })
    const answers = [
      yield* statuses.public(caller, pro(verified.ProNumber)),
      (yield* statuses.verified(tenant.customer("other", ["B"]), pro(verified.ProNumber))).body
    ]
    for (const answer of answers) {
      assert.deepStrictEqual(Object.keys(shown(answer)).toSorted(), publicFields)
      const { EstimatedStandardDay, ProNumber, ShipmentMilestoneStatus, UpdatedETA } = verified
      assert.deepStrictEqual(shown(answer) as unknown, { EstimatedStandardDay, ProNumber, ShipmentMilestoneStatus, UpdatedETA })
    }
  }, inService))
})

describe("the rate limit on lookups of other freight (SPEC-GAP-A7)", () => {
  const untilRefused = <E extends { readonly _tag: string }>(lookup: Effect.Effect<unknown, E>) =>
    Effect.gen(function*() {
      for (let paid = 0; paid < 1000; paid++) {
        const result = yield* Effect.result(lookup)
        if (result._tag === "Failure" && result.failure._tag === "TooManyLookups") return { paid, refused: result.failure as unknown as { readonly retryAfterSeconds: number } }
      }
      return assert.fail("never refused")
    })

  it.effect("applies equally to other freight and to missing freight", Effect.fnUntraced(function*() {
    const { customer, post, statuses, tenant } = yield* makeCarrier
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    const others = yield* untilRefused(statuses.verified(tenant.customer("b", ["B"]), pro("S1")))
    const nothing = yield* untilRefused(statuses.verified(tenant.customer("c", ["B"]), pro("S2")))
    const publicly = yield* untilRefused(statuses.public(caller, pro("S1")))
    assert.deepStrictEqual([others.paid, nothing.paid], [publicly.paid, publicly.paid])
    assert.isAbove(publicly.paid, 0)
    // each caller has its own limit, and its own freight does not count
    yield* statuses.public({ ...caller, client: "192.0.2.8" }, pro("S1"))
    yield* Effect.forEach(Array.from({ length: 100 }), () => statuses.verified(customer, pro("S1")))
  }, inService))

  it.effect("returns the time until the next lookup", Effect.fnUntraced(function*() {
    const { statuses } = yield* makeCarrier
    const { refused } = yield* untilRefused(statuses.public(caller, pro("S1")))
    yield* TestClock.adjust(`${refused.retryAfterSeconds} seconds`)
    assert.strictEqual(yield* tagOf(statuses.public(caller, pro("S1"))), "ShipmentNotFound")
  }, inService))

  it.effect("admits no more than its limit in any minute", Effect.fnUntraced(function*() {
    const { statuses } = yield* makeCarrier
    let paid = 0
    for (let second = 0; second < 60; second++) {
      for (let n = 0; n < 5; n++) if ((yield* tagOf(statuses.public(caller, pro("S")))) === "ShipmentNotFound") paid += 1
      yield* TestClock.adjust("1 second")
    }
    assert.isAtMost(paid, 60)
    assert.isAtLeast(paid, 50)
  }, inService))

  it.effect("admits a tenth at once, then an even pace over the minute", Effect.fnUntraced(function*() {
    const { statuses } = yield* makeCarrier
    const burst = yield* untilRefused(statuses.public(caller, pro("S1")))
    yield* TestClock.adjust("10 seconds")
    const later = yield* untilRefused(statuses.public(caller, pro("S1")))
    assert.deepStrictEqual([burst.paid, later.paid], [6, 6])
    assert.isAtMost(burst.refused.retryAfterSeconds, 2)
  }, inService))

  it.effect("does not count the caller's own freight on the public form", Effect.fnUntraced(function*() {
    const { customer, post, statuses, tenant } = yield* makeCarrier
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    const own = { ...caller, client: customer.client }
    for (let n = 0; n < 100; n++) yield* statuses.public(own, pro("S1"), customer)
    for (let n = 0; n < 100; n++) yield* statuses.public(own, pro("S1"), tenant.carrier)
    assert.strictEqual((yield* untilRefused(statuses.public(own, pro("S2"), customer))).paid, 6)
    assert.deepStrictEqual(shown(yield* statuses.public(own, pro("S1"), customer)), shown(yield* statuses.public({ ...caller, client: "192.0.2.9" }, pro("S1"))))
  }, inService))

  it.effect("is configurable, and does not apply to carriers", Effect.fnUntraced(function*() {
    const { statuses, tenant } = yield* makeCarrier
    yield* Effect.forEach(Array.from({ length: 500 }), () => tagOf(statuses.public(caller, pro("S"))))
    yield* Effect.forEach(Array.from({ length: 500 }), () => tagOf(statuses.verified(tenant.carrier, pro("S"))))
    assert.strictEqual(yield* tagOf(statuses.public(caller, pro("S"))), "ShipmentNotFound")
  }, Effect.provide(TestWaybill.layer().pipe(Layer.provide(Layer.succeed(ShipmentStatusOptions, { othersLookupsPerMinute: 100_000 }))))))
})

describe("shipments of an account", () => {
  const range = (startDate: string, endDate: string, accountNumber = "A") => ({ accountNumber, startDate, endDate })

  const picked = Effect.gen(function*() {
    const carrier = yield* makeCarrier
    const put = (shipmentId: string, pickupDate: string) => carrier.post(shipmentId, { pickupDate, ShipmentMilestoneStatus: "In Transit" })
    yield* put("c", "2026-11-03T00:00:00.000Z")
    yield* put("a", "2026-11-01")
    yield* put("b", "2026-11-02T23:59:59.999Z")
    yield* carrier.post("not covered", { pickupDate: "2026-11-02" })
    yield* carrier.post("other", { pickupDate: "2026-11-02", accounts: ["B"], ShipmentMilestoneStatus: "In Transit" })
    const list = (query: unknown, who: Principal = carrier.customer) =>
      Effect.map(carrier.statuses.pickedUp(who, untyped(query)), (all) => all.map((each) => shown(each).ProNumber))
    return { ...carrier, list }
  })

  it.effect("are those picked up in the range, bounds included, in the order of pickup (SPEC-GAP-A6)", Effect.fnUntraced(function*() {
    const { list, tenant } = yield* picked
    assert.deepStrictEqual(yield* list(range("2026-11-01", "2026-11-30")), ["a", "b", "c"])
    assert.deepStrictEqual(yield* list(range("2026-11-01", "2026-11-02")), ["a", "b"])
    assert.deepStrictEqual(yield* list(range("2026-11-02T23:59:59.999Z", "2026-11-03T00:00:00Z")), ["b", "c"])
    assert.deepStrictEqual(yield* list(range("2026-11-02T18:00:00-06:00", "2026-11-03")), ["c"])
    // a pickup date without a time counts as that day in every time zone
    for (const zone of ["-08:00", "-06:00", "+05:30", "+11:00"]) {
      assert.include(yield* list(range(`2026-11-01T00:00:00${zone}`, `2026-11-01T23:59:59${zone}`)), "a", zone)
    }
    assert.deepStrictEqual(yield* list(range("2026-12-01", "2026-12-02")), [])
    assert.deepStrictEqual(yield* list(range("2026-11-01", "2026-11-30", "B"), tenant.carrier), ["other"])
  }, inService))

  it.effect("use the reported pickup time, or the time of the post if there is none", Effect.fnUntraced(function*() {
    const { happen, list, post } = yield* picked
    yield* post("e")
    yield* happen("e", { type: "PICKED_UP", occurredAt: "2026-11-15T10:00:00Z" })
    yield* post("f", { ShipmentMilestoneStatus: "In Transit" })
    assert.deepStrictEqual(yield* list(range("2026-11-10", "2026-11-16")), ["e"])
    assert.deepStrictEqual(yield* list(range("2026-11-20", "2026-11-20")), ["f"])
  }, inService))

  it.effect("are refused for an account of another client", Effect.fnUntraced(function*() {
    const { list, tenant } = yield* picked
    assert.strictEqual(yield* tagOf(list(range("2026-11-01", "2026-11-30", "B"))), "AccountNotPermitted")
    assert.strictEqual(yield* tagOf(list(range("2026-11-01", "2026-11-30", "nobody"))), "AccountNotFound")
    assert.strictEqual(yield* tagOf(list(range("2026-11-01", "2026-11-30", "nobody"), tenant.carrier)), "AccountNotFound")
  }, inService))

  it.effect("are not found for an account number that cannot be stored", Effect.fnUntraced(function*() {
    const { list, tenant } = yield* picked
    for (const account of ["\u0000", "\ud800", "", "x".repeat(10_000)]) {
      for (const who of [tenant.carrier, tenant.customer("client", ["A"])]) {
        assert.strictEqual(yield* tagOf(list(range("2026-11-01", "2026-11-30", account), who)), "AccountNotFound")
      }
    }
  }, inService))

  it.effect("use a pickup that is reported after later events", Effect.fnUntraced(function*() {
    const { happen, list, post } = yield* picked
    yield* post("g")
    yield* happen("g", { type: "ARRIVED_AT_TERMINAL", occurredAt: "2026-11-16T10:00:00Z" })
    yield* happen("g", { type: "PICKED_UP", occurredAt: "2026-11-15T10:00:00Z" })
    assert.deepStrictEqual(yield* list(range("2026-11-15", "2026-11-15")), ["g"])
  }, inService))

  it.effect("use a reported pickup instead of the time of an undated post, also after later events", Effect.fnUntraced(function*() {
    const { happen, list, post } = yield* picked
    for (const shipmentId of ["h", "i"]) yield* post(shipmentId, { ShipmentMilestoneStatus: "Picked-up" })
    assert.deepStrictEqual(yield* list(range("2026-11-20", "2026-11-20")), ["h", "i"])
    yield* happen("i", { type: "ARRIVED_AT_TERMINAL", occurredAt: "2026-11-16T10:00:00Z" })
    for (const shipmentId of ["h", "i"]) yield* happen(shipmentId, { type: "PICKED_UP", occurredAt: "2026-11-15T10:00:00Z" })
    for (const shipmentId of ["h", "i"]) yield* happen(shipmentId, { type: "PICKED_UP", occurredAt: "2026-11-14T10:00:00Z" })
    assert.deepStrictEqual(yield* list(range("2026-11-15", "2026-11-15")), ["h", "i"])
  }, inService))

  it.effect("refuse an invalid range", Effect.fnUntraced(function*() {
    const { list } = yield* picked
    assert.deepStrictEqual(yield* faultsOf(list(range("2026-11-02", "2026-11-01"))), ["/startDate out_of_bounds"])
    assert.deepStrictEqual(yield* faultsOf(list(range("2026-11-02", "2026-13-01"))), ["/endDate invalid"])
    assert.deepStrictEqual(yield* faultsOf(list({ accountNumber: "A" })), ["/startDate required", "/endDate required"])
  }, inService))

  it.effect("ask for a narrower range when there are too many", Effect.fnUntraced(function*() {
    const { list, shipments, tenant } = yield* picked
    const many = Array.from({ length: maxPickedUp + 1 }, (_, n) => postedShipment(`S${n}`, { accounts: ["A"], pickupDate: "2026-10-01", ShipmentMilestoneStatus: "In Transit" }))
    for (let n = 0; n < many.length; n += 1000) yield* shipments.report(tenant.carrier, many.slice(n, n + 1000))
    assert.deepStrictEqual(yield* faultsOf(list(range("2026-10-01", "2026-10-01"))), ["/endDate out_of_bounds"])
  }, inService), 30_000)

  it.effect("ask for a narrower range when they are too large together", Effect.fnUntraced(function*() {
    const { list, shipments, tenant } = yield* picked
    const text = (length: number) => "船".repeat(length)
    const references = { bolNumber: null, QuoteID: null, ShipmentID: text(200), MasterBOL: null, poNumber: text(1000), AdditionalReferences: text(1000), trailerNumber: null }
    const count = Math.ceil(maxPickedUpBytes / 6000)
    const large = Array.from({ length: count }, (_, n) =>
      postedShipment(`S${n}`, { accounts: ["A"], pickupDate: n < 10 ? "2026-10-01" : "2026-10-02", ShipmentMilestoneStatus: "In Transit", ReferenceNumbers: references }))
    for (let n = 0; n < large.length; n += 1000) yield* shipments.report(tenant.carrier, large.slice(n, n + 1000))
    assert.deepStrictEqual(yield* faultsOf(list(range("2026-10-01", "2026-10-02"))), ["/endDate out_of_bounds"])
    assert.lengthOf(yield* list(range("2026-10-01", "2026-10-01")), 10)
  }, inService), 30_000)
})

describe("a shipment's record", () => {
  it.effect("gives carriers every report with its result", Effect.fnUntraced(function*() {
    const { happen, post, statuses, tenant, update } = yield* makeCarrier
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    yield* update({ shipmentId: "S1", shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-20T20:00:00Z" })
    yield* happen("S1", { type: "IN_TRANSIT", occurredAt: "2026-11-20T10:00:00Z", eventId: "e1" })
    const record = yield* (yield* ShipmentStatuses).record(tenant.carrier, "S1")
    assert.deepStrictEqual([record.accounts, record.covered], [["A"], true])
    assert.deepStrictEqual(record.history.map(({ occurredAt, outcome, position }) => [position, occurredAt, outcome]), [
      [1, "2026-11-20T14:00:00.000Z", "applied"],
      [2, "2026-11-20T20:00:00Z", "applied"],
      [3, "2026-11-20T10:00:00Z", "late"]
    ])
    assert.deepStrictEqual(record.history[2]!.report["source"], { kind: "event", id: "e1" })
    assert.strictEqual(yield* tagOf(statuses.record(tenant.carrier, "S2")), "ShipmentNotFound")
    assert.strictEqual(yield* tagOf(statuses.record(tenant.carrier, "\u0000")), "ShipmentNotFound")
    assert.strictEqual(yield* tagOf(statuses.record(tenant.customer("client", ["A"]), "S1")), "NotPermitted")
  }, inService))
})
