import * as core from "@waybill/core"
import * as delivery from "@waybill/core/delivery"
import * as charges from "@waybill/core/freight-charges"
import * as invoices from "@waybill/core/invoices"
import * as pickups from "@waybill/core/pickups"
import * as status from "@waybill/core/shipment-status"
import * as events from "@waybill/core/transit-events"
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

const entries = { "": core, delivery, "freight-charges": charges, invoices, pickups, "shipment-status": status, "transit-events": events }
const source = new URL("../src/", import.meta.url)

/** Modules that an entry exports from, as paths below src/. */
const modulesOf = (entry: string): ReadonlyArray<string> =>
  Array.from(readFileSync(new URL(`${entry === "" ? "" : `${entry}/`}index.ts`, source), "utf8").matchAll(/from "\.\/([^"]+)"/g), ([, path]) => entry === "" ? path! : `${entry}/${path}`)

describe("the entries of core", () => {
  it("export each name once", () => {
    const names = Object.values(entries).flatMap((entry) => Object.keys(entry))
    assert.deepStrictEqual(names.filter((name, at) => names.indexOf(name) !== at), [])
  })

  it("are the root, with no file of another entry, one for the delivery engine, and one for each area, which package.json names", () => {
    const others = Object.keys(entries).filter((entry) => entry !== "")
    assert.deepStrictEqual(modulesOf("").filter((path) => others.some((other) => path.startsWith(`${other}/`))), [])
    const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly exports: Readonly<Record<string, unknown>> }
    assert.includeMembers(Object.keys(exports), others.map((other) => `./${other}`))
    const indexed = readdirSync(source, { withFileTypes: true }).filter((each) => each.isDirectory() && readdirSync(new URL(`${each.name}/`, source)).includes("index.ts"))
    assert.sameMembers(indexed.map(({ name }) => name), others)
  })
})
