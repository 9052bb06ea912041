/** Subscribes to shipment status by reference numbers, and unsubscribes. */
import { Context, Effect, Layer, Schema } from "effect"
import * as Clock from "effect/Clock"
import type { NotPermitted, QuotaExceeded } from "../access/AccessErrors.ts"
import { carriersAndCustomers } from "../access/Callers.ts"
import { makeRememberAccess } from "../access/ClientAccess.ts"
import type { Principal } from "../access/model/Principal.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { DeliveryQueue, type DestinationSettings } from "../delivery/DeliveryQueue.ts"
import { defaultPolicy } from "../delivery/model/DeliveryPolicy.ts"
import { secretOfClient } from "../delivery/model/SecretOwner.ts"
import { SigningSecrets, unknownSecret } from "../delivery/SigningSecrets.ts"
import { openDestinationWithin } from "../delivery/OpenDestination.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { WebhookSender } from "../delivery/WebhookSender.ts"
import { fault } from "../shared/Fault.ts"
import { HmacSecretId } from "../shared/Identifier.ts"
import { decodeInput, InvalidInput, type WithLists } from "../shared/InvalidInput.ts"
import { isObject, maxDepth, nestsDeeperThan } from "../shared/Json.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { Transaction } from "../shared/Transaction.ts"
import { isUniqueId, UniqueIds } from "../shared/UniqueIds.ts"
import { plainText } from "./model/FreightShapes.ts"
import { plainNumber } from "./model/LookupKey.ts"
import { StatusSubscriptionNotFound } from "./ShipmentStatusErrors.ts"
import { StatusSubscriptionStore } from "./StatusSubscriptionStore.ts"

/** Source name in the delivery queue for status notifications. */
export const shipmentStatusSource = "shipment-status"

export const maxReferenceNumbers = 1000

const Reference = plainText(500).check(
  Schema.makeFilter((text: string) => plainNumber(text) !== "" || "A reference number has at least one letter or digit.")
)

/** Body of the subscribe call. `hmacSecretId` names the signing secret. SPEC-GAP-A13 */
export const SubscribeRequest = Schema.Struct({
  referenceNumbers: Schema.NonEmptyArray(Reference).check(
    Schema.isMaxLength(maxReferenceNumbers, { message: `At most ${maxReferenceNumbers} referenceNumbers.` })
  ),
  webhookUrl: Schema.String.check(
    Schema.isPattern(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\p{Cc}\p{Cs}]+$/u, { message: "webhookUrl is an absolute https address." }),
    Schema.isMaxLength(2048, { message: "webhookUrl has at most 2048 characters." })
  ),
  hmacSecretId: Schema.optionalKey(HmacSecretId)
}).annotate({ identifier: "SubscribeRequest" })
export type SubscribeRequest = typeof SubscribeRequest.Type

/** Answer of both calls. */
export const SubscriptionResult = Schema.Struct({
  message: Schema.String,
  transactionId: Schema.String
}).annotate({ identifier: "SubscriptionResult" })
export type SubscriptionResult = typeof SubscriptionResult.Type

export class StatusSubscriptions extends Context.Service<StatusSubscriptions, {
  /** Sends every later status change of these shipments to the address, if the caller may see them at that time. SPEC-GAP-A14 */
  readonly subscribe: (principal: Principal, input: WithLists<typeof SubscribeRequest.Encoded>) => Effect.Effect<SubscriptionResult, InvalidInput | NotPermitted | QuotaExceeded | StorageError>
  /** Stops deliveries at once and removes waiting entries. */
  readonly unsubscribe: (
    principal: Principal,
    transactionId: string
  ) => Effect.Effect<SubscriptionResult, StatusSubscriptionNotFound | NotPermitted | StorageError>
}>()("@waybill/core/shipment-status/StatusSubscriptions") {
  static readonly layer = Layer.effect(
    StatusSubscriptions,
    Effect.gen(function*() {
      const store = yield* StatusSubscriptionStore
      const queue = yield* DeliveryQueue
      const rememberAccess = yield* makeRememberAccess
      const secrets = yield* SigningSecrets
      const sender = yield* WebhookSender
      const transaction = yield* Transaction
      const limits = yield* TenantLimits
      const ids = yield* UniqueIds
      const wakeups = yield* Wakeups

      /** Checks address and secret even if other fields are invalid, so that one error lists all faults. */
      const faultsOf = Effect.fnUntraced(function*(principal: Principal, input: unknown, malformed: ReadonlySet<string>) {
        const { hmacSecretId, webhookUrl } = isObject(input) ? input : {}
        const refusal = typeof webhookUrl === "string" && !malformed.has("/webhookUrl") ? sender.refusal(webhookUrl) : undefined
        const named = typeof hmacSecretId === "string" && !malformed.has("/hmacSecretId") ? hmacSecretId : undefined
        return [
          ...(refusal === undefined ? [] : [fault(["webhookUrl"], refusal, "not_allowed")]),
          ...(named !== undefined && !(yield* secrets.mayName(principal, named)) ? unknownSecret(named).faults : [])
        ]
      })

      const read = Effect.fnUntraced(function*(principal: Principal, input: unknown) {
        if (nestsDeeperThan(input, maxDepth)) return yield* InvalidInput.of(fault([], "The body nests too deep.", "out_of_bounds"))
        const decoded = yield* Effect.result(decode(input))
        const malformed = decoded._tag === "Failure" ? decoded.failure.faults : []
        const others = yield* faultsOf(principal, input, new Set(malformed.map((each) => each.pointer)))
        if (malformed.length + others.length > 0) return yield* new InvalidInput({ faults: [...malformed, ...others] })
        return yield* Effect.fromResult(decoded)
      })

      const subscribe = Effect.fn("StatusSubscriptions.subscribe")(function*(principal: Principal, input: unknown) {
        yield* carriersAndCustomers(principal)
        const request = yield* read(principal, input)
        const references = [...new Set(request.referenceNumbers.map(plainNumber))]
        const createdAt = yield* Clock.currentTimeMillis
        const id = ids.nextAt(createdAt)
        const quotas = yield* limits.of(principal.tenantId)
        yield* transaction.run(Effect.gen(function*() {
          yield* rememberAccess(principal)
          if (request.hmacSecretId !== undefined) yield* secrets.use(principal, request.hmacSecretId)
          yield* openDestinationWithin(queue, quotas, "statusSubscriptionsPerClient", principal.tenantId, destinationOf(id, principal, request))
          yield* store.insert(principal.tenantId, { id, client: principal.client, doc: JSON.stringify(request), references, createdAt })
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
    })
  )
}

const decode = decodeInput(SubscribeRequest)

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
  whenDead: "goOn",
  state: "active"
})
