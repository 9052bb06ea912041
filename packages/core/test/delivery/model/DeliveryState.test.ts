import { assert, describe, it } from "@effect/vitest"
import { deliveryStates, transitions } from "@waybill/core/delivery"
import { readFileSync } from "node:fs"

const page = readFileSync(new URL("../../../../../docs/delivery.md", import.meta.url), "utf8")
const section = page.slice(page.indexOf("## States\n"), page.indexOf("## Ownership\n"))

describe("the states of a delivery", () => {
  it("equal the diagram in docs/delivery.md", () => {
    const drawn = Array.from(section.matchAll(/^ {4}(\w+) --> (\w+)$/gm), ([, from, to]) => `${from} --> ${to}`)
    const known = deliveryStates.flatMap((from) => transitions[from].map((to) => `${from} --> ${to}`))
    assert.deepStrictEqual(drawn.toSorted(), known.toSorted())
  })

  it("are all in the page's table", () => {
    const listed = Array.from(section.matchAll(/^\| `(\w+)` \|/gm), ([, state]) => state!)
    assert.deepStrictEqual(listed, [...deliveryStates])
  })

  it("end as a dead letter by an attempt only", () => {
    assert.deepStrictEqual(deliveryStates.filter((from) => transitions[from].some((to) => to === "dead")), ["sending"])
  })
})
