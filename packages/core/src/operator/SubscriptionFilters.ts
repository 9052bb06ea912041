/** What a subscription selects, read from the document that its area keeps. */
import type { ChargeSubscriptionSettings } from "../freight-charges/model/ChargeSubscription.ts"
import type { SubscribeRequest } from "../shipment-status/StatusSubscriptions.ts"
import type { SubscriptionCreate } from "../transit-events/model/TransitSubscription.ts"

/** In the area's own words. A subscription to everything that its client may see has none. */
export const filtersOf = (area: string, doc: string | undefined): Readonly<Record<string, unknown>> => {
  if (doc === undefined) return {}
  const settings: unknown = JSON.parse(doc)
  switch (area) {
    case "transit-events":
      return (settings as SubscriptionCreate).filters ?? {}
    case "shipment-status":
      return { referenceNumbers: (settings as SubscribeRequest).referenceNumbers }
    case "freight-charges": {
      const { billScope, dataOptions, frequency, includeEventLog } = settings as ChargeSubscriptionSettings
      return { billScope, dataOptions, frequency, includeEventLog }
    }
    default:
      return {}
  }
}

/** Accounts that it names; `null` where it is to all that its client has. */
export const accountsOf = (area: string, doc: string | undefined): ReadonlyArray<string> | null => {
  if (area !== "freight-charges" || doc === undefined) return null
  const { accounts, billScope } = JSON.parse(doc) as ChargeSubscriptionSettings
  return billScope === "all_accounts" ? null : accounts
}
