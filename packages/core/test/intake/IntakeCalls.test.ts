import { assert, describe, it } from "@effect/vitest"
import { FreightChargeIntake, type InvalidInput, type NotPermitted, type Principal, ShipmentIntake, type StorageError, StatusUpdateIntake, TransitEventIntake } from "@waybill/core"
import { billChange, postedShipment, reportedEvent, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { json } from "../arbitraries.ts"
import { inService } from "../inService.ts"
import { faultsOf, tagOf } from "../shipment-status/Carrier.ts"
import { untyped } from "../untyped.ts"

interface Intake {
  readonly report: (principal: Principal, body: never) => Effect.Effect<{ readonly results: ReadonlyArray<{ readonly result: string }> }, InvalidInput | NotPermitted | StorageError>
}

/** Each call with a valid item by its id, and an item with a wrong member. */
const calls = {
  events: { intake: TransitEventIntake, one: (eventId: string) => reportedEvent("S", { eventId }), wrong: (value: unknown) => ({ ...reportedEvent("S"), shipment: value }) },
  shipments: { intake: ShipmentIntake, one: (shipmentId: string) => postedShipment(shipmentId), wrong: (value: unknown) => ({ ...postedShipment("T"), PickupAddress: value }) },
  charges: { intake: FreightChargeIntake, one: (uniqueID: string) => billChange("created", uniqueID), wrong: (value: unknown) => ({ change: "removed", pfc: value }) },
  updates: {
    intake: StatusUpdateIntake,
    one: (updateId: string) => ({ shipmentId: "S", deliveryInformation_messages: "Noted reweigh", updateId }),
    wrong: (value: unknown) => ({ shipmentId: "S", shipmentMilestoneStatus: value ?? null })
  }
}

describe.each(Object.entries(calls))("a call of intake with %s", (member, { intake, one, wrong }) => {
  const setup = Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    // the shipment of status updates
    yield* (yield* ShipmentIntake).report(tenant.carrier, postedShipment("S"))
    const { report }: Intake = yield* intake
    return { tenant, report: (body: unknown, principal = tenant.carrier) => report(principal, untyped(body)) }
  })

  it.effect("accepts one item or a list, with or without their member", Effect.fnUntraced(function*() {
    const { report } = yield* setup
    for (const body of [one("a"), [one("b")], { [member]: one("c") }, { [member]: [one("d"), one("e")] }]) {
      const { results } = yield* report(body)
      assert.isTrue(results.every(({ result }) => result === "accepted"))
    }
  }, inService))

  it.effect("describes the expected body for any other body", Effect.fnUntraced(function*() {
    const { report } = yield* setup
    for (const body of [null, undefined, 7, "text", {}, { [member]: "all" }, { [member]: null }, { item: {} }]) {
      assert.include((yield* Effect.flip(report(body))).message, member)
    }
    for (const items of [[], Array.from({ length: 1001 }, () => 1)]) assert.deepStrictEqual(yield* faultsOf(report(items)), [`/${member} out_of_bounds`])
  }, inService))

  it.effect("is allowed to carriers only", Effect.fnUntraced(function*() {
    const { report, tenant } = yield* setup
    assert.strictEqual(yield* tagOf(report(one("a"), tenant.customer("c", ["A"]))), "NotPermitted")
    assert.strictEqual((yield* report(one("a"))).results[0]!.result, "accepted")
  }, inService))

  it.effect.prop("handles arbitrary input, and stores nothing if it is refused", [json], Effect.fnUntraced(function*([garbage]) {
    const { report } = yield* setup
    for (const body of [garbage, { [member]: garbage }, [garbage], [one("a"), garbage], [one("a"), wrong(garbage)]]) {
      assert.strictEqual(yield* tagOf(report(body)), "InvalidInput")
    }
    assert.strictEqual((yield* report(one("a"))).results[0]!.result, "accepted")
  }, inService))
})
