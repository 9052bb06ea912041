/** Decides which subscriptions get which notification when a bill changes. */
import { accountWithin } from "../../access/model/CarrierNumbers.ts"
import { logViewOf, removalJson, versionJson } from "./ChargeNotice.ts"
import type { ChargeSubscriptionSettings } from "./ChargeSubscription.ts"
import { currentOf, type FreightBill } from "./FreightBill.ts"

/** A subscription, and the accounts of the bill (or accounts within its carrier) that it may see now, over all versions. */
export interface Viewer {
  readonly subscriptionId: string
  readonly settings: ChargeSubscriptionSettings
  readonly accounts: ReadonlySet<string>
}

/** One notification body, the accounts that may receive it, and the subscriptions that get it. */
export interface VersionNotification {
  readonly body: string
  readonly accounts: ReadonlyArray<string>
  readonly viewers: ReadonlyArray<Viewer>
}

/** The grants that show a bill of these accounts: the accounts, and the accounts within the bill's carrier. */
const grantsOf = ({ carrier = [] }: FreightBill, accounts: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...accounts, ...carrier.flatMap((grant) => accounts.map((account) => accountWithin(grant, account)))]

/** The grants for every account that the bill ever had. */
export const grantsEver = (bill: FreightBill): ReadonlyArray<string> => grantsOf(bill, [...new Set(bill.versions.flatMap((each) => each.accounts))])

const hasAny = (accounts: ReadonlyArray<string>, seen: ReadonlySet<string>): boolean => accounts.some((account) => seen.has(account))

/**
 * A subscription that sees the new version gets it. A subscription that saw the bill before and no longer does gets a removal, built from
 * the last version that it could see. Equal bodies are built once for all subscriptions.
 */
export const notificationsOf = (before: FreightBill | undefined, after: FreightBill, viewers: ReadonlyArray<Viewer>, date: string): ReadonlyArray<VersionNotification> => {
  const current = currentOf(after)
  const now = grantsOf(after, current.accounts)
  const until = before === undefined ? [] : grantsOf(before, currentOf(before).accounts)
  const shown = after.versions.map((each) => grantsOf(after, each.accounts))
  const bodies = new Map<string, { readonly body: string; readonly accounts: ReadonlyArray<string>; readonly viewers: Array<Viewer> }>()
  const add = (variant: string, viewer: Viewer, accounts: ReadonlyArray<string>, body: () => string) => {
    const known = bodies.get(variant)
    if (known === undefined) bodies.set(variant, { body: body(), accounts, viewers: [viewer] })
    else known.viewers.push(viewer)
  }
  for (const viewer of viewers) {
    const { accounts, settings } = viewer
    if (hasAny(now, accounts)) {
      if (!current.impact && settings.dataOptions.shipmentDataType === "revenue_impacts_only") continue
      const view = logViewOf(settings)
      const visible = view === "none" ? "" : shown.map((each) => hasAny(each, accounts) ? 1 : 0).join("")
      add(`${view} ${visible}`, viewer, now, () => versionJson(after, view, (each) => hasAny(grantsOf(after, each.accounts), accounts)))
    } else if (before !== undefined && hasAny(until, accounts)) {
      add("removal", viewer, until, () => removalJson(before, current, date))
    }
  }
  return [...bodies.values()]
}

/**
 * An open bill for a new subscription, and the accounts, or accounts within the bill's carrier, through which it sees the bill. The list is read later, when the client may have lost all but one of these accounts. So it shows only events that each of the accounts
 * may see. SPEC-GAP-E14
 */
export const inFlightOf = (bill: FreightBill, settings: ChargeSubscriptionSettings, covered: ReadonlySet<string>) => {
  const accounts = grantsOf(bill, currentOf(bill).accounts).filter((grant) => covered.has(grant))
  return {
    accounts,
    body: versionJson(bill, logViewOf(settings), (each) => {
      const grants = grantsOf(bill, each.accounts)
      return accounts.every((grant) => grants.includes(grant))
    })
  }
}
