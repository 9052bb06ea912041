import { assert, describe, it } from "@effect/vitest"
import { isAccountChange, isBillEntry, isCancellation, isInvoiced, isPublished, type LogItem } from "@waybill/core/freight-charges"

const cases: Readonly<Record<string, { readonly is: (entry: LogItem) => boolean; readonly some: ReadonlyArray<LogItem>; readonly others: ReadonlyArray<LogItem> }>> = {
  "a bill entry has its name, or the code BILL in any case": {
    is: isBillEntry,
    some: [{ eventCategoryName: "BILL Entry" }, { eventCode: " bill" }, { carrierCode: "Bill" }],
    others: [{}, { eventCategoryName: "Bill" }, { eventCode: "OTHR" }, { eventSubCode: "BILL" }]
  },
  "a cancellation has the code CANCEL in any case": {
    is: isCancellation,
    some: [{ eventCode: "cancel " }, { carrierCode: "CANCEL", eventCode: "ACTCHG" }],
    others: [{}, { eventCode: "ACTCHG" }, { eventCategoryName: "CANCEL" }]
  },
  "an account change has the code ACTCHG, or the CANCEL of the examples": {
    is: isAccountChange,
    some: [{ eventCode: "actchg" }, { eventCode: "CANCEL" }],
    others: [{}, { eventCode: "RWE" }, { carrierCode: "ACTCHG" }]
  },
  "an invoice has the code FINL, or the INV of the examples": { is: isInvoiced, some: [{ eventCode: "FINL" }, { eventCode: "INV" }], others: [{}, { eventCode: "RWE" }] },
  "a published event has a code of the list": { is: isPublished, some: [{ eventCode: "RWE" }, { eventCode: "RCN" }], others: [{}, { eventCode: "XYZ" }] }
}

describe("the entries of a change log (SPEC-GAP-E7)", () => {
  it.each(Object.entries(cases))("%s", (_, { is, others, some }) => {
    assert.deepStrictEqual([some.filter((entry) => !is(entry)), others.filter(is)], [[], []])
  })
})
