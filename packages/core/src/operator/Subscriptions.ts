/** Every subscription of a tenant, over all areas and clients. For operators. */
import { Context, Effect, Layer, Schema } from "effect"
import { areaOfSource, type AreaStores, SubscriptionArea, subscriptionsOfArea } from "../Areas.ts"
import { qualifiedClient } from "../access/model/Client.ts"
import { DeliveryControl, type EndedPauses, pauseByClient, pauseByOperator, pauseForPurge, purgeReason } from "../delivery/DeliveryControl.ts"
import { LastAttempt } from "../delivery/Deliveries.ts"
import { DestinationNotFound, type SecretNotUsable, SubscriptionPausedByOperator } from "../delivery/DeliveryErrors.ts"
import { DeliveryQueue, type DestinationMatch, type DestinationOverview, type DestinationState } from "../delivery/DeliveryQueue.ts"
import { breakerState } from "../delivery/model/Breaker.ts"
import { endpointFilterOf, EndpointText, ErrorText } from "../delivery/model/DeliveryFilter.ts"
import { DeliveryPolicy } from "../delivery/model/DeliveryPolicy.ts"
import { secretOfClient } from "../delivery/model/SecretOwner.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { noticeSource, NoticeStore } from "../notices/NoticeStore.ts"
import { PickupSubscriptionStore } from "../pickups/PickupSubscriptionStore.ts"
import type { AreaSubscriptions, SubscriptionDocuments } from "../shared/Area.ts"
import { compareText } from "../shared/CodePoints.ts"
import { fault } from "../shared/Fault.ts"
import { ClientIdentity } from "../shared/Identifier.ts"
import { formatInstant, instantOrNull, InstantText } from "../shared/Instant.ts"
import { decodeInput, InvalidInput, type WithLists } from "../shared/InvalidInput.ts"
import { Count } from "../shared/Members.ts"
import { type CountedPage, defaultListLimit, IdCursor, ListLimit, listPage, type ListRange, NextCursor } from "../shared/ListPage.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { isUniqueId } from "../shared/UniqueIds.ts"
import { findDestination, makeResumeDestination } from "../subscriptions/Destinations.ts"
import { TransitSubscriptionStore } from "../transit-events/TransitSubscriptionStore.ts"
import { decodeReplay, type ReplayCall, replayWith } from "./ReplayCall.ts"

/** The states of a subscription of any area. `paused` keeps new entries waiting; `inactive` queues none. */
export const subscriptionStates = ["active", "paused", "inactive"] as const satisfies ReadonlyArray<DestinationState>

/** Subscriptions that one call names. */
export const SubscriptionIds = Schema.Array(Schema.String).check(Schema.isMaxLength(100, { message: "At most 100 subscriptionIds in one call." }))

/** A page of the subscriptions of all areas, by id. All filters must match. */
export const SubscriptionListQuery = Schema.Struct({
  subscriptionId: Schema.optionalKey(SubscriptionIds),
  client: Schema.optionalKey(ClientIdentity),
  state: Schema.optionalKey(Schema.Literals(subscriptionStates).annotate({ message: `state is one of ${subscriptionStates.join(", ")}.` })),
  endpoint: Schema.optionalKey(EndpointText),
  error: Schema.optionalKey(ErrorText),
  inTrouble: Schema.optionalKey(Schema.Boolean),
  total: Schema.optionalKey(Schema.Boolean),
  cursor: IdCursor,
  limit: ListLimit
})

/** Subscriptions that a bulk purge names, at most. */
const maxPurged = 100

/** Body of a bulk purge: subscriptions by id, or by filter. */
export const PurgeCall = Schema.Struct({
  subscriptionIds: Schema.optionalKey(
    Schema.NonEmptyArray(Schema.String).check(Schema.isMaxLength(maxPurged, { message: `At most ${maxPurged} subscriptionIds in one call.` }))
  ),
  client: SubscriptionListQuery.fields.client,
  endpoint: SubscriptionListQuery.fields.endpoint,
  state: SubscriptionListQuery.fields.state,
  cursor: IdCursor
}).annotate({ identifier: "PurgeCall" })

/** A call of a bulk purge starts on no other subscription after this many entries. */
const purgedEntries = 20_000

/** What one step of a bulk purge did. `subscriptions`: those that had something to drop. */
export const PurgeResult = Schema.Struct({
  subscriptions: Count,
  dropped: Count,
  nextCursor: NextCursor.annotate({ description: "For the next call, with the same filter; null when nothing is left." })
}).annotate({ identifier: "PurgedSubscriptions" })
export type PurgeResult = typeof PurgeResult.Type

/** Body of the pause call. The subscription's owner reads the reason. */
export const PauseCall = Schema.Struct({
  reason: Schema.String.check(
    Schema.isPattern(/^[^\p{Cc}\p{Cs}]*[^\s\p{Cc}\p{Cs}][^\p{Cc}\p{Cs}]*$/u, { message: "reason is one line of text." }),
    Schema.isMaxLength(500, { message: "reason has at most 500 characters." })
  )
}).annotate({ identifier: "PauseCall" })

const counted = (what: string) => Count.annotate({ description: `${what} 1,000 means that many or more.` })

/** A subscription as operators see it. Instants are UTC text. Counts stop at 1,000. */
export const SubscriptionView = Schema.Struct({
  subscriptionId: Schema.String,
  area: SubscriptionArea,
  client: Schema.String.annotate({ description: "The owner: key:<name> or jwt:<issuer>:<sub>." }),
  endpointUrl: Schema.String,
  hmacSecretId: Schema.String,
  filters: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "Its filters, with the members of its area." }),
  accounts: Schema.NullOr(Schema.Array(Schema.String)).annotate({ description: "Its accounts; null for all accounts of its client." }),
  delivery: DeliveryPolicy,
  state: Schema.Literals(subscriptionStates),
  reason: Schema.NullOr(Schema.String.annotate({ description: "Why the service or an operator paused it." })),
  pausedBy: Schema.NullOr(Schema.Literals(["client", "service", "operator"])).annotate({ description: "Its client cannot resume a subscription that an operator paused." }),
  since: InstantText.annotate({ description: "When the state last changed." }),
  held: Schema.Boolean.annotate({ description: "Whether its client or its tenant has no access at present, so that nothing is sent." }),
  waiting: counted("Entries that are not in a delivery yet."),
  oldestWaitingAt: Schema.NullOr(InstantText).annotate({ description: "Oldest of the first 1,000 waiting entries." }),
  inFlight: counted("Deliveries that are being sent or wait for their next attempt."),
  dead: counted("Dead letters."),
  dropped: Count.annotate({ description: "All entries removed without being sent." }),
  dueAt: Schema.NullOr(InstantText).annotate({ description: "When its earliest retry is due." }),
  breaker: Schema.Struct({
    state: Schema.Literals(["closed", "open", "half-open"]).annotate({ description: "open: nothing is sent. half-open: one delivery is sent, the probe." }),
    failures: Count.annotate({ description: "Failed attempts since the last accepted one." }),
    until: Schema.NullOr(InstantText)
  }),
  lastAttempt: Schema.NullOr(LastAttempt).annotate({
    description: "The latest attempt of the newest 100 deliveries in flight and of the newest delivery that ended. An older delivery that ended later does not count."
  })
}).annotate({ identifier: "OperatorSubscription" })
export type SubscriptionView = typeof SubscriptionView.Type

type NotThere = DestinationNotFound | StorageError

/** What operators do with subscriptions of all areas: list, pause, resume, purge, delete. */
export class Subscriptions extends Context.Service<Subscriptions, {
  /**
   * Lists subscriptions by id. `client`: bare or qualified. With `error`, those whose last attempt had this outcome: a page looks at `mostLooked`
   * subscriptions at most, and there is no total.
   */
  readonly list: (tenantId: string, query?: typeof SubscriptionListQuery.Encoded) => Effect.Effect<CountedPage<SubscriptionView>, InvalidInput | StorageError>
  readonly get: (tenantId: string, subscriptionId: string) => Effect.Effect<SubscriptionView, NotThere>
  /** Stops sending until an operator resumes the subscription. New entries wait. Attempts in flight finish. */
  readonly pause: (tenantId: string, subscriptionId: string, input: typeof PauseCall.Encoded) => Effect.Effect<SubscriptionView, NotThere | InvalidInput>
  /**
   * Resumes a subscription, regardless of who paused it. If dead letters pause it (freight charges), those since the pause are sent again.
   * A subscription that its client had made inactive becomes inactive again. A subscription that is not paused does not change. Fails if
   * its secret no longer belongs to its client.
   */
  readonly resume: (tenantId: string, subscriptionId: string) => Effect.Effect<SubscriptionView, NotThere | SecretNotUsable>
  /** The same for the subscription's client, who cannot resume what an operator paused. */
  readonly resumeOwn: (
    tenantId: string,
    subscriptionId: string
  ) => Effect.Effect<SubscriptionView, NotThere | SecretNotUsable | SubscriptionPausedByOperator>
  /** Stops sending for the subscription's client. A subscription that is not active does not change. */
  readonly pauseOwn: (tenantId: string, subscriptionId: string) => Effect.Effect<SubscriptionView, NotThere>
  /** Drops waiting entries. Returns their number, including those of cancelled retries. */
  readonly purge: (tenantId: string, subscriptionId: string) => Effect.Effect<number, NotThere>
  /** Drops waiting entries of several subscriptions, in order of their ids from the cursor on. Calls that were cut short can be repeated. */
  readonly purgeMatching: (tenantId: string, input: WithLists<typeof PurgeCall.Encoded>) => Effect.Effect<PurgeResult, NotThere | InvalidInput>
  /** Sends stored events, or entries of the carrier's work list, again in new deliveries. Returns their number. */
  readonly replay: (tenantId: string, subscriptionId: string, input: WithLists<typeof ReplayCall.Encoded>) => Effect.Effect<number, NotThere | InvalidInput>
  /** Deletes the subscription, with the same effect as a deletion by its client. */
  readonly remove: (tenantId: string, subscriptionId: string) => Effect.Effect<void, NotThere>
}>()("@waybill/core/operator/Subscriptions") {
  static readonly layer = Layer.effect(Subscriptions, Effect.gen(function*() {
    const queue = yield* DeliveryQueue
    const control = yield* DeliveryControl
    const resumeDestination = yield* makeResumeDestination
    const transaction = yield* Transaction
    const wakeups = yield* Wakeups
    const transit = yield* TransitSubscriptionStore
    const pickups = yield* PickupSubscriptionStore
    const notices = yield* NoticeStore
    const stores = new Map<string, SubscriptionDocuments>()
    for (const [area, { store }] of Object.entries(subscriptionsOfArea)) stores.set(area, yield* store as Effect.Effect<SubscriptionDocuments, never, AreaStores>)
    stores.set(noticeSource, { documents: () => Effect.succeed(new Map()), end: notices.endWebhook })

    const replayHistory = replayWith({ transit, pickups })

    /** Adds the area's document to each destination. */
    const documented = Effect.fnUntraced(function*(tenantId: string, { destinations, now }: { readonly destinations: ReadonlyArray<DestinationOverview>; readonly now: number }) {
      const documents = new Map<string, string>()
      for (const [area, { documents: read }] of stores) {
        const ids = destinations.filter(({ source }) => areaOfSource(source) === area).map(({ destinationId }) => destinationId)
        if (ids.length > 0) for (const [id, doc] of yield* read(tenantId, ids)) documents.set(id, doc)
      }
      return destinations.map((destination): DocumentedDestination => ({ destination, doc: documents.get(destination.destinationId), now }))
    })

    const get = Effect.fn("Subscriptions.get")(function*(tenantId: string, subscriptionId: string) {
      const { destination, now } = yield* findDestination(queue, tenantId, subscriptionId)
      return viewOf((yield* documented(tenantId, { destinations: [destination], now }))[0]!)
    })

    const list = Effect.fn("Subscriptions.list")(function*(tenantId: string, input: unknown = {}) {
      const { cursor, error, limit = defaultListLimit, total = false, ...given } = yield* decodeQuery(input)
      const match = matchOf(given)
      const source = {
        read: (range: ListRange) => Effect.flatMap(queue.destinations(tenantId, { ...match, ...range }), (found) => documented(tenantId, found)),
        idOf: ({ destination: { destinationId } }: DocumentedDestination) => destinationId,
        sizeOf: ({ doc = "" }: DocumentedDestination) => 1000 + doc.length,
        shown: viewOf
      }
      if (error !== undefined) return yield* listPage({ ...source, keeps: ({ destination: { lastAttempt } }) => lastAttempt?.outcome === error }, cursor, limit)
      const page = yield* listPage(source, cursor, limit)
      return total ? { ...page, total: yield* queue.countMatching(tenantId, match) } : page
    })

    const pause = Effect.fn("Subscriptions.pause")(function*(tenantId: string, subscriptionId: string, input: unknown) {
      const { reason } = yield* decodePause(input)
      if (!isUniqueId(subscriptionId) || (yield* control.pause(tenantId, subscriptionId, pauseByOperator(reason))) === "unknown") {
        return yield* new DestinationNotFound({ destinationId: subscriptionId })
      }
      return yield* get(tenantId, subscriptionId)
    })

    const resumeAfter = (tenantId: string, { client, destinationId, hmacSecretId, status, whenDead }: DestinationOverview, pauses: EndedPauses) =>
      resumeDestination(tenantId, {
        client,
        destinationId,
        secretId: hmacSecretId === secretOfClient(client) ? undefined : hmacSecretId,
        pausedSince: whenDead === "pause" ? status.since : undefined
      }, pauses)

    const resume = Effect.fn("Subscriptions.resume")(function*(tenantId: string, subscriptionId: string) {
      const { destination } = yield* findDestination(queue, tenantId, subscriptionId)
      if (destination.status.state === "paused") yield* resumeAfter(tenantId, destination, "all")
      return yield* get(tenantId, subscriptionId)
    })

    const resumeOwn = Effect.fn("Subscriptions.resumeOwn")(function*(tenantId: string, subscriptionId: string) {
      const { destination } = yield* findDestination(queue, tenantId, subscriptionId)
      if (destination.status.state === "paused") yield* resumeAfter(tenantId, destination, "not by operator")
      // read afterwards, because an operator may have paused it at the same time
      const after = yield* get(tenantId, subscriptionId)
      if (after.state === "paused" && after.pausedBy === "operator") {
        return yield* new SubscriptionPausedByOperator({ subscriptionId, reason: after.reason ?? "" })
      }
      return after
    })

    const pauseOwn = Effect.fn("Subscriptions.pauseOwn")(function*(tenantId: string, subscriptionId: string) {
      if (isUniqueId(subscriptionId)) yield* control.pause(tenantId, subscriptionId, pauseByClient)
      return yield* get(tenantId, subscriptionId)
    })

    const purge = Effect.fn("Subscriptions.purge")(function*(tenantId: string, subscriptionId: string) {
      if (!isUniqueId(subscriptionId) || (yield* control.pause(tenantId, subscriptionId, pauseForPurge)) === "unknown") {
        return yield* new DestinationNotFound({ destinationId: subscriptionId })
      }
      let dropped = 0
      let step = yield* control.purgeNext(tenantId, subscriptionId, undefined)
      for (;;) {
        dropped += step.dropped
        if (step.next === undefined) break
        yield* Effect.yieldNow
        step = yield* control.purgeNext(tenantId, subscriptionId, step.next)
      }
      yield* control.resume(tenantId, subscriptionId, "purge")
      yield* wakeups.wake(tenantId)
      return dropped
    })

    /** The destinations of one step, at most one more than it purges. */
    const purgeCandidates = Effect.fnUntraced(function*(tenantId: string, { cursor, subscriptionIds, ...given }: typeof PurgeCall.Type) {
      if (subscriptionIds === undefined) {
        return (yield* queue.destinations(tenantId, { ...matchOf(given), after: cursor, limit: maxPurged + 1 })).destinations
      }
      return yield* Effect.forEach([...new Set(subscriptionIds)].sort(compareText).filter((id) => cursor === undefined || id > cursor), (id) =>
        Effect.map(findDestination(queue, tenantId, id), ({ destination }) => destination))
    })

    const purgeMatching = Effect.fn("Subscriptions.purgeMatching")(function*(tenantId: string, input: unknown) {
      const call = yield* decodePurge(input)
      const { cursor: _, subscriptionIds, ...filter } = call
      const filters = Object.keys(filter).length
      if (subscriptionIds === undefined ? filters === 0 : filters > 0) return yield* InvalidInput.of(fault([], whatToPurge, "required"))
      const candidates = yield* purgeCandidates(tenantId, call)
      const result = { subscriptions: 0, dropped: 0 }
      for (const [index, { destinationId, inFlight, status, waiting }] of candidates.slice(0, maxPurged).entries()) {
        if (waiting + inFlight > 0 || status.reason === purgeReason) {
          // one that was deleted meanwhile has nothing left to drop
          const dropped = yield* Effect.catchTag(purge(tenantId, destinationId), "DestinationNotFound", () => Effect.succeed(0))
          result.dropped += dropped
          if (dropped > 0) result.subscriptions += 1
        }
        if (result.dropped >= purgedEntries && index < candidates.length - 1) return { ...result, nextCursor: destinationId }
      }
      return { ...result, nextCursor: candidates.length > maxPurged ? candidates[maxPurged - 1]!.destinationId : null }
    })

    const replay = Effect.fn("Subscriptions.replay")(function*(tenantId: string, subscriptionId: string, input: unknown) {
      const call = yield* decodeReplay(input)
      const { destination } = yield* findDestination(queue, tenantId, subscriptionId)
      const queued = yield* replayHistory(tenantId, destination, call)
      yield* wakeups.wake(tenantId)
      return queued
    })

    const remove = Effect.fn("Subscriptions.remove")(function*(tenantId: string, subscriptionId: string) {
      const { destination } = yield* findDestination(queue, tenantId, subscriptionId)
      const area = stores.get(areaOfSource(destination.source))
      yield* transaction.run(Effect.andThen(
        area === undefined ? Effect.void : area.end(tenantId, destination.client, subscriptionId),
        queue.closeDestination(tenantId, subscriptionId)
      ))
    })

    return Subscriptions.of({ get, list, pause, resume, resumeOwn, pauseOwn, purge, purgeMatching, replay, remove })
  }))
}

const decodeQuery = decodeInput(SubscriptionListQuery, { closed: true })
const decodePause = decodeInput(PauseCall, { closed: true })
const decodePurge = decodeInput(PurgeCall, { closed: true })

const whatToPurge = "Name subscriptionIds, or at least one of client, endpoint and state."

const matchOf = ({ client, endpoint, inTrouble, state, subscriptionId }: Pick<typeof SubscriptionListQuery.Type, "client" | "endpoint" | "inTrouble" | "state" | "subscriptionId">): DestinationMatch => ({
  destinationIds: subscriptionId?.filter(isUniqueId),
  client: client === undefined ? undefined : qualifiedClient(client),
  endpoint: endpoint === undefined ? undefined : endpointFilterOf(endpoint),
  inTrouble,
  state
})

interface DocumentedDestination {
  readonly destination: DestinationOverview
  readonly doc: string | undefined
  /** Current time by the store's clock. */
  readonly now: number
}

/** What the area's document says in the area's terms. */
const settingsOf = (area: string, doc: string | undefined): Pick<SubscriptionView, "filters" | "accounts"> => {
  const described: AreaSubscriptions | undefined = new Map<string, AreaSubscriptions>(Object.entries(subscriptionsOfArea)).get(area)
  if (described === undefined || doc === undefined) return { filters: {}, accounts: null }
  const settings = JSON.parse(doc) as never
  return { filters: described.filtersOf(settings), accounts: described.accountsOf?.(settings) ?? null }
}

const viewOf = ({ doc, destination, now }: DocumentedDestination): SubscriptionView => {
  const { breaker, lastAttempt, status } = destination
  const state = breakerState(breaker, now)
  const area = areaOfSource(destination.source)
  return {
    subscriptionId: destination.destinationId,
    area,
    client: destination.client,
    endpointUrl: destination.endpointUrl,
    hmacSecretId: destination.hmacSecretId,
    ...settingsOf(area, doc),
    delivery: destination.policy,
    state: status.state,
    reason: status.reason ?? null,
    pausedBy: status.pausedBy ?? null,
    since: formatInstant(status.since),
    held: destination.held,
    waiting: destination.waiting,
    oldestWaitingAt: instantOrNull(destination.oldestWaitingAt),
    inFlight: destination.inFlight,
    dead: destination.dead,
    dropped: destination.dropped,
    dueAt: instantOrNull(destination.dueAt),
    breaker: { state, failures: breaker.failures, until: state === "open" ? formatInstant(breaker.openUntil!) : null },
    lastAttempt: lastAttempt === undefined
      ? null
      : { at: formatInstant(lastAttempt.at), outcome: lastAttempt.outcome, status: lastAttempt.status ?? null }
  }
}
