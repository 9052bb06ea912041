import { SeededRandom } from "@waybill/conformance/fixtures"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { parseBody } from "../../src/shared/ParseBody.ts"

const spec = { schema: Schema.Struct({ events: Schema.Array(Schema.Unknown).check(Schema.isMaxLength(1000)) }), items: "events" }
const maxBytes = 16 * 1024 * 1024

/** Long enough to be parsed item by item. */
const blanks = " ".repeat(70_000)

const read = (text: string) => Effect.result(parseBody(new TextEncoder().encode(text), spec, maxBytes))

const whole = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return Symbol.for("no JSON")
  }
}

const bodies = [
  "{\"events\":[{\"a\":1},[2,[3]],\"4\",5,null,{}],\"x\":[6]}",
  "[{\"a\":\"]\"},[],{\"events\":[1]}]",
  "{\"a\":{\"events\":[1,2]},\"e\\u0076ents\":[{\"b\":\"\\\\\"},2]}",
  "{\"events\":[1],\"events\":[2,{\"c\":3}]}",
  "{\"events\":{\"d\":[4]}}",
  "{\"__proto__\":{},\"events\":[]}"
]

describe("parseBody", () => {
  it.effect("keeps the last of members with the same name (SPEC-GAP-X10)", Effect.fnUntraced(function*() {
    for (const text of ["{\"accounts\":[\"A\"],\"accounts\":[\"B\"]}", "{\"accounts\":[\"A\"],\"\\u0061ccounts\":[\"B\"]}"]) {
      for (const front of ["", blanks]) assert.deepStrictEqual(yield* parseBody(new TextEncoder().encode(`${front}${text}`), spec, maxBytes), { accounts: ["B"] })
    }
  }))
})

describe("a body that is parsed item by item", () => {
  it.effect("equals the result of JSON.parse, whatever is removed or duplicated", Effect.fnUntraced(function*() {
    const chance = new SeededRandom(23)
    for (const body of bodies) {
      for (let round = 0; round < 40; round++) {
        const at = chance.below(body.length)
        const changed = round === 0 ? body : chance.share(0.5) ? body.slice(0, at) + body.slice(at + 1) : body.slice(0, at) + body[at]! + body.slice(at)
        const text = `${blanks}${changed}`
        const result = yield* read(text)
        const expected = whole(text)
        if (typeof expected === "symbol") assert.strictEqual(result._tag, "Failure", changed)
        else assert.deepStrictEqual(result, yield* Effect.result(Effect.succeed(expected)), changed)
      }
    }
  }))
})
