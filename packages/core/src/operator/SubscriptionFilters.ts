/** Filters and accounts of a subscription, read from its area's document. */
import type { ChargeSubscriptionSettings } from "../freight-charges/model/ChargeSubscription.ts"
import type { PickupSubscriptionCreate } from "../pickups/model/PickupSubscription.ts"
import type { SubscribeRequest } from "../shipment-status/StatusSubscriptions.ts"
import type { SubscriptionCreate } from "../transit-events/model/TransitSubscription.ts"

/** Filters in the area's terms. Empty for a subscription to everything that its client may see. */
export const filtersOf = (area: string, doc: string | undefined): Readonly<Record<string, unknown>> => {
  if (doc === undefined) return {}
  const settings: unknown = JSON.parse(doc)
  switch (area) {
    case "transit-events":
      return (settings as SubscriptionCreate).filters ?? {}
    case "shipment-status":
      return { referenceNumbers: (settings as SubscribeRequest).referenceNumbers }
    case "pickups":
      return { topics: (settings as PickupSubscriptionCreate).topics }
    case "freight-charges": {
      const { billScope, dataOptions, frequency, includeEventLog } = settings as ChargeSubscriptionSettings
      return { billScope, dataOptions, frequency, includeEventLog }
    }
    default:
      return {}
  }
}

/** The accounts that it names; `null` if it covers all accounts of its client. */
export const accountsOf = (area: string, doc: string | undefined): ReadonlyArray<string> | null => {
  if (area !== "freight-charges" || doc === undefined) return null
  const { accounts, billScope } = JSON.parse(doc) as ChargeSubscriptionSettings
  return billScope === "all_accounts" ? null : accounts
}
