import { assert, describe, it } from "@effect/vitest"
import type { Principal } from "@waybill/core"
import { maxInvoiceBytes } from "@waybill/core/invoices"
import { documentsSample, invoiceSample } from "@waybill/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { json, oneOf } from "../arbitraries.ts"
import { inService } from "../inService.ts"
import { faultsOf, jsonOf, oddTexts, setup, tagOf, textOf } from "./Billing.ts"
import { untyped } from "../untyped.ts"

const charge = (more: Readonly<Record<string, unknown>>) => ({ chargeType: "BASE_CHARGE", chargeCode: "LINEHAUL", chargeUnitCode: "FLAT", ...more })

describe("creating an invoice", () => {
  it.effect("stores it as sent, and returns a message", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    const sample = invoiceSample({ more: { comments: [{ id: 1, commentText: "ä" }] } })
    assert.deepStrictEqual(yield* invoices.create(carrier, sample), { message: "Invoice INV-1 was created.", warnings: [] })
    const { body, warnings } = yield* invoices.get(carrier, "INV-1")
    assert.strictEqual(textOf(body), JSON.stringify(sample))
    assert.deepStrictEqual(warnings, [])
  }, inService))

  it.effect("accepts lines that do not add up, with a warning to writers and readers (SPEC-GAP-B8)", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    const warnings = ["The charge lines add up to 3.00 USD, the invoice amount is 3.01 USD."]
    const sample = invoiceSample({ costs: ["1.00", "2.00"], total: "3.01" })
    assert.deepStrictEqual((yield* invoices.create(carrier, sample)).warnings, warnings)
    assert.deepStrictEqual((yield* invoices.get(carrier, "INV-1")).warnings, warnings)
    assert.deepStrictEqual((yield* invoices.replace(carrier, "INV-1", sample)).warnings, warnings)
    assert.deepStrictEqual((yield* invoices.history(carrier, "INV-1")).map((each) => each.warnings), [warnings, warnings])
  }, inService))

  it.effect("answers a retry with the same content alike, and refuses other content with a known id (SPEC-GAP-B9)", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    const sample = invoiceSample()
    const first = yield* invoices.create(carrier, sample)
    assert.deepStrictEqual(yield* invoices.create(carrier, untyped(Object.fromEntries(Object.entries(sample).toReversed()))), first)
    assert.strictEqual(yield* tagOf(invoices.create(carrier, invoiceSample({ invoiceNumber: "4712" }))), "InvoiceExists")
    assert.lengthOf(yield* invoices.history(carrier, "INV-1"), 1)
    assert.strictEqual(textOf((yield* invoices.get(carrier, "INV-1")).body), JSON.stringify(sample))
  }, inService))

  it.effect("treats the same id of another carrier as another invoice, in any spelling of carrier numbers (SPEC-GAP-B6)", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    yield* invoices.create(carrier, invoiceSample({ DOT: "USDOT 0123", MC: "MC-8" }))
    yield* invoices.create(carrier, invoiceSample({ DOT: "", MC: "9" }))
    yield* invoices.create(carrier, invoiceSample({ DOT: "124", MC: "9" }))
    assert.strictEqual(yield* tagOf(invoices.create(carrier, invoiceSample({ DOT: "123", MC: "8" }))), "InvoiceExists")
    const list = yield* invoices.list(carrier, { uniqueID: "INV-1" })
    assert.deepStrictEqual(list.data.map((each) => jsonOf(each).DOT), ["", "USDOT 0123", "124"])
    // the one written last, unless a number is named
    for (const [from, DOT] of [[{}, "124"], [{ DOT: "DOT 123" }, "USDOT 0123"], [{ MC: "8" }, "USDOT 0123"]] as const) {
      assert.strictEqual(jsonOf((yield* invoices.get(carrier, "INV-1", from)).body).DOT, DOT)
    }
    assert.strictEqual(yield* tagOf(invoices.get(carrier, "INV-1", { DOT: "123", MC: "9" })), "InvoiceNotFound")
  }, inService))

  it.effect("lists every fault of an invalid invoice, and stores nothing", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    const { invoiceHeader, ...rest } = invoiceSample()
    const bad = {
      ...rest,
      uniqueID: " ",
      shipmentID: undefined,
      invoiceHeader: { ...invoiceHeader, terms: { billingTerms: "COD" }, invoiceDate: "2026-02-30", invoiceAmount: { value: 263.78 } },
      invoiceCharges: [charge({ cost: { currencyCode: "US", value: "1e3" } }), { chargeType: "OTHER" }, charge({ stopNumber: "1a" })],
      attributes: [{ id: "1" }]
    }
    const faults = yield* faultsOf(invoices.create(carrier, untyped(bad)))
    assert.deepStrictEqual(faults.map((each) => `${each.pointer} ${each.code}`).toSorted(), [
      "/attributes/0/id invalid",
      "/invoiceCharges/0/cost/currencyCode invalid",
      "/invoiceCharges/0/cost/value invalid",
      "/invoiceCharges/1 invalid",
      "/invoiceCharges/2/stopNumber invalid",
      "/invoiceHeader/invoiceAmount/currencyCode required",
      "/invoiceHeader/invoiceAmount/value invalid",
      "/invoiceHeader/invoiceDate invalid",
      "/invoiceHeader/terms/billingTerms invalid",
      "/shipmentID required",
      "/uniqueID invalid"
    ])
    assert.deepStrictEqual((yield* invoices.list(carrier, {})).data, [])
    for (const member of ["consignor", "consignee", "billingParty", "terms", "invoiceNumber", "invoiceDate", "invoiceAmount"]) {
      const { [member]: _, ...header } = invoiceHeader as Readonly<Record<string, unknown>>
      assert.deepStrictEqual((yield* faultsOf(invoices.create(carrier, untyped({ ...rest, invoiceHeader: header })))).map((each) => each.pointer), [`/invoiceHeader/${member}`])
    }
  }, inService))

  it.effect("distinguishes the three charges by chargeType (SPEC-GAP-B3)", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    const weight = { unitOfMeasure: "Pounds", value: 100.5 }
    const invoiceCharges = [
      charge({ stopNumber: "1", quantity: { unitOfMeasure: "MINUTES", value: 61 }, chargeDiscount: { discountTypeCode: "UNDISCOUNTED", discountValue: 0.5 } }),
      charge({ chargeType: "ITEM_CHARGE", itemId: 456_783, weight, dimension: { length: { unitOfMeasure: "Inches", value: 1 } }, stackable: true }),
      charge({ chargeType: "HANDLING_UNIT_CHARGE", handlingUnitId: 9, weight, handlingUnitPackageQuantity: 1.5 })
    ]
    yield* invoices.create(carrier, invoiceSample({ more: { invoiceCharges } }))
    const refused = yield* faultsOf(invoices.create(carrier, invoiceSample({
      uniqueID: "INV-2",
      more: {
        invoiceCharges: [
          charge({ chargeType: "ITEM_CHARGE", handlingUnitId: 9 }),
          charge({ chargeType: "HANDLING_UNIT_CHARGE", itemId: 9, weight: { value: 1 } }),
          { chargeType: "BASE_CHARGE", chargeUnitCode: "PER_MILE" }
        ]
      }
    })))
    assert.deepStrictEqual(refused.map((each) => each.pointer).toSorted(), [
      "/invoiceCharges/0/itemId",
      "/invoiceCharges/1/handlingUnitId",
      "/invoiceCharges/1/weight/unitOfMeasure",
      "/invoiceCharges/2/chargeCode",
      "/invoiceCharges/2/chargeUnitCode"
    ])
  }, inService))

  it.effect.prop("returns unknown fields byte for byte (SPEC-GAP-B5)", [json, json], Effect.fnUntraced(function*([first, second]) {
    const { carrier, invoices } = yield* setup
    const sample = invoiceSample({ more: { unknown: first, "ä": { deep: second } } })
    const text = JSON.stringify({ ...sample, invoiceHeader: { ...sample.invoiceHeader, ...(first === undefined ? {} : { more: first }) } })
    const sent = JSON.parse(text)
    yield* invoices.create(carrier, sent)
    assert.strictEqual(textOf((yield* invoices.get(carrier, "INV-1")).body), JSON.stringify(sent))
    assert.strictEqual(textOf((yield* invoices.list(carrier, {})).data[0]!), JSON.stringify(sent))
    assert.deepStrictEqual((yield* invoices.history(carrier, "INV-1"))[0]!.invoice, sent)
  }, inService))

  it.effect("refuses numbers that would lose digits (SPEC-GAP-B5)", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    const sent = invoiceSample({ more: { unknown: [{ n: 1 }, { n: 2 ** 53 }] } })
    assert.deepStrictEqual((yield* faultsOf(invoices.create(carrier, sent))).map((each) => each.pointer), ["/unknown/1/n"])
    const endless = invoiceSample({ more: { unknown: JSON.parse("[1e400]") } })
    assert.deepStrictEqual((yield* faultsOf(invoices.create(carrier, endless))).map((each) => each.pointer), ["/unknown/0"])
    yield* invoices.create(carrier, invoiceSample({ more: { unknown: [9_007_199_254_740_991, -0.1, 1e-9] } }))
  }, inService))

  it.effect("refuses input that is too large, too deep or not JSON", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    let deep: unknown = 1
    for (let n = 0; n < 10_000; n++) deep = { deep }
    const cycle: Record<string, unknown> = {}
    cycle["cycle"] = cycle
    for (const more of [{ x: "x".repeat(maxInvoiceBytes) }, { deep }, { cycle }, { count: 1n }, { toJSON: () => "text" }]) {
      assert.deepStrictEqual((yield* faultsOf(invoices.create(carrier, invoiceSample({ more })))).map((each) => each.pointer), [""])
    }
    for (const input of [undefined, null, [], "text", 5]) {
      assert.deepStrictEqual((yield* faultsOf(invoices.create(carrier, untyped(input)))).map((each) => each.pointer), [""])
    }
  }, inService))

  it.effect.prop("handles arbitrary input", [json, oneOf(oddTexts)], Effect.fnUntraced(function*([garbage, id]) {
    const { carrier, invoices } = yield* setup
    const calls = [
      invoices.create(carrier, untyped(garbage)),
      invoices.replace(carrier, id, untyped(garbage), untyped(garbage)),
      invoices.list(carrier, untyped(garbage)),
      invoices.list(carrier, { cursor: id }),
      invoices.get(carrier, id, untyped(garbage)),
      invoices.remove(carrier, id, untyped(garbage)),
      invoices.history(carrier, id, untyped(garbage))
    ]
    for (const call of calls) {
      const result = yield* Effect.result(call as Effect.Effect<unknown, { readonly _tag: string }>)
      if (result._tag === "Failure") assert.include(["InvalidInput", "InvoiceNotFound"], result.failure._tag)
    }
    assert.deepStrictEqual((yield* invoices.list(carrier, {})).data, [])
  }, inService))
})

describe("replacing an invoice", () => {
  it.effect("moves it with its history and documents to a corrected DOT or MC (SPEC-GAP-B16)", Effect.fnUntraced(function*() {
    const { carrier, customer, documents, invoices } = yield* setup
    const payer = customer("payer", ["A1"])
    const wrong = invoiceSample({ DOT: "1", MC: "2", accounts: ["A1"] })
    const { documents: _, ...record } = documentsSample({ DOT: "4", MC: "2", accounts: [] })
    yield* invoices.create(carrier, wrong)
    yield* documents.upload(carrier, documentsSample({ DOT: "1", MC: "2", accounts: [] }))
    for (const [DOT, MC] of [["1", "3"], ["4", "3"], ["4", "2"]] as const) {
      yield* invoices.replace(carrier, "INV-1", invoiceSample({ DOT, MC, accounts: ["A1"] }))
      assert.deepStrictEqual((yield* invoices.list(payer, {})).data.map((each) => [jsonOf(each).DOT, jsonOf(each).MC]), [[DOT, MC]])
      assert.deepStrictEqual((yield* documents.list(payer, {})).data.map(({ record }) => [record["DOT"], record["MC"]]), [[DOT, MC]])
    }
    assert.deepStrictEqual((yield* documents.get(payer, wrong.invoiceHeader.invoiceNumber)).record, record)
    const history = yield* invoices.history(carrier, "INV-1", { DOT: "4", MC: "2" })
    assert.deepStrictEqual(history.map((each) => [each.action, each.invoice.DOT, each.invoice.MC]), [["created", "1", "2"], ["replaced", "1", "3"], ["replaced", "4", "3"], ["replaced", "4", "2"]])
    assert.strictEqual((yield* documents.history(carrier, wrong.invoiceHeader.invoiceNumber, { DOT: "4", MC: "2" })).length, 1)
  }, inService))

  it.effect("leaves documents where another invoice of the previous numbers has their number", Effect.fnUntraced(function*() {
    const { carrier, customer, documents, invoices } = yield* setup
    for (const uniqueID of ["INV-1", "INV-2"]) yield* invoices.create(carrier, invoiceSample({ uniqueID, DOT: "1", MC: "2", accounts: [uniqueID] }))
    yield* documents.upload(carrier, documentsSample({ DOT: "1", MC: "2", accounts: [] }))
    yield* invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "1", MC: "3", accounts: ["INV-1"] }))
    const seenBy = (account: string) => Effect.map(documents.list(customer("payer", [account]), {}), ({ data }) => data.map(({ record }) => record["MC"]))
    assert.deepStrictEqual([yield* seenBy("INV-1"), yield* seenBy("INV-2")], [[], ["2"]])
  }, inService))

  it.effect("is refused if both numbers differ, or several carriers could be meant (SPEC-GAP-B16)", Effect.fnUntraced(function*() {
    const { carrier, invoices, of } = yield* setup
    yield* invoices.create(carrier, invoiceSample({ DOT: "1", MC: "2" }))
    const [both] = yield* faultsOf(invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "8", MC: "9" })))
    assert.deepStrictEqual([both!.pointer, both!.code], ["/DOT", "conflict"])
    assert.include(both!.detail, "DOT 1 and MC 2")
    yield* invoices.create(carrier, invoiceSample({ DOT: "8", MC: "9" }))
    const [several] = yield* faultsOf(invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "1", MC: "9" })))
    assert.strictEqual(several!.code, "conflict")
    assert.include(several!.detail, "Several carriers")
    assert.strictEqual(yield* tagOf(invoices.replace(of({ dot: "1" }), "INV-1", invoiceSample({ DOT: "7", MC: "2" }))), "InvoiceNotYours")
    assert.strictEqual(yield* tagOf(invoices.replace(of({ dot: "7" }), "INV-1", invoiceSample({ DOT: "7", MC: "2" }))), "InvoiceNotFound")
  }, inService))

  it.effect("does not take an empty number for one in common (SPEC-GAP-B16)", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    for (const [uniqueID, before, after, stored] of [["no DOT", ["", "2"], ["", "3"], "DOT (none) and MC 2"], ["no MC", ["2", ""], ["3", ""], "DOT 2 and MC (none)"]] as const) {
      yield* invoices.create(carrier, invoiceSample({ uniqueID, DOT: before[0], MC: before[1] }))
      const [fault] = yield* faultsOf(invoices.replace(carrier, uniqueID, invoiceSample({ uniqueID, DOT: after[0], MC: after[1] })))
      assert.include(fault!.detail, stored)
    }
  }, inService))

  it.effect("replaces the one with both numbers, also if another carrier's has one of them", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    for (const MC of ["2", "3"]) yield* invoices.create(carrier, invoiceSample({ DOT: "1", MC }))
    yield* invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "1", MC: "3", invoiceNumber: "4712" }))
    assert.deepStrictEqual((yield* invoices.list(carrier, {})).data.map((each) => [jsonOf(each).MC, jsonOf(each).invoiceHeader.invoiceNumber]), [["2", "4711"], ["3", "4712"]])
  }, inService))

  it.effect("replaces it as a whole, and records client, time, comments and content", Effect.fnUntraced(function*() {
    const { carrier, invoices, of } = yield* setup
    const before = invoiceSample({ accounts: ["A"], more: { old: true } })
    const after = invoiceSample({ invoiceNumber: "4712", more: { new: true } })
    yield* TestClock.adjust("1 minute")
    yield* invoices.create(carrier, before)
    yield* TestClock.adjust("1 minute")
    const answer = yield* invoices.replace(of({}, "clerk"), "INV-1", after, { id: 1, commentText: "wrong number" })
    assert.deepStrictEqual(answer, { message: "Invoice INV-1 was replaced.", warnings: [] })
    assert.strictEqual(textOf((yield* invoices.get(carrier, "INV-1")).body), JSON.stringify(after))
    const created = { at: "1970-01-01T00:01:00.000Z", client: "carrier", action: "created", comments: [], warnings: [], invoice: before }
    const replaced = { at: "1970-01-01T00:02:00.000Z", client: "clerk", action: "replaced", comments: [{ id: 1, commentText: "wrong number" }], warnings: [], invoice: after }
    const history: ReadonlyArray<unknown> = yield* invoices.history(carrier, "INV-1")
    assert.deepStrictEqual(history, [created, replaced])
  }, inService))

  it.effect("refuses different ids, unknown ids, other carriers' invoices, invalid comments and bodies, and changes nothing", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    const sample = invoiceSample()
    yield* invoices.create(carrier, sample)
    const [different] = yield* faultsOf(invoices.replace(carrier, "INV-1", invoiceSample({ uniqueID: "INV-2" })))
    assert.deepStrictEqual([different!.pointer, different!.code], ["/uniqueID", "conflict"])
    assert.strictEqual(yield* tagOf(invoices.replace(carrier, "INV-2", invoiceSample({ uniqueID: "INV-2" }))), "InvoiceNotFound")
    assert.deepStrictEqual((yield* faultsOf(invoices.replace(carrier, "INV-1", sample, untyped([{ id: "x" }])))).map((each) => each.pointer), ["/comments/0/id"])
    assert.deepStrictEqual((yield* faultsOf(invoices.replace(carrier, "INV-1", untyped({ ...sample, invoiceCharges: 5 })))).map((each) => each.pointer), ["/invoiceCharges"])
    assert.strictEqual(textOf((yield* invoices.get(carrier, "INV-1")).body), JSON.stringify(sample))
    assert.lengthOf(yield* invoices.history(carrier, "INV-1"), 1)
  }, inService))

  it.effect("keeps one of several concurrent versions, and all of them in the history", Effect.fnUntraced(function*() {
    const { carrier, invoices, of } = yield* setup
    yield* invoices.create(carrier, invoiceSample({ costs: ["0"], total: "0" }))
    const versions = Array.from({ length: 20 }, (_, n) => invoiceSample({ invoiceNumber: `no ${n}`, costs: [`${n}.00`], total: `${n}.00`, more: { n } }))
    const earlier: Array<unknown> = []
    const writers = versions.map((version, n) => invoices.replace(of({}, `client ${n}`), "INV-1", version, [{ id: n }]))
    const reader = Effect.forEach(versions, () =>
      Effect.andThen(Effect.yieldNow, Effect.map(invoices.history(carrier, "INV-1"), (history) => {
        // earlier entries stay unchanged, in their place
        assert.deepStrictEqual(history.slice(0, earlier.length), earlier)
        earlier.splice(0, earlier.length, ...history)
      })))
    yield* Effect.all([...writers, reader], { concurrency: "unbounded" })
    const history = yield* invoices.history(carrier, "INV-1")
    assert.deepStrictEqual(history.slice(0, earlier.length), earlier)
    assert.deepStrictEqual(history.map((each) => each.action), ["created", ...versions.map(() => "replaced")])
    for (const [n, version] of versions.entries()) {
      const [own, ...others] = history.filter((each) => each.client === `client ${n}`)
      assert.deepStrictEqual([own!.invoice, own!.comments, others], [version, [{ id: n }], []])
    }
    assert.deepStrictEqual(jsonOf((yield* invoices.get(carrier, "INV-1")).body), history[history.length - 1]!.invoice)
    assert.lengthOf((yield* invoices.list(carrier, {})).data, 1)
  }, inService))
})

describe("deleting an invoice", () => {
  it.effect("removes it, and keeps its history with the comments", Effect.fnUntraced(function*() {
    const { carrier, invoices, of } = yield* setup
    const sample = invoiceSample()
    yield* invoices.create(carrier, sample)
    assert.deepStrictEqual(yield* invoices.remove(carrier, "INV-1", { comments: [{ commentText: "twice" }] }), { message: "Invoice INV-1 was deleted." })
    assert.strictEqual(yield* tagOf(invoices.get(carrier, "INV-1")), "InvoiceNotFound")
    assert.strictEqual(yield* tagOf(invoices.remove(carrier, "INV-1")), "InvoiceNotFound")
    assert.strictEqual(yield* tagOf(invoices.replace(carrier, "INV-1", sample)), "InvoiceNotFound")
    assert.strictEqual(yield* tagOf(invoices.history(carrier, "INV-1")), "InvoiceNotFound")
    const from = { DOT: sample.DOT, MC: sample.MC }
    const history = yield* invoices.history(carrier, "INV-1", from)
    assert.deepStrictEqual(history.map(({ action, comments, invoice }): unknown => ({ action, comments, invoice })), [
      { action: "created", comments: [], invoice: sample },
      { action: "deleted", comments: [{ commentText: "twice" }], invoice: sample }
    ])
    for (const [who, named] of [[of({ dot: "1234567", mc: "765432" }), {}], [of({ dot: "1234567" }), { MC: sample.MC }], [of({ mc: "765432" }), { DOT: sample.DOT }]] as const) {
      assert.lengthOf(yield* invoices.history(who, "INV-1", named), 2)
    }
    yield* invoices.create(carrier, invoiceSample({ invoiceNumber: "other" }))
    assert.deepStrictEqual((yield* invoices.history(carrier, "INV-1")).map((each) => each.action), ["created", "deleted", "created"])
  }, inService))

  it.effect("refuses to choose among several carriers (SPEC-GAP-B11)", Effect.fnUntraced(function*() {
    const { carrier, invoices, of } = yield* setup
    for (const DOT of ["1", "2", "3"]) yield* invoices.create(carrier, invoiceSample({ DOT, MC: "9" }))
    const [fault] = yield* faultsOf(invoices.remove(carrier, "INV-1"))
    assert.deepStrictEqual([fault!.pointer, fault!.code], ["/uniqueID", "conflict"])
    yield* invoices.remove(carrier, "INV-1", { DOT: "1" })
    yield* invoices.remove(of({ dot: "2" }), "INV-1")
    assert.deepStrictEqual((yield* invoices.list(carrier, {})).data.map((each) => jsonOf(each).DOT), ["3"])
  }, inService))
})

describe("listing invoices", () => {
  const ids = (principal: Principal, query: unknown) =>
    Effect.gen(function*() {
      const { invoices } = yield* setup
      return (yield* invoices.list(principal, untyped(query))).data.map((each) => jsonOf(each).uniqueID as string)
    })

  it.effect("combines all five filters with AND", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    yield* invoices.create(carrier, invoiceSample({ uniqueID: "a", shipmentID: "S", invoiceNumber: "1", DOT: "1", MC: "1" }))
    yield* invoices.create(carrier, invoiceSample({ uniqueID: "b", shipmentID: "S", invoiceNumber: "2", DOT: "1", MC: "2" }))
    yield* invoices.create(carrier, invoiceSample({ uniqueID: "c", shipmentID: "T", invoiceNumber: "2", DOT: "2", MC: "2" }))
    assert.deepStrictEqual(yield* ids(carrier, {}), ["a", "b", "c"])
    assert.deepStrictEqual(yield* ids(carrier, { uniqueID: "b" }), ["b"])
    assert.deepStrictEqual(yield* ids(carrier, { shipmentID: "S" }), ["a", "b"])
    assert.deepStrictEqual(yield* ids(carrier, { DOT: "USDOT-01" }), ["a", "b"])
    assert.deepStrictEqual(yield* ids(carrier, { MC: "MC2" }), ["b", "c"])
    assert.deepStrictEqual(yield* ids(carrier, { invoiceNumber: "2" }), ["b", "c"])
    assert.deepStrictEqual(yield* ids(carrier, { uniqueID: "b", shipmentID: "S", DOT: "1", MC: "2", invoiceNumber: "2" }), ["b"])
    assert.deepStrictEqual(yield* ids(carrier, { shipmentID: "S", DOT: "2" }), [])
  }, inService))

  const cursorOf = (...position: ReadonlyArray<string>) => Buffer.from(JSON.stringify(position)).toString("base64url")

  it.effect("refuses unknown filters, so that a misspelled one does not return everything", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    for (const [query, pointer] of [[{ uniqueId: "a" }, "/uniqueId"], [{ uniqueID: "" }, "/uniqueID"], [{ limit: 0 }, "/limit"], [{ limit: 1001 }, "/limit"], [{ cursor: "x" }, "/cursor"], [{ cursor: cursorOf("INV-1", "1\u0000", "2") }, "/cursor"], [{ cursor: cursorOf("\ud800", "1", "2") }, "/cursor"]] as const) {
      assert.deepStrictEqual((yield* faultsOf(invoices.list(carrier, untyped(query)))).map((each) => each.pointer), [pointer])
    }
  }, inService))

  it.effect("continues after the previous page, at any limit (SPEC-GAP-B14)", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    const wanted = Array.from({ length: 120 }, (_, n) => `I${String(n).padStart(3, "0")}`)
    for (const uniqueID of wanted.toReversed()) yield* invoices.create(carrier, invoiceSample({ uniqueID }))
    for (const limit of [1, 7, 50, 51, 119, 120, undefined]) {
      const walked: Array<string> = []
      let cursor: string | undefined
      do {
        const page = yield* invoices.list(carrier, { ...(limit === undefined ? {} : { limit }), ...(cursor === undefined ? {} : { cursor }) })
        assert.lengthOf(page.data, Math.min(limit ?? 1000, wanted.length - walked.length))
        walked.push(...page.data.map((each) => jsonOf(each).uniqueID))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      assert.deepStrictEqual(walked, wanted)
    }
  }, inService))

  it.effect("ends a page early if invoices are large, without losing any", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    for (let n = 0; n < 20; n++) yield* invoices.create(carrier, invoiceSample({ uniqueID: `I${10 + n}`, more: { x: "x".repeat(900_000) } }))
    const first = yield* invoices.list(carrier, {})
    assert.isAtMost(first.data.reduce((sum, each) => sum + each.length, 0), 8 * 1024 * 1024)
    const second = yield* invoices.list(carrier, { cursor: first.nextCursor! })
    const third = yield* invoices.list(carrier, { cursor: second.nextCursor! })
    assert.isUndefined(third.nextCursor)
    assert.deepStrictEqual([first, second, third].flatMap((page) => page.data.map((each) => jsonOf(each).uniqueID)), Array.from({ length: 20 }, (_, n) => `I${10 + n}`))
  }, inService))
})
