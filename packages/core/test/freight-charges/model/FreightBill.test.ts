import { assert, describe, it } from "@effect/vitest"
import { applyChange, type BillChange, billDoc, billFrom, currentOf, type FreightBill, shownLog } from "@waybill/core/freight-charges"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf, oneOf } from "../../arbitraries.ts"
import { charge, read } from "../Charges.ts"

/** Results of changes in order: versions, `=` and the version for duplicates, and codes of refusals. */
const live = (...changes: ReadonlyArray<Readonly<Parameters<typeof read>>>) =>
  Effect.gen(function*() {
    let bill: FreightBill | undefined
    const became: Array<string> = []
    for (const each of changes) {
      const decision = applyChange(bill, yield* read(...each))
      if (decision._tag === "Accepted") bill = decision.bill
      became.push(decision._tag === "Accepted" ? `${currentOf(decision.bill).version} ${decision.bill.state}` : decision._tag === "Duplicate" ? `=${decision.version}` : decision.code)
    }
    return { bill: bill!, became }
  })

const categories = (bill: FreightBill) => currentOf(bill).opening.concat(currentOf(bill).log, currentOf(bill).closing).map((each) => `${each["eventCode"]} ${each["carrierCode"] ?? ""}`.trim())

describe("applyChange", () => {
  it.effect("numbers the versions of a bill from the first report to the invoice", Effect.fnUntraced(function*() {
    const { bill, became } = yield* live(["created"], ["updated", { total: 300 }], ["removed"], ["updated", { account: "B" }], ["final", { account: "B" }])
    assert.deepStrictEqual(became, ["1 open", "2 open", "3 removed", "4 open", "5 final"])
    assert.deepStrictEqual(bill.versions.map((each) => each.accounts), [["A"], ["A"], [], ["B"], ["B"]])
  }))

  it.effect("treats a repeated report as a duplicate (SPEC-GAP-E11)", Effect.fnUntraced(function*() {
    const again = yield* live(["created"], ["created"], ["updated", { total: 300 }], ["updated", { total: 300 }], ["created"], ["removed"], ["removed"], ["updated", { total: 300 }], ["final"], ["final"], ["created"])
    assert.deepStrictEqual(again.became, ["1 open", "=1", "2 open", "=2", "=1", "3 removed", "=3", "4 open", "5 final", "=5", "=1"])
  }))

  it.effect("treats a repeated report whose times another serializer wrote as a duplicate (SPEC-GAP-E11)", Effect.fnUntraced(function*() {
    const dated = (pickupDate: string) => ({ more: { shipmentTotals: { ...charge().shipmentTotals, pickupDate } } })
    const { became } = yield* live(["created", dated("2026-11-20T08:00:00Z")], ["created", dated("2026-11-20T08:00:00.000+00:00")], ["updated", dated("2026-11-20T08:00:00")], ["updated", dated("2026-11-20T08:00:00.000")])
    assert.deepStrictEqual(became, ["1 open", "=1", "2 open", "=2"])
  }))

  it.effect("uses the sender's version to find out whether a report is new, repeated or out of order (SPEC-GAP-E11)", Effect.fnUntraced(function*() {
    const one = { version: 1 }
    const two = { version: 2, total: 300 }
    const { became } = yield* live(["created", one], ["updated", two], ["created", one], ["updated", two], ["updated", { version: 2, total: 301 }], ["updated", { version: 4 }], ["removed", { version: 3 }], ["removed", { version: 3 }], ["removed", { version: 4 }])
    assert.deepStrictEqual(became, ["1 open", "2 open", "=1", "=2", "conflict", "conflict", "3 removed", "=3", "4 removed"])
    assert.deepStrictEqual((yield* live(["updated", { version: 7 }], ["updated", { total: 1 }])).became, ["7 open", "8 open"])
  }))

  it.effect("accepts the numbers of the published examples: a final notice with that of the version before, a removal and a new debtor with one (SPEC-GAP-E11)", Effect.fnUntraced(function*() {
    const ended = yield* live(["created", { version: 1 }], ["updated", { version: 2, total: 300 }], ["final", { version: 2, total: 300 }], ["final", { version: 2, total: 300 }])
    assert.deepStrictEqual(ended.became, ["1 open", "2 open", "3 final", "=3"])
    const moved = yield* live(["created", { version: 1 }], ["removed", { version: 2 }], ["created", { version: 2, account: "B" }], ["created", { version: 2, account: "B" }], ["updated", { version: 3, account: "B", total: 1 }], ["updated", { version: 3, account: "B", total: 2 }], ["final", { version: 4, account: "B", total: 1 }])
    assert.deepStrictEqual(moved.became, ["1 open", "2 removed", "3 open", "=3", "4 open", "conflict", "5 final"])
    assert.deepStrictEqual(moved.bill.versions.map((each) => shownLog(each).map((entry) => entry["eventCode"])), [["OTHR"], [], ["ACTCHG"], [], ["FINL"]])
    const anew = yield* live(["created", { version: 1 }], ["removed"], ["created", { version: 1, account: "B" }], ["updated", { version: 2, account: "B", total: 1 }])
    assert.deepStrictEqual(anew.became, ["1 open", "2 removed", "3 open", "4 open"])
  }))

  it.effect("refuses changes that the bill's state does not permit (SPEC-GAP-E11)", Effect.fnUntraced(function*() {
    assert.deepStrictEqual((yield* live(["removed"], ["final"], ["created"], ["created", { total: 1 }])).became, ["unknown_reference", "unknown_reference", "1 open", "conflict"])
    assert.deepStrictEqual((yield* live(["created"], ["final"], ["updated", { total: 1 }], ["removed"], ["created", { total: 2 }])).became, ["1 open", "2 final", "conflict", "conflict", "conflict"])
    assert.deepStrictEqual((yield* live(["created"], ["removed"], ["created"])).became, ["1 open", "2 removed", "3 open"])
  }))

  it.effect("says which number comes next, and what the bill's state does not permit (SPEC-GAP-E11)", Effect.fnUntraced(function*() {
    const last = Effect.fnUntraced(function*(...changes: ReadonlyArray<Parameters<typeof read>>) {
      const { bill } = yield* live(...changes.slice(0, -1))
      const decision = applyChange(bill, yield* read(...changes.at(-1)!))
      return decision._tag === "Refused" ? [decision.path.join("/"), decision.detail.replace(/^.*(?:: |, with )/u, "")] : []
    })
    const one: Parameters<typeof read> = ["created", { version: 1 }]
    assert.deepStrictEqual(yield* last(one, ["updated", { version: 4 }]), ["pfc/pfc/header/function", "its next version is PFC2. Send PFC2, or leave header.function out."])
    assert.deepStrictEqual(yield* last(one, ["updated", { version: 1, total: 1 }]), ["pfc/pfc/header/function", "PFC1 is known with other content. Send PFC2, or leave header.function out."])
    assert.deepStrictEqual(yield* last(one, ["final"], ["updated", { total: 1 }]), ["change", "it was invoiced, and nothing changes any more."])
    assert.deepStrictEqual(yield* last(one, ["updated", { total: 1 }], ["created", { total: 1 }]), ["change", "other content. Report what changed as updated."])
    assert.strictEqual((yield* last(["removed"]))[0], "pfc/pfc/uniqueID")
  }))

  it.effect("continues the sender's count or its own after a removal, and starts again at 1 only with a bill (SPEC-GAP-E11)", Effect.fnUntraced(function*() {
    const removed = [["created", { version: 1 }], ["updated", { version: 2, total: 1 }], ["removed", { version: 3 }]] as const
    for (const [change, became] of [
      [["created", { version: 7, account: "B" }], "conflict"],
      [["updated", { version: 1, account: "B" }], "conflict"],
      [["created", { version: 1, account: "B" }], "4 open"],
      [["updated", { version: 3, account: "B" }], "4 open"]
    ] as const) assert.strictEqual((yield* live(...removed, change)).became.at(-1), became)
    // version 4 has the number 3
    const labelled = [...removed, ["updated", { version: 3, account: "B" }]] as const
    for (const version of [4, 5]) assert.strictEqual((yield* live(...labelled, ["updated", { version, account: "B", total: 2 }])).became.at(-1), "5 open")
  }))

  it.effect("belongs to the carrier that reports it first, and is unknown to others", Effect.fnUntraced(function*() {
    const [created, updated] = [yield* read("created"), yield* read("updated", { total: 1 })]
    const [own, free] = [applyChange(undefined, created, ["dot 1", "mc 1"]), applyChange(undefined, created)]
    assert(own._tag === "Accepted" && free._tag === "Accepted")
    assert.deepStrictEqual([own.bill.carrier, free.bill.carrier], [["dot 1", "mc 1"], undefined])
    const tags = [[own.bill, ["mc 1"]], [own.bill, undefined], [own.bill, ["dot 2"]], [free.bill, ["dot 1"]]] as const
    assert.deepStrictEqual(tags.map(([bill, writer]) => applyChange(bill, updated, writer)._tag), ["Accepted", "Accepted", "Refused", "Refused"])
  }))

  it.effect("of another carrier is not to be reported as created first", Effect.fnUntraced(function*() {
    const theirs = applyChange(undefined, yield* read("created"), ["dot 1"])
    assert(theirs._tag === "Accepted")
    const detailOf = Effect.fnUntraced(function*(change: BillChange) {
      const decision = applyChange(theirs.bill, yield* read(change), ["dot 2"])
      return decision._tag === "Refused" ? decision.detail : decision._tag
    })
    for (const change of ["created", "updated"] as const) assert.match(yield* detailOf(change), /^You have no bill .*\. Use another uniqueID/)
    for (const change of ["removed", "final"] as const) assert.match(yield* detailOf(change), /^You have no bill .*\. Report it as created first\.$/)
  }))

  it.effect("knows which versions may change the price (SPEC-GAP-E10)", Effect.fnUntraced(function*() {
    const { bill } = yield* live(
      ["created"],
      ["updated", { more: { referenceNumbers: { pro: "2" } } }],
      ["updated", { log: [{ eventCode: "XYZ" }] }],
      ["updated", { log: [{ eventCode: "XYZ" }, { eventCode: "RWE" }] }],
      ["updated", { total: 1 }],
      ["updated", { total: 1, accounts: ["A", "B"] }],
      ["updated", { total: 1, accounts: ["A", "C"] }],
      ["updated", { total: 1, accounts: ["A"] }],
      ["removed"]
    )
    assert.deepStrictEqual(bill.versions.map((each) => each.impact), [true, false, false, true, true, true, true, true, true])
    // each change of the accounts, and no other one, has an entry
    assert.deepStrictEqual(bill.versions.map((each) => each.opening.length), [1, 0, 0, 0, 0, 1, 1, 1, 0])
    assert.isTrue((yield* live(["created"], ["final"])).bill.versions[1]!.impact)
  }))

  it.effect("keeps its content when it is removed, and the reason with entries that its debtor has had", Effect.fnUntraced(function*() {
    const [a, b, c] = ["RWE", "LFTD", "RES"].map((eventCode) => ({ eventCode }))
    const created = yield* live(["created", { log: [a!, b!] }])
    const removed = applyChange(created.bill, { ...(yield* read("removed")), log: [b!, c!] })
    assert(removed._tag === "Accepted")
    assert.deepStrictEqual([removed.bill.charge, currentOf(removed.bill).log], [created.bill.charge, [b, c]])
  }))

  it.effect("compares content in any order of members, including the accounts", Effect.fnUntraced(function*() {
    const { became } = yield* live(["created", { accounts: ["A", "B"] }], ["created", { accounts: ["B", "A", "B"] }], ["updated", { accounts: ["A"] }])
    assert.deepStrictEqual(became, ["1 open", "=1", "2 open"])
    const plain = yield* read("created")
    const turned = yield* read("created", { more: Object.fromEntries(Object.entries({ payment: { terms: "Prepaid" } }).reverse()) })
    assert.strictEqual(plain.fingerprint, turned.fingerprint)
  }))

  it.effect("compares its id by letters and digits, so that another spelling is a duplicate (SPEC-GAP-E4)", Effect.fnUntraced(function*() {
    const more = { referenceNumbers: { pro: "1234567890", bol: ["B"] } }
    const spelt = "123-456-7890 exla20241120"
    const { became } = yield* live(["created", { more }], ["created", { more, uniqueID: spelt }], ["updated", { more, total: 300 }], ["updated", { more, total: 300, uniqueID: spelt }])
    assert.deepStrictEqual(became, ["1 open", "=1", "2 open", "=2"])
  }))

  it.effect("adds missing log entries, and none that exists (SPEC-GAP-E8)", Effect.fnUntraced(function*() {
    const moved = yield* live(["created"], ["updated", { account: "B" }])
    assert.deepStrictEqual(moved.bill.versions.map((each) => shownLog(each).map((entry) => entry["eventCategoryName"])), [["Bill Entry"], ["Account CHG"]])
    const own = yield* live(["created", { log: [{ eventCategoryName: "Bill Entry", eventCode: "BILL" }] }], ["updated", { account: "B", log: [{ eventCode: "ACTCHG" }, { eventCode: "RWE" }] }], ["final", { account: "B", log: [{ eventCode: "INV" }] }])
    assert.deepStrictEqual(own.bill.versions.map((each) => shownLog(each).length), [1, 2, 1])
    assert.deepStrictEqual(categories((yield* live(["created"], ["final", { log: [{ eventCode: "RWE" }] }])).bill), ["RWE", "FINL"])
  }))

  it.effect("finds the new entries in complete logs and in partial logs (SPEC-GAP-E9)", Effect.fnUntraced(function*() {
    const [a, b, c] = ["RWE", "LFTD", "RES"].map((eventCode) => ({ eventCode }))
    const logs = (bill: FreightBill) => bill.versions.map((each) => each.log.map((entry) => entry["eventCode"]))
    const toDate = yield* live(["created", { log: [a!] }], ["updated", { log: [a!, b!], messages: [{ informationalMessage: "b" }] }], ["updated", { log: [a!, b!, c!], messages: [{ informationalMessage: "b" }, { informationalMessage: "c" }] }])
    assert.deepStrictEqual(logs(toDate.bill), [["RWE"], ["LFTD"], ["RES"]])
    assert.deepStrictEqual(toDate.bill.versions.map((each) => each.messages.length), [0, 1, 1])
    const only = yield* live(["created", { log: [a!] }], ["updated", { log: [b!] }], ["updated", { log: [c!] }])
    assert.deepStrictEqual(logs(only.bill), logs(toDate.bill))
    const likeBefore = yield* live(["created", { log: [a!, b!] }], ["updated", { log: [a!, c!] }], ["updated", { total: 1, log: [a!, b!, a!, c!] }])
    assert.deepStrictEqual(logs(likeBefore.bill), [["RWE", "LFTD"], ["RWE", "RES"], []])
    const asShown = yield* live(["created", { log: [a!] }], ["updated", { log: [{ eventCategoryName: "Bill Entry", eventCode: "OTHR", carrierCode: "BILL" }, a!, b!] }])
    assert.deepStrictEqual(logs(asShown.bill), [["RWE"], ["LFTD"]])
  }))

  it.effect("leaves out log entries of another debtor, even if they are repeated (SPEC-GAP-E9)", Effect.fnUntraced(function*() {
    const [a, b, c] = ["RWE", "LFTD", "RES"].map((eventCode) => ({ eventCode }))
    const { bill } = yield* live(["created", { log: [a!, b!] }], ["updated", { account: "B", log: [b!, { eventCode: "ACTCHG" }, a!, c!] }], ["updated", { account: "B", log: [c!, b!, a!] }])
    assert.deepStrictEqual(bill.versions.map((each) => each.log.map((entry) => entry["eventCode"])), [["RWE", "LFTD"], ["ACTCHG", "RES"], ["RES"]])
    // as often as the other one has them
    const often = yield* live(["created", { log: [a!, b!, a!] }], ["updated", { account: "B", log: [c!, a!, a!, a!, b!, b!] }])
    assert.deepStrictEqual(currentOf(often.bill).log.map((entry) => entry["eventCode"]), ["RES", "RWE", "LFTD"])
  }))

  it.effect.prop("numbers versions without gaps, and keeps its state in storage", [
    listOf(Arbitrary.all({ what: oneOf(["created", "updated", "updated", "removed", "final"] as const), total: int(0, 3), account: oneOf(["A", "B"]), given: int(0, 6) }), 1, 25)
  ], ([changes]) =>
    Effect.gen(function*() {
      let bill: FreightBill | undefined
      for (const { account, given, total, what } of changes) {
        const asked = yield* read(what, { account, total, ...(given === 0 ? {} : { version: given }) })
        const decision = applyChange(bill, asked)
        if (decision._tag === "Refused") continue
        if (decision._tag === "Duplicate") {
          assert.isTrue(bill!.versions.some((each) => each.version === decision.version && each.fingerprint === asked.fingerprint))
          continue
        }
        const before = bill === undefined ? undefined : currentOf(bill).version
        bill = decision.bill
        assert.strictEqual(currentOf(bill).version, before === undefined ? Math.max(1, given) : before + 1)
        assert.strictEqual(currentOf(bill).accounts.length === 0, bill.state === "removed")
        // the accepted change is known from now on
        assert.strictEqual(applyChange(bill, asked)._tag, "Duplicate")
        assert.deepStrictEqual(billFrom({ billId: bill.billId, state: bill.state, doc: billDoc(bill) }), bill)
      }
    }))
})
