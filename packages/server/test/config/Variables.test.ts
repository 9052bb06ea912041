import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { type Variable } from "../../src/config/Variable.ts"
import { variables } from "../../src/config/Variables.ts"

const page = readFileSync(new URL("../../../../docs/operating/settings.md", import.meta.url), "utf8")

/** The rows of the table: names and default. `…_INVOICES` is short for `WAYBILL_BASE_PATH_INVOICES`. */
const rows = [...page.matchAll(/^\| (`[^|]*) \| ([^|]*) \|/gm)].map(([, names = "", fallback = ""]) => ({
  names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name.replace("…", "WAYBILL_BASE_PATH")),
  fallback
}))

const all = Object.values<Variable<unknown>>(variables)

describe("docs/operating/settings.md", () => {
  it("has exactly the variables of the program", () => {
    const listed = rows.flatMap(({ names }) => names).filter((name) => name.startsWith("WAYBILL_") && !name.endsWith("_FILE"))
    expect(listed.sort()).toEqual(all.map(({ name }) => name).filter((name) => name.startsWith("WAYBILL_")).sort())
  })

  it("has the default of each number", () => {
    const numbers = all.filter(({ fallback }) => /^\d+$/.test(fallback))
    expect(numbers.length).toBeGreaterThan(10)
    for (const { fallback, name } of numbers) expect({ name, row: rows.find(({ names }) => names.includes(name)) }).toMatchObject({ row: { fallback: expect.stringContaining(`\`${fallback}\``) } })
  })
})
