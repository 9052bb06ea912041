/** Tenant, keys, secret and subscriptions of the demo; created once and reused at every start. */
import { type ApiKeyRequest, ApiKeys, keyClient, type Principal, Tenants, Transaction } from "@waybill/core"
import { Deliveries, SigningSecrets } from "@waybill/core/delivery"
import { type ChargeSubscription, ChargeSubscriptions } from "@waybill/core/freight-charges"
import { Invoices } from "@waybill/core/invoices"
import { StatusSubscriptions } from "@waybill/core/shipment-status"
import { TransitSubscriptions } from "@waybill/core/transit-events"
import { Effect, Redacted } from "effect"
import { demoAccount, shipmentsOf, uniqueIdOf } from "./DemoFreight.ts"
import type { DemoState, SavedState } from "./DemoState.ts"

export const demoTenant = "demo"
const demoCarrier = "demo-carrier"
const demoShipper = "demo-shipper"
/** Clients whose writes print their own lines. */
export const demoClients: ReadonlySet<unknown> = new Set([keyClient(demoCarrier), keyClient(demoShipper)])
const demoCustomer = "demo-customer"
const hmacSecretId = "demo"

/** Returns the customer. */
export const seedDemo = Effect.fnUntraced(function*(state: DemoState) {
  const tenants = yield* Tenants
  const secrets = yield* SigningSecrets
  yield* tenants.put(demoTenant, { name: "Demo" })
  yield* secrets.put(demoTenant, hmacSecretId, { secret: state.saved().secret, client: demoCustomer })
  yield* keyFor(state, "carrierKey", { name: demoCarrier, roles: ["carrier"] })
  yield* keyFor(state, "shipperKey", { name: demoShipper, roles: ["customer"], accounts: [demoAccount] })
  const customer = yield* keyFor(state, "customerKey", { name: demoCustomer, roles: ["customer"], accounts: [demoAccount] })
  yield* followEvents(state, customer)
  return customer
})

/** The saved key, or a new one if this database does not know it. */
const keyFor = Effect.fnUntraced(function*(state: DemoState, name: "carrierKey" | "shipperKey" | "customerKey", request: ApiKeyRequest) {
  const apiKeys = yield* ApiKeys
  const before = state.saved()[name]
  if (before !== undefined) {
    const known = yield* apiKeys.principalOf(Redacted.make(before)).pipe(Effect.catchTag("Unauthenticated", () => Effect.succeed(undefined)))
    if (known !== undefined) return known
  }
  const { key } = yield* apiKeys.create(demoTenant, request)
  yield* state.save({ [name]: Redacted.value(key) })
  return yield* apiKeys.principalOf(key)
})

/**
 * Saves the subscription's id before its transaction commits. After a crash in between, the next start has an id
 * without a subscription, but never a subscription without an id.
 */
const subscribed = <A, E, R>(state: DemoState, subscribe: Effect.Effect<A, E, R>, saved: (made: A) => Partial<SavedState>) =>
  Effect.flatMap(Transaction, (transaction) => transaction.run(Effect.tap(subscribe, (made) => state.save(saved(made)))))

const followEvents = Effect.fnUntraced(function*(state: DemoState, customer: Principal) {
  const subscriptions = yield* TransitSubscriptions
  const { endpointUrl } = state
  const { subscriptionId } = state.saved()
  const found = subscriptionId === undefined
    ? undefined
    : yield* subscriptions.get(customer, subscriptionId).pipe(Effect.catchTag("SubscriptionNotFound", () => Effect.succeed(undefined)))
  if (found === undefined) {
    yield* subscribed(state, subscriptions.create(customer, { endpointUrl, hmacSecretId }), ({ id }) => ({ subscriptionId: id }))
  } else if (found.endpointUrl !== endpointUrl) {
    yield* subscriptions.patch(customer, found.id, { endpointUrl })
  }
})

/** Subscribes to the shipments of a journey by their PRO numbers, before the carrier registers them, and ends the previous subscription. */
export const followStatuses = Effect.fnUntraced(function*(state: DemoState, customer: Principal, startedAt: number) {
  const subscriptions = yield* StatusSubscriptions
  const webhookUrl = state.endpointUrl
  const before = state.saved().statuses
  const exists = before !== undefined && (yield* isThere(before.transactionId))
  if (exists && before.startedAt === startedAt && before.webhookUrl === webhookUrl) return
  const follow = Effect.gen(function*() {
    if (exists) yield* subscriptions.unsubscribe(customer, before.transactionId)
    return yield* subscriptions.subscribe(customer, {
      referenceNumbers: shipmentsOf(startedAt).map(({ proNumber }) => proNumber),
      webhookUrl,
      hmacSecretId
    })
  })
  yield* subscribed(state, follow, ({ transactionId }) => ({ statuses: { transactionId, webhookUrl, startedAt } }))
})

const isThere = Effect.fnUntraced(function*(transactionId: string) {
  const deliveries = yield* Deliveries
  return yield* Effect.match(deliveries.destinationStatus(demoTenant, transactionId), { onSuccess: () => true, onFailure: (error) => error._tag !== "DestinationNotFound" })
})

/** Subscribes at most once, because a second subscription for the same account is refused. */
export const followCharges = Effect.fnUntraced(function*(state: DemoState, customer: Principal) {
  const subscriptions = yield* ChargeSubscriptions
  const webhookUrl = state.endpointUrl
  const { chargeSubscriptionId } = state.saved()
  const found: ChargeSubscription | undefined = chargeSubscriptionId === undefined
    ? undefined
    : yield* subscriptions.get(customer, chargeSubscriptionId).pipe(Effect.catchTag("ChargeSubscriptionNotFound", () => Effect.succeed(undefined)))
  const exists = found !== undefined && found.status !== "inactive"
  if (exists && found.webhookUrl === webhookUrl) return
  const follow = Effect.gen(function*() {
    if (exists) yield* subscriptions.cancel(customer, found.subscriptionId)
    return yield* subscriptions.create(customer, {
      webhookUrl,
      accounts: [demoAccount],
      dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
      hmacSecretId
    })
  })
  yield* subscribed(state, follow, ({ subscriptionId }) => ({ chargeSubscriptionId: subscriptionId }))
})

/** Start of the last finished journey; `undefined` if this database does not contain it. */
export const finishedJourney = Effect.fnUntraced(function*(state: DemoState, customer: Principal) {
  const { finishedAt } = state.saved()
  const [first] = finishedAt === undefined ? [] : shipmentsOf(finishedAt)
  if (first === undefined) return undefined
  const invoices = yield* Invoices
  return yield* invoices.get(customer, uniqueIdOf(first)).pipe(
    Effect.as(finishedAt),
    Effect.catchTag("InvoiceNotFound", () => Effect.succeed(undefined))
  )
})
