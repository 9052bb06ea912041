import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { longRequestsOf } from "./Fuzz.ts"
import { contracts, operations } from "./Operations.ts"

const here = fileURLToPath(new URL(".", import.meta.url))

describe("fuzzing", () => {
  it("covers every contract", () => {
    const texts = globSync("*.fuzz.test.ts", { cwd: here }).map((file) => readFileSync(`${here}/${file}`, "utf8")).join("\n")
    const missing = contracts.map(({ area }) => area).filter((area) => !texts.includes(`"${area}"`))
    expect(missing, "Name these areas in one of the *.fuzz.test.ts.").toEqual([])
  })

  it("sends at least a hundred thousand requests in its long form", () => {
    expect(operations.map(longRequestsOf).reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(100_000)
  })
})
