import { assert, describe, it } from "@effect/vitest"
import { checkOptionNames } from "@waybill/core"

const known = ["storage", "authenticate", "retention", "mail"]
const check = (options: unknown) => () => checkOptionNames("createWaybill", options, known)

describe("the names of options", () => {
  it("are those of the function; a misspelt one is refused with the nearest name", () => {
    check({ storage: {}, mail: undefined })()
    check({ misspelt: undefined })()
    assert.throws(check({ autenticate: 1 }), TypeError, "createWaybill has no option autenticate. Did you mean authenticate?")
    assert.throws(check({ zzzzzzzz: 1 }), TypeError, "createWaybill has no option zzzzzzzz. It has storage, authenticate, retention, mail.")
  })

  it("belong to an object", () => {
    for (const options of [undefined, null, "postgres://db", ["storage"]]) {
      assert.throws(check(options), TypeError, "createWaybill takes an object with options: storage, authenticate, retention and others.")
    }
  })
})
