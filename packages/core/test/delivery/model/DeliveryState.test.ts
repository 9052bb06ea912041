import { assert, describe, it } from "@effect/vitest"
import { canMove, type DeliveryState, deliveryStates, transitions } from "@waybill/core/delivery"
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

  it("have only the transitions of the diagram", () => {
    const moves = deliveryStates.flatMap((from) => deliveryStates.filter((to) => canMove(from, to)).map((to): [DeliveryState, DeliveryState] => [from, to]))
    assert.lengthOf(moves, Object.values(transitions).flat().length)
    assert.isFalse(canMove("cancelled", "waiting"))
    assert.isFalse(canMove("delivered", "dead"))
  })

  it("can end unless they are final", () => {
    for (const state of ["sending", "waiting"] as const) assert.isTrue(canMove(state, "cancelled") && canMove(state, "dead"))
  })
})
