/** The tenant, keys, secret and subscriptions that the demo plays with; made once, found again at every start. */
import {
  ApiKeys,
  type ChargeSubscription,
  ChargeSubscriptions,
  Deliveries,
  Invoices,
  type Principal,
  SigningSecrets,
  StatusSubscriptions,
  Tenants,
  Transaction,
  TransitSubscriptions
} from "@waybill/core"
import { Effect, Redacted } from "effect"
import { demoAccount, shipmentsOf, uniqueIdOf } from "./DemoFreight.ts"
import type { DemoState, Kept } from "./DemoState.ts"

export const demoTenant = "demo"
const demoCarrier = "demo-carrier"
const demoShipper = "demo-shipper"
/** Who writes by itself. */
export const demoClients: ReadonlySet<unknown> = new Set([demoCarrier, demoShipper])
const demoCustomer = "demo-customer"
const hmacSecretId = "demo"

/** Answers the customer. */
export const seedDemo = Effect.fnUntraced(function*(state: DemoState) {
  const tenants = yield* Tenants
  const secrets = yield* SigningSecrets
  yield* tenants.put(demoTenant, { name: "Demo" })
  yield* secrets.put(demoTenant, hmacSecretId, { secret: state.kept().secret, client: demoCustomer })
  yield* keyFor(state, "carrierKey", { name: demoCarrier, roles: ["carrier"] })
  yield* keyFor(state, "shipperKey", { name: demoShipper, roles: ["customer"], accounts: [demoAccount] })
  const customer = yield* keyFor(state, "customerKey", { name: demoCustomer, roles: ["customer"], accounts: [demoAccount] })
  yield* followEvents(state, customer)
  return customer
})

/** The key of last time, or a new one where this database does not know it. */
const keyFor = Effect.fnUntraced(function*(state: DemoState, name: "carrierKey" | "shipperKey" | "customerKey", request: object) {
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

/**
 * Subscribes, and knows it by heart before it is true: killed in between, the next start finds an id that nobody has, and
 * never a subscription that nobody knows of.
 */
const subscribed = <A, E, R>(state: DemoState, subscribe: Effect.Effect<A, E, R>, kept: (made: A) => Partial<Kept>) =>
  Effect.flatMap(Transaction, (transaction) => transaction.run(Effect.tap(subscribe, (made) => state.keep(kept(made)))))

const followEvents = Effect.fnUntraced(function*(state: DemoState, customer: Principal) {
  const subscriptions = yield* TransitSubscriptions
  const { endpointUrl } = state
  const { subscriptionId } = state.kept()
  const found = subscriptionId === undefined
    ? undefined
    : yield* subscriptions.get(customer, subscriptionId).pipe(Effect.catchTag("SubscriptionNotFound", () => Effect.succeed(undefined)))
  if (found === undefined) {
    yield* subscribed(state, subscriptions.create(customer, { endpointUrl, hmacSecretId }), ({ id }) => ({ subscriptionId: id }))
  } else if (found.endpointUrl !== endpointUrl) {
    yield* subscriptions.patch(customer, found.id, { endpointUrl })
  }
})

/** Follows the shipments of a journey by their PRO numbers, which the carrier may not have told of yet; those before no longer. */
export const followStatuses = Effect.fnUntraced(function*(state: DemoState, customer: Principal, startedAt: number) {
  const subscriptions = yield* StatusSubscriptions
  const webhookUrl = state.endpointUrl
  const before = state.kept().statuses
  const lives = before !== undefined && (yield* isThere(before.transactionId))
  if (lives && before.startedAt === startedAt && before.webhookUrl === webhookUrl) return
  const follow = Effect.gen(function*() {
    if (lives) yield* subscriptions.unsubscribe(customer, before.transactionId)
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
  return yield* Effect.match(deliveries.laneStatus(demoTenant, transactionId), { onSuccess: () => true, onFailure: (error) => error._tag !== "LaneNotFound" })
})

/** One at most: a second one for the same account would be refused. */
export const followCharges = Effect.fnUntraced(function*(state: DemoState, customer: Principal) {
  const subscriptions = yield* ChargeSubscriptions
  const webhookUrl = state.endpointUrl
  const { chargeSubscriptionId } = state.kept()
  const found: ChargeSubscription | undefined = chargeSubscriptionId === undefined
    ? undefined
    : yield* subscriptions.get(customer, chargeSubscriptionId).pipe(Effect.catchTag("ChargeSubscriptionNotFound", () => Effect.succeed(undefined)))
  const lives = found !== undefined && found.status !== "inactive"
  if (lives && found.webhookUrl === webhookUrl) return
  const follow = Effect.gen(function*() {
    if (lives) yield* subscriptions.cancel(customer, found.subscriptionId)
    return yield* subscriptions.create(customer, {
      webhookUrl,
      accounts: [demoAccount],
      dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
      hmacSecretId
    })
  })
  yield* subscribed(state, follow, ({ subscriptionId }) => ({ chargeSubscriptionId: subscriptionId }))
})

/** When the journey began that was the last to be finished; `undefined` where this database knows nothing of it. */
export const finishedJourney = Effect.fnUntraced(function*(state: DemoState, customer: Principal) {
  const { finishedAt } = state.kept()
  const [first] = finishedAt === undefined ? [] : shipmentsOf(finishedAt)
  if (first === undefined) return undefined
  const invoices = yield* Invoices
  return yield* invoices.get(customer, uniqueIdOf(first)).pipe(
    Effect.as(finishedAt),
    Effect.catchTag("InvoiceNotFound", () => Effect.succeed(undefined))
  )
})
