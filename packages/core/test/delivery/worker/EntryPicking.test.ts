import { pickEntries, type WaitingEntry } from "@waybill/core/delivery"
import { assert, describe, it } from "vitest"

const limits = { batches: 2, maxSize: 2, maxBytes: 100 }

const entry = (key: string, parts: Partial<WaitingEntry> = {}): WaitingEntry => ({ key, size: 1, held: false, unseen: false, readable: true, ...parts })

const pick = (entries: ReadonlyArray<WaitingEntry>, { after, more = false, ...changed }: Partial<typeof limits> & { readonly after?: string; readonly more?: boolean } = {}) => {
  const { batches, ...rest } = pickEntries(after, { entries, more }, { ...limits, ...changed })
  return { ...rest, batches: batches.map((batch) => batch.map(({ key }) => key).join("")) }
}

const whole = { more: false, blocked: false, unseenKeys: [] }

describe("a take from a destination", () => {
  it("takes everything that fits, and goes on behind it", () => {
    assert.deepStrictEqual(pick([entry("A"), entry("B"), entry("C")]), { ...whole, batches: ["AB", "C"], after: "C" })
  })

  it("stops in front of the first entry that no batch is left for", () => {
    assert.deepStrictEqual(pick(["A", "B", "C", "D", "E"].map((key) => entry(key)), { more: true }), { ...whole, batches: ["AB", "CD"], after: "D", more: true })
  })

  it("takes nothing where nothing waits", () => assert.deepStrictEqual(pick([], { after: "K" }), { ...whole, batches: [], after: "K" }))

  it("leaves the rest of a key to another take, and counts no room for it", () => {
    assert.deepStrictEqual(pick([entry("A"), entry("A"), entry("A"), entry("B"), entry("B")]), { ...whole, batches: ["AA", "BB"], after: "B", blocked: true })
  })

  it("passes over keys of unfinished deliveries, and reports them", () => {
    assert.deepStrictEqual(pick([entry("A", { held: true }), entry("B")]), { ...whole, batches: ["B"], after: "B", blocked: true })
  })

  it("passes over every entry of a key of which one may not be seen, and names it once", () => {
    const entries = [entry("A"), entry("A", { unseen: true }), entry("A", { unseen: true }), entry("B")]
    assert.deepStrictEqual(pick(entries), { ...whole, batches: ["B"], after: "B", unseenKeys: ["A"] })
  })

  it("reports the rest of a key whose bytes were not read", () => {
    assert.deepStrictEqual(pick([entry("A"), entry("A", { readable: false })], { more: true }), { ...whole, batches: ["A"], after: "A", more: true, blocked: true })
  })

  it("stops behind the last key whose bytes were read", () => {
    assert.deepStrictEqual(pick([entry("A"), entry("B", { readable: false })]), { ...whole, batches: ["A"], after: "A", more: true })
  })

  it("reports that the last key may go on where not everything was read", () => {
    assert.deepStrictEqual(pick([entry("A", { held: true }), entry("B", { held: true })], { more: true }), { ...whole, batches: [], after: "B", more: true, blocked: true })
    assert.deepStrictEqual(pick([entry("A")], { more: true }), { ...whole, batches: ["A"], after: "A", more: true, blocked: true })
  })

  it("ends a batch where the shares of its bytes add up, and lets one large entry exceed it", () => {
    const sizes = [40, 40, 10, 90, 10]
    const batches = pickEntries(undefined, { entries: sizes.map((size, n) => entry(`K${n}`, { size })), more: false }, { batches: 9, maxSize: 10, maxBytes: 100 }).batches
    assert.deepStrictEqual(batches.map((batch) => batch.map(({ size }) => size)), [[40, 40], [10, 90], [10]])
  })
})
