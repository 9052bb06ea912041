/** One tenant with a carrier, a secret and the given number of customers with a subscription. */
import { type Principal, TenantLimits, Tenants } from "@waybill/core"
import { SigningSecrets } from "@waybill/core/delivery"
import { TransitSubscriptions } from "@waybill/core/transit-events"
import { Effect } from "effect"

export const tenantId = "bench"

const base = { tenantId, origin: "token" } as const

export const carrier: Principal = { ...base, client: "carrier", roles: ["carrier"], accounts: [] }

/** The account whose shipments customer `n` sees. */
export const accountOf = (n: number): string => `A${n}`

export const customer = (n: number): Principal => ({ ...base, client: `customer-${n}`, roles: ["customer"], accounts: [accountOf(n)] })

/** A tenant with a secret, and without quotas: the scenario measures the service, not its quotas. */
export const createTenantOf = (tenantId: string) => Effect.gen(function*() {
  yield* (yield* Tenants).put(tenantId, { name: "Bench" })
  yield* (yield* TenantLimits).put(tenantId, {
    requestsPerSecondPerCustomer: 1_000_000,
    requestsPerSecondPerCarrier: 1_000_000,
    uploadsPerClient: 10_000,
    eventSubscriptionsPerClient: 1_000_000_000,
    subscriptions: 1_000_000_000,
    waitingPerSubscription: 1_000_000_000
  })
  yield* (yield* SigningSecrets).put(tenantId, "secret", { anyClient: true })
})

export const createTenant = createTenantOf(tenantId)

interface SubscriptionSettings {
  readonly endpointUrl: string
  readonly batchMaxSize: number
}

/** A subscription of customer `n` to everything it sees, without a rate limit. */
export const subscribe = (n: number, settings: SubscriptionSettings) => subscribeAs(customer(n), settings)

export const subscribeAs = (who: Principal, settings: SubscriptionSettings) =>
  Effect.flatMap(TransitSubscriptions, (subscriptions) =>
    subscriptions.create(who, {
      endpointUrl: settings.endpointUrl,
      hmacSecretId: "secret",
      delivery: { batchMaxSize: settings.batchMaxSize, rateLimitPerMinute: 6_000_000 }
    }))
