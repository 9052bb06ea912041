/** The tenant, keys, secret and subscription that the demo plays with; made once, found again at every start. */
import { ApiKeys, type Principal, SigningSecrets, Tenants, TransitSubscriptions } from "@waybill/core"
import { Effect, Redacted } from "effect"
import { demoAccount } from "./DemoJourney.ts"
import type { DemoState } from "./DemoState.ts"

export const demoTenant = "demo"
export const demoCarrier = "demo-carrier"
const demoCustomer = "demo-customer"
const hmacSecretId = "demo"

export const seedDemo = Effect.fnUntraced(function*(state: DemoState) {
  const tenants = yield* Tenants
  const secrets = yield* SigningSecrets
  yield* tenants.put(demoTenant, { name: "Demo" })
  yield* secrets.put(demoTenant, hmacSecretId, { secret: state.kept().secret })
  yield* keyFor(state, "carrierKey", { name: demoCarrier, roles: ["carrier"] })
  const customer = yield* keyFor(state, "customerKey", { name: demoCustomer, roles: ["customer"], accounts: [demoAccount] })
  yield* subscribe(state, customer)
})

/** The key of last time, or a new one where this database does not know it. */
const keyFor = Effect.fnUntraced(function*(state: DemoState, name: "carrierKey" | "customerKey", request: object) {
  const apiKeys = yield* ApiKeys
  const before = state.kept()[name]
  if (before !== undefined) {
    const known = yield* apiKeys.principalOf(Redacted.make(before)).pipe(Effect.catchTag("Unauthenticated", () => Effect.succeed(undefined)))
    if (known !== undefined) return known
  }
  const { key } = yield* apiKeys.create(demoTenant, request)
  yield* state.keep({ [name]: Redacted.value(key) })
  return yield* apiKeys.principalOf(key)
})

const subscribe = Effect.fnUntraced(function*(state: DemoState, customer: Principal) {
  const subscriptions = yield* TransitSubscriptions
  const { endpointUrl } = state
  const { subscriptionId } = state.kept()
  if (subscriptionId !== undefined) {
    const found = yield* subscriptions.get(customer, subscriptionId).pipe(Effect.catchTag("SubscriptionNotFound", () => Effect.succeed(undefined)))
    if (found !== undefined) {
      if (found.endpointUrl !== endpointUrl) yield* subscriptions.patch(customer, found.id, { endpointUrl })
      return
    }
  }
  const created = yield* subscriptions.create(customer, { endpointUrl, hmacSecretId })
  yield* state.keep({ subscriptionId: created.id })
})
