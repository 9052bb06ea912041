/** Creates, reads, changes and removes subscriptions that their clients may change. Each area passes what differs in its own. */
import { Clock, Effect, Option } from "effect"
import type { NotPermitted } from "../access/AccessErrors.ts"
import { makeRememberAccess } from "../access/ClientAccess.ts"
import type { Principal } from "../access/model/Principal.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { SubscriptionPausedByOperator } from "../delivery/DeliveryErrors.ts"
import { DeliveryQueue, type DestinationSettings } from "../delivery/DeliveryQueue.ts"
import { policyOf } from "../delivery/model/DeliveryPolicy.ts"
import type { SubscriptionStatus } from "../delivery/model/WebhookSettings.ts"
import { SigningSecrets } from "../delivery/secrets/SigningSecrets.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { formatInstant } from "../shared/Instant.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import { mergePatch } from "../shared/Json.ts"
import { Transaction } from "../shared/StoragePort.ts"
import { isUniqueId, UniqueIds } from "../shared/UniqueIds.ts"
import type { EditableSubscriptionStore, StoredSubscriptionRow, SubscriptionRow } from "./EditableSubscriptionStore.ts"
import { openDestinationWithin } from "./Destinations.ts"
import { checkPatch, contradictionsIn, makeWebhookChecks, onlyStops, type SettingsEditor, type WebhookSettings } from "./WebhookChecks.ts"

type Decode<A> = (input: unknown) => Effect.Effect<A, InvalidInput>

interface SubscriptionArea<Settings extends WebhookSettings, Row extends SubscriptionRow, Missing> {
  /** Name of the service in spans. */
  readonly service: string
  readonly admits: (principal: Principal) => Effect.Effect<void, NotPermitted>
  readonly destination: Pick<DestinationSettings, "source" | "envelope">
  readonly decodeCreate: Decode<Settings>
  readonly decodePatch: Decode<unknown>
  /** Of an operator's patch. */
  readonly decodeEdit: Decode<unknown>
  /** Of the settings after a patch. */
  readonly decodePatched: Decode<Settings & { readonly status: SubscriptionStatus }>
  readonly rowOf: (row: SubscriptionRow, settings: Settings) => Row
  readonly missing: (id: string) => Missing
  readonly store: Omit<EditableSubscriptionStore<Row>, "documents">
}

export const makeEditableSubscriptions = Effect.fnUntraced(function*<Settings extends WebhookSettings, Row extends SubscriptionRow, Missing>(
  { admits, decodeCreate, decodeEdit, decodePatch, decodePatched, destination, missing, rowOf, service, store }: SubscriptionArea<Settings, Row, Missing>
) {
  const queue = yield* DeliveryQueue
  const rememberAccess = yield* makeRememberAccess
  const secrets = yield* SigningSecrets
  const transaction = yield* Transaction
  const limits = yield* TenantLimits
  const ids = yield* UniqueIds
  const wakeups = yield* Wakeups
  const { checkSettings, operatorEditor, ownEditor, readRequest } = yield* makeWebhookChecks

  const destinationOf = (id: string, client: string, settings: Settings, state: SubscriptionStatus): DestinationSettings => ({
    destinationId: id,
    client,
    ...destination,
    endpointUrl: settings.endpointUrl,
    hmacSecretId: settings.hmacSecretId,
    policy: policyOf(settings.delivery),
    signing: "required",
    whenDead: "continue",
    state
  })

  const shown = (id: string, settings: Settings, status: SubscriptionStatus, createdAt: number, updated: number) => ({
    id,
    ...settings,
    delivery: policyOf(settings.delivery),
    createdAt: formatInstant(createdAt),
    updatedAt: formatInstant(updated),
    status
  })

  const shownStored = (stored: StoredSubscriptionRow) => shown(stored.id, JSON.parse(stored.doc), stored.destination.state, stored.createdAt, changedAt(stored))

  const create = Effect.fn(`${service}.create`)(function*(principal: Principal, input: unknown) {
    yield* admits(principal)
    const { client, tenantId } = principal
    const settings = yield* readRequest(principal, "endpointUrl", input, decodeCreate, contradictionsIn)
    const now = yield* Clock.currentTimeMillis
    const id = ids.nextAt(now)
    const quotas = yield* limits.of(tenantId)
    yield* transaction.run(Effect.gen(function*() {
      yield* secrets.use(principal, settings.hmacSecretId)
      yield* rememberAccess(principal)
      yield* openDestinationWithin(queue, quotas, "eventSubscriptionsPerClient", tenantId, destinationOf(id, client, settings, "active"))
      yield* store.insert(tenantId, rowOf({ id, client, doc: JSON.stringify(settings), createdAt: now, updatedAt: now, matched: true }, settings))
    }))
    yield* wakeups.wake(tenantId)
    return shown(id, settings, "active", now, now)
  })

  const get = Effect.fn(`${service}.get`)(function*(principal: Principal, id: string) {
    yield* admits(principal)
    const found = isUniqueId(id) ? yield* store.find(principal.tenantId, principal.client, id) : Option.none<StoredSubscriptionRow>()
    return shownStored(yield* Effect.fromOption(found, () => missing(id)))
  })

  const change = Effect.fnUntraced(function*(editor: SettingsEditor, id: string, input: unknown) {
    const { client, tenantId } = editor
    const named = input as Readonly<Record<string, unknown>>
    const signs = !onlyStops(named)
    const read = (forUpdate: boolean) => Effect.flatMap(store.find(tenantId, client, id, forUpdate), Effect.fromOption(() => missing(id)))
    const changed = yield* transaction.run(Effect.gen(function*() {
      // a change of the secret locks it, then the destinations that it signs
      if (signs) yield* editor.lockSecret(named["hmacSecretId"] ?? JSON.parse((yield* read(false)).doc).hmacSecretId)
      // this may wait for another call of the client, so it runs before the destination is locked, for which workers would wait
      yield* editor.begin
      const { createdAt, destination: before, doc } = yield* read(true)
      const { status, ...members } = yield* decodePatched(mergePatch({ ...JSON.parse(doc), status: before.state }, input))
      const settings = members as unknown as Settings
      if (before.pausedBy === "operator" && status !== before.state) {
        return yield* new SubscriptionPausedByOperator({ subscriptionId: id, reason: before.reason ?? "" })
      }
      yield* checkSettings(editor, settings, { endpointUrl: "endpointUrl" in named, hmacSecretId: signs })
      if (signs) yield* editor.useSecret(settings.hmacSecretId)
      const now = yield* Clock.currentTimeMillis
      yield* queue.changeDestination(tenantId, destinationOf(id, client, settings, status))
      const row = { id, client, doc: JSON.stringify(settings), createdAt, updatedAt: now, matched: status !== "inactive" }
      yield* store.update(tenantId, rowOf(row, settings))
      return shown(id, settings, status, createdAt, now)
    }))
    yield* wakeups.wake(tenantId)
    return changed
  })

  const patch = Effect.fn(`${service}.patch`)(function*(principal: Principal, id: string, input: unknown) {
    yield* admits(principal)
    if (!isUniqueId(id)) return yield* Effect.fail(missing(id))
    yield* checkPatch(input, decodePatch)
    return yield* change(ownEditor(principal, rememberAccess(principal)), id, input)
  })

  const edit = Effect.fn(`${service}.edit`)(function*(tenantId: string, client: string, id: string, input: unknown) {
    yield* checkPatch(input, decodeEdit)
    // the patch does not name the status, so an operator's pause cannot refuse it
    return yield* Effect.catchTag(change(operatorEditor(tenantId, client), id, input), "SubscriptionPausedByOperator", Effect.die)
  })

  const remove = Effect.fn(`${service}.remove`)(function*(principal: Principal, id: string) {
    yield* admits(principal)
    const { client, tenantId } = principal
    if (!isUniqueId(id)) return yield* Effect.fail(missing(id))
    yield* transaction.run(Effect.gen(function*() {
      const removed = yield* store.remove(tenantId, client, id)
      if (removed === "unknown") return yield* Effect.fail(missing(id))
      if (removed === "removed") yield* queue.closeDestination(tenantId, id)
    }))
  })

  return { create, get, patch, edit, remove, shownStored }
})

/**
 * When the settings or the status changed last, also by the service or an operator. The time of the status is of the store's clock, so less than
 * a second counts as none.
 */
const changedAt = ({ destination: { since }, updatedAt }: StoredSubscriptionRow): number => since - updatedAt >= 1000 ? since : updatedAt
