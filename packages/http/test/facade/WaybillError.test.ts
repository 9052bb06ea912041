import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { WaybillError, waybillErrorCodes } from "../../src/index.ts"

const page = readFileSync(new URL("../../../../docs/errors.md", import.meta.url), "utf8")

it("has a code that docs/errors.md explains, and every code of the use cases there", () => {
  expect(waybillErrorCodes.filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([])
  const ofUseCases = new Set(Array.from(page.matchAll(/^\| `\w+` \| \d{3}[^|]*\| `(\w+)` \|/gm), ([, code]) => code))
  expect(ofUseCases.size).toBeGreaterThan(30)
  expect([...ofUseCases].filter((code) => !(waybillErrorCodes as ReadonlyArray<unknown>).includes(code))).toEqual([])
})

it("allows a switch over every code", () => {
  const retried = ({ code }: WaybillError): boolean => {
    switch (code) {
      case "unavailable":
      case "stopping":
      case "interrupted":
        return true
      // @ts-expect-error no method rejects with a code of HTTP alone
      case "path_not_found":
        return false
      default:
        return false
    }
  }
  expect(retried(new WaybillError({ status: 503, code: "stopping", title: "Service unavailable", detail: "The process is stopping." }))).toBe(true)
})
