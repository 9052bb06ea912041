import * as core from "@waybill/core"
import * as delivery from "@waybill/core/delivery"
import * as charges from "@waybill/core/freight-charges"
import * as invoices from "@waybill/core/invoices"
import * as pickups from "@waybill/core/pickups"
import * as status from "@waybill/core/shipment-status"
import * as events from "@waybill/core/transit-events"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8")

describe("docs/errors.md", () => {
  it("lists exactly the errors that core exports", () => {
    const listed = Array.from(page.matchAll(/^\| (?:`@waybill\/core` \| )?`(\w+)` \|/gm), ([, name]) => name)
    const exported = [core, delivery, charges, invoices, pickups, status, events].flatMap((entry) => Object.entries(entry))
      .filter(([, value]) => typeof value === "function" && value.prototype instanceof Error)
      .map(([name]) => name)
    assert.deepStrictEqual(listed.toSorted(), exported.toSorted())
  })
})
