/** Which lanes need somebody, and why. */
import type { Lane } from "@waybill/client/operator"

export type Severity = "trouble" | "warning" | "quiet" | "well"

export interface Trouble {
  readonly severity: Severity
  /** In a few words each, the gravest first; none when all is well. */
  readonly signs: ReadonlyArray<string>
}

/** Counts stop here: a thousand means a thousand or more. */
export const counted = 1000

export const countText = (count: number): string => count >= counted ? "1000+" : String(count)

export const troubleOf = (lane: Lane): Trouble => {
  const signs: Array<string> = []
  if (lane.state === "paused") signs.push("paused")
  if (lane.breaker.state === "open") signs.push("breaker open")
  if (lane.breaker.state === "half-open") signs.push("breaker probing")
  if (lane.dead > 0) signs.push(lane.dead === 1 ? "1 dead letter" : `${countText(lane.dead)} dead letters`)
  const failing = lane.breaker.failures > 0 && lane.breaker.state === "closed"
  if (failing) signs.push(lane.breaker.failures === 1 ? "last attempt failed" : `${lane.breaker.failures} attempts in a row failed`)
  if (lane.state === "inactive") return { severity: lane.dead > 0 ? "warning" : "quiet", signs: ["inactive", ...signs] }
  if (lane.state === "paused" || lane.breaker.state !== "closed") return { severity: "trouble", signs }
  return { severity: signs.length > 0 ? "warning" : "well", signs }
}

const weight: Readonly<Record<Severity, number>> = { trouble: 3, warning: 2, well: 1, quiet: 0 }

/** The most troubled first; then the more that is stuck; ids decide the rest, so that the order stays. */
export const byTrouble = (lanes: ReadonlyArray<Lane>): ReadonlyArray<Lane> =>
  lanes.toSorted((a, b) =>
    weight[troubleOf(b).severity] - weight[troubleOf(a).severity]
    || b.dead - a.dead
    || b.unsettled + b.waiting - a.unsettled - a.waiting
    || (a.subscriptionId < b.subscriptionId ? -1 : 1)
  )
