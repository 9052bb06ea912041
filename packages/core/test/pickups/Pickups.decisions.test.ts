import { assert, describe, it } from "@effect/vitest"
import { maxWaitingPickupsPerClient, PickupDesk, type PickupChangeEntry } from "@waybill/core/pickups"
import { pickupRequest, type PickupOverrides, TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { inService, pointers, setup } from "./Desk.ts"
import { untyped } from "../untyped.ts"

const seconds = 20

const waiting = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, TestWaybill.layer().pipe(Layer.provide(Layer.succeed(PickupDesk, { waitMillis: seconds * 1000 }))))

const decoder = new TextDecoder()

/** The service with carriers, and what their work lists show. */
const carriers = Effect.gen(function*() {
  const service = yield* setup
  const { pickups, tenant } = service
  const numbered = (client: string, dot: string) => ({ ...tenant.carrier, client, dot })
  const page = (principal = tenant.carrier, query = {}) =>
    Effect.map(pickups.changes(principal, query), ({ data, nextCursor }) => ({ nextCursor, data: data.map((body): PickupChangeEntry => JSON.parse(decoder.decode(body))) }))
  const list = (principal = tenant.carrier, query = {}) => Effect.map(page(principal, query), ({ data }) => data.map(({ change, status }) => `${change} ${status}`))
  /** An order whose call waits. */
  const waits = Effect.fnUntraced(function*(overrides: PickupOverrides = {}, key?: string) {
    const call = yield* Effect.forkChild(service.order(overrides, key))
    yield* TestClock.adjust(0)
    const { data } = yield* page()
    return { call, pickupId: data.at(-1)!.pickupId }
  })
  /** An accepted pickup, and a change whose call waits. */
  const changeWaits = Effect.fnUntraced(function*(overrides: PickupOverrides) {
    const { call, pickupId } = yield* waits()
    yield* pickups.decide(tenant.carrier, pickupId, { decision: "accept", confirmationNumber: "C-1", scac: "abcd", carrierName: "Acme Freight" })
    yield* Fiber.join(call)
    const changing = yield* Effect.forkChild(Effect.map(pickups.update(service.shipper, "C-1", pickupRequest({ number: "C-1", ...overrides })), ([answer]) => answer!))
    yield* TestClock.adjust(0)
    return { call: changing, pickupId }
  })
  return { ...service, numbered, page, list, waits, changeWaits, decide: pickups.decide }
})

describe("an order that waits for the carrier", () => {
  it.effect("is answered as the carrier accepts it, with its number, SCAC and name", Effect.fnUntraced(function*() {
    const { carrier, decide, list, look, waits } = yield* carriers
    const { call, pickupId } = yield* waits()
    assert.strictEqual(call.pollUnsafe(), undefined)
    const taken = yield* decide(carrier, pickupId, { decision: "accept", confirmationNumber: "C-1", scac: "abcd", carrierName: "Acme Freight", message: "Gate 4" })
    assert.deepStrictEqual(taken, { result: "accepted", pickupId, carrierPickupNumber: "C-1", status: "Accepted" })
    const answer = yield* Fiber.join(call)
    assert.deepStrictEqual(
      [answer.pickupStatus, answer.carrierPickupNumber, answer.scac, answer.carrierName, answer.pickupMessage],
      ["Accept", "C-1", "ABCD", "Acme Freight", ["Gate 4"]]
    )
    assert.strictEqual((yield* look("C-1")).status, "Accepted")
    assert.deepStrictEqual(yield* list(), ["ordered Call us", "decided Accepted"])
  }, waiting))

  it.effect("is answered alike under its key, also after a later change was decided", Effect.fnUntraced(function*() {
    const { carrier, decide, order, pickups, shipper, waits } = yield* carriers
    const { call, pickupId } = yield* waits({}, "key")
    yield* decide(carrier, pickupId, { decision: "accept", confirmationNumber: "C-1" })
    const answer = yield* Fiber.join(call)
    const changing = yield* Effect.forkChild(pickups.update(shipper, "C-1", pickupRequest({ number: "C-1", more: { grossPickupWeight: 5 } })))
    yield* TestClock.adjust(0)
    yield* decide(carrier, pickupId, { decision: "reject" })
    yield* Fiber.join(changing)
    assert.deepStrictEqual(yield* order({}, "key"), answer)
  }, waiting))

  it.effect("gets the next number if the carrier gives none", Effect.fnUntraced(function*() {
    const { carrier, decide, waits } = yield* carriers
    const { call, pickupId } = yield* waits()
    yield* decide(carrier, pickupId, { decision: "accept" })
    assert.strictEqual((yield* Fiber.join(call)).carrierPickupNumber, "100000001")
  }, waiting))

  for (const [decision, pickupStatus, status, pickupMessage] of [
    ["reject", "Reject", "Rejected", ["The carrier cannot take this request."]],
    ["call", "Call us", "Call us", ["Call the carrier about this request."]]
  ] as const) {
    it.effect(`is answered ${pickupStatus} without a number after ${decision}`, Effect.fnUntraced(function*() {
      const { carrier, decide, list, waits } = yield* carriers
      const { call, pickupId } = yield* waits()
      yield* decide(carrier, pickupId, { decision })
      const answer = yield* Fiber.join(call)
      assert.deepStrictEqual([answer.pickupStatus, answer.carrierPickupNumber, answer.pickupMessage], [pickupStatus, null, pickupMessage])
      assert.deepStrictEqual(yield* list(), ["ordered Call us", `decided ${status}`])
    }, waiting))
  }

  it.effect("is answered Call us after the time, and can be decided then (SPEC-GAP-C34)", Effect.fnUntraced(function*() {
    const { carrier, decide, look, waits } = yield* carriers
    const { call, pickupId } = yield* waits()
    yield* TestClock.adjust((seconds - 1) * 1000)
    assert.strictEqual(call.pollUnsafe(), undefined)
    yield* TestClock.adjust(1000)
    const answer = yield* Fiber.join(call)
    assert.deepStrictEqual([answer.pickupStatus, answer.carrierPickupNumber], ["Call us", null])
    assert.include(answer.pickupMessage[0], pickupId)
    yield* decide(carrier, pickupId, { decision: "accept", confirmationNumber: "C-1" })
    assert.strictEqual((yield* look("C-1")).status, "Accepted")
  }, waiting))

  it.effect("can be cancelled by its id, only by a caller that sees it, and is not decided any more (SPEC-GAP-C12)", Effect.fnUntraced(function*() {
    const { carrier, decide, list, order, pickups, shipper, tenant, waits } = yield* carriers
    const { call, pickupId } = yield* waits({}, "key")
    assert.strictEqual((yield* Effect.flip(pickups.cancel(tenant.customer("other", ["B"]), pickupId)))._tag, "PickupNotFound")
    yield* pickups.cancel(shipper, pickupId)
    const answer = yield* Fiber.join(call)
    assert.deepStrictEqual([answer.pickupStatus, answer.carrierPickupNumber, answer.pickupMessage], ["Reject", null, ["The pickup was cancelled."]])
    assert.deepStrictEqual(yield* order({}, "key"), answer)
    assert.strictEqual((yield* Effect.flip(decide(carrier, pickupId, { decision: "accept" })))._tag, "PickupDecided")
    yield* pickups.cancel(shipper, pickupId)
    assert.deepStrictEqual(yield* list(), ["ordered Call us", "cancelled Cancelled"])
  }, waiting))

  it.effect("is answered after the time with what its reader of e-mails gets (SPEC-GAP-C33)", Effect.fnUntraced(function*() {
    const { waits } = yield* carriers
    for (const [confirmationEmail, message] of [
      ["dock@closets.example", "No e-mail is sent to confirmationEmail. This answer is the confirmation."],
      ["dock", "No e-mail is sent: confirmationEmail is not one e-mail address. This answer is the confirmation."]
    ] as const) {
      const { call } = yield* waits({ more: { confirmationEmail } })
      yield* TestClock.adjust(seconds * 1000)
      assert.strictEqual((yield* Fiber.join(call)).pickupMessage.at(-1), message)
    }
  }, waiting))

  it.effect("is decided by a report of its status", Effect.fnUntraced(function*() {
    const { carrier, decide, pickups, waits } = yield* carriers
    const { call, pickupId } = yield* waits()
    yield* pickups.report(carrier, pickupId, { status: "Accepted", carrierPickupNumber: "C-1" })
    const answer = yield* Fiber.join(call)
    assert.deepStrictEqual([answer.pickupStatus, answer.carrierPickupNumber], ["Accept", "C-1"])
    assert.strictEqual((yield* Effect.flip(decide(carrier, pickupId, { decision: "reject" })))._tag, "PickupDecided")
  }, waiting))

  it.effect("is ordered once per idempotency key: a retry waits too, and gets the decision, also later", Effect.fnUntraced(function*() {
    const { carrier, decide, order, page, pickups, shipper, waits } = yield* carriers
    const { call, pickupId } = yield* waits({}, "key")
    const retry = yield* Effect.forkChild(order({}, "key"))
    yield* TestClock.adjust(0)
    yield* decide(carrier, pickupId, { decision: "accept", confirmationNumber: "C-1" })
    const answer = yield* Fiber.join(call)
    assert.deepStrictEqual([yield* Fiber.join(retry), yield* order({}, "key")], [answer, answer])
    assert.lengthOf((yield* page()).data, 2)
    // and its own decision after that of a later change
    const change = yield* Effect.forkChild(pickups.update(shipper, "C-1", pickupRequest({ number: "C-1", pro: "P" })))
    yield* TestClock.adjust(0)
    yield* decide(carrier, pickupId, { decision: "reject" })
    yield* Fiber.join(change)
    assert.deepStrictEqual(yield* order({}, "key"), answer)
  }, waiting))

  it.effect("does not wait if too many calls of its client do (SPEC-GAP-C35)", Effect.fnUntraced(function*() {
    const { order, tenant } = yield* carriers
    const calls = yield* Effect.forEach(Array.from({ length: maxWaitingPickupsPerClient }), () => Effect.forkChild(order()))
    yield* TestClock.adjust(0)
    assert.strictEqual((yield* order()).pickupStatus, "Call us")
    const other = yield* Effect.forkChild(order({}, undefined, tenant.customer("other", [])))
    yield* TestClock.adjust(0)
    assert.strictEqual(other.pollUnsafe(), undefined)
    yield* TestClock.adjust(seconds * 1000)
    for (const call of [...calls, other]) yield* Fiber.join(call)
    // their slots are free again
    const next = yield* Effect.forkChild(order())
    yield* TestClock.adjust(0)
    assert.strictEqual(next.pollUnsafe(), undefined)
  }, waiting))

  it.effect("is answered when the service stops, and no other waits then", Effect.fnUntraced(function*() {
    const { order, pickups, waits } = yield* carriers
    const { call } = yield* waits()
    yield* pickups.endWaits
    assert.deepStrictEqual([(yield* Fiber.join(call)).pickupStatus, (yield* order()).pickupStatus], ["Call us", "Call us"])
  }, waiting))

  it.effect("does not wait if it is a test", Effect.fnUntraced(function*() {
    const { list, order, pickups, shipper } = yield* carriers
    const number = "999900000001"
    assert.strictEqual((yield* order({ isTest: "True" })).carrierPickupNumber, number)
    assert.deepInclude((yield* pickups.update(shipper, number, pickupRequest({ isTest: "True", number, pro: "P" })))[0], { pickupStatus: "Accept", carrierPickupNumber: number })
    assert.deepStrictEqual(yield* list(), [])
  }, waiting))
})

describe("Pickups.decide", () => {
  it.effect("decides once", Effect.fnUntraced(function*() {
    const { carrier, decide, waits } = yield* carriers
    for (const decision of ["accept", "reject", "call"] as const) {
      const { pickupId } = yield* waits()
      yield* decide(carrier, pickupId, { decision })
      for (const next of ["accept", "reject", "call"] as const) {
        assert.strictEqual((yield* Effect.flip(decide(carrier, pickupId, { decision: next })))._tag, "PickupDecided")
      }
    }
  }, waiting))

  it.effect("refuses what was accepted at once", Effect.fnUntraced(function*() {
    const { carrier, decide, order } = yield* carriers
    const { carrierPickupNumber } = yield* order()
    const refused = yield* Effect.flip(decide(carrier, carrierPickupNumber!, { decision: "reject" }))
    assert(refused._tag === "PickupDecided")
    assert.strictEqual(refused.status, "Accepted")
  }, inService))

  it.effect("lists each fault, and changes nothing", Effect.fnUntraced(function*() {
    const { carrier, decide, list, waits } = yield* carriers
    const first = yield* waits()
    yield* decide(carrier, first.pickupId, { decision: "accept", confirmationNumber: "C-1" })
    const { pickupId } = yield* waits()
    for (const [body, pointer] of [
      [{}, "/decision"],
      [{ decision: "maybe" }, "/decision"],
      [{ decision: "reject", confirmationNumber: "C-2" }, "/confirmationNumber"],
      [{ decision: "accept", confirmationNumber: "999900000007" }, "/confirmationNumber"],
      [{ decision: "accept", confirmationNumber: "C-1" }, "/confirmationNumber"],
      [{ decision: "accept", confirmationNumber: "x".repeat(101) }, "/confirmationNumber"],
      [{ decision: "accept", scac: "A1" }, "/scac"],
      [{ decision: "accept", message: "x".repeat(1001) }, "/message"]
    ] as const) assert.deepStrictEqual(pointers(yield* Effect.flip(decide(carrier, pickupId, untyped(body)))), [pointer])
    assert.deepStrictEqual(yield* list(), ["ordered Call us", "decided Accepted", "ordered Call us"])
  }, waiting))

  it.effect("is for carriers, and the pickup is then the deciding carrier's", Effect.fnUntraced(function*() {
    const { decide, list, numbered, shipper, waits } = yield* carriers
    const [one, other] = [numbered("one", "1"), numbered("other", "2")]
    const { pickupId } = yield* waits()
    assert.strictEqual((yield* Effect.flip(decide(shipper, pickupId, { decision: "accept" })))._tag, "NotPermitted")
    assert.deepStrictEqual([yield* list(one), yield* list(other)], [["ordered Call us"], ["ordered Call us"]])
    yield* decide(one, pickupId, { decision: "reject" })
    assert.deepStrictEqual([yield* list(one), yield* list(other)], [["ordered Call us", "decided Rejected"], []])
    assert.strictEqual((yield* Effect.flip(decide(other, pickupId, { decision: "accept" })))._tag, "PickupNotFound")
  }, waiting))
})

describe("a change that waits for the carrier", () => {
  it.effect("takes effect when the carrier accepts it", Effect.fnUntraced(function*() {
    const { carrier, changeWaits, decide, list, look, page, pickups } = yield* carriers
    const { call, pickupId } = yield* changeWaits({ pro: "NEW-1" })
    const ordered = (yield* look("C-1")).shipmentArray[0]?.proNumber
    assert.notStrictEqual(ordered, "NEW-1")
    yield* decide(carrier, pickupId, { decision: "accept" })
    const answer = yield* Fiber.join(call)
    assert.deepStrictEqual([answer.pickupStatus, answer.carrierPickupNumber, answer.scac, answer.carrierName], ["Accept", "C-1", "ABCD", "Acme Freight"])
    assert.strictEqual((yield* look("C-1")).shipmentArray[0]?.proNumber, "NEW-1")
    assert.deepStrictEqual((yield* pickups.record(carrier, "C-1")).history.map(({ request }) => request?.shipmentDetails?.[0]?.proNumber), [ordered, undefined, "NEW-1", "NEW-1"])
    assert.deepStrictEqual(yield* list(), ["ordered Call us", "decided Accepted", "changed Accepted", "decided Accepted"])
    assert.deepStrictEqual((yield* page()).data.map(({ request }) => request.shipmentDetails?.[0]?.proNumber), [ordered, ordered, "NEW-1", "NEW-1"])
  }, waiting))

  it.effect("leaves the agreement as it is when the carrier rejects it or does not decide", Effect.fnUntraced(function*() {
    const { carrier, changeWaits, decide, look, page, pickups } = yield* carriers
    const { call, pickupId } = yield* changeWaits({ pro: "NEW-1" })
    const before = yield* look("C-1")
    assert.strictEqual((yield* pickups.record(carrier, "C-1")).waiting?.shipmentDetails?.[0]?.proNumber, "NEW-1")
    yield* TestClock.adjust(seconds * 1000)
    assert.strictEqual((yield* Fiber.join(call)).pickupStatus, "Call us")
    assert.strictEqual((yield* decide(carrier, pickupId, { decision: "reject" })).carrierPickupNumber, "C-1")
    assert.deepStrictEqual(yield* look("C-1"), before)
    assert.strictEqual((yield* pickups.record(carrier, "C-1")).waiting, null)
    const ordered = before.shipmentArray[0]?.proNumber
    assert.deepStrictEqual((yield* page()).data.map(({ request }) => request.shipmentDetails?.[0]?.proNumber), [ordered, ordered, "NEW-1", ordered])
  }, waiting))

  it.effect("is joined by its retry, and replaced by another change", Effect.fnUntraced(function*() {
    const { carrier, changeWaits, decide, list, pickups, shipper } = yield* carriers
    const { call, pickupId } = yield* changeWaits({ pro: "NEW-1" })
    const change = (pro: string) => Effect.forkChild(Effect.map(pickups.update(shipper, "C-1", pickupRequest({ number: "C-1", pro })), ([answer]) => answer!))
    const retry = yield* change("NEW-1")
    yield* TestClock.adjust(0)
    const other = yield* change("NEW-2")
    yield* TestClock.adjust(0)
    assert.deepStrictEqual([(yield* Fiber.join(call)).pickupStatus, (yield* Fiber.join(retry)).pickupStatus], ["Call us", "Call us"])
    yield* decide(carrier, pickupId, { decision: "accept" })
    assert.strictEqual((yield* Fiber.join(other)).pickupStatus, "Accept")
    assert.deepStrictEqual(yield* list(), ["ordered Call us", "decided Accepted", "changed Accepted", "changed Accepted", "decided Accepted"])
  }, waiting))

  it.effect("is replaced by the agreed request, for which the carrier is asked again", Effect.fnUntraced(function*() {
    const { call, list, pickupId, shipper, carrier, decide, pickups } = yield* Effect.flatMap(carriers, (each) => Effect.map(each.changeWaits({ pro: "NEW-1" }), (waits) => ({ ...each, ...waits })))
    const back = yield* Effect.forkChild(Effect.map(pickups.update(shipper, "C-1", pickupRequest({ number: "C-1" })), ([answer]) => answer!))
    yield* TestClock.adjust(0)
    assert.deepStrictEqual([(yield* Fiber.join(call)).pickupStatus, back.pollUnsafe()], ["Call us", undefined])
    yield* decide(carrier, pickupId, { decision: "accept" })
    assert.strictEqual((yield* Fiber.join(back)).pickupStatus, "Accept")
    assert.deepStrictEqual((yield* list()).slice(2), ["changed Accepted", "changed Accepted", "decided Accepted"])
  }, waiting))

  it.effect("ends when the pickup is cancelled, or reported as over", Effect.fnUntraced(function*() {
    const { changeWaits, decide, carrier, pickups, shipper } = yield* carriers
    const { call, pickupId } = yield* changeWaits({ pro: "NEW-1" })
    yield* pickups.cancel(shipper, "C-1")
    assert.strictEqual((yield* Fiber.join(call)).pickupStatus, "Reject")
    assert.strictEqual((yield* Effect.flip(decide(carrier, pickupId, { decision: "accept" })))._tag, "PickupDecided")
  }, waiting))

  it.effect("to another day cannot be accepted after the driver has left for the stop", Effect.fnUntraced(function*() {
    const { carrier, changeWaits, decide, pickups } = yield* carriers
    const { call, pickupId } = yield* changeWaits({ day: "2026-11-23" })
    for (const status of ["En Route", "Arrived"]) yield* pickups.report(carrier, "C-1", { status })
    assert.strictEqual((yield* Fiber.join(call)).pickupStatus, "Reject")
    assert.strictEqual((yield* Effect.flip(decide(carrier, pickupId, { decision: "accept" })))._tag, "PickupDecided")
  }, waiting))
})

describe("Pickups.changes", () => {
  it.effect("lists every change once, from a cursor that is always there (SPEC-GAP-C36)", Effect.fnUntraced(function*() {
    const { carrier, list, order, page, pickups, shipper } = yield* carriers
    const empty = yield* page()
    assert.deepStrictEqual(empty.data, [])
    const number = (yield* order()).carrierPickupNumber!
    yield* pickups.update(shipper, number, pickupRequest({ number, pro: "P" }))
    yield* pickups.report(carrier, number, { status: "En Route" })
    yield* pickups.cancel(shipper, number)
    const all = ["ordered Accepted", "changed Accepted", "status En Route", "cancelled Cancelled"]
    assert.deepStrictEqual(yield* list(carrier, { cursor: empty.nextCursor }), all)
    const seen: Array<string> = []
    let cursor = empty.nextCursor
    for (let pages = 0; pages < 5; pages++) {
      const { data, nextCursor } = yield* page(carrier, { cursor, limit: 1 })
      seen.push(...data.map(({ change, status }) => `${change} ${status}`))
      cursor = nextCursor
    }
    assert.deepStrictEqual(seen, all)
    const { data } = yield* page()
    assert.deepStrictEqual(new Set(data.map(({ confirmationNumber, pickupId }) => `${confirmationNumber} ${pickupId}`)).size, 1)
    assert.strictEqual(data[1]?.request.shipmentDetails?.[0]?.proNumber, "P")
  }, inService))

  it.effect("filters by present status, in any spelling, and by time (SPEC-GAP-C36)", Effect.fnUntraced(function*() {
    const { carrier, list, order, page, pickups } = yield* carriers
    const number = (yield* order()).carrierPickupNumber!
    yield* TestClock.adjust("1 minute")
    yield* order({ pro: "Q" })
    yield* pickups.report(carrier, number, { status: "En Route" })
    assert.deepStrictEqual(yield* list(carrier, { status: "en-route" }), ["ordered Accepted", "status En Route"])
    const { data } = yield* page()
    assert.deepStrictEqual(yield* list(carrier, { since: data[1]!.at }), ["ordered Accepted", "status En Route"])
    assert.deepStrictEqual(yield* list(carrier, { since: data[1]!.at, status: "Accepted" }), ["ordered Accepted"])
    assert.deepStrictEqual(yield* list(carrier, { since: "2099-01-01T00:00:00Z" }), [])
  }, inService))

  it.effect("refuses customers, foreign cursors and unknown parameters", Effect.fnUntraced(function*() {
    const { carrier, pickups, shipper } = yield* carriers
    assert.strictEqual((yield* Effect.flip(pickups.changes(shipper)))._tag, "NotPermitted")
    for (const query of [{ cursor: "x" }, { cursor: "-1" }, { since: "yesterday" }, { status: "Lost" }, { limit: 0 }, { other: 1 }]) {
      assert.deepStrictEqual(pointers(yield* Effect.flip(pickups.changes(carrier, untyped(query)))), [`/${Object.keys(query)[0]}`])
    }
  }, inService))
})

describe("a decision that names a reference of the shipper", () => {
  const answered = { idempotencyKey: "edi:1" }

  it.effect("decides the order that waits with it, and is a duplicate when it is repeated", Effect.fnUntraced(function*() {
    const { carrier, list, pickups, waits } = yield* carriers
    const { call } = yield* waits({ shipment: { shipperRef: "SHIP-77" } })
    assert.strictEqual(yield* pickups.decideReferenced(carrier, "SHIP-77", { decision: "accept", scac: "ABCD" }, answered), "accepted")
    assert.strictEqual((yield* Fiber.join(call)).pickupStatus, "Accept")
    assert.strictEqual(yield* pickups.decideReferenced(carrier, "SHIP-77", { decision: "accept", scac: "ABCD" }, answered), "duplicate")
    assert.deepStrictEqual(yield* list(), ["ordered Call us", "decided Accepted"])
  }, waiting))

  it.effect("finds no order with another reference, none that was decided, and none of another carrier", Effect.fnUntraced(function*() {
    const { carrier, numbered, pickups, waits } = yield* carriers
    const { call, pickupId } = yield* waits({ shipment: { shipperRef: "SHIP-77" } })
    assert.strictEqual((yield* Effect.flip(pickups.decideReferenced(carrier, "SHIP-7", { decision: "accept" }, answered)))._tag, "PickupNotFound")
    assert.strictEqual(yield* pickups.decideReferenced(numbered("one", "1"), pickupId, { decision: "accept" }, answered), "accepted")
    yield* Fiber.join(call)
    for (const [principal, reference] of [[carrier, "SHIP-77"], [carrier, pickupId], [numbered("two", "2"), "SHIP-77"]] as const) {
      assert.strictEqual((yield* Effect.flip(pickups.decideReferenced(principal, reference, { decision: "reject" }, { idempotencyKey: "edi:2" })))._tag, "PickupNotFound")
    }
  }, waiting))

  it.effect("is a decision of its own when another order has its key", Effect.fnUntraced(function*() {
    const { carrier, pickups, waits } = yield* carriers
    const orders = [yield* waits({ shipment: { shipperRef: "SHIP-1" } }), yield* waits({ shipment: { shipperRef: "SHIP-2" } })]
    for (const reference of ["SHIP-1", "SHIP-2"]) assert.strictEqual(yield* pickups.decideReferenced(carrier, reference, { decision: "reject" }, answered), "accepted")
    for (const { call } of orders) assert.strictEqual((yield* Fiber.join(call)).pickupStatus, "Reject")
  }, waiting))

  it.effect("finds no change that waits for another carrier", Effect.fnUntraced(function*() {
    const { decide, numbered, pickups, shipper, waits } = yield* carriers
    const { call, pickupId } = yield* waits()
    yield* decide(numbered("one", "1"), pickupId, { decision: "accept", confirmationNumber: "C-1" })
    yield* Fiber.join(call)
    const change = yield* Effect.forkChild(pickups.update(shipper, "C-1", pickupRequest({ number: "C-1", pro: "P" })))
    yield* TestClock.adjust(0)
    assert.strictEqual((yield* Effect.flip(pickups.decideReferenced(numbered("two", "2"), pickupId, { decision: "accept" }, answered)))._tag, "PickupNotFound")
    assert.strictEqual(yield* pickups.decideReferenced(numbered("one", "1"), pickupId, { decision: "accept" }, answered), "accepted")
    assert.strictEqual((yield* Fiber.join(change))[0]?.pickupStatus, "Accept")
  }, waiting))

  it.effect("finds each of more orders than one read returns", Effect.fnUntraced(function*() {
    const { carrier, order, pickups } = yield* carriers
    const calls = yield* Effect.forEach(Array.from({ length: 120 }, (_, n) => n), (n) => Effect.forkChild(order({ shipment: { shipperRef: `SHIP-${n}` } })))
    yield* TestClock.adjust(`${seconds} seconds`)
    yield* Effect.forEach(calls, Fiber.join)
    for (const n of [0, 119]) assert.strictEqual(yield* pickups.decideReferenced(carrier, `SHIP-${n}`, { decision: "reject" }, { idempotencyKey: `edi:${n}` }), "accepted")
  }, waiting))

  it.effect("is for carriers", Effect.fnUntraced(function*() {
    const { pickups, shipper } = yield* carriers
    assert.strictEqual((yield* Effect.flip(pickups.decideReferenced(shipper, "SHIP-77", { decision: "accept" }, answered)))._tag, "NotPermitted")
  }, waiting))
})
