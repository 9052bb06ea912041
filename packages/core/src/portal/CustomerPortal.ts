/** The calls of a customer's portal: its own subscriptions, deliveries and secrets. */
import { Clock, Context, Effect, Layer, type Redacted, Schema } from "effect"
import type { NotPermitted, TenantNotFound } from "../access/AccessErrors.ts"
import { carriersAndCustomers } from "../access/Callers.ts"
import type { Principal } from "../access/model/Principal.ts"
import { Deliveries, DeliveryListQuery, DeliveryView } from "../delivery/Deliveries.ts"
import {
  DeliveryNotFound,
  type DeliveryNotRetryable,
  DestinationNotFound,
  SecretNotFound,
  SecretNotUsable,
  SecretUnreadable,
  type SubscriptionPausedByOperator,
  type TooManyWebhookTests
} from "../delivery/DeliveryErrors.ts"
import { secretOfClient } from "../delivery/model/SecretOwner.ts"
import { type SecretListQuery, type SecretRotation, type SecretView, SigningSecrets } from "../delivery/secrets/SigningSecrets.ts"
import { addressNotAllowed } from "../delivery/WebhookSender.ts"
import { WebhookTests } from "../delivery/WebhookTests.ts"
import { SubscriptionListQuery, Subscriptions, type SubscriptionView } from "../operator/Subscriptions.ts"
import { formatInstant, InstantText } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { HttpStatus } from "../shared/Members.ts"
import type { ListPage } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"

const { client: _anyClient, ...ownSubscriptions } = SubscriptionListQuery.fields
const { client: _client, ...ownDeliveries } = DeliveryListQuery.fields

/** A page of the client's own subscriptions. */
export const PortalSubscriptionQuery = Schema.Struct(ownSubscriptions)
/** A page of the client's own deliveries. */
export const PortalDeliveryQuery = Schema.Struct(ownDeliveries)

/**
 * A delivery as its customer sees it. `body` is `null` before the first attempt: access is checked when a delivery is sent, so it may
 * contain freight that the customer has no access to any more.
 */
export const PortalDelivery = Schema.Struct({
  ...DeliveryView.fields,
  endpointUrl: Schema.String.annotate({ description: "The subscription's endpoint now. Attempts before it was changed were sent to the previous one." }),
  body: Schema.NullOr(Schema.String).annotate({ description: "The exact body of every attempt; null before the first one." })
}).annotate({ identifier: "PortalDelivery" })
export type PortalDelivery = typeof PortalDelivery.Type

/** The result of a test event, in one sentence, with the endpoint's HTTP status if it answered. */
export const PortalTestResult = Schema.Struct({
  accepted: Schema.Boolean,
  status: Schema.NullOr(HttpStatus),
  detail: Schema.String
}).annotate({ identifier: "PortalTest" })
export type PortalTestResult = typeof PortalTestResult.Type

/** Body of a test event: no freight and no area's format, so that a receiver cannot take it for an event. */
export const WebhookTestEvent = Schema.Struct({
  type: Schema.Literal("webhook.test"),
  subscriptionId: Schema.String,
  sentAt: InstantText,
  message: Schema.String
}).annotate({ identifier: "WebhookTestEvent" })

type NoSubscription = NotPermitted | DestinationNotFound | StorageError
type NoDelivery = NotPermitted | DeliveryNotFound | StorageError

/** Subscriptions, deliveries and secrets of others answer like unknown ones. Operators are refused. */
export class CustomerPortal extends Context.Service<CustomerPortal, {
  readonly subscriptions: (
    principal: Principal,
    query?: typeof PortalSubscriptionQuery.Encoded
  ) => Effect.Effect<ListPage<SubscriptionView>, NotPermitted | InvalidInput | StorageError>
  readonly subscription: (principal: Principal, subscriptionId: string) => Effect.Effect<SubscriptionView, NoSubscription>
  /** Stops sending; new entries wait. A subscription that is not active does not change. */
  readonly pause: (principal: Principal, subscriptionId: string) => Effect.Effect<SubscriptionView, NoSubscription>
  /** Resumes a subscription, unless an operator paused it. A subscription that is not paused does not change. */
  readonly resume: (
    principal: Principal,
    subscriptionId: string
  ) => Effect.Effect<SubscriptionView, NoSubscription | SecretNotUsable | SubscriptionPausedByOperator>
  /** Sends a signed test event to the endpoint, which changes nothing here. */
  readonly test: (
    principal: Principal,
    subscriptionId: string
  ) => Effect.Effect<PortalTestResult, NoSubscription | SecretNotUsable | TooManyWebhookTests>
  /** Excludes deliveries of deleted subscriptions. */
  readonly deliveries: (
    principal: Principal,
    query?: typeof PortalDeliveryQuery.Encoded
  ) => Effect.Effect<ListPage<DeliveryView>, NotPermitted | InvalidInput | StorageError>
  readonly delivery: (principal: Principal, deliveryId: string) => Effect.Effect<PortalDelivery, NoDelivery>
  /** The same bytes under the same id once more, with a full series of attempts. */
  readonly retry: (principal: Principal, deliveryId: string) => Effect.Effect<void, NoDelivery | DeliveryNotRetryable>
  /** Secrets that belong to the customer itself, not those that it shares. */
  readonly secrets: (
    principal: Principal,
    query?: typeof SecretListQuery.Encoded
  ) => Effect.Effect<ListPage<SecretView>, NotPermitted | InvalidInput | StorageError>
  /** Generates a new secret, which is shown once. The previous one keeps signing for `overlapSeconds`, a day by default. */
  readonly rotateSecret: (
    principal: Principal,
    hmacSecretId: string,
    input?: typeof SecretRotation.Encoded
  ) => Effect.Effect<
    { readonly hmacSecretId: string; readonly secret: Redacted.Redacted },
    NotPermitted | InvalidInput | TenantNotFound | SecretNotFound | SecretUnreadable | StorageError
  >
}>()("@waybill/core/portal/CustomerPortal") {
  static readonly layer = Layer.effect(CustomerPortal, Effect.gen(function*() {
    const allSubscriptions = yield* Subscriptions
    const allDeliveries = yield* Deliveries
    const signingSecrets = yield* SigningSecrets
    const tests = yield* WebhookTests

    const own = Effect.fnUntraced(function*(principal: Principal, subscriptionId: string) {
      yield* carriersAndCustomers(principal)
      const found = yield* allSubscriptions.get(principal.tenantId, subscriptionId)
      if (found.client !== principal.client) return yield* new DestinationNotFound({ destinationId: subscriptionId })
      return found
    })

    /** A delivery belongs to the client of its subscription. */
    const ownDelivery = Effect.fnUntraced(function*(principal: Principal, deliveryId: string) {
      yield* carriersAndCustomers(principal)
      const found = yield* allDeliveries.get(principal.tenantId, deliveryId)
      yield* Effect.catchTag(own(principal, found.subscriptionId), "DestinationNotFound", () => Effect.fail(new DeliveryNotFound({ deliveryId })))
      return found
    })

    const subscriptions = Effect.fn("CustomerPortal.subscriptions")(function*(principal: Principal, input: unknown = {}) {
      yield* carriersAndCustomers(principal)
      const query = yield* decodeSubscriptions(input)
      const page = yield* allSubscriptions.list(principal.tenantId, { ...query, client: principal.client })
      return { ...page, data: page.data.map(shownSubscription) }
    })

    const subscription = Effect.fn("CustomerPortal.subscription")((principal: Principal, subscriptionId: string) =>
      Effect.map(own(principal, subscriptionId), shownSubscription))

    const pause = Effect.fn("CustomerPortal.pause")(function*(principal: Principal, subscriptionId: string) {
      yield* own(principal, subscriptionId)
      return shownSubscription(yield* allSubscriptions.pauseOwn(principal.tenantId, subscriptionId))
    })

    const resume = Effect.fn("CustomerPortal.resume")(function*(principal: Principal, subscriptionId: string) {
      yield* own(principal, subscriptionId)
      return shownSubscription(yield* inWordsForClients(allSubscriptions.resumeOwn(principal.tenantId, subscriptionId)))
    })

    const test = Effect.fn("CustomerPortal.test")(function*(principal: Principal, subscriptionId: string) {
      const { endpointUrl, hmacSecretId } = yield* own(principal, subscriptionId)
      const { client, tenantId } = principal
      const mustSign = hmacSecretId !== secretOfClient(client)
      if (mustSign) yield* inWordsForClients(signingSecrets.checkUse(tenantId, hmacSecretId, client))
      yield* tests.allow(principal)
      const now = yield* Clock.currentTimeMillis
      const { accepted, detail, status } = yield* tests.send({ tenantId, client, url: endpointUrl, hmacSecretId, mustSign, body: [testEvent(subscriptionId, now)] })
      return { accepted, status: status ?? null, detail }
    })

    const deliveries = Effect.fn("CustomerPortal.deliveries")(function*(principal: Principal, input: unknown = {}) {
      yield* carriersAndCustomers(principal)
      const query = yield* decodeDeliveries(input)
      const page = yield* allDeliveries.list(principal.tenantId, { ...query, client: principal.client })
      return { ...page, data: page.data.map(shownDelivery) }
    })

    const delivery = Effect.fn("CustomerPortal.delivery")(function*(principal: Principal, deliveryId: string) {
      const found = yield* ownDelivery(principal, deliveryId)
      return { ...shownDelivery(found), endpointUrl: found.endpointUrl, body: found.attempts.length === 0 ? null : found.body }
    })

    const retry = Effect.fn("CustomerPortal.retry")(function*(principal: Principal, deliveryId: string) {
      yield* ownDelivery(principal, deliveryId)
      yield* allDeliveries.retry(principal.tenantId, deliveryId)
    })

    const secrets = Effect.fn("CustomerPortal.secrets")((principal: Principal, query?: typeof SecretListQuery.Encoded) =>
      Effect.andThen(carriersAndCustomers(principal), signingSecrets.listOwn(principal, query)))

    const rotateSecret = Effect.fn("CustomerPortal.rotateSecret")((principal: Principal, hmacSecretId: string, input?: typeof SecretRotation.Encoded) =>
      carriersAndCustomers(principal).pipe(
        Effect.andThen(signingSecrets.rotateOwn(principal, hmacSecretId, input)),
        Effect.catchTags({
          SecretNotFound: ({ hmacSecretId }) => Effect.fail(new SecretNotFound({ hmacSecretId, forClient: true })),
          SecretUnreadable: () => Effect.fail(new SecretUnreadable({ hmacSecretId, forClient: true }))
        })
      ))

    return CustomerPortal.of({ subscriptions, subscription, pause, resume, test, deliveries, delivery, retry, secrets, rotateSecret })
  }))
}

const decodeSubscriptions = decodeInput(PortalSubscriptionQuery, { closed: true })
const decodeDeliveries = decodeInput(PortalDeliveryQuery, { closed: true })

/** The advice to operators names calls that a client does not have. */
const inWordsForClients = <A, E, R>(effect: Effect.Effect<A, E | SecretNotUsable, R>) =>
  Effect.mapError(effect, (error) => error instanceof SecretNotUsable ? new SecretNotUsable({ hmacSecretId: error.hmacSecretId, client: error.client, forClient: true }) : error)

const testEvent = (subscriptionId: string, now: number): string => {
  const event: typeof WebhookTestEvent.Type = { type: "webhook.test", subscriptionId, sentAt: formatInstant(now), message: "This is a test event. It contains no freight data." }
  return JSON.stringify(event)
}

/** A name that leads nowhere and a name that leads inside look the same, so that a customer cannot find out internal names. */
const shownOutcome = (outcome: string): string => outcome === "dns" ? "address_not_allowed" : outcome

const shownSubscription = (subscription: SubscriptionView): SubscriptionView => {
  const { lastAttempt } = subscription
  return lastAttempt === null ? subscription : { ...subscription, lastAttempt: { ...lastAttempt, outcome: shownOutcome(lastAttempt.outcome) } }
}

const shownDelivery = ({ attempts, createdAt, deliveryId, events, nextAttemptAt, reason, settledAt, state, subscriptionId }: DeliveryView): DeliveryView => ({
  deliveryId,
  subscriptionId,
  state,
  createdAt,
  settledAt,
  nextAttemptAt,
  reason,
  events,
  attempts: attempts.map((attempt) => {
    const outcome = shownOutcome(attempt.outcome)
    // an operator may allow endpoints inside its network, whose answers are not for customers
    return { ...attempt, outcome, answer: null, detail: outcome === "address_not_allowed" ? addressNotAllowed : attempt.detail }
  })
})
