import { assert, describe, it } from "@effect/vitest"
import { isFinal, milestoneMoves, milestones, moveTo } from "@waybill/core/shipment-status"
import { readFileSync } from "node:fs"
import { oneOf } from "../../arbitraries.ts"

const page = readFileSync(new URL("../../../../../docs/areas/shipment-status.md", import.meta.url), "utf8")

const spoken = (milestone: string): string => milestone.replaceAll(/[ -]/g, "")

const anyFacts = oneOf([true, false])
const anyMilestone = oneOf(milestones)

describe("milestones", () => {
  it("follow the diagram in docs/areas/shipment-status.md (SPEC-GAP-A1)", () => {
    const drawn = Array.from(page.matchAll(/^ {4}(\w+) --> (\w+)(?:: (.+))?$/gm), ([, from, to, when]) => [from, to, when])
    const known = milestoneMoves.map(({ from, to, when }) => [spoken(from), spoken(to), when])
    assert.deepStrictEqual(drawn, known)
  })

  it("follow the table in docs/areas/shipment-status.md", () => {
    const listed = Array.from(page.matchAll(/^\| (Picked-up|In Transit|Interline|Out for Delivery|Delivered) \| ([^|]+) \|$/gm), ([, from, to]) => [from, to!.trim()])
    const known = milestones.map((from) => {
      const onward = milestoneMoves.filter((each) => each.from === from).map(({ to, when }) => when === undefined ? to : `${to}, when ${when}`)
      return [from, onward.length === 0 ? "nothing: it is the end" : onward.join("; ")]
    })
    assert.deepStrictEqual(listed, known)
  })

  it("may be any milestone at the start", () => {
    for (const to of milestones) assert.deepStrictEqual(moveTo(undefined, to, { deliveryMissed: false, consigneeHasIt: true }), { _tag: "Moved", to })
  })

  it("never follow Delivered", () => {
    assert.isTrue(milestones.filter(isFinal).every((from) => milestoneMoves.every((move) => move.from !== from)))
    for (const to of milestones.filter((each) => each !== "Delivered")) {
      const move = moveTo("Delivered", to, { deliveryMissed: true, consigneeHasIt: true })
      assert(move._tag === "NotPermitted")
      assert.include(move.why, "Delivered")
    }
  })

  it("reach Delivered only in the consignee's custody", () => {
    for (const from of [undefined, ...milestones.filter((each) => each !== "Delivered")]) {
      const move = moveTo(from, "Delivered", { deliveryMissed: false, consigneeHasIt: false })
      assert(move._tag === "NotPermitted")
      assert.include(move.why, "consignee")
      assert.strictEqual(moveTo(from, "Delivered", { deliveryMissed: false, consigneeHasIt: true })._tag, "Moved")
    }
  })

  it("go back from Out for Delivery only after a missed delivery", () => {
    const facts = { consigneeHasIt: true }
    assert.strictEqual(moveTo("Out for Delivery", "In Transit", { ...facts, deliveryMissed: true })._tag, "Moved")
    const move = moveTo("Out for Delivery", "In Transit", { ...facts, deliveryMissed: false })
    assert(move._tag === "NotPermitted")
    assert.include(move.why, "missed")
  })

  it.prop("follow the table or explain the refusal; an unchanged milestone is a move only for a new delivery attempt", [anyMilestone, anyMilestone, anyFacts, anyFacts], ([from, to, deliveryMissed, consigneeHasIt]) => {
    const move = moveTo(from, to, { deliveryMissed, consigneeHasIt })
    if (from === to) assert.strictEqual(move._tag, from === "Out for Delivery" && deliveryMissed ? "Moved" : "Same")
    if (move._tag === "Moved") assert.isTrue(milestoneMoves.some((each) => each.from === from && each.to === to && (each.when === undefined || deliveryMissed)))
    if (move._tag === "NotPermitted") assert.match(move.why, /^[A-Z].+\.$/)
  })
})
