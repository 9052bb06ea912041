/** Who is told what when a bill changes. */
import { logViewOf, removalJson, versionJson } from "./ChargeNotice.ts"
import type { ChargeSubscriptionSettings } from "./ChargeSubscription.ts"
import { currentOf, type FreightBill } from "./FreightBill.ts"

/** A subscription, and the accounts of a bill's whole life that it may see now. */
export interface Viewer {
  readonly subscriptionId: string
  readonly settings: ChargeSubscriptionSettings
  readonly accounts: ReadonlySet<string>
}

/** One body, the accounts of the bill that it is for, and the subscriptions that get it. */
export interface Told {
  readonly body: string
  readonly accounts: ReadonlyArray<string>
  readonly viewers: ReadonlyArray<Viewer>
}

/** Every account that a bill had at some time. */
export const accountsEver = (bill: FreightBill): ReadonlyArray<string> => [...new Set(bill.versions.flatMap((each) => each.accounts))]

const meets = (accounts: ReadonlyArray<string>, seen: ReadonlySet<string>): boolean => accounts.some((account) => seen.has(account))

/**
 * A subscription that sees the new version is told it; one that saw the bill until now and does not any more is told that, from the
 * last version it could see. Equal bodies are made once, however many subscriptions get them.
 */
export const toldOf = (before: FreightBill | undefined, after: FreightBill, viewers: ReadonlyArray<Viewer>, date: string): ReadonlyArray<Told> => {
  const current = currentOf(after)
  const until = before === undefined ? [] : currentOf(before).accounts
  const bodies = new Map<string, { readonly body: string; readonly accounts: ReadonlyArray<string>; readonly viewers: Array<Viewer> }>()
  const add = (variant: string, viewer: Viewer, accounts: ReadonlyArray<string>, body: () => string) => {
    const known = bodies.get(variant)
    if (known === undefined) bodies.set(variant, { body: body(), accounts, viewers: [viewer] })
    else known.viewers.push(viewer)
  }
  for (const viewer of viewers) {
    const { accounts, settings } = viewer
    if (meets(current.accounts, accounts)) {
      if (!current.impact && settings.dataOptions.shipmentDataType === "revenue_impacts_only") continue
      const view = logViewOf(settings)
      const visible = view === "none" ? "" : after.versions.map((each) => meets(each.accounts, accounts) ? 1 : 0).join("")
      add(`${view} ${visible}`, viewer, current.accounts, () => versionJson(after, view, (each) => meets(each.accounts, accounts)))
    } else if (before !== undefined && meets(until, accounts)) {
      add("removal", viewer, until, () => removalJson(before, current.version, date))
    }
  }
  return [...bodies.values()]
}

/** What was in flight for a new subscription, and the accounts it saw that by. */
export interface InFlight {
  readonly body: string
  readonly accounts: ReadonlyArray<string>
}

/**
 * The list is read later, when the client may have lost all but one of these accounts: it shows only events that each of them
 * may see. SPEC-GAP-E14
 */
export const inFlightOf = (bill: FreightBill, settings: ChargeSubscriptionSettings, covered: ReadonlySet<string>): InFlight => {
  const accounts = currentOf(bill).accounts.filter((account) => covered.has(account))
  return { accounts, body: versionJson(bill, logViewOf(settings), (each) => accounts.every((account) => each.accounts.includes(account))) }
}
