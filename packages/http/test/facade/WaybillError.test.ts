import { StorageError } from "@waybill/core"
import { Cause } from "effect"
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { openingErrorOf } from "../../src/facade/WaybillError.ts"
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

it("has the reasons why storage cannot be opened, also of a host with several addresses", () => {
  const opening = (cause: unknown) => openingErrorOf(Cause.fail(new StorageError({ operation: "open", cause }))).message
  const refused = new AggregateError([new Error("connect ECONNREFUSED ::1:5432"), new Error("connect ECONNREFUSED 127.0.0.1:5432")])
  expect(opening(new Error("", { cause: refused }))).toBe("Waybill cannot open its storage: connect ECONNREFUSED ::1:5432.")
  expect(opening(new Error("Schema freight lacks migrations."))).toBe("Waybill cannot open its storage: Schema freight lacks migrations.")
  expect(opening("closed")).toBe("Waybill cannot open its storage: closed.")
})
