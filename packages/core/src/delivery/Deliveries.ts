/** Deliveries as operators see them: list, get, retry, dismiss and recover. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { fault } from "../shared/Fault.ts"
import { formatInstant, InstantText, parseInstant } from "../shared/Instant.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { Count, HttpStatus } from "../shared/Members.ts"
import { type CountedPage, defaultListLimit, IdCursor, ListLimit, listPage } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { isUniqueId } from "../shared/UniqueIds.ts"
import { DeliveryControl } from "./DeliveryControl.ts"
import { DeliveryNotDismissable, DeliveryNotFound, DeliveryNotRetryable, DestinationNotFound } from "./DeliveryErrors.ts"
import { DeliveryQueue, type DeliverySummary, type DestinationStatus, mostPassedOver } from "./DeliveryQueue.ts"
import { deliveryFilterFields, deliveryFilterOf } from "./model/DeliveryFilter.ts"
import { type DeliveryState, deliveryStates } from "./model/DeliveryState.ts"
import { wrap } from "./model/Envelope.ts"
import { bytesOfBody } from "./model/RequestBody.ts"
import { Wakeups } from "./Wakeups.ts"

/** A page of deliveries; all filters must match. `state` with `error`: only `waiting` and `dead`. `total`: also count, up to `totalCount`. */
export const DeliveryListQuery = Schema.Struct({
  state: Schema.optionalKey(Schema.Literals(deliveryStates as ReadonlyArray<DeliveryState>).annotate({ message: `state is one of ${deliveryStates.join(", ")}.` })),
  ...deliveryFilterFields,
  total: Schema.optionalKey(Schema.Boolean),
  order: Schema.optionalKey(Schema.Literals(["oldest", "newest"]).annotate({ message: "order is oldest or newest." })),
  cursor: IdCursor,
  limit: ListLimit
})

/** Body of the recover call. */
export const RecoverCall = Schema.Struct({ since: InstantText }).annotate({ identifier: "RecoverCall" })

/** Body of a bulk action on dead letters. */
export const DeadLettersCall = Schema.Struct({ ...deliveryFilterFields, cursor: IdCursor }).annotate({ identifier: "DeadLettersCall" })

/** Maximum number of dead letters that one call of a bulk action changes. */
const bulkStep = 500

/** Result of one call of a bulk action. */
export interface BulkResult {
  /** Dead letters that this call changed: fewer than matched if a concurrent call changed some of them. */
  readonly changed: number
  /** For the next call, with the same filter; `null` when nothing is left. */
  readonly nextCursor: string | null
}

const attemptOutcome = Schema.String.annotate({ description: "accepted, gone, interrupted, or the kind of failure, such as timeout or http_5xx." })

/** The last attempt of a subscription or of a delivery, with its outcome. */
export const LastAttempt = Schema.Struct({ at: InstantText, outcome: attemptOutcome, status: Schema.NullOr(HttpStatus) })

const Attempt = Schema.Struct({
  attempt: Count,
  at: InstantText,
  durationMillis: Count,
  outcome: attemptOutcome,
  status: Schema.NullOr(HttpStatus),
  detail: Schema.NullOr(Schema.String),
  answer: Schema.NullOr(Schema.String.annotate({ description: "The first bytes of the receiver's response." }))
}).annotate({ identifier: "DeliveryAttempt" })

/** A delivery as operators see it. Instants are UTC text. */
export const DeliveryView = Schema.Struct({
  deliveryId: Schema.String,
  subscriptionId: Schema.String,
  state: Schema.Literals(deliveryStates),
  createdAt: InstantText,
  settledAt: Schema.NullOr(InstantText),
  nextAttemptAt: Schema.NullOr(InstantText),
  reason: Schema.NullOr(Schema.String.annotate({ description: "Why it was cancelled, unless its subscription was deleted." })),
  events: Count,
  attempts: Schema.Array(Attempt)
}).annotate({ identifier: "Delivery" })
export type DeliveryView = typeof DeliveryView.Type

/** A delivery with its body: the exact bytes that every attempt sends, as text. */
export const DeliveryBodyView = Schema.Struct({
  ...DeliveryView.fields,
  endpointUrl: Schema.String.annotate({ description: "The subscription's endpoint now. Attempts before it was changed were sent to the previous one." }),
  body: Schema.String.annotate({ description: "The exact body of every attempt." })
}).annotate({ identifier: "DeliveryInFull" })
export type DeliveryBodyView = typeof DeliveryBodyView.Type

/** What operators do with deliveries of a tenant. */
export class Deliveries extends Context.Service<Deliveries, {
  /** Newest first, unless `order` is `oldest`. `nextCursor` is null on the last page; earlier pages may be short or empty. `total`: if requested, up to `totalCount`, unless counting takes too long. */
  readonly list: (tenantId: string, query?: typeof DeliveryListQuery.Encoded) => Effect.Effect<CountedPage<DeliveryView>, InvalidInput | StorageError>
  readonly get: (tenantId: string, deliveryId: string) => Effect.Effect<DeliveryBodyView, DeliveryNotFound | StorageError>
  /** Sends the same bytes under the same id again, with a full series of attempts. */
  readonly retry: (tenantId: string, deliveryId: string) => Effect.Effect<void, DeliveryNotFound | DeliveryNotRetryable | StorageError>
  /** Dismisses a dead letter: it no longer counts and is not recovered. Can be repeated. */
  readonly dismiss: (tenantId: string, deliveryId: string) => Effect.Effect<void, DeliveryNotFound | DeliveryNotDismissable | StorageError>
  /** Sends every dead letter of the subscription since an instant again, under the same ids. Returns their number. */
  readonly recover: (tenantId: string, subscriptionId: string, input: typeof RecoverCall.Encoded) => Effect.Effect<number, DestinationNotFound | InvalidInput | StorageError>
  /** Sends matching dead letters again, the 500 oldest after the cursor. An interrupted call can be repeated. */
  readonly retryDeadLetters: (tenantId: string, input: typeof DeadLettersCall.Encoded) => Effect.Effect<BulkResult, InvalidInput | StorageError>
  /** Dismisses matching dead letters, the 500 oldest after the cursor. */
  readonly dismissDeadLetters: (tenantId: string, input: typeof DeadLettersCall.Encoded) => Effect.Effect<BulkResult, InvalidInput | StorageError>
  /** The subscription's state and its reason. */
  readonly destinationStatus: (tenantId: string, subscriptionId: string) => Effect.Effect<DestinationStatus, DestinationNotFound | StorageError>
}>()("@waybill/core/delivery/Deliveries") {
  static readonly layer = Layer.effect(Deliveries, Effect.gen(function*() {
    const queue = yield* DeliveryQueue
    const control = yield* DeliveryControl
    const wakeups = yield* Wakeups
    const decodeQuery = decodeInput(DeliveryListQuery, { closed: true })
    const decodeDeadLetters = decodeInput(DeadLettersCall, { closed: true })
    const decodeRecover = decodeInput(RecoverCall, { closed: true })

    const destinationStatus = Effect.fnUntraced(function*(tenantId: string, destinationId: string) {
      const status = isUniqueId(destinationId) ? yield* queue.destinationStatus(tenantId, destinationId) : Option.none()
      return yield* Effect.fromOption(status, () => new DestinationNotFound({ destinationId }))
    })

    const list = Effect.fn("Deliveries.list")(function*(tenantId: string, input: unknown = {}) {
      const { cursor, limit = defaultListLimit, order = "newest", state, total = false, ...given } = yield* decodeQuery(input)
      const filter = yield* filterOf(given, state)
      if (filter === undefined) return { data: [], nextCursor: null, ...total ? { total: 0 } : {} }
      // one allowance for all reads of the page
      let left = mostPassedOver
      const page = yield* listPage({
        read: (range) =>
          Effect.map(queue.list(tenantId, { ...filter, state, order, ...range, passOver: Math.max(1, left) }), ({ deliveries, lookedTo, passedOver }) => {
            left -= passedOver
            return { rows: deliveries, lookedTo }
          }),
        idOf: (row) => row.deliveryId,
        sizeOf: (row) => 400 + row.attempts.reduce((sum, { detail = "", excerpt = "" }) => sum + 150 + detail.length + excerpt.length, 0),
        shown: deliveryView
      }, cursor, limit)
      const counted = total ? yield* queue.count(tenantId, { ...filter, state }) : undefined
      return counted === undefined ? page : { ...page, total: counted }
    })

    const changeDeadLetters = Effect.fnUntraced(function*(
      tenantId: string,
      input: unknown,
      change: (tenantId: string, deliveryIds: ReadonlyArray<string>) => Effect.Effect<number, StorageError>
    ) {
      const { cursor, ...given } = yield* decodeDeadLetters(input)
      if (Object.keys(given).length === 0) return yield* InvalidInput.of(fault([], unfiltered, "required"))
      const filter = yield* filterOf(given, "dead")
      if (filter === undefined) return { changed: 0, nextCursor: null }
      const { deliveries, lookedTo } = yield* queue.list(tenantId, { ...filter, state: "dead", order: "oldest", after: cursor, limit: bulkStep })
      const changed = deliveries.length === 0 ? 0 : yield* change(tenantId, deliveries.map(({ deliveryId }) => deliveryId))
      return { changed, nextCursor: deliveries.length < bulkStep ? lookedTo ?? null : deliveries.at(-1)!.deliveryId }
    })

    const retryDeadLetters = Effect.fn("Deliveries.retryDeadLetters")(function*(tenantId: string, input: unknown) {
      const result = yield* changeDeadLetters(tenantId, input, queue.retryDead)
      if (result.changed > 0) yield* wakeups.wake(tenantId)
      return result
    })

    const dismissDeadLetters = Effect.fn("Deliveries.dismissDeadLetters")((tenantId: string, input: unknown) =>
      changeDeadLetters(tenantId, input, control.dismiss))

    const get = Effect.fn("Deliveries.get")(function*(tenantId: string, deliveryId: string) {
      const delivery = yield* known(deliveryId, queue.find(tenantId, deliveryId))
      const { body, endpointUrl, envelope, sentAt } = delivery
      return { ...deliveryView(delivery), endpointUrl, body: new TextDecoder().decode(bytesOfBody(wrap(envelope, deliveryId, sentAt, body))) }
    })

    /** Why a delivery can never be sent again. */
    const unsendable = Effect.fnUntraced(function*(tenantId: string, deliveryId: string) {
      const { destinationId, reason, state } = yield* known(deliveryId, queue.find(tenantId, deliveryId))
      if (reason !== undefined) return `It was cancelled. ${reason}`
      if (Option.isNone(yield* queue.destinationStatus(tenantId, destinationId))) return "Its subscription was deleted, so there is no endpoint to send it to."
      return state === "cancelled" ? "It was cancelled when an operator purged its subscription." : "Its content was removed after the retention time."
    })

    const retry = Effect.fn("Deliveries.retry")(function*(tenantId: string, deliveryId: string) {
      const state = yield* known(deliveryId, queue.retry(tenantId, deliveryId))
      if (state === "sending") return yield* new DeliveryNotRetryable({ deliveryId, state })
      if (state === "cancelled") return yield* new DeliveryNotRetryable({ deliveryId, state, reason: yield* unsendable(tenantId, deliveryId) })
      yield* wakeups.wake(tenantId)
    })

    const dismiss = Effect.fn("Deliveries.dismiss")(function*(tenantId: string, deliveryId: string) {
      if (isUniqueId(deliveryId) && (yield* control.dismiss(tenantId, [deliveryId])) === 1) return
      const { state } = yield* known(deliveryId, queue.find(tenantId, deliveryId))
      if (state !== "dismissed") return yield* new DeliveryNotDismissable({ deliveryId, state })
    })

    const recover = Effect.fn("Deliveries.recover")(function*(tenantId: string, subscriptionId: string, input: unknown) {
      const call = yield* decodeRecover(input)
      yield* destinationStatus(tenantId, subscriptionId)
      const count = yield* queue.recover(tenantId, subscriptionId, parseInstant(call.since)!)
      yield* wakeups.wake(tenantId)
      return count
    })

    return Deliveries.of({ list, get, retry, dismiss, recover, retryDeadLetters, dismissDeadLetters, destinationStatus })
  }))
}

/** Result of a store's call for one delivery. Fails if it does not exist, without the call if no delivery can have this id. */
const known = Effect.fnUntraced(function*<A>(deliveryId: string, asked: Effect.Effect<Option.Option<A>, StorageError>) {
  const answer = isUniqueId(deliveryId) ? yield* asked : Option.none<A>()
  return yield* Effect.fromOption(answer, () => new DeliveryNotFound({ deliveryId }))
})

const unfiltered = "Name at least one of subscriptionId, client, endpoint, error, since and until."

const filterOf = (given: Parameters<typeof deliveryFilterOf>[0], state: DeliveryState | undefined) =>
  Effect.mapError(Effect.fromResult(deliveryFilterOf(given, state)), (fault) => InvalidInput.of(fault))

/** The view of a stored delivery. */
export const deliveryView = (delivery: DeliverySummary): DeliveryView => ({
  deliveryId: delivery.deliveryId,
  subscriptionId: delivery.destinationId,
  state: delivery.state,
  createdAt: formatInstant(delivery.createdAt),
  settledAt: delivery.settledAt === undefined ? null : formatInstant(delivery.settledAt),
  nextAttemptAt: delivery.dueAt === undefined ? null : formatInstant(delivery.dueAt),
  reason: delivery.reason ?? null,
  events: delivery.events,
  attempts: delivery.attempts.map((attempt) => ({
    attempt: attempt.attempt,
    at: formatInstant(attempt.at),
    durationMillis: attempt.durationMillis,
    outcome: attempt.outcome,
    status: attempt.status ?? null,
    detail: attempt.detail ?? null,
    answer: attempt.excerpt ?? null
  }))
})
