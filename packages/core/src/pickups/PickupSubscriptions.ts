/** Creates, changes, lists and removes carriers' subscriptions to pickups. */
import { Context, Effect, Layer } from "effect"
import type { NotPermitted, QuotaExceeded } from "../access/AccessErrors.ts"
import { carriersOnly } from "../access/Callers.ts"
import type { Principal } from "../access/model/Principal.ts"
import { DestinationNotFound, type SubscriptionPausedByOperator } from "../delivery/DeliveryErrors.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { defaultListLimit, type ListPage, listPage } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { makeEditableSubscriptions } from "../subscriptions/EditableSubscriptions.ts"
import {
  PatchedPickupSubscription,
  pickupBatchEnvelope,
  type PickupSubscription,
  PickupSubscriptionCreate,
  PickupSubscriptionEdit,
  type PickupSubscriptionInput,
  PickupSubscriptionPatch,
  type PickupSubscriptionPatchInput,
  PickupSubscriptionQuery,
  type PickupSubscriptionQueryInput
} from "./model/PickupSubscription.ts"
import { PickupSubscriptionStore } from "./PickupSubscriptionStore.ts"

/** Source name in the delivery queue for pickups. */
export const pickupSource = "pickups"

type Failure = InvalidInput | NotPermitted | StorageError

/** Carriers' subscriptions to their work list, which is then sent as webhooks. */
export class PickupSubscriptions extends Context.Service<PickupSubscriptions, {
  readonly create: (
    principal: Principal,
    input: PickupSubscriptionInput
  ) => Effect.Effect<PickupSubscription, QuotaExceeded | Failure>
  /** Lists the caller's own subscriptions by id. */
  readonly list: (principal: Principal, query?: PickupSubscriptionQueryInput) => Effect.Effect<ListPage<PickupSubscription>, Failure>
  readonly get: (principal: Principal, id: string) => Effect.Effect<PickupSubscription, DestinationNotFound | NotPermitted | StorageError>
  /** JSON merge patch (RFC 7396). The status of a subscription that an operator paused cannot change. */
  readonly patch: (
    principal: Principal,
    id: string,
    patch: PickupSubscriptionPatchInput
  ) => Effect.Effect<PickupSubscription, DestinationNotFound | SubscriptionPausedByOperator | Failure>
  /** The same for an operator, on behalf of the subscription's client. Neither topics nor the status are members. */
  readonly edit: (tenantId: string, client: string, id: string, patch: typeof PickupSubscriptionEdit.Encoded) => Effect.Effect<PickupSubscription, DestinationNotFound | InvalidInput | StorageError>
  /** Stops deliveries at once and removes waiting entries. Removing again succeeds, as long as its deliveries are kept. */
  readonly remove: (principal: Principal, id: string) => Effect.Effect<void, DestinationNotFound | NotPermitted | StorageError>
}>()("@waybill/core/pickups/PickupSubscriptions") {
  static readonly layer = Layer.effect(PickupSubscriptions, Effect.gen(function*() {
    const store = yield* PickupSubscriptionStore
    const { create, edit, get, patch, remove, shownStored } = yield* makeEditableSubscriptions({
      service: "PickupSubscriptions",
      admits: carriersOnly,
      destination: { source: pickupSource, envelope: pickupBatchEnvelope },
      decodeCreate: decodeInput(PickupSubscriptionCreate, { closed: true }),
      decodePatch: decodeInput(PickupSubscriptionPatch, { closed: true }),
      decodeEdit: decodeInput(PickupSubscriptionEdit, { closed: true }),
      decodePatched: decodeInput(PatchedPickupSubscription, { closed: true }),
      rowOf: (row) => row,
      missing: (id) => new DestinationNotFound({ destinationId: id }),
      store
    })

    const list = Effect.fn("PickupSubscriptions.list")(function*(principal: Principal, input: unknown = {}) {
      yield* carriersOnly(principal)
      const { cursor, limit = defaultListLimit } = yield* decodeQuery(input)
      const read = (range: Parameters<typeof store.list>[2]) => store.list(principal.tenantId, principal.client, range)
      return yield* listPage({ read, idOf: ({ id }) => id, sizeOf: ({ doc }) => 500 + doc.length, shown: shownStored }, cursor, limit)
    })

    return PickupSubscriptions.of({ create, list, get, patch, edit, remove })
  }))
}

const decodeQuery = decodeInput(PickupSubscriptionQuery, { closed: true })
