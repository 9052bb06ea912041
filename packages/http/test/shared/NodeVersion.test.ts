import { describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { requireNode } from "../../src/shared/NodeVersion.ts"

describe("the version of Node", () => {
  it("is refused in one sentence when it is older than the package's engines", () => {
    const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
    expect(engines.node).toBe(">=22.19")
    for (const old of ["18.20.4", "20.20.2", "22.18.0"]) {
      expect(() => requireNode(old)).toThrow(`Waybill needs Node 22.19 or newer, and this is Node ${old}. Only @waybill/client runs on Node 20.`)
    }
  })

  it("is accepted from there on, and in a runtime that has none", () => {
    for (const version of ["22.19.0", "22.20.1", "24.0.0", undefined]) expect(() => requireNode(version)).not.toThrow()
  })
})
