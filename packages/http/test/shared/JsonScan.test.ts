import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import { Schema } from "effect"
import { listLimitsOf } from "@waybill/core"
import { type Exceeded, JsonScan, type ScanLimits } from "../../src/shared/JsonScan.ts"

const encoder = new TextEncoder()

const unlimited: ScanLimits = { maxDepth: 1e9, maxValues: 1e9, maxMembers: 1e9, lists: {} }

/** The result of a scan in chunks of this size, and the scan. */
const scanned = (text: string | Uint8Array, limits: Partial<ScanLimits> = {}, piece = 7) => {
  const scan = new JsonScan(typeof text === "string" ? encoder.encode(text) : text, { ...unlimited, ...limits })
  for (;;) {
    const verdict = scan.step(piece)
    if (verdict !== undefined) return { scan, verdict }
  }
}

const exceededBy = (text: string, limits: Partial<ScanLimits>): Exceeded => {
  const { verdict } = scanned(text, limits)
  assert.notStrictEqual(verdict, "done")
  return verdict as Exceeded
}

interface Counts {
  readonly values: number
  readonly depth: number
  readonly longestList: number
  readonly mostMembers: number
}

const countsOf = (value: unknown): Counts => {
  if (typeof value !== "object" || value === null) return { values: 1, depth: 0, longestList: 0, mostMembers: 0 }
  const inner = (Array.isArray(value) ? value : Object.values(value)).map(countsOf)
  const most = (of: (counts: Counts) => number) => Math.max(0, ...inner.map(of))
  return {
    values: 1 + inner.reduce((sum, each) => sum + each.values, 0),
    depth: 1 + most((each) => each.depth),
    longestList: Math.max(most((each) => each.longestList), Array.isArray(value) ? value.length : 0),
    mostMembers: Math.max(most((each) => each.mostMembers), Array.isArray(value) ? 0 : inner.length)
  }
}

/** Limits in which every list has this maximum, three levels down. */
const listsUpTo = (maxItems: number, names: ReadonlyArray<string>, levels = 6): ScanLimits["lists"] => {
  if (levels === 0) return {}
  const inner = listsUpTo(maxItems, names, levels - 1)
  return { maxItems, items: inner, members: new Map(names.map((name) => [name, inner])) }
}

const names = ["a", "b\"\\", "ä", "__proto__", "events"]

const int = (maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))

/** JSON text with random blanks and escapes, built from numbers. */
const jsonText: Arbitrary.Arbitrary<string> = Arbitrary.map(Arbitrary.array(int(1_000_000), { minLength: 1, maxLength: 60 }), (numbers) => {
  let at = 0
  const next = (below: number) => (numbers[at++ % numbers.length]! + at) % below
  const blank = () => ["", "", " ", "\n\t", "\r "][next(5)]!
  const leaves = ["null", "true", "false", "0", "-1.5e9", "\"\"", "\"x\\\\\"", "\"\\\"{[,:\"", "\"\\u007d\"", "\"😀\""]
  const value = (depth: number): string => {
    const kind = next(depth > 5 ? 2 : 5)
    if (kind < 2) return leaves[next(leaves.length)]!
    const size = next(4)
    if (kind === 2) return `[${blank()}${Array.from({ length: size }, () => value(depth + 1)).join(`${blank()},${blank()}`)}${blank()}]`
    const members = names.slice(0, size).map((name) => `${blank()}${JSON.stringify(name)}${blank()}:${blank()}${value(depth + 1)}`)
    return `{${members.join(`${blank()},`)}${blank()}}`
  }
  return `${blank()}${value(0)}${blank()}`
})

describe("JsonScan", () => {
  it.prop("counts the values and depth that JSON.parse finds", [jsonText], ([text]) => {
    const { scan, verdict } = scanned(text)
    const { depth, values } = countsOf(JSON.parse(text))
    assert.deepStrictEqual([verdict, scan.values, scan.deepest], ["done", values, depth])
  })

  it.prop("accepts exactly the input within each limit", [jsonText], ([text]) => {
    const { depth, longestList, mostMembers, values } = countsOf(JSON.parse(text))
    const judged = (limits: Partial<ScanLimits>) => {
      const { verdict } = scanned(text, limits)
      return verdict === "done" ? verdict : verdict.what
    }
    assert.strictEqual(judged({ maxValues: values }), "done")
    assert.strictEqual(judged({ maxValues: values - 1 }), "values")
    assert.strictEqual(judged({ maxDepth: depth }), "done")
    if (depth > 0) assert.strictEqual(judged({ maxDepth: depth - 1 }), "depth")
    assert.strictEqual(judged({ maxMembers: mostMembers }), "done")
    if (mostMembers > 0) assert.strictEqual(judged({ maxMembers: mostMembers - 1 }), "members")
    assert.strictEqual(judged({ lists: listsUpTo(longestList, names, 9) }), "done")
    if (longestList > 0) assert.strictEqual(judged({ lists: listsUpTo(longestList - 1, names, 9) }), "items")
  })

  it.prop("returns the same result wherever the body is split", [jsonText, int(12)], ([text, piece]) => {
    const limits = { maxDepth: 4, maxValues: 30, maxMembers: 3, lists: listsUpTo(2, names) }
    assert.deepStrictEqual(scanned(text, limits, piece + 1).verdict, scanned(text, limits, 1e6).verdict)
  })

  it.prop("scans arbitrary bytes to their end or to a limit", [Arbitrary.array(int(255), { minLength: 0, maxLength: 300 }), int(9)], ([bytes, piece]) => {
    const { verdict } = scanned(Uint8Array.from(bytes), { maxDepth: 10, maxValues: 100, maxMembers: 10, itemsIn: "a", maxItemBytes: 50, lists: listsUpTo(2, names) }, piece + 1)
    assert.isTrue(verdict === "done" || verdict._tag === "Exceeded")
  })

  it.prop("finds the bytes of every item of a list", [Arbitrary.array(jsonText, { minLength: 0, maxLength: 8 }), int(30)], ([items, piece]) => {
    for (const text of [`[${items.join(",")}]`, `{"b":[1,[2]],"events" : [${items.join(" , ")}] ,"a":{"events":[3]}}`]) {
      const { scan } = scanned(text, { itemsIn: "events" }, piece + 1)
      const bytes = encoder.encode(text)
      const found = scan.ranges.map(({ from, to }) => JSON.parse(new TextDecoder().decode(bytes.subarray(from, to))))
      assert.deepStrictEqual(found, items.map((item) => JSON.parse(item)))
    }
  })

  it("names the list that is too long, however its name is escaped", () => {
    const lists = listLimitsOf(Schema.Struct({
      "a/b": Schema.Array(Schema.Struct({ list: Schema.NullOr(Schema.Array(Schema.String).check(Schema.isMaxLength(2, { message: "At most two." }))) }))
        .check(Schema.isMaxLength(5))
    }))
    assert.deepStrictEqual(exceededBy("{\"x\":[1,2,3],\"a\\/b\":[{},{\"li\\u0073t\":[1,2,3", { lists }), {
      _tag: "Exceeded", what: "items", limit: 2, path: ["a/b", 1, "list"], message: "At most two."
    })
  })

  it("refuses an item that is too large before it ends", () => {
    assert.deepStrictEqual(exceededBy(`{"events":[{},{"a":"${"x".repeat(200)}`, { itemsIn: "events", maxItemBytes: 100 }), {
      _tag: "Exceeded", what: "itemBytes", limit: 100, path: ["events", 1]
    })
  })
})

describe("listLimitsOf", () => {
  it("refuses a schema that contains a list without a limit", () => {
    assert.throws(() => listLimitsOf(Schema.Struct({ a: Schema.Struct({ b: Schema.Array(Schema.String) }) })), "The list at /a/b of an input")
  })
})
