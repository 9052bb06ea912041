import { assert, describe, it } from "@effect/vitest"
import { Wakeups } from "@waybill/core/delivery"
import { FreightBillStore, readChange } from "@waybill/core/freight-charges"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { untyped } from "../untyped.ts"
import { change, charge } from "./Charges.ts"
import { codes, hook, makeDebtors, named } from "./Debtors.ts"
import { inService } from "../inService.ts"

const entry = (eventCode: string) => ({ eventCode })

describe("a freight bill", () => {
  it.effect("is notified at every version, with all events so far", Effect.fnUntraced(function*() {
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
  }, inService))

  it.effect("is sent as reported, with unknown fields (SPEC-GAP-E4, SPEC-GAP-E5)", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe } = yield* makeDebtors
    yield* subscribe(debtor, { includeEventLog: false })
    const item = change("created", { uniqueID: "1234567890-exla-20241120", more: { carrierNotes: { destination: [1.5, true] }, accessorials: null } })
    yield* report(item)
    const [notified] = (yield* received()).flat()
    const { pfc, ...rest } = item.pfc as unknown as Readonly<Record<string, unknown>>
    const { accessorials: _null, ...expected } = rest
    const { pfc: notifiedPfc, ...notifiedRest } = notified!
    assert.deepStrictEqual(notifiedRest as unknown, expected)
    assert.deepStrictEqual(notifiedPfc as unknown, { ...pfc as object, uniqueID: "1234567890EXLA20241120", function: "PFC1", header: { function: "PFC1" } })
  }, inService))

  it.effect("needs the published members, and takes any text for terms, units and currencies (SPEC-GAP-E21)", Effect.fnUntraced(function*() {
    const { accessorials: _, ...needed } = charge()
    for (const member of Object.keys(needed)) {
      const { faults } = yield* Effect.flip(readChange(change("created", { more: { [member]: null } }), ["charges", 0]))
      assert.deepStrictEqual(faults.map(({ code, pointer }) => `${pointer} ${code}`), [`/charges/0/pfc/${member} required`])
    }
    yield* readChange(change("created", { terms: "30 days", more: { shipmentTotals: { ...needed.shipmentTotals, weightUnit: "Stone", currency: "XTS" } } }), ["charges", 0])
  }))

  it.effect("counts handling units and pieces of a purchase order in whole numbers", Effect.fnUntraced(function*() {
    const { commodities, referenceNumbers } = charge()
    const counting = (count: number, pieces: number) =>
      readChange(change("created", { more: { commodities: { handlingUnits: [{ ...commodities.handlingUnits[0]!, count }] }, referenceNumbers: { ...referenceNumbers, po: [{ number: "1", pieces }] } } }), ["charges", 0])
    yield* counting(2, 3)
    const { faults } = yield* Effect.flip(counting(2.5, 3.5))
    assert.deepStrictEqual(faults.map(({ pointer }) => pointer), ["/charges/0/pfc/referenceNumbers/po/0/pieces", "/charges/0/pfc/commodities/handlingUnits/0/count"])
  }))

  it.effect("takes its number from function, from header.function, or from both if they agree (SPEC-GAP-E20)", Effect.fnUntraced(function*() {
    const { report } = yield* makeDebtors
    const numbered = (uniqueID: string, pfc: object) => {
      const { date, isTest, version } = charge().pfc
      return change("created", { uniqueID, more: { pfc: { uniqueID, date, isTest, version, ...pfc } } })
    }
    for (const [uniqueID, pfc] of [["A", { function: "PFC4" }], ["B", { header: { function: "PFC4" } }], ["C", { function: "PFC4", header: { function: "PFC4" } }]] as const) {
      assert.deepStrictEqual((yield* report(numbered(uniqueID, pfc))).results, [{ index: 0, result: "accepted", uniqueID, version: 4 }])
    }
    const refused = yield* Effect.flip(report(numbered("D", { function: "PFC4", header: { function: "PFC5" } })))
    assert.deepStrictEqual(refused._tag === "InvalidInput" && refused.faults.map(({ code, pointer }) => [pointer, code]), [["/charges/0/pfc/pfc/function", "conflict"]])
  }, inService))

  it.effect("is not stored if another one of the call is refused", Effect.fnUntraced(function*() {
    const { report } = yield* makeDebtors
    const refused = yield* Effect.flip(report(change("created", { uniqueID: "A" }), change("updated", { uniqueID: "A", total: 1 }), change("removed", { uniqueID: "B" })))
    assert.deepStrictEqual(refused._tag === "InvalidInput" && refused.faults.map(({ pointer }) => pointer), ["/charges/2/pfc/pfc/uniqueID"])
    assert.deepStrictEqual((yield* report(change("created", { uniqueID: "A", total: 2 }))).results, [{ index: 0, result: "accepted", uniqueID: "A", version: 1 }])
  }, inService))

  it.effect("wakes the worker if any subscription is sent it at once", Effect.fnUntraced(function*() {
    const { debtor, report, subscribe, tenant } = yield* makeDebtors
    yield* subscribe(tenant.customer("collecting", ["A"]), { frequency: "daily" })
    yield* subscribe(debtor)
    yield* report(change("created"))
    assert.isTrue((yield* Effect.flatMap(Wakeups, ({ next }) => next)).has(tenant.tenantId))
  }, inService))

  it.effect("shows each of several debtors the events of its own time, and tells a former one only once (SPEC-GAP-E13)", Effect.fnUntraced(function*() {
    const { inFlight, received, report, subscribe, tenant } = yield* makeDebtors
    const hookOf = (account: string) => `https://${account.toLowerCase()}.example/`
    for (const account of ["B", "A", "C"]) yield* subscribe(tenant.customer(account, [account]), { accounts: [account], webhookUrl: hookOf(account) })
    const silent = tenant.customer("silent", ["A"])
    yield* subscribe(silent, { includeEventLog: false, webhookUrl: "https://silent.example/" })
    yield* report(change("created", { accounts: ["A", "C"], log: [entry("RWE")], messages: [{ informationalMessage: "Reweighed." }] }))
    yield* report(change("updated", { accounts: ["A", "B"], log: [entry("RES")] }))
    yield* report(change("updated", { accounts: ["A", "B"], total: 1 }))
    const codesOf = (account: string) => Effect.map(received(hookOf(account)), (bodies) => bodies.flat().map(codes))
    assert.deepStrictEqual(yield* codesOf("A"), [["BILL", "RWE"], ["BILL", "RWE", "ACTCHG", "RES"], ["BILL", "RWE", "ACTCHG", "RES"]])
    assert.deepStrictEqual(yield* codesOf("B"), [["ACTCHG", "RES"], ["ACTCHG", "RES"]])
    assert.deepStrictEqual(yield* codesOf("C"), [["BILL", "RWE"], ["CANCEL"]])
    for (const { charges } of (yield* received("https://silent.example/")).flat()) assert.notProperty(charges, "changeLogMessages")
    // a list of bills in flight does not depend on accounts that it does not cover
    const late = tenant.customer("late", ["A", "B"])
    const { subscriptionId } = yield* subscribe(late)
    assert.deepStrictEqual((yield* inFlight(late, subscriptionId)).map(codes), [["BILL", "RWE", "ACTCHG", "RES"]])
  }, inService))

  it.effect("is notified only to its debtors (SPEC-GAP-E6)", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe, tenant } = yield* makeDebtors
    yield* subscribe(debtor)
    yield* subscribe(tenant.customer("agent", ["AGENT"]), { accounts: ["AGENT"], webhookUrl: "https://agent.example/" })
    yield* subscribe(tenant.customer("shipper", ["SHIPPER"]), { accounts: ["SHIPPER"], webhookUrl: "https://shipper.example/" })
    yield* report(change("created", { accounts: ["A", "AGENT"] }))
    assert.strictEqual((yield* received()).length, 1)
    assert.strictEqual((yield* received("https://agent.example/")).length, 1)
    assert.strictEqual((yield* received("https://shipper.example/")).length, 0)
  }, inService))

  it.effect("with a new debtor sends a removal to the old one, and nothing of the past to the new one (SPEC-GAP-E13)", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe, tenant } = yield* makeDebtors
    yield* subscribe(debtor, { includeEventLog: false })
    yield* subscribe(tenant.customer("next", ["B"]), { accounts: ["B"], webhookUrl: "https://next.example/" })
    yield* report(change("created", { log: [entry("LFTD")], more: { accessorials: { codes: ["LFTD"] } } }))
    yield* TestClock.adjust("1 hour")
    yield* report(change("updated", { account: "B", total: 999, originName: "Somewhere else", log: [entry("LFTD"), entry("RWE")] }))
    const [, removal] = (yield* received()).flat()
    assert.deepStrictEqual(removal as unknown, {
      pfc: { uniqueID: "1234567890EXLA20241120", function: "PFC2", header: { function: "PFC2" }, date: "1970-01-01T01:00:00.000", version: "v1.0", isTest: false },
      payment: { terms: "Prepaid" },
      shipmentTotals: { pickupDate: "2026-11-20T08:15:00.000", grossWeight: 0, weightUnit: "Pounds", handlingUnits: 0 },
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
  }, inService))

  it.effect("comes back to a debtor with its own earlier events, and without those of others", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe } = yield* makeDebtors
    yield* subscribe(debtor)
    yield* report(change("created", { log: [entry("LFTD")] }))
    yield* report(change("updated", { account: "B", log: [entry("RWE")] }))
    yield* report(change("updated", { account: "A", log: [entry("RES")] }))
    assert.deepStrictEqual((yield* received()).flat().map(codes), [["BILL", "LFTD"], ["CANCEL"], ["BILL", "LFTD", "ACTCHG", "RES"]])
  }, inService))

  it.effect("without a revenue impact is notified only to subscriptions to all events (SPEC-GAP-E2, SPEC-GAP-E10)", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe, tenant } = yield* makeDebtors
    const revenue = { shipmentDataType: "revenue_impacts_only" }
    const all = { shipmentDataType: "all_monitored_events" }
    const urls = ["https://all.example/", "https://silent.example/", "https://revenue.example/", "https://quiet.example/", "https://mixed.example/", "https://events.example/"]
    const options = [wantedAll, { ...all, eventType: "no_events" }, revenue, { ...revenue, eventType: "no_events" }, all, { ...revenue, eventType: "all_impacts" }]
    for (const [at, dataOptions] of options.entries()) yield* subscribe(tenant.customer(`client ${at}`, ["A"]), { dataOptions, webhookUrl: urls[at] })
    yield* subscribe(debtor, { includeEventLog: false })
    yield* report(change("created", { log: [entry("LFTD")] }))
    yield* report(change("updated", { more: { referenceNumbers: { pro: "1234567890", bol: ["B"] } }, log: [entry("XYZ")] }))
    yield* report(change("updated", { total: 1, log: [entry("RWE")] }))
    const notified = (url: string) => Effect.map(received(url), (all) => all.flat().map((each) => [each.pfc.header.function, "changeLog" in each.charges ? codes(each).join(" ") : "no log"].join(": ")))
    assert.deepStrictEqual(yield* notified(urls[0]!), ["PFC1: BILL LFTD", "PFC2: BILL LFTD XYZ", "PFC3: BILL LFTD XYZ RWE"])
    assert.deepStrictEqual(yield* notified(urls[1]!), ["PFC1: no log", "PFC2: no log", "PFC3: no log"])
    assert.deepStrictEqual(yield* notified(urls[2]!), ["PFC1: BILL LFTD", "PFC3: BILL LFTD RWE"])
    assert.deepStrictEqual(yield* notified(urls[3]!), ["PFC1: no log", "PFC3: no log"])
    assert.deepStrictEqual(yield* notified(urls[4]!), ["PFC1: BILL LFTD", "PFC2: BILL LFTD", "PFC3: BILL LFTD RWE"])
    assert.deepStrictEqual(yield* notified(urls[5]!), ["PFC1: BILL LFTD", "PFC3: BILL LFTD XYZ RWE"])
    assert.deepStrictEqual(yield* notified(hook), ["PFC1: no log", "PFC2: no log", "PFC3: no log"])
  }, inService))

  it.effect("reaches a default subscription at every published trigger: parties, a waived accessorial, other events of the log (SPEC-GAP-E10)", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe } = yield* makeDebtors
    yield* subscribe(debtor, { dataOptions: {} })
    const waived = { eventCode: "RES", carrierDescription: "Residential delivery, waived", chargeAmount: 0 }
    const insurance = { eventCode: "OTHR", eventSubCode: "INS" }
    yield* report(change("created"))
    yield* report(change("updated", { originName: "Another name" }))
    yield* report(change("updated", { originName: "Another name", log: [waived] }))
    yield* report(change("updated", { originName: "Another name", log: [waived, insurance] }))
    yield* report(change("updated", { originName: "Another name", log: [waived, insurance, entry("RCN")], more: { referenceNumbers: { pro: "2" } } }))
    const all = (yield* received()).flat()
    assert.deepStrictEqual(all.map((each) => each.pfc.header.function), ["PFC1", "PFC2", "PFC3", "PFC4", "PFC5"])
    assert.deepStrictEqual(all[4]!.charges.changeLog!.slice(1), [waived, insurance, entry("RCN")])
  }, inService))

  it.effect("keeps event codes as the carrier wrote them (SPEC-GAP-E7)", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe } = yield* makeDebtors
    yield* subscribe(debtor)
    const log = [{ eventCategoryName: "Bill Entry", eventCode: "BILL" }, { eventCode: "RCN" }, { eventCode: "xyz", carrierDescription: "own" }]
    yield* report(change("created", { log }))
    yield* report(change("final", { log: [...log, { eventCode: "INV" }] }))
    assert.deepStrictEqual((yield* received()).flat().map((each) => each.charges.changeLog), [log, [...log, { eventCode: "INV" }]])
  }, inService))

  it.effect("that is removed gives the carrier's reason to its debtor (SPEC-GAP-E13)", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe } = yield* makeDebtors
    yield* subscribe(debtor)
    const removal = (charges: Readonly<Record<string, unknown>>) => ({ change: "removed", pfc: { pfc: { uniqueID: "1234567890EXLA20241120" }, charges } })
    const cancelled = { eventCategoryName: "Account CHG - Cancel", eventCode: "Cancel", carrierDescription: "Billed twice" }
    const message = { informationalMessage: "This bill was entered twice." }
    yield* report(change("created", { log: [entry("LFTD")] }))
    yield* report(removal({ changeLog: [entry("LFTD"), cancelled], changeLogMessages: [message], grossCharges: 5 }))
    yield* report(change("updated"))
    yield* report(removal({ changeLog: [{ eventCode: "OTHR", carrierDescription: "Void" }] }))
    const [, first, , second] = (yield* received()).flat()
    assert.deepStrictEqual([first!.charges.changeLog, first!.charges.changeLogMessages, first!.charges["grossCharges"]], [[cancelled], [message], 0])
    assert.deepStrictEqual(codes(second!), ["CANCEL", "OTHR"])
    assert.deepStrictEqual(second!.charges.changeLogMessages, [{ informationalMessage: "You are no longer the debtor of this shipment." }])
  }, inService))

  it.effect("has its version as function, beside the header and in it (SPEC-GAP-E20)", Effect.fnUntraced(function*() {
    const { debtor, intake, received, report, subscribe, tenant } = yield* makeDebtors
    yield* subscribe(debtor)
    const first = change("created")
    const named = (names: Readonly<Record<string, unknown>>) => ({ ...first, pfc: { ...first.pfc, pfc: { ...first.pfc.pfc, ...names } } })
    yield* report(named({ function: "PFC1" }))
    yield* report(change("removed"))
    assert.deepStrictEqual((yield* received()).flat().map(({ pfc }) => [pfc.function, pfc.header.function]), [["PFC1", "PFC1"], ["PFC2", "PFC2"]])
    const { results } = yield* intake.report(tenant.carrier, untyped({ charges: [named({ function: "PFC3", header: { function: "PFC4" } })] }), { partial: true })
    assert.deepStrictEqual(results.map((each) => "faults" in each ? each.faults.map(({ pointer }) => pointer) : each.result), [["/charges/0/pfc/pfc/function"]])
  }, inService))

  it.effect("is stored once for all subscriptions that get equal bytes", Effect.fnUntraced(function*() {
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
