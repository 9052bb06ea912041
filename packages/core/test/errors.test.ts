import * as core from "@waybill/core"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8")

describe("docs/errors.md", () => {
  it("lists exactly the errors that core exports", () => {
    const listed = Array.from(page.matchAll(/^\| (?:`@waybill\/core` \| )?`(\w+)` \|/gm), ([, name]) => name)
    const exported = Object.entries(core)
      .filter(([, value]) => typeof value === "function" && value.prototype instanceof Error)
      .map(([name]) => name)
    assert.deepStrictEqual(listed.toSorted(), exported.toSorted())
  })
})
