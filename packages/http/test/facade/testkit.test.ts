/** Tests on the test kit must also work on the real service, so both have the same names. */
import { startTestWaybill } from "@waybill/testkit"
import { expect, it } from "vitest"
import { start } from "./Host.ts"

/** The test kit does not record its methods, so it has no audit log. */
const hostsOnly: ReadonlyArray<string> = ["audit"]

const methodsOf = (service: object): Record<string, ReadonlyArray<string>> =>
  Object.fromEntries(
    Object.entries(service).flatMap(([area, calls]: [string, unknown]) => {
      if (typeof calls !== "object" || calls === null) return []
      const names = Object.keys(calls).filter((name) => typeof (calls as Record<string, unknown>)[name] === "function")
      return names.length === 0 ? [] : [[area, names.sort()]]
    })
  )

it("has every method of every area also in the test kit", async () => {
  const testing = await startTestWaybill()
  const all = methodsOf(start())
  for (const area of hostsOnly) delete all[area]
  expect(Object.keys(all).length).toBeGreaterThan(8)
  expect(methodsOf(testing)).toEqual(all)
  await testing.stop()
})
