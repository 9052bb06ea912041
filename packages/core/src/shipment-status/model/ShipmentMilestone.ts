/** The milestones of a shipment and the permitted moves between them. */
import type { Milestone } from "./CodeLists.ts"

/** A permitted move. SPEC-GAP-A1 */
export interface MilestoneMove {
  readonly from: Milestone
  readonly to: Milestone
  /** Condition of the move. Always permitted if left out. */
  readonly when?: "the delivery was missed"
}

/** SPEC-GAP-A1: every permitted move. A shipment may start with any milestone. */
export const milestoneMoves: ReadonlyArray<MilestoneMove> = [
  { from: "Picked-up", to: "In Transit" },
  { from: "Picked-up", to: "Interline" },
  { from: "Picked-up", to: "Out for Delivery" },
  { from: "Picked-up", to: "Delivered" },
  { from: "In Transit", to: "Interline" },
  { from: "In Transit", to: "Out for Delivery" },
  { from: "In Transit", to: "Delivered" },
  { from: "Interline", to: "Out for Delivery" },
  { from: "Interline", to: "Delivered" },
  { from: "Out for Delivery", to: "Delivered" },
  { from: "Out for Delivery", to: "In Transit", when: "the delivery was missed" },
  { from: "Out for Delivery", to: "Out for Delivery", when: "the delivery was missed" }
]

/** Whether nothing follows this milestone. */
export const isFinal = (milestone: Milestone | undefined): boolean => milestone === "Delivered"

/** What a report of a milestone does. */
export type MoveOutcome =
  | { readonly _tag: "Moved"; readonly to: Milestone }
  | { readonly _tag: "Same" }
  /** `why`: one sentence for people. */
  | { readonly _tag: "NotPermitted"; readonly why: string }

/** Decides on a move by the table of milestones. `from` is `undefined` before the first one. SPEC-GAP-A1 */
export const moveTo = (
  from: Milestone | undefined,
  to: Milestone,
  facts: { readonly deliveryMissed: boolean; readonly consigneeHasIt: boolean }
): MoveOutcome => {
  const move = milestoneMoves.find((each) => each.from === from && each.to === to)
  const permitted = move !== undefined && (move.when === undefined || facts.deliveryMissed)
  if (from === to && !permitted) return { _tag: "Same" }
  if (to === "Delivered" && !facts.consigneeHasIt) {
    return { _tag: "NotPermitted", why: "Delivered needs the freight in the custody of the final consignee." }
  }
  if (from === undefined) return { _tag: "Moved", to }
  if (move === undefined) return { _tag: "NotPermitted", why: whyNot(from, to) }
  if (!permitted) {
    return { _tag: "NotPermitted", why: `A shipment can go from ${from} back to ${to} only after ${move.when}. Report the missed delivery first.` }
  }
  return { _tag: "Moved", to }
}

const whyNot = (from: Milestone, to: Milestone): string => {
  if (isFinal(from)) return `The shipment is ${from}, which is final. ${to} was refused.`
  const onward = milestoneMoves.filter((each) => each.from === from && each.to !== from).map((each) => each.when === undefined ? each.to : `${each.to} when ${each.when}`)
  return `A shipment cannot go from ${from} back to ${to}. It can go to ${onward.join(", ")}.`
}

