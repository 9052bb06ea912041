/** Subscribes to shipment status by reference numbers, and unsubscribes. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { type NotPermitted, QuotaExceeded } from "../access/AccessErrors.ts"
import { carriersAndCustomers } from "../access/Callers.ts"
import { makeRememberAccess } from "../access/ClientAccess.ts"
import type { Principal } from "../access/model/Principal.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { DeliveryQueue, type DestinationSettings } from "../delivery/DeliveryQueue.ts"
import { defaultPolicy } from "../delivery/model/DeliveryPolicy.ts"
import { secretOfClient } from "../delivery/model/SecretOwner.ts"
import { SigningSecrets } from "../delivery/secrets/SigningSecrets.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { fault } from "../shared/Fault.ts"
import { HmacSecretId } from "../shared/Identifier.ts"
import { decodeInput, InvalidInput, type WithLists } from "../shared/InvalidInput.ts"
import { maxDepth, nestsDeeperThan } from "../shared/Json.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { isUniqueId, UniqueIds } from "../shared/UniqueIds.ts"
import { webhookAddress } from "../shared/WebhookAddress.ts"
import { openDestinationWithin } from "../subscriptions/Destinations.ts"
import { makeWebhookChecks } from "../subscriptions/WebhookChecks.ts"
import { plainText } from "./model/FreightShapes.ts"
import { plainNumber } from "./model/LookupKey.ts"
import { StatusSubscriptionNotFound } from "./ShipmentStatusErrors.ts"
import { StatusSubscriptionStore } from "./StatusSubscriptionStore.ts"

/** Source name in the delivery queue for status notifications. */
export const shipmentStatusSource = "shipment-status"

/** Most `referenceNumbers` of one subscription. */
export const maxReferenceNumbers = 1000

const Reference = plainText(500).check(
  Schema.makeFilter((text: string) => plainNumber(text) !== "" || "A reference number has at least one letter or digit.")
)

/** Body of the subscribe call. `hmacSecretId` names the signing secret. SPEC-GAP-A13, SPEC-GAP-A26 */
export const SubscribeRequest = Schema.Struct({
  referenceNumbers: Schema.NonEmptyArray(Reference).check(
    Schema.isMaxLength(maxReferenceNumbers, { message: `At most ${maxReferenceNumbers} referenceNumbers.` })
  ),
  webhookUrl: webhookAddress("webhookUrl"),
  hmacSecretId: Schema.optionalKey(HmacSecretId)
}).annotate({ identifier: "SubscribeRequest" })
export type SubscribeRequest = typeof SubscribeRequest.Type

/** Answer of both calls. */
export const SubscriptionResult = Schema.Struct({
  message: Schema.String,
  transactionId: Schema.String
}).annotate({ identifier: "SubscriptionResult" })
export type SubscriptionResult = typeof SubscriptionResult.Type

/** Subscriptions to statuses (area A): subscribe and unsubscribe. */
export class StatusSubscriptions extends Context.Service<StatusSubscriptions, {
  /** Sends every later status change of these shipments to the address, if the caller may see them at that time. SPEC-GAP-A14 */
  readonly subscribe: (principal: Principal, input: WithLists<typeof SubscribeRequest.Encoded>) => Effect.Effect<SubscriptionResult, InvalidInput | NotPermitted | QuotaExceeded | StorageError>
  /** Stops deliveries at once and removes waiting entries. */
  readonly unsubscribe: (
    principal: Principal,
    transactionId: string
  ) => Effect.Effect<SubscriptionResult, StatusSubscriptionNotFound | NotPermitted | StorageError>
}>()("@waybill/core/shipment-status/StatusSubscriptions") {
  static readonly layer = Layer.effect(StatusSubscriptions, Effect.gen(function*() {
    const store = yield* StatusSubscriptionStore
    const queue = yield* DeliveryQueue
    const rememberAccess = yield* makeRememberAccess
    const secrets = yield* SigningSecrets
    const transaction = yield* Transaction
    const limits = yield* TenantLimits
    const ids = yield* UniqueIds
    const wakeups = yield* Wakeups
    const { readRequest } = yield* makeWebhookChecks

    const subscribe = Effect.fn("StatusSubscriptions.subscribe")(function*(principal: Principal, input: unknown) {
      yield* carriersAndCustomers(principal)
      const request = yield* readRequest(principal, "webhookUrl", input, decodeShallow)
      const references = [...new Set(request.referenceNumbers.map(plainNumber))]
      const createdAt = yield* Clock.currentTimeMillis
      const id = ids.nextAt(createdAt)
      const quotas = yield* limits.of(principal.tenantId)
      yield* transaction.run(Effect.gen(function*() {
        if (request.hmacSecretId !== undefined) yield* secrets.use(principal, request.hmacSecretId)
        yield* rememberAccess(principal)
        yield* openDestinationWithin(queue, quotas, "statusSubscriptionsPerClient", principal.tenantId, destinationOf(id, principal, request))
        yield* store.insert(principal.tenantId, { id, client: principal.client, doc: JSON.stringify(request), references, createdAt })
        // opening the destination locked the client's count
        const most = quotas.statusSubscriptionsPerReference
        const ofReference = yield* store.mostOfReference(principal.tenantId, principal.client, references, most + 1)
        if (ofReference > most) return yield* new QuotaExceeded({ quota: "statusSubscriptionsPerReference", limit: most })
      }))
      yield* wakeups.wake(principal.tenantId)
      const count = references.length
      return { message: `Subscribed to ${count} reference ${count === 1 ? "number" : "numbers"}.`, transactionId: id }
    })

    const unsubscribe = Effect.fn("StatusSubscriptions.unsubscribe")(function*(principal: Principal, transactionId: string) {
      yield* carriersAndCustomers(principal)
      if (!isUniqueId(transactionId)) return yield* new StatusSubscriptionNotFound({ transactionId })
      yield* transaction.run(Effect.gen(function*() {
        const removed = yield* store.remove(principal.tenantId, principal.client, transactionId)
        if (!removed) return yield* new StatusSubscriptionNotFound({ transactionId })
        yield* queue.closeDestination(principal.tenantId, transactionId)
      }))
      return { message: "Unsubscribed. Nothing more is sent.", transactionId }
    })

    return StatusSubscriptions.of({ subscribe, unsubscribe })
  }))
}

const decode = decodeInput(SubscribeRequest)

const decodeShallow = (input: unknown): Effect.Effect<SubscribeRequest, InvalidInput> =>
  nestsDeeperThan(input, maxDepth) ? Effect.fail(InvalidInput.of(fault([], "The body nests too deep.", "out_of_bounds"))) : decode(input)

/**
 * Each notification is a delivery of its own with an unchanged body. If the client names no secret, deliveries are signed as soon as the
 * operator registers a secret for the client.
 */
const destinationOf = (id: string, principal: Principal, request: SubscribeRequest): DestinationSettings => ({
  destinationId: id,
  client: principal.client,
  source: shipmentStatusSource,
  endpointUrl: request.webhookUrl,
  hmacSecretId: request.hmacSecretId ?? secretOfClient(principal.client),
  policy: { ...defaultPolicy, batchMaxSize: 1, rateLimitPerMinute: 6000 },
  envelope: { open: "", close: "" },
  signing: request.hmacSecretId === undefined ? "whenRegistered" : "required",
  whenDead: "continue",
  state: "active"
})
