import { assert, describe, it } from "@effect/vitest"
import { PickupStore } from "@waybill/core/pickups"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { int, listOf, oneOf } from "../arbitraries.ts"
import { inService, inServiceWith, makeDesk, pointers, setup, withDesk } from "./Desk.ts"

describe("Idempotency-Key", () => {
  it.effect.prop("orders one truck per key, for any number of repeated and concurrent requests (SPEC-GAP-C18)", [
    listOf(oneOf(["k", "K", "k ", "key 2", "ü😀"]), 2, 12),
    oneOf(["accept", "reject", "callUs"] as const)
  ], ([keys, decision]) => {
    const desk = makeDesk(() => ({ decision }))
    return inServiceWith(desk)(Effect.gen(function*() {
      const { order } = yield* setup
      const answers = yield* Effect.all(keys.map((key) => Effect.map(order({ pro: key }, key), (answer) => ({ key, answer }))), { concurrency: "unbounded" })
      assert.lengthOf(desk.asked, new Set(keys).size)
      for (const one of answers) {
        for (const other of answers) {
          if (one.key === other.key) assert.deepStrictEqual(one.answer, other.answer)
          else if (decision === "accept") assert.notStrictEqual(one.answer.carrierPickupNumber, other.answer.carrierPickupNumber)
        }
      }
    }))
  })

  it.effect.prop("keeps one requestId until the desk decides", [int(0, 4)], ([failures]) => {
    let left = failures
    const desk = makeDesk(() => {
      if (left-- > 0) throw new Error("down")
      return { decision: "accept" }
    })
    return inServiceWith(desk)(Effect.gen(function*() {
      const { order } = yield* setup
      for (let n = 0; n < failures; n++) assert.strictEqual((yield* Effect.flip(order({}, "key")))._tag, "PickupDeskFailed")
      yield* order({}, "key")
      yield* order({}, "key")
      assert.lengthOf(desk.asked, failures + 1)
      assert.lengthOf(new Set(desk.asked.map((each) => each.requestId)), 1)
      yield* order({}, "other key")
      yield* order()
      assert.lengthOf(new Set(desk.asked.map((each) => each.requestId)), 3)
    }))
  })

  it.effect("accepts the same request from another serializer", withDesk(function*(desk) {
    const { order } = yield* setup
    yield* order({ more: { readyTime: "2026-11-20T08:00:00" } }, "key")
    yield* order({ more: { readyTime: "2026-11-20T08:00:00.000" } }, "key")
    assert.lengthOf(desk.asked, 1)
  }))

  it.effect("belongs to a client", withDesk(function*(desk) {
    const { order, tenant } = yield* setup
    yield* order({}, "key")
    yield* order({ pro: "other" }, "key", tenant.customer("somebody else", []))
    assert.lengthOf(desk.asked, 2)
  }))

  it.effect("is refused with other content", withDesk(function*(desk) {
    const { order } = yield* setup
    yield* order({}, "key")
    for (const overrides of [{ pro: "P" }, { isTest: "True" }, { more: { weightUofM: "Pounds" } }]) {
      const refused = yield* Effect.flip(order(overrides, "key"))
      assert(refused._tag === "InvalidInput")
      assert.strictEqual(refused.faults[0]?.code, "conflict")
    }
    // equal content in another spelling
    yield* order({ isTest: false }, "key")
    assert.lengthOf(desk.asked, 1)
  }))

  it.effect("returns the stored answer even if the request would now be refused", withDesk(function*() {
    const { order } = yield* setup
    const first = yield* order({}, "key")
    yield* TestClock.setTime(Date.parse("2026-12-01T00:00:00Z"))
    assert.deepStrictEqual(yield* order({}, "key"), first)
    assert.deepStrictEqual(pointers(yield* Effect.flip(order({}, "another key"))), ["/closeTime"])
  }))

  it.effect("does not store refusals", Effect.fnUntraced(function*() {
    const { order } = yield* setup
    yield* Effect.flip(order({ zone: "nowhere" }, "key"))
    assert.strictEqual((yield* order({}, "key")).pickupStatus, "Accept")
  }, inService))

  it.effect("is 1 to 200 printable characters", Effect.fnUntraced(function*() {
    const { order } = yield* setup
    for (const key of ["", "a\nb", "\ud800", "x".repeat(201)]) assert.deepStrictEqual(pointers(yield* Effect.flip(order({}, key))), ["/Idempotency-Key"])
    yield* order({}, "x".repeat(200))
  }, inService))

  it.effect("can be used again after its answer is deleted", withDesk(function*(desk) {
    const { order } = yield* setup
    yield* order({}, "key")
    yield* TestClock.adjust("30 days")
    const store = yield* PickupStore
    assert.strictEqual(yield* store.prune("acme", { ordered: 0, answered: 1 }), 1)
    assert.strictEqual((yield* order({}, "key")).carrierPickupNumber, "100000002")
    assert.lengthOf(desk.asked, 2)
  }))
})
