import { assert, describe, it } from "@effect/vitest"
import { FreightBillStore } from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { change } from "./Charges.ts"
import { codes, hook, makeDebtors, named } from "./Debtors.ts"

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, TestWaybill.layer())

const entry = (eventCode: string) => ({ eventCode })

describe("a freight bill", () => {
  it.effect("is notified at every version, with all events so far", () =>
    inService(Effect.gen(function*() {
      const { debtor, received, report, subscribe } = yield* makeDebtors
      yield* subscribe(debtor)
      yield* report(change("created", { log: [entry("LFTD")], messages: [{ informationalMessage: "Lift gate." }] }))
      yield* report(change("updated", { total: 300, log: [entry("RWE")] }))
      yield* report(change("final", { total: 310 }))
      const all = (yield* received()).flat()
      assert.deepStrictEqual(all.map(named), ["PFC1", "PFC2", "PFC3"].map((version) => `1234567890EXLA20241120 ${version}`))
      assert.deepStrictEqual(all.map(codes), [["BILL", "LFTD"], ["BILL", "LFTD", "RWE"], ["BILL", "LFTD", "RWE", "FINL"]])
      assert.deepStrictEqual(all.map((each) => each.charges.preliminaryTotalCharges), [263.78, 300, 310])
      assert.deepStrictEqual(all[2]!.charges.changeLogMessages, [{ informationalMessage: "Lift gate." }])
    })))

  it.effect("is sent as reported, with unknown fields (SPEC-GAP-E4, SPEC-GAP-E5)", () =>
    inService(Effect.gen(function*() {
      const { debtor, received, report, subscribe } = yield* makeDebtors
      yield* subscribe(debtor, { includeEventLog: false })
      const item = change("created", { uniqueID: "1234567890-exla-20241120", more: { carrierNotes: { destination: [1.5, true] }, accessorials: null } })
      yield* report(item)
      const [notified] = (yield* received()).flat()
      const { pfc, ...rest } = item.pfc as unknown as Readonly<Record<string, unknown>>
      const { accessorials: _null, ...expected } = rest
      const { pfc: notifiedPfc, ...notifiedRest } = notified!
      assert.deepStrictEqual(notifiedRest as unknown, expected)
      assert.deepStrictEqual(notifiedPfc as unknown, { ...pfc as object, uniqueID: "1234567890EXLA20241120", header: { function: "PFC1" } })
    })))

  it.effect("is notified only to its debtors (SPEC-GAP-E6)", () =>
    inService(Effect.gen(function*() {
      const { debtor, received, report, subscribe, tenant } = yield* makeDebtors
      yield* subscribe(debtor)
      yield* subscribe(tenant.customer("agent", ["AGENT"]), { accounts: ["AGENT"], webhookUrl: "https://agent.example/" })
      yield* subscribe(tenant.customer("shipper", ["O"]), { accounts: ["O"], webhookUrl: "https://shipper.example/" })
      yield* report(change("created", { accounts: ["A", "AGENT"] }))
      assert.strictEqual((yield* received()).length, 1)
      assert.strictEqual((yield* received("https://agent.example/")).length, 1)
      assert.strictEqual((yield* received("https://shipper.example/")).length, 0)
    })))

  it.effect("with a new debtor sends a removal to the old one, and nothing of the past to the new one (SPEC-GAP-E13)", () =>
    inService(Effect.gen(function*() {
      const { debtor, received, report, subscribe, tenant } = yield* makeDebtors
      yield* subscribe(debtor, { includeEventLog: false })
      yield* subscribe(tenant.customer("next", ["B"]), { accounts: ["B"], webhookUrl: "https://next.example/" })
      yield* report(change("created", { log: [entry("LFTD")], more: { accessorials: { codes: ["LFTD"] } } }))
      yield* TestClock.adjust("1 hour")
      yield* report(change("updated", { account: "B", total: 999, originName: "Somewhere else", log: [entry("LFTD"), entry("RWE")] }))
      const [, removal] = (yield* received()).flat()
      assert.deepStrictEqual(removal as unknown, {
        pfc: { uniqueID: "1234567890EXLA20241120", header: { function: "PFC2" }, date: "1970-01-01T01:00:00.000", version: "v1.0", isTest: false },
        payment: { terms: "Prepaid" },
        shipmentTotals: { pickupDate: "2024-11-20T00:00:00.000", grossWeight: 0, weightUnit: "Pounds", handlingUnits: 0 },
        referenceNumbers: { pro: "1234567890" },
        origin: (change("created").pfc as unknown as Readonly<Record<string, unknown>>)["origin"],
        destination: (change("created").pfc as unknown as Readonly<Record<string, unknown>>)["destination"],
        billTo: (change("created").pfc as unknown as Readonly<Record<string, unknown>>)["billTo"],
        commodities: { handlingUnits: [] },
        charges: {
          grossCharges: 0,
          discountAmount: 0,
          discountPercent: 0,
          fuelSurchargePercent: 0,
          fuelSurchargeAmount: 0,
          currencyType: "USD",
          preliminaryTotalCharges: 0,
          changeLog: [{ eventCategoryName: "Account CHG - Cancel", eventCode: "ACTCHG", carrierCode: "CANCEL" }],
          changeLogMessages: [{ informationalMessage: "You are no longer the debtor of this shipment." }]
        }
      })
      const [first] = (yield* received("https://next.example/")).flat()
      assert.deepStrictEqual([named(first!), codes(first!)], ["1234567890EXLA20241120 PFC2", ["ACTCHG", "RWE"]])
      // from here on the old debtor gets nothing, not even a removal
      yield* report(change("updated", { account: "B", total: 1000 }))
      yield* report(change("removed"))
      assert.strictEqual((yield* received()).flat().length, 2)
      assert.deepStrictEqual((yield* received("https://next.example/")).flat().map(named).map((each) => each.slice(-4)), ["PFC2", "PFC3", "PFC4"])
    })))

  it.effect("comes back to a debtor with its own earlier events, and without those of others", () =>
    inService(Effect.gen(function*() {
      const { debtor, received, report, subscribe } = yield* makeDebtors
      yield* subscribe(debtor)
      yield* report(change("created", { log: [entry("LFTD")] }))
      yield* report(change("updated", { account: "B", log: [entry("RWE")] }))
      yield* report(change("updated", { account: "A", log: [entry("RES")] }))
      assert.deepStrictEqual((yield* received()).flat().map(codes), [["BILL", "LFTD"], ["CANCEL"], ["BILL", "LFTD", "ACTCHG", "RES"]])
    })))

  it.effect("without a revenue impact is notified only to subscriptions to all events (SPEC-GAP-E2)", () =>
    inService(Effect.gen(function*() {
      const { debtor, received, report, subscribe, tenant } = yield* makeDebtors
      const revenue = { shipmentDataType: "revenue_impacts_only" }
      const urls = ["https://all.example/", "https://silent.example/", "https://revenue.example/", "https://quiet.example/"]
      const options = [wantedAll, { shipmentDataType: "all_monitored_events", eventType: "no_events" }, revenue, { ...revenue, eventType: "no_events" }]
      for (const [at, dataOptions] of options.entries()) {
        yield* subscribe(tenant.customer(`client ${at}`, ["A"]), { dataOptions, webhookUrl: urls[at] })
      }
      yield* subscribe(debtor, { includeEventLog: false })
      yield* report(change("created", { log: [entry("LFTD")] }))
      yield* report(change("updated", { originName: "Another name", log: [entry("CBL")] }))
      yield* report(change("updated", { originName: "Another name", total: 1, log: [entry("RWE")] }))
      const notified = (url: string) => Effect.map(received(url), (all) => all.flat().map((each) => [each.pfc.header.function, "changeLog" in each.charges ? codes(each).join(" ") : "no log"].join(": ")))
      assert.deepStrictEqual(yield* notified(urls[0]!), ["PFC1: BILL LFTD", "PFC2: BILL LFTD CBL", "PFC3: BILL LFTD CBL RWE"])
      assert.deepStrictEqual(yield* notified(urls[1]!), ["PFC1: no log", "PFC2: no log", "PFC3: no log"])
      assert.deepStrictEqual(yield* notified(urls[2]!), ["PFC1: BILL LFTD", "PFC3: BILL LFTD RWE"])
      assert.deepStrictEqual(yield* notified(urls[3]!), ["PFC1: no log", "PFC3: no log"])
      assert.deepStrictEqual(yield* notified(hook), ["PFC1: no log", "PFC2: no log", "PFC3: no log"])
    })))

  it.effect("is stored once for all subscriptions that get equal bytes", () =>
    Effect.gen(function*() {
      const appended: Array<number> = []
      yield* inService(Effect.gen(function*() {
        const { report, subscribe, tenant } = yield* makeDebtors
        for (let n = 0; n < 20; n++) yield* subscribe(tenant.customer(`client ${n}`, ["A"]), { webhookUrl: `https://client-${n}.example/` })
        const store = yield* FreightBillStore
        const append = store.append
        Object.assign(store, { append: (...args: Parameters<typeof append>) => (appended.push(args[1].notices.length, args[1].notifications.length), append(...args)) })
        yield* report(change("created"), change("updated", { total: 1 }))
      }))
      assert.deepStrictEqual(appended, [2, 40])
    }))
})

const wantedAll = { shipmentDataType: "all_monitored_events", eventType: "all_impacts" }
