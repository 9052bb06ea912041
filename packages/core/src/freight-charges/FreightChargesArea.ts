/** Area E in the registries of the service. */
import { Effect, Layer } from "effect"
import type { AreaDescriptor, AreaRetention } from "../shared/Area.ts"
import { chargeSource, ChargeSubscriptions, chargeWindowSource } from "./ChargeSubscriptions.ts"
import { ChargeSubscriptionStore } from "./ChargeSubscriptionStore.ts"
import { ChargeWindows } from "./ChargeWindows.ts"
import { FreightBillStore } from "./FreightBillStore.ts"
import { FreightCharges } from "./FreightCharges.ts"
import type { ChargeSubscriptionSettings } from "./model/ChargeSubscription.ts"

export const freightChargesArea = {
  name: "freight-charges",
  stores: [FreightBillStore, ChargeSubscriptionStore],
  services: Layer.mergeAll(FreightCharges.layer, ChargeSubscriptions.layer, ChargeWindows.layer),
  subscriptions: {
    sources: [chargeSource, chargeWindowSource],
    filtersOf: ({ billScope, dataOptions, frequency, includeEventLog }: ChargeSubscriptionSettings) => ({ billScope, dataOptions, frequency, includeEventLog }),
    accountsOf: ({ accounts, billScope }: ChargeSubscriptionSettings) => billScope === "all_accounts" ? null : accounts,
    store: Effect.map(ChargeSubscriptionStore, ({ cancel, documents }) => ({ documents, end: cancel }))
  },
  retention: Effect.map(FreightBillStore, ({ prune }): AreaRetention => (tenantId, now, { keepEndedBillsMillis, keepNoticesMillis }) =>
    prune(tenantId, { ended: now - keepEndedBillsMillis, noticed: now - keepNoticesMillis }))
} as const satisfies AreaDescriptor
