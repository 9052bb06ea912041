/** Which subscriptions need attention, and why. */
import type { OperatorSubscription } from "@waybill/client/operator"

export type Severity = "trouble" | "warning" | "quiet" | "well"

export interface Trouble {
  readonly severity: Severity
  /** Short descriptions, the most serious first; empty when there is no problem. */
  readonly signs: ReadonlyArray<string>
}

/** Counts of a subscription stop here: a thousand means a thousand or more. */
export const counted = 1000

/** Counts of a tenant stop here. */
export const countedOfTenant = 10_000

/** `most`: where the count stops. */
export const countText = (count: number, most = counted): string => count >= most ? `${most.toLocaleString("en-US")}+` : count.toLocaleString("en-US")

export const troubleOf = (subscription: OperatorSubscription): Trouble => {
  const signs: Array<string> = []
  if (subscription.state === "paused") signs.push("paused")
  if (subscription.held) signs.push("no access")
  if (subscription.breaker.state === "open") signs.push("breaker open")
  if (subscription.breaker.state === "half-open") signs.push("breaker probing")
  if (subscription.dead > 0) signs.push(subscription.dead === 1 ? "1 dead letter" : `${countText(subscription.dead)} dead letters`)
  const failing = subscription.breaker.failures > 0 && subscription.breaker.state === "closed"
  if (failing) signs.push(subscription.breaker.failures === 1 ? "last attempt failed" : `${subscription.breaker.failures} attempts in a row failed`)
  if (subscription.state === "inactive") return { severity: subscription.dead > 0 ? "warning" : "quiet", signs: ["inactive", ...signs] }
  if (subscription.state === "paused" || subscription.held || subscription.breaker.state !== "closed") return { severity: "trouble", signs }
  return { severity: signs.length > 0 ? "warning" : "well", signs }
}

/** By the same rule as `inTrouble` of a tenant's health, so that the list shows as many as the tenant's row. */
export const isInTrouble = ({ breaker, dead, pausedBy, state }: OperatorSubscription): boolean =>
  (state === "paused" && pausedBy !== "client") || (state === "active" && breaker.state !== "closed") || dead > 0

const weight: Readonly<Record<Severity, number>> = { trouble: 3, warning: 2, well: 1, quiet: 0 }

/** Most serious problem first, then the largest backlog, then by id, so that the order is stable. */
export const byTrouble = (subscriptions: ReadonlyArray<OperatorSubscription>): ReadonlyArray<OperatorSubscription> =>
  subscriptions.toSorted((a, b) =>
    weight[troubleOf(b).severity] - weight[troubleOf(a).severity]
    || b.dead - a.dead
    || b.inFlight + b.waiting - a.inFlight - a.waiting
    || (a.subscriptionId < b.subscriptionId ? -1 : 1)
  )
