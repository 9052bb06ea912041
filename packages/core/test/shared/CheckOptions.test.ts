import { assert, describe, it } from "@effect/vitest"
import { checkOptions, optionKinds } from "@waybill/core"

const { any, boolean, count, function: callback, list, millis, object, period, text } = optionKinds
const check = (options: unknown) => () => checkOptions("createWaybill", options, { storage: any, authenticate: callback, retention: object, mail: callback })

describe("options", () => {
  it("have the names of the function; a misspelt one is refused with the nearest name", () => {
    check({ storage: {}, mail: undefined })()
    check({ misspelt: undefined })()
    assert.throws(check({ autenticate: 1 }), TypeError, "createWaybill has no option autenticate. Did you mean authenticate? It has storage, authenticate, retention, mail.")
    assert.throws(check({ zzzzzzzz: 1 }), TypeError, "createWaybill has no option zzzzzzzz. It has storage, authenticate, retention, mail.")
    assert.throws(check({ toString: 1 }), TypeError, "createWaybill has no option toString.")
  })

  it("belong to an object", () => {
    for (const options of [undefined, null, "postgres://db", ["storage"]]) {
      assert.throws(check(options), TypeError, "createWaybill takes an object with options: storage, authenticate, retention and others.")
    }
  })

  it.each([
    ["any value but null", any, [0, "", false, {}], [null]],
    ["booleans", boolean, [true, false], [null, 0, "true"]],
    ["counts", count, [1, 2_147_483_647], [null, 0, -1, 1.5, NaN, Infinity, 2 ** 31, "1"]],
    ["functions", callback, [() => {}], [null, "x", {}]],
    ["lists", list, [[]], [null, "x", {}, new Set()]],
    ["milliseconds of a timer", millis, [0.5, 2 ** 31 - 1], [null, 0, -1, NaN, 2 ** 31, Infinity, 1e300, "1"]],
    ["periods", period, [0, 1, 3_153_600_000_000], [null, -1, NaN, Infinity, "1"]],
    ["objects", object, [{}], [null, [], "x", () => {}]],
    ["texts", text, ["x"], [null, "", 1, {}]]
  ] as const)("are %s", (_, kind, accepted, refused) => {
    for (const value of accepted) checkOptions("f", { a: value }, { a: kind })
    for (const value of refused) assert.throws(() => checkOptions("f", { a: value }, { a: kind }), TypeError, `a of f is ${kind.what}, and got `)
  })

  it("are refused without the value of a text, which may be a secret", () => {
    assert.throws(check({ mail: "whsec_x" }), TypeError, "mail of createWaybill is a function, and got a text. Correct it, or leave it out for its default.")
  })
})
