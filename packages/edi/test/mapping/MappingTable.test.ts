import { expect, it } from "vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { appointmentCodes, mapping204, mapping210, mapping211, mapping216, mapping214, mapping990, type Mapping, statusCodes } from "@waybill/edi"
import { rowsOf, tableOf } from "./MappingTable.ts"

const page = new URL("../../../../docs/edi.md", import.meta.url)

const titled = (mapping: Mapping) => `### ${mapping.set} ${mapping.title.toLowerCase()}\n\n${tableOf(mapping)}`

const codes = (title: string, table: Readonly<Record<string, { readonly type: string; readonly status: string; readonly written?: true }>>) =>
  `#### ${title}\n\n| code | status | event type | written for it |\n|---|---|---|---|\n${Object.entries(table).map(([code, { status, type, written }]) => `| \`${code}\` | ${status} | \`${type}\` | ${written === true ? "yes" : ""} |`).join("\n")}`

const generated: Readonly<Record<string, string>> = {
  "204": titled(mapping204),
  "211": titled(mapping211),
  "216": titled(mapping216),
  "990": titled(mapping990),
  "210": titled(mapping210),
  "214": [titled(mapping214), codes("Status codes, AT7-01", statusCodes), codes("Appointment codes, AT7-03", appointmentCodes)].join("\n\n")
}

// after a change of a mapping: WAYBILL_TABLES=write npm test -- --project edi MappingTable
it("prints the tables of docs/edi.md", () => {
  const text = readFileSync(page, "utf8")
  const expected = text.replaceAll(/<!-- generated: (\w+) -->\n[^]*?<!-- generated: end -->/gu, (_, name: string) => `<!-- generated: ${name} -->\n\n${generated[name]}\n\n<!-- generated: end -->`)
  if (process.env["WAYBILL_TABLES"] === "write") writeFileSync(page, expected)
  expect(readFileSync(page, "utf8")).toBe(expected)
  for (const name of Object.keys(generated)) expect(expected).toContain(`<!-- generated: ${name} -->`)
})

it("prints loops that are alike once", () => {
  const lines = tableOf(mapping204).split("\n")
  expect(lines.filter((line) => line.includes("L5-02"))).toHaveLength(1)
  expect(lines).toContain("| S5 (UL, CU, PU) › L5 | freight | → | `destinationAddress[].stop.lines[]` | as S5 (LD, CL, PL) › L5 |")
  expect(rowsOf(mapping204).filter(({ element }) => element.includes("L5-02"))).toHaveLength(4)
})

it("has a row for each rule, with its loop, its members and its direction", () => {
  const rows = rowsOf(mapping214)
  const row = (element: string) => rows.find((each) => each.element === element)
  expect(row("LX › AT7 › MS1-08")).toMatchObject({ members: ["location.postalCode"], direction: "both", since: "005010" })
  expect(row("N1 (CN, ST) › N4-03")).toMatchObject({ members: ["shipment.destination.postalCode"] })
  expect(row("LX › L11-01")).toMatchObject({ members: ["shipment.references[].value"], direction: "in" })
})
