/** Creates, changes, lists and removes transit event subscriptions. */
import { Context, Effect, Layer, Schema } from "effect"
import type { NotPermitted, QuotaExceeded } from "../access/AccessErrors.ts"
import { carriersAndCustomers } from "../access/Callers.ts"
import type { Principal } from "../access/model/Principal.ts"
import type { SubscriptionPausedByOperator } from "../delivery/DeliveryErrors.ts"
import { SubscriptionStatus } from "../delivery/model/WebhookSettings.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { type Page, PageNumber, pageSizeUpTo, pagesFor } from "../shared/Page.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { mapPaced } from "../shared/Turns.ts"
import { makeEditableSubscriptions } from "../subscriptions/EditableSubscriptions.ts"
import { eventBatchEnvelope } from "./model/EventBatch.ts"
import { allTypes, typeMask } from "./model/EventType.ts"
import {
  defaultSubscriptionPageSize,
  maxSubscriptionPageSize,
  PatchedSubscription,
  SubscriptionCreate,
  SubscriptionEdit,
  SubscriptionPatch,
  type TransitSubscription
} from "./model/TransitSubscription.ts"
import { SubscriptionNotFound } from "./TransitEventErrors.ts"
import { TransitSubscriptionStore } from "./TransitSubscriptionStore.ts"

/** Source name in the delivery queue for transit events. */
export const transitEventSource = "transit-events"

/** A page of the client's subscriptions (area D). `status` is `active` if left out, `pageSize` 50. */
export const TransitSubscriptionQuery = Schema.Struct({
  status: Schema.optionalKey(SubscriptionStatus),
  page: Schema.optionalKey(PageNumber),
  pageSize: Schema.optionalKey(pageSizeUpTo(maxSubscriptionPageSize))
})

type Failure = InvalidInput | NotPermitted | StorageError

/** Subscriptions to events (area D): create, list, read, patch, delete. */
export class TransitSubscriptions extends Context.Service<TransitSubscriptions, {
  /** With `filters.shipmentIds`, the stored events of these shipments are sent first; without, it begins with the next event. */
  readonly create: (principal: Principal, input: typeof SubscriptionCreate.Encoded) => Effect.Effect<TransitSubscription, QuotaExceeded | Failure>
  /** Lists the caller's own subscriptions with one status (default active), in the order of their ids. */
  readonly list: (principal: Principal, query?: typeof TransitSubscriptionQuery.Encoded) => Effect.Effect<Page<TransitSubscription>, Failure>
  readonly get: (principal: Principal, id: string) => Effect.Effect<TransitSubscription, SubscriptionNotFound | NotPermitted | StorageError>
  /**
   * JSON merge patch (RFC 7396): changes only the named members; `null` resets filters or delivery to the default. The status of a
   * subscription that an operator paused cannot change.
   */
  readonly patch: (
    principal: Principal,
    id: string,
    patch: typeof SubscriptionPatch.Encoded
  ) => Effect.Effect<TransitSubscription, SubscriptionNotFound | SubscriptionPausedByOperator | Failure>
  /** The same for an operator, on behalf of the subscription's client. The status is not one of the members. */
  readonly edit: (tenantId: string, client: string, id: string, patch: typeof SubscriptionEdit.Encoded) => Effect.Effect<TransitSubscription, SubscriptionNotFound | InvalidInput | StorageError>
  /** Stops deliveries at once and removes waiting entries. Removing again succeeds, as long as its deliveries are kept. SPEC-GAP-D15 */
  readonly remove: (principal: Principal, id: string) => Effect.Effect<void, SubscriptionNotFound | NotPermitted | StorageError>
}>()("@waybill/core/transit-events/TransitSubscriptions") {
  static readonly layer = Layer.effect(TransitSubscriptions, Effect.gen(function*() {
    const store = yield* TransitSubscriptionStore
    const { create, edit, get, patch, remove, shownStored } = yield* makeEditableSubscriptions({
      service: "TransitSubscriptions",
      admits: carriersAndCustomers,
      destination: { source: transitEventSource, envelope: eventBatchEnvelope },
      decodeCreate: decodeInput(SubscriptionCreate, { closed: true }),
      decodePatch: decodeInput(SubscriptionPatch, { closed: true }),
      decodeEdit: decodeInput(SubscriptionEdit, { closed: true }),
      decodePatched: decodeInput(PatchedSubscription, { closed: true }),
      rowOf,
      missing: (id) => new SubscriptionNotFound({ subscriptionId: id }),
      store
    })

    const list = Effect.fn("TransitSubscriptions.list")(function*(principal: Principal, input: unknown = {}) {
      yield* carriersAndCustomers(principal)
      const query = yield* decodeQuery(input)
      const page = query.page ?? 1
      const pageSize = query.pageSize ?? defaultSubscriptionPageSize
      const range = { skip: (page - 1) * pageSize, limit: pageSize }
      const { rows, totalCount } = yield* store.page(principal.tenantId, principal.client, query.status ?? "active", range)
      return {
        data: yield* mapPaced(rows, shownStored),
        page,
        pageSize,
        totalCount,
        totalPages: pagesFor(totalCount, pageSize),
        hasMore: totalCount > page * pageSize
      }
    })

    return TransitSubscriptions.of({ create, list, get, patch, edit, remove })
  }))
}

const decodeQuery = decodeInput(TransitSubscriptionQuery, { closed: true })

const rowOf = <Base>(base: Base, { filters }: SubscriptionCreate) => {
  const types = filters?.eventTypes ?? []
  const shipmentIds = filters?.shipmentIds ?? []
  return {
    ...base,
    typeMask: types.length === 0 ? allTypes : typeMask(types),
    shipmentIds: shipmentIds.length === 0 ? undefined : [...new Set(shipmentIds)]
  }
}
