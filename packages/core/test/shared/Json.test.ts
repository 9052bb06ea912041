import { assert, describe, it } from "@effect/vitest"
import { canonicalText, maxDepth, nestsDeeperThan } from "@waybill/core"
import { int, json } from "../arbitraries.ts"
import { isSmallJson, mergePatch } from "../../src/shared/Json.ts"

/** RFC 7396, appendix A: target, patch, result. */
const appendix: ReadonlyArray<readonly [string, string, string]> = [
  ["{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"],
  ["{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"],
  ["{\"a\":\"b\"}", "{\"a\":null}", "{}"],
  ["{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"],
  ["{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"],
  ["{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"],
  ["{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"],
  ["{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"],
  ["[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"],
  ["{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"],
  ["{\"a\":\"foo\"}", "null", "null"],
  ["{\"a\":\"foo\"}", "\"bar\"", "\"bar\""],
  ["{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"],
  ["[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"],
  ["{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"]
]

describe("mergePatch", () => {
  it.for(appendix)("merges %s with the patch %s into %s", ([target, patch, result]) => {
    assert.deepStrictEqual(mergePatch(JSON.parse(target), JSON.parse(patch)), JSON.parse(result))
  })

  it("keeps a member called __proto__ as data and touches no prototype", () => {
    const merged = mergePatch({}, JSON.parse("{\"__proto__\":{\"polluted\":true},\"constructor\":{\"prototype\":{\"polluted\":true}}}"))
    assert.strictEqual(({} as { polluted?: unknown }).polluted, undefined)
    assert.strictEqual(Object.getPrototypeOf(merged), Object.prototype)
    assert.deepStrictEqual(Object.keys(merged as object), ["__proto__", "constructor"])
  })

  it("removes a member called __proto__ like any other", () => {
    const patch = JSON.parse("{\"__proto__\":null}")
    assert.deepStrictEqual(Object.keys(mergePatch(JSON.parse("{\"__proto__\":1,\"a\":2}"), patch) as object), ["a"])
  })

  it.prop("is idempotent", [json, json], ([target, patch]) => {
    const once = mergePatch(target, patch)
    assert.strictEqual(canonicalText(mergePatch(once, patch)), canonicalText(once))
  })

  it.prop("does not modify target or patch", [json, json], ([target, patch]) => {
    const before = [canonicalText(target), canonicalText(patch)]
    mergePatch(target, patch)
    assert.deepStrictEqual([canonicalText(target), canonicalText(patch)], before)
  })
})

describe("canonicalText", () => {
  it("is equal for equal content in another order", () => {
    assert.strictEqual(canonicalText({ b: [1, { d: 2, c: 3 }], a: "x" }), canonicalText({ a: "x", b: [1, { c: 3, d: 2 }] }))
  })

  it("distinguishes an absent member from null, a list from an object, and a number from its text", () => {
    const texts = [{}, { a: null }, { a: [] }, { a: {} }, { a: 1 }, { a: "1" }, { a: ["1"] }].map(canonicalText)
    assert.strictEqual(new Set(texts).size, texts.length)
  })

  it("is equal for every spelling of a date-time, local or with an offset, and differs for another time or offset (SPEC-GAP-X8)", () => {
    const same = (...texts: ReadonlyArray<string>) => new Set(texts.map((at) => canonicalText({ at }))).size === 1
    assert.isTrue(same("2026-11-20T08:00:00Z", "2026-11-20T08:00:00.000Z", "2026-11-20T08:00:00+00:00", "2026-11-20T08:00:00.0-00:00", "2026-11-20t08:00:00z"))
    assert.isTrue(same("2026-11-20T08:00:00.12-06:00", "2026-11-20T08:00:00.120000-06:00"))
    assert.isTrue(same("2026-11-20T08:00:00", "2026-11-20T08:00:00.000"))
    // no date-time has so many digits, and this must not take long either
    assert.strictEqual(canonicalText(`2026-11-20T08:00:00.${"0".repeat(300_000)}x`).length, 300_023)
    const others = ["2026-11-20T08:00:00Z", "2026-11-20T08:00:00", "2026-11-20T08:00:00.1Z", "2026-11-20T08:00:01Z", "2026-11-20T02:00:00-06:00", "2026-11-20", "at 2026-11-20T08:00:00Z"]
    for (const one of others) for (const other of others) assert.strictEqual(same(one, other), one === other, `${one} ${other}`)
  })

  it("leaves out undefined members, as JSON does", () => assert.strictEqual(canonicalText({ a: undefined, b: 1 }), "{\"b\":1}"))

  it.prop("parses back to the JSON of the value", [json], ([value]) => {
    const text = JSON.stringify(value)
    if (text !== undefined) assert.deepStrictEqual(JSON.parse(canonicalText(value)), JSON.parse(text))
  })
})

describe("nestsDeeperThan", () => {
  it("counts objects and lists, not leaves", () => {
    assert.isFalse(nestsDeeperThan("x", 0))
    assert.isTrue(nestsDeeperThan({}, 0))
    assert.isFalse(nestsDeeperThan({ a: [1] }, 2))
    assert.isTrue(nestsDeeperThan({ a: [{}] }, 2))
  })

  it("survives nesting that would overflow the stack", () => {
    let deep: unknown = 1
    for (let n = 0; n < 200_000; n++) deep = [deep]
    assert.isTrue(nestsDeeperThan(deep, 64))
  })
})

describe("isSmallJson", () => {
  const encoder = new TextEncoder()
  const bytesOf = (value: unknown) => encoder.encode(JSON.stringify(value) ?? "").length

  it.prop("never allows less than the text has", [json, int(0, 400)], ([value, bytes]) => {
    if (isSmallJson(value, bytes)) assert.isAtMost(bytesOf(value), bytes)
  })

  it("expects every character, number and member at its longest", () => {
    const values = ["\u0001".repeat(50), "\ud800".repeat(50), "船".repeat(50), -1.234567890123e-300, { ["\u0001".repeat(50)]: null }, [1, [undefined, {}], true]]
    for (const value of values) {
      assert.isFalse(isSmallJson(value, bytesOf(value) - 1))
      assert.isTrue(isSmallJson(value, 1000))
    }
  })

  it("allows the depth of input", () => {
    let nested: unknown = 1
    for (let depth = 0; depth <= maxDepth + 1; depth++, nested = [nested]) assert.strictEqual(isSmallJson(nested, 10_000), !nestsDeeperThan(nested, maxDepth))
    for (let n = 0; n < 200_000; n++) nested = [nested]
    assert.isFalse(isSmallJson(nested, 10_000_000))
  })

  it("leaves to the text what has an inexact number", () => {
    for (const value of [2 ** 53, Number.NaN, [{ a: Number.POSITIVE_INFINITY }]]) assert.isFalse(isSmallJson(value, 1000))
  })

  it("leaves to the text what may write itself or is not JSON", () => {
    class Own {
      readonly a = 1
    }
    for (const value of [new Date(0), new Own(), { toJSON: () => "x".repeat(9000) }, 1n, () => {}, Symbol("s"), { a: [1n] }]) {
      assert.isFalse(isSmallJson(value, 1000))
    }
    assert.isTrue(isSmallJson(JSON.parse("{\"__proto__\":{\"a\":[null,\"x\"]}}"), 1000))
  })
})
