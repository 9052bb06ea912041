/** Decisions on one of several pickups: with the same reference, number or idempotency key. */
import { assert, describe, it } from "@effect/vitest"
import { type CarrierDecisionInput, PickupDesk } from "@waybill/core/pickups"
import { pickupRequest, TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { setup } from "./Desk.ts"

const waiting = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, TestWaybill.layer().pipe(Layer.provide(Layer.succeed(PickupDesk, { waitMillis: 20_000 }))))

const service = Effect.gen(function*() {
  const { carrier, order, pickups, shipper } = yield* setup
  const numbered = (dot: string) => ({ ...carrier, client: `carrier ${dot}`, dot })
  /** An order with this reference, whose call waits. */
  const waits = Effect.fnUntraced(function*(shipperRef: string) {
    const call = yield* Effect.forkChild(order({ shipment: { shipperRef } }))
    yield* TestClock.adjust(0)
    return call
  })
  const decide = (reference: string, decision: CarrierDecisionInput, { key = `key of ${reference}`, principal = carrier } = {}) => pickups.decideReferenced(principal, reference, decision, { idempotencyKey: key })
  return { carrier, decide, numbered, pickups, shipper, waits }
})

describe("a decision on one of several pickups", () => {
  it.effect("refuses the number of another pickup as a conflict", Effect.fnUntraced(function*() {
    const { carrier, decide, pickups, waits } = yield* service
    const first = yield* waits("R-1")
    const accept = { decision: "accept", confirmationNumber: "C-1" } as const
    yield* decide("R-1", accept)
    assert.strictEqual((yield* Fiber.join(first)).carrierPickupNumber, "C-1")
    const second = yield* waits("R-2")
    const { data } = yield* pickups.changes(carrier)
    const { pickupId } = JSON.parse(new TextDecoder().decode(data.at(-1)))
    for (const error of [yield* Effect.flip(decide("R-2", accept)), yield* Effect.flip(pickups.decide(carrier, pickupId, accept))]) {
      assert(error._tag === "InvalidInput")
      assert.deepStrictEqual(error.faults.map(({ code, pointer }) => [code, pointer]), [["conflict", "/confirmationNumber"]])
    }
    assert.strictEqual(second.pollUnsafe(), undefined)
  }, waiting))

  it.effect("is no duplicate of another decision under its key", Effect.fnUntraced(function*() {
    const { decide, waits } = yield* service
    yield* waits("R-1")
    assert.strictEqual(yield* decide("R-1", { decision: "reject" }, { key: "key" }), "accepted")
    assert.strictEqual(yield* decide("R-1", { decision: "reject" }, { key: "key" }), "duplicate")
    assert.strictEqual((yield* Effect.flip(decide("R-1", { decision: "call" }, { key: "key" })))._tag, "PickupNotFound")
  }, waiting))

  it.effect("passes over a pickup of another carrier with the same reference", Effect.fnUntraced(function*() {
    const { decide, numbered, pickups, shipper, waits } = yield* service
    const first = yield* waits("R")
    yield* decide("R", { decision: "accept", confirmationNumber: "C-1" }, { principal: numbered("1") })
    yield* Fiber.join(first)
    const change = yield* Effect.forkChild(pickups.update(shipper, "C-1", pickupRequest({ number: "C-1", shipment: { shipperRef: "R" }, more: { grossPickupWeight: 5 } })))
    yield* TestClock.adjust(0)
    const second = yield* waits("R")
    assert.strictEqual(yield* decide("R", { decision: "accept", confirmationNumber: "C-2" }, { key: "second", principal: numbered("2") }), "accepted")
    assert.strictEqual((yield* Fiber.join(second)).carrierPickupNumber, "C-2")
    assert.strictEqual(change.pollUnsafe(), undefined)
  }, waiting))

  it.effect("is kept in the history with who made it and its message", Effect.fnUntraced(function*() {
    const { carrier, decide, numbered, pickups, waits } = yield* service
    yield* waits("R")
    yield* decide("R", { decision: "accept", confirmationNumber: "C-1", message: "Gate 4" }, { principal: numbered("1") })
    const { history } = yield* pickups.record(carrier, "C-1")
    assert.deepStrictEqual(history.map(({ by, messages, what }) => [what, by, messages]).at(-1), ["decided", "carrier 1", ["Gate 4"]])
  }, waiting))
})
