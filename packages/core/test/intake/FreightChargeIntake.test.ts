import { assert, describe, it } from "@effect/vitest"
import { fault, FreightChargeIntake, InvalidInput } from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { change, charge } from "../freight-charges/Charges.ts"
import { untyped } from "../untyped.ts"
import { inService } from "../inService.ts"

const setup = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const intake = yield* FreightChargeIntake
  const report = (body: unknown, options?: { readonly partial?: boolean }) => intake.report(tenant.carrier, untyped(body), options)
  const faultsOf = (body: unknown) =>
    Effect.map(Effect.flip(report(body)), (error) => (error as InvalidInput).faults.map((each) => `${each.pointer} ${each.code}`))
  return { tenant, intake, report, faultsOf }
})

describe("FreightChargeIntake", () => {
  it.effect("returns bill and version of each change", Effect.fnUntraced(function*() {
    const { report } = yield* setup
    const items = ["A", "B", "C"].map((uniqueID) => change("created", { uniqueID }))
    yield* report(items)
    const { results } = yield* report([change("updated", { uniqueID: "a!", total: 1 }), items[1], change("removed", { uniqueID: "C" })])
    assert.deepStrictEqual(results, [
      { index: 0, result: "accepted", uniqueID: "A", version: 2 },
      { index: 1, result: "duplicate", uniqueID: "B", version: 1 },
      { index: 2, result: "accepted", uniqueID: "C", version: 2 }
    ])
  }, inService))

  it.effect("refuses the whole call for one invalid item, with pointers to its faults", Effect.fnUntraced(function*() {
    const { faultsOf, report } = yield* setup
    const good = change("created")
    assert.deepStrictEqual(yield* faultsOf({ charges: [good, { change: "changed", pfc: charge() }, 7] }), ["/charges/1/change invalid", "/charges/2 invalid"])
    assert.deepStrictEqual(yield* faultsOf({ charges: [change("created", { more: { billTo: { account: "A" } } })] }).pipe(Effect.map((all) => all.slice(0, 2))), [
      "/charges/0/pfc/billTo/name required",
      "/charges/0/pfc/billTo/address1 required"
    ])
    assert.deepStrictEqual(yield* faultsOf([change("removed", { uniqueID: "unknown" })]), ["/charges/0/pfc/pfc/uniqueID unknown_reference"])
    yield* report(good)
    assert.deepStrictEqual(yield* faultsOf([change("updated", { version: 5 })]), ["/charges/0/pfc/pfc/header/function conflict"])
    assert.deepStrictEqual(yield* faultsOf([change("updated", { total: 1 }), change("created", { total: 2 })]), ["/charges/1/change conflict"])
    assert.deepStrictEqual((yield* report(good)).results, [{ index: 0, result: "duplicate", uniqueID: "1234567890EXLA20241120", version: 1 }])
  }, inService))

  it.effect("accepts the valid items of a partial call", Effect.fnUntraced(function*() {
    const { report } = yield* setup
    const { results } = yield* report([{}, change("created"), change("created", { total: 1 }), change("updated", { total: 2 })], { partial: true })
    assert.deepStrictEqual(results.map((each) => [each.index, each.result]), [[0, "refused"], [1, "accepted"], [2, "refused"], [3, "accepted"]])
  }, inService))

  it.effect("accepts date-times with and without a zone, and no other text (SPEC-GAP-E3)", Effect.fnUntraced(function*() {
    const { faultsOf, report } = yield* setup
    const dated = (date: unknown, n: number) => change("created", { uniqueID: `D${n}`, more: { pfc: { ...charge().pfc, uniqueID: `D${n}`, date } } })
    const good = ["2024-11-20T00:00:00.000", "2024-11-20T08:15:00", "2024-11-20T08:15:00Z", "2024-02-29T08:15:00.123456-06:00"]
    yield* report(good.map(dated))
    for (const bad of ["", "2024-11-20", "2024-11-20T08:15", "20.11.2024", "2024-13-01", "2023-02-29", "2024-11-20T25:00:00", "2024-11-20 08:15", 7]) {
      assert.deepStrictEqual(yield* faultsOf([dated(bad, 9)]), ["/charges/0/pfc/pfc/date invalid"])
    }
  }, inService))

  it.effect("strips separators of a uniqueID, and refuses letters and digits of other scripts, which would make the ids of two bills one (SPEC-GAP-E4)", Effect.fnUntraced(function*() {
    const { faultsOf, report } = yield* setup
    assert.deepInclude((yield* report(change("created", { uniqueID: "041–836 77.45/exla_20241120" }))).results[0], { uniqueID: "0418367745EXLA20241120" })
    for (const uniqueID of ["1Ä", "\uFF111", "ı1", "1١", "--", ""]) assert.deepStrictEqual((yield* faultsOf(change("created", { uniqueID }))), ["/charges/0/pfc/pfc/uniqueID invalid"], uniqueID)
  }, inService))

  it.effect("refuses weights, sizes and pieces below 0, and accepts 0 and amounts below 0 (SPEC-GAP-X9)", Effect.fnUntraced(function*() {
    const { faultsOf, report } = yield* setup
    const { charges, commodities: { handlingUnits: [unit] }, shipmentTotals } = charge()
    const measured = (n: number) => change("created", {
      uniqueID: `M${n}`,
      more: { shipmentTotals: { ...shipmentTotals, grossWeight: n, cube: n }, commodities: { handlingUnits: [{ ...unit, count: n, lineItems: [{ ...unit!.lineItems![0], pieces: n }] }] } }
    })
    assert.deepStrictEqual(yield* faultsOf(measured(-1)), [
      "/charges/0/pfc/shipmentTotals/grossWeight out_of_bounds",
      "/charges/0/pfc/shipmentTotals/cube out_of_bounds",
      "/charges/0/pfc/commodities/handlingUnits/0/count out_of_bounds",
      "/charges/0/pfc/commodities/handlingUnits/0/lineItems/0/pieces out_of_bounds"
    ])
    yield* report([measured(0), change("created", { uniqueID: "CREDIT", total: -10, more: { charges: { ...charges, discountAmount: -100 } } })])
  }, inService))

  it.effect("treats null members as left out, and refuses a bill that is too large", Effect.fnUntraced(function*() {
    const { faultsOf, report } = yield* setup
    yield* report(change("created", { more: { accessorials: null } }))
    assert.deepStrictEqual(yield* faultsOf(change("updated", { more: { payment: null } })), ["/charges/0/pfc/payment required"])
    assert.deepStrictEqual(yield* faultsOf(change("updated", { more: { notes: "x".repeat(70_000) } })), ["/charges/0/pfc out_of_bounds"])
    assert.deepStrictEqual(yield* faultsOf(change("updated", { accounts: [] })), ["/charges/0/accounts out_of_bounds"])
  }, inService))

  it.effect("names every kind of change to one that knows none of them", Effect.fnUntraced(function*() {
    const { intake, tenant } = yield* setup
    const refused = yield* Effect.flip(intake.report(tenant.carrier, untyped({ ...change("created"), change: "deleted" })))
    assert.deepStrictEqual(refused, InvalidInput.of(fault(["charges", 0, "change"], "change is created, updated, removed or final.")))
  }, inService))
})
