/** Creates, changes, lists and removes transit event subscriptions. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import * as Clock from "effect/Clock"
import type { NotPermitted, QuotaExceeded } from "../access/AccessErrors.ts"
import { carriersAndCustomers } from "../access/Callers.ts"
import { makeRememberAccess } from "../access/ClientAccess.ts"
import type { Principal } from "../access/model/Principal.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { SubscriptionPausedByOperator } from "../delivery/DeliveryErrors.ts"
import { DeliveryQueue, type DestinationSettings } from "../delivery/DeliveryQueue.ts"
import { policyOf } from "../delivery/model/DeliveryPolicy.ts"
import { SigningSecrets } from "../delivery/SigningSecrets.ts"
import { openDestinationWithin } from "../delivery/OpenDestination.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { checkPatch, makeWebhookChecks, onlyStops, type SettingsEditor } from "../delivery/WebhookSettings.ts"
import { SubscriptionStatus } from "../delivery/model/WebhookSettings.ts"
import { formatInstant } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { mergePatch } from "../shared/Json.ts"
import { type Page, PageNumber, pageSizeUpTo, pagesFor } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { Transaction } from "../shared/Transaction.ts"
import { mapPaced } from "../shared/Turns.ts"
import { isUniqueId, UniqueIds } from "../shared/UniqueIds.ts"
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
import { type StoredSubscription, type SubscriptionRecord, TransitSubscriptionStore } from "./TransitSubscriptionStore.ts"

/** Source name in the delivery queue for transit events. */
export const transitEventSource = "transit-events"

export const TransitSubscriptionQuery = Schema.Struct({
  status: Schema.optionalKey(SubscriptionStatus),
  page: Schema.optionalKey(PageNumber),
  pageSize: Schema.optionalKey(pageSizeUpTo(maxSubscriptionPageSize))
})

type Failure = InvalidInput | NotPermitted | StorageError

export class TransitSubscriptions extends Context.Service<TransitSubscriptions, {
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
  /** Stops deliveries at once and removes waiting entries. Removing again succeeds. SPEC-GAP-D15 */
  readonly remove: (principal: Principal, id: string) => Effect.Effect<void, SubscriptionNotFound | NotPermitted | StorageError>
}>()("@waybill/core/transit-events/TransitSubscriptions") {
  static readonly layer = Layer.effect(
    TransitSubscriptions,
    Effect.gen(function*() {
      const store = yield* TransitSubscriptionStore
      const queue = yield* DeliveryQueue
      const rememberAccess = yield* makeRememberAccess
      const secrets = yield* SigningSecrets
      const { alsoRefused, checkSettings, operatorEditor, ownEditor } = yield* makeWebhookChecks
      const transaction = yield* Transaction
      const limits = yield* TenantLimits
      const ids = yield* UniqueIds
      const wakeups = yield* Wakeups

      const create = Effect.fn("TransitSubscriptions.create")(function*(principal: Principal, input: unknown) {
        yield* carriersAndCustomers(principal)
        const settings = yield* Effect.catchTag(decodeCreate(input), "InvalidInput", (refused) => alsoRefused(principal, input, refused))
        yield* checkSettings(ownEditor(principal, Effect.void), settings, { endpointUrl: true, hmacSecretId: true })
        const now = yield* Clock.currentTimeMillis
        const id = ids.nextAt(now)
        const quotas = yield* limits.of(principal.tenantId)
        const record = recordOf({ id, client: principal.client, createdAt: now, updatedAt: now }, settings, "active")
        yield* transaction.run(Effect.gen(function*() {
          yield* rememberAccess(principal)
          yield* secrets.use(principal, settings.hmacSecretId)
          yield* openDestinationWithin(queue, quotas, "eventSubscriptionsPerClient", principal.tenantId, destinationOf(id, principal.client, settings, "active"))
          yield* store.insert(principal.tenantId, record)
        }))
        yield* wakeups.wake(principal.tenantId)
        return present(id, settings, "active", now, now)
      })

      const list = Effect.fn("TransitSubscriptions.list")(function*(principal: Principal, input: unknown = {}) {
        yield* carriersAndCustomers(principal)
        const query = yield* decodeQuery(input)
        const page = query.page ?? 1
        const pageSize = query.pageSize ?? defaultSubscriptionPageSize
        const range = { skip: (page - 1) * pageSize, limit: pageSize }
        const { rows, totalCount } = yield* store.page(principal.tenantId, principal.client, query.status ?? "active", range)
        return {
          data: yield* mapPaced(rows, presentStored),
          page,
          pageSize,
          totalCount,
          totalPages: pagesFor(totalCount, pageSize),
          hasMore: totalCount > page * pageSize
        }
      })

      const get = Effect.fn("TransitSubscriptions.get")(function*(principal: Principal, id: string) {
        yield* carriersAndCustomers(principal)
        const found = isUniqueId(id) ? yield* store.find(principal.tenantId, principal.client, id) : Option.none<StoredSubscription>()
        if (Option.isNone(found)) return yield* new SubscriptionNotFound({ subscriptionId: id })
        return presentStored(found.value)
      })

      const change = Effect.fnUntraced(function*(editor: SettingsEditor, id: string, input: unknown) {
        const { client, tenantId } = editor
        const patched = yield* transaction.run(Effect.gen(function*() {
          // this may wait for another call of the client, so it runs before the destination is locked, for which workers would wait
          yield* editor.begin
          const found = yield* store.findForUpdate(tenantId, client, id)
          if (Option.isNone(found)) return yield* new SubscriptionNotFound({ subscriptionId: id })
          const before = found.value
          const { status, ...settings } = yield* decodePatched(
            mergePatch({ ...JSON.parse(before.doc), status: before.destination.state }, input)
          )
          const { pausedBy, reason = "" } = before.destination
          if (pausedBy === "operator" && status !== before.destination.state) {
            return yield* new SubscriptionPausedByOperator({ subscriptionId: id, reason })
          }
          const named = input as Readonly<Record<string, unknown>>
          const signs = !onlyStops(named)
          yield* checkSettings(editor, settings, { endpointUrl: "endpointUrl" in named, hmacSecretId: signs })
          if (signs) yield* editor.useSecret(settings.hmacSecretId)
          const now = yield* Clock.currentTimeMillis
          yield* queue.changeDestination(tenantId, destinationOf(id, client, settings, status))
          yield* store.update(tenantId, recordOf({ id, client, createdAt: before.createdAt, updatedAt: now }, settings, status))
          return present(id, settings, status, before.createdAt, now)
        }))
        yield* wakeups.wake(tenantId)
        return patched
      })

      const patch = Effect.fn("TransitSubscriptions.patch")(function*(principal: Principal, id: string, input: unknown) {
        yield* carriersAndCustomers(principal)
        if (!isUniqueId(id)) return yield* new SubscriptionNotFound({ subscriptionId: id })
        yield* checkPatch(input, decodePatch)
        return yield* change(ownEditor(principal, rememberAccess(principal)), id, input)
      })

      const edit = Effect.fn("TransitSubscriptions.edit")(function*(tenantId: string, client: string, id: string, input: unknown) {
        yield* checkPatch(input, decodeEdit)
        // the patch does not name the status, so an operator's pause cannot refuse it
        return yield* Effect.catchTag(change(operatorEditor(tenantId, client), id, input), "SubscriptionPausedByOperator", Effect.die)
      })

      const remove = Effect.fn("TransitSubscriptions.remove")(function*(principal: Principal, id: string) {
        yield* carriersAndCustomers(principal)
        if (!isUniqueId(id)) return yield* new SubscriptionNotFound({ subscriptionId: id })
        yield* transaction.run(Effect.gen(function*() {
          const removed = yield* store.remove(principal.tenantId, principal.client, id)
          if (removed === "unknown") return yield* new SubscriptionNotFound({ subscriptionId: id })
          if (removed === "removed") yield* queue.closeDestination(principal.tenantId, id)
        }))
      })

      return TransitSubscriptions.of({ create, list, get, patch, edit, remove })
    })
  )
}

const decodeCreate = decodeInput(SubscriptionCreate, { closed: true })
const decodePatch = decodeInput(SubscriptionPatch, { closed: true })
const decodeEdit = decodeInput(SubscriptionEdit, { closed: true })
const decodePatched = decodeInput(PatchedSubscription, { closed: true })
const decodeQuery = decodeInput(TransitSubscriptionQuery, { closed: true })

const destinationOf = (id: string, client: string, settings: SubscriptionCreate, state: SubscriptionStatus): DestinationSettings => ({
  destinationId: id,
  client,
  source: transitEventSource,
  endpointUrl: settings.endpointUrl,
  hmacSecretId: settings.hmacSecretId,
  policy: policyOf(settings.delivery),
  envelope: eventBatchEnvelope,
  signing: "required",
  whenDead: "goOn",
  state
})

const recordOf = (
  base: Pick<SubscriptionRecord, "id" | "client" | "createdAt" | "updatedAt">,
  settings: SubscriptionCreate,
  status: SubscriptionStatus
): SubscriptionRecord => {
  const types = settings.filters?.eventTypes ?? []
  const shipmentIds = settings.filters?.shipmentIds ?? []
  return {
    ...base,
    doc: JSON.stringify(settings),
    typeMask: types.length === 0 ? allTypes : typeMask(types),
    shipmentIds: shipmentIds.length === 0 ? undefined : [...new Set(shipmentIds)],
    matched: status !== "inactive"
  }
}

const present = (
  id: string,
  settings: SubscriptionCreate,
  status: SubscriptionStatus,
  createdAt: number,
  updatedAt: number
): TransitSubscription => ({
  id,
  endpointUrl: settings.endpointUrl,
  hmacSecretId: settings.hmacSecretId,
  ...(settings.filters === undefined ? {} : { filters: settings.filters }),
  delivery: policyOf(settings.delivery),
  status,
  createdAt: formatInstant(createdAt),
  updatedAt: formatInstant(updatedAt)
})

/** A pause by the engine has a reason. Only then the time of the destination's state counts for `updatedAt`. */
const presentStored = (stored: StoredSubscription): TransitSubscription => {
  const { reason, since, state } = stored.destination
  const updatedAt = reason === undefined ? stored.updatedAt : Math.max(stored.updatedAt, since)
  return present(stored.id, JSON.parse(stored.doc), state, stored.createdAt, updatedAt)
}
