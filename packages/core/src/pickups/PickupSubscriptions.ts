/** Creates, changes, lists and removes carriers' subscriptions to pickups. */
import { Context, Effect, Layer, Option } from "effect"
import * as Clock from "effect/Clock"
import type { NotPermitted, QuotaExceeded } from "../access/AccessErrors.ts"
import { carriersOnly } from "../access/Callers.ts"
import { makeRememberAccess } from "../access/ClientAccess.ts"
import type { Principal } from "../access/model/Principal.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { DestinationNotFound, SubscriptionPausedByOperator } from "../delivery/DeliveryErrors.ts"
import { DeliveryQueue, type DestinationSettings } from "../delivery/DeliveryQueue.ts"
import { policyOf } from "../delivery/model/DeliveryPolicy.ts"
import type { SubscriptionStatus } from "../delivery/model/WebhookSettings.ts"
import { openDestinationWithin } from "../delivery/OpenDestination.ts"
import { SigningSecrets } from "../delivery/SigningSecrets.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { checkPatch, makeWebhookChecks, onlyStops, type SettingsEditor } from "../delivery/WebhookSettings.ts"
import { formatInstant } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { mergePatch } from "../shared/Json.ts"
import { defaultListLimit, foreignCursor, type ListPage, listPage } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { Transaction } from "../shared/Transaction.ts"
import { isUniqueId, UniqueIds } from "../shared/UniqueIds.ts"
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
import { PickupSubscriptionStore, type StoredPickupSubscription } from "./PickupSubscriptionStore.ts"

/** Source name in the delivery queue for pickups. */
export const pickupSource = "pickups"

type Failure = InvalidInput | NotPermitted | StorageError

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
  /** Stops deliveries at once and removes waiting entries. Removing again succeeds. */
  readonly remove: (principal: Principal, id: string) => Effect.Effect<void, DestinationNotFound | NotPermitted | StorageError>
}>()("@waybill/core/pickups/PickupSubscriptions") {
  static readonly layer = Layer.effect(
    PickupSubscriptions,
    Effect.gen(function*() {
      const store = yield* PickupSubscriptionStore
      const queue = yield* DeliveryQueue
      const rememberAccess = yield* makeRememberAccess
      const secrets = yield* SigningSecrets
      const transaction = yield* Transaction
      const limits = yield* TenantLimits
      const ids = yield* UniqueIds
      const wakeups = yield* Wakeups
      const { alsoRefused, checkSettings, operatorEditor, ownEditor } = yield* makeWebhookChecks

      const create = Effect.fn("PickupSubscriptions.create")(function*(principal: Principal, input: unknown) {
        yield* carriersOnly(principal)
        const { client, tenantId } = principal
        const settings = yield* Effect.catchTag(decodeCreate(input), "InvalidInput", (refused) => alsoRefused(principal, input, refused))
        yield* checkSettings(ownEditor(principal, Effect.void), settings, { endpointUrl: true, hmacSecretId: true })
        const now = yield* Clock.currentTimeMillis
        const id = ids.nextAt(now)
        const quotas = yield* limits.of(tenantId)
        yield* transaction.run(Effect.gen(function*() {
          yield* rememberAccess(principal)
          yield* secrets.use(principal, settings.hmacSecretId)
          yield* openDestinationWithin(queue, quotas, "eventSubscriptionsPerClient", tenantId, destinationOf(id, client, settings, "active"))
          yield* store.insert(tenantId, { id, client, doc: JSON.stringify(settings), createdAt: now, updatedAt: now, matched: true })
        }))
        yield* wakeups.wake(tenantId)
        return shown(id, settings, "active", now, now)
      })

      const list = Effect.fn("PickupSubscriptions.list")(function*(principal: Principal, input: unknown = {}) {
        yield* carriersOnly(principal)
        const { cursor, limit = defaultListLimit } = yield* decodeQuery(input)
        if (cursor !== undefined && !isUniqueId(cursor)) return yield* foreignCursor
        const read = (range: Parameters<typeof store.list>[2]) => store.list(principal.tenantId, principal.client, range)
        return yield* listPage({ read, idOf: ({ id }) => id, sizeOf: ({ doc }) => 500 + doc.length, shown: shownStored }, cursor, limit)
      })

      const get = Effect.fn("PickupSubscriptions.get")(function*(principal: Principal, id: string) {
        yield* carriersOnly(principal)
        const found = isUniqueId(id) ? yield* store.find(principal.tenantId, principal.client, id) : Option.none<StoredPickupSubscription>()
        if (Option.isNone(found)) return yield* new DestinationNotFound({ destinationId: id })
        return shownStored(found.value)
      })

      const apply = Effect.fnUntraced(function*(editor: SettingsEditor, id: string, input: unknown) {
        const { client, tenantId } = editor
        // this may wait for another call of the client, so it runs before the destination is locked, for which workers would wait
        yield* editor.begin
        const found = yield* store.find(tenantId, client, id, true)
        if (Option.isNone(found)) return yield* new DestinationNotFound({ destinationId: id })
        const { createdAt, destination, doc } = found.value
        const { status, ...settings } = yield* decodePatched(mergePatch({ ...JSON.parse(doc), status: destination.state }, input))
        if (destination.pausedBy === "operator" && status !== destination.state) {
          return yield* new SubscriptionPausedByOperator({ subscriptionId: id, reason: destination.reason ?? "" })
        }
        const named = input as Readonly<Record<string, unknown>>
        const signs = !onlyStops(named)
        yield* checkSettings(editor, settings, { endpointUrl: "endpointUrl" in named, hmacSecretId: signs })
        if (signs) yield* editor.useSecret(settings.hmacSecretId)
        const now = yield* Clock.currentTimeMillis
        yield* queue.changeDestination(tenantId, destinationOf(id, client, settings, status))
        yield* store.update(tenantId, { id, client, doc: JSON.stringify(settings), createdAt, updatedAt: now, matched: status !== "inactive" })
        return shown(id, settings, status, createdAt, now)
      })

      const patch = Effect.fn("PickupSubscriptions.patch")(function*(principal: Principal, id: string, input: unknown) {
        yield* carriersOnly(principal)
        if (!isUniqueId(id)) return yield* new DestinationNotFound({ destinationId: id })
        yield* checkPatch(input, decodePatch)
        const patched = yield* transaction.run(apply(ownEditor(principal, rememberAccess(principal)), id, input))
        yield* wakeups.wake(principal.tenantId)
        return patched
      })

      const edit = Effect.fn("PickupSubscriptions.edit")(function*(tenantId: string, client: string, id: string, input: unknown) {
        yield* checkPatch(input, decodeEdit)
        // the patch does not name the status, so an operator's pause cannot refuse it
        const edited = yield* Effect.catchTag(transaction.run(apply(operatorEditor(tenantId, client), id, input)), "SubscriptionPausedByOperator", Effect.die)
        yield* wakeups.wake(tenantId)
        return edited
      })

      const remove = Effect.fn("PickupSubscriptions.remove")(function*(principal: Principal, id: string) {
        yield* carriersOnly(principal)
        const { client, tenantId } = principal
        if (!isUniqueId(id)) return yield* new DestinationNotFound({ destinationId: id })
        yield* transaction.run(Effect.gen(function*() {
          const removed = yield* store.remove(tenantId, client, id)
          if (removed === "unknown") return yield* new DestinationNotFound({ destinationId: id })
          if (removed === "removed") yield* queue.closeDestination(tenantId, id)
        }))
      })

      return PickupSubscriptions.of({ create, list, get, patch, edit, remove })
    })
  )
}

const decodeCreate = decodeInput(PickupSubscriptionCreate, { closed: true })
const decodePatch = decodeInput(PickupSubscriptionPatch, { closed: true })
const decodeEdit = decodeInput(PickupSubscriptionEdit, { closed: true })
const decodePatched = decodeInput(PatchedPickupSubscription, { closed: true })
const decodeQuery = decodeInput(PickupSubscriptionQuery, { closed: true })

const destinationOf = (id: string, client: string, settings: PickupSubscriptionCreate, state: SubscriptionStatus): DestinationSettings => ({
  destinationId: id,
  client,
  source: pickupSource,
  endpointUrl: settings.endpointUrl,
  hmacSecretId: settings.hmacSecretId,
  policy: policyOf(settings.delivery),
  envelope: pickupBatchEnvelope,
  signing: "required",
  whenDead: "goOn",
  state
})

const shown = (
  id: string,
  settings: PickupSubscriptionCreate,
  status: SubscriptionStatus,
  createdAt: number,
  updatedAt: number
): PickupSubscription => ({
  id,
  ...settings,
  delivery: policyOf(settings.delivery),
  createdAt: formatInstant(createdAt),
  updatedAt: formatInstant(updatedAt),
  status
})

const shownStored = ({ createdAt, destination, doc, id, updatedAt }: StoredPickupSubscription): PickupSubscription =>
  shown(id, JSON.parse(doc), destination.state, createdAt, updatedAt)
