import { assert, describe, it } from "@effect/vitest"
import { pickupRequest } from "@waybill/testkit"
import { Effect } from "effect"
import { listOf, oneOf } from "../arbitraries.ts"
import { inService, inServiceWith, makeDesk, setup, withDesk } from "./Desk.ts"

describe("test pickups (SPEC-GAP-C14)", () => {
  it.effect("are validated and answered like real ones, and no truck is sent", withDesk(function*(desk) {
    const { order } = yield* setup
    const answer = yield* order({ isTest: "True" })
    assert.deepStrictEqual([answer.pickupStatus, answer.carrierPickupNumber], ["Accept", "999900000001"])
    assert.include(answer.pickupMessage[0], "test")
    assert.strictEqual((yield* Effect.flip(order({ isTest: "True", zone: "nowhere" })))._tag, "InvalidInput")
    assert.lengthOf(desk.asked, 0)
  }))

  it.effect.prop("are never found by lookups of real pickups, nor the reverse", [
    listOf(oneOf(["order", "test", "change", "change test", "cancel", "cancel test", "report", "report test"]), 1, 12)
  ], ([steps]) => {
    const desk = makeDesk()
    return inServiceWith(desk)(Effect.gen(function*() {
      const { carrier, look, order, pickups, shipper } = yield* setup
      const numbers = { real: [] as Array<string>, test: [] as Array<string> }
      for (const [at, step] of steps.entries()) {
        const isTest = step.includes("test")
        const side = isTest ? numbers.test : numbers.real
        const number = side.at(-1)
        if (step === "order" || step === "test") side.push((yield* order({ isTest, pro: isTest ? "TESTPRO" : "REALPRO" })).carrierPickupNumber!)
        else if (number === undefined) continue
        else if (step.startsWith("change")) yield* Effect.exit(pickups.update(shipper, number, pickupRequest({ isTest, number, pro: isTest ? "TESTPRO" : "REALPRO", more: { dockDoorNumber: String(at) } })))
        else if (step.startsWith("cancel")) yield* Effect.exit(pickups.cancel(shipper, number))
        else yield* Effect.exit(pickups.report(carrier, number, { status: "En Route", shipmentArray: [{ proNumber: isTest ? "TESTPRO" : "REALPRO" }] }))
      }
      const finds = (value: string, isTest: string, lookupType: string) => Effect.map(Effect.result(look(value, { isTest, lookupType }, carrier)), (found) => found._tag === "Success")
      for (const number of numbers.real) {
        assert.deepStrictEqual([yield* finds(number, "false", "PickupConfirmationID"), yield* finds(number, "true", "PickupConfirmationID")], [true, false])
      }
      for (const number of numbers.test) {
        assert.deepStrictEqual([yield* finds(number, "false", "PickupConfirmationID"), yield* finds(number, "true", "PickupConfirmationID")], [false, true])
      }
      assert.isFalse(yield* finds("TESTPRO", "false", "PRO"))
      assert.isFalse(yield* finds("REALPRO", "true", "PRO"))
      assert.isTrue(desk.asked.every((each) => !each.request.isTest) && desk.calledBack.every((each) => !each.request.isTest))
    }))
  })

  it.effect("are not changed by real requests, nor the reverse", Effect.fnUntraced(function*() {
    const { order, pickups, shipper } = yield* setup
    const [test, real] = [(yield* order({ isTest: "True" })).carrierPickupNumber!, (yield* order()).carrierPickupNumber!]
    for (const [number, isTest] of [[test, "False"], [real, "True"]] as const) {
      assert.strictEqual((yield* Effect.flip(pickups.update(shipper, number, pickupRequest({ number, isTest }))))._tag, "PickupNotFound")
    }
    yield* pickups.update(shipper, test, pickupRequest({ number: test, isTest: "True", pro: "P" }))
  }, inService))
})
