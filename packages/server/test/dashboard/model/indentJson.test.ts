import { describe, expect, it } from "vitest"
import { indentJson } from "../../../dashboard/model/indentJson.ts"

describe("indentJson", () => {
  it("adds whitespace and changes nothing else: digits, duplicate names and escapes stay", () => {
    const text = String.raw`{"a":1.50,"a":[1,2.000,{}],"b":"x \" , : {} \\","c":[],"d":{"e":-1e-7,"f":null}}`
    expect(indentJson(text)).toBe(String.raw`{
  "a": 1.50,
  "a": [
    1,
    2.000,
    {}
  ],
  "b": "x \" , : {} \\",
  "c": [],
  "d": {
    "e": -1e-7,
    "f": null
  }
}`)
    expect(indentJson(" [ ] ")).toBe("[]")
    expect(indentJson("\"only\"")).toBe("\"only\"")
  })

  it("returns undefined for invalid JSON", () => {
    for (const text of ["", "{", "{'a':1}", "<html>"]) expect(indentJson(text)).toBeUndefined()
  })
})
