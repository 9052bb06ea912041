/** Every subscription of a tenant with its lane, whichever area and client it belongs to. */
import { Context, Effect, Layer, Schema } from "effect"
import { LaneNotFound } from "../delivery/DeliveryErrors.ts"
import { DeliveryQueue, type LaneOverview, type LaneState } from "../delivery/DeliveryQueue.ts"
import { type BreakerState, breakerState } from "../delivery/model/Breaker.ts"
import { ChargeSubscriptionStore } from "../freight-charges/ChargeSubscriptionStore.ts"
import { formatInstant } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { defaultListLimit, foreignCursor, ListCursor, ListLimit, type ListPage, listPage } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { idBefore, isUniqueId } from "../shared/UniqueIds.ts"
import { StatusSubscriptionStore } from "../shipment-status/StatusSubscriptionStore.ts"
import { TransitSubscriptionStore } from "../transit-events/TransitSubscriptionStore.ts"
import { areaOfSource } from "./DeliveringArea.ts"

export const laneStates = ["active", "paused", "inactive"] as const satisfies ReadonlyArray<LaneState>

export const LaneListQuery = Schema.Struct({
  state: Schema.optionalKey(Schema.Literals(laneStates).annotate({ message: `state is one of ${laneStates.join(", ")}.` })),
  cursor: ListCursor,
  limit: ListLimit
})

/** A subscription's lane as it is shown; instants as UTC text. Counts stop at 1,000, which then means so many or more. */
export interface LaneView {
  readonly subscriptionId: string
  readonly area: string
  /** Whose subscription it is; `null` when no area knows it. */
  readonly client: string | null
  readonly endpointUrl: string
  readonly state: LaneState
  /** Why the engine changed the state itself. */
  readonly reason: string | null
  readonly since: string
  readonly breaker: {
    readonly state: BreakerState
    /** Failed attempts since the last accepted one. */
    readonly failures: number
    /** While it is open. */
    readonly until: string | null
  }
  /** Entries in no delivery yet. */
  readonly waiting: number
  /** Deliveries that are being sent or wait for their next attempt. */
  readonly unsettled: number
  readonly dead: number
  /** When a worker looks at it next, or its lease ends. */
  readonly dueAt: string | null
  /** Of the newest delivery that had one, among the lane's newest hundred. */
  readonly lastAttempt: { readonly at: string; readonly outcome: string; readonly status: number | null } | null
}

export class SubscriptionLanes extends Context.Service<SubscriptionLanes, {
  /** By subscriptionId. */
  readonly list: (tenantId: string, query: unknown) => Effect.Effect<ListPage<LaneView>, InvalidInput | StorageError>
  /** One of them. */
  readonly get: (tenantId: string, subscriptionId: string) => Effect.Effect<LaneView, LaneNotFound | StorageError>
}>()("@waybill/core/operator/SubscriptionLanes") {
  static readonly layer = Layer.effect(
    SubscriptionLanes,
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const stores = [yield* TransitSubscriptionStore, yield* StatusSubscriptionStore, yield* ChargeSubscriptionStore]
      const decode = decodeInput(LaneListQuery, { closed: true })

      const ownersOf = Effect.fnUntraced(function*(tenantId: string, lanes: ReadonlyArray<LaneOverview>) {
        const laneIds = lanes.map(({ laneId }) => laneId)
        const owners = yield* Effect.forEach(stores, (store) => store.owners(tenantId, laneIds), { concurrency: "unbounded" })
        return new Map(owners.flatMap((each) => [...each]))
      })

      const get = Effect.fn("SubscriptionLanes.get")(function*(tenantId: string, laneId: string) {
        const after = idBefore(laneId)
        // lists go by id: it is the first behind the id before it
        const { lanes: [lane], now } = after === undefined ? { lanes: [], now: 0 } : yield* queue.lanes(tenantId, { state: undefined, after, limit: 1 })
        if (lane?.laneId !== laneId) return yield* new LaneNotFound({ laneId })
        return laneView(lane, (yield* ownersOf(tenantId, [lane])).get(laneId), now)
      })

      return SubscriptionLanes.of({
        get,
        list: Effect.fn("SubscriptionLanes.list")(function*(tenantId: string, input: unknown) {
          const { cursor, limit = defaultListLimit, state } = yield* decode(input)
          if (cursor !== undefined && !isUniqueId(cursor)) return yield* foreignCursor
          const { lanes, now } = yield* queue.lanes(tenantId, { state, after: cursor, limit: limit + 1 })
          const owners = lanes.length === 0 ? new Map<string, string>() : yield* ownersOf(tenantId, lanes.slice(0, limit))
          return listPage(lanes, limit, ({ laneId }) => laneId, (lane) => laneView(lane, owners.get(lane.laneId), now))
        })
      })
    })
  )
}

const laneView = (lane: LaneOverview, client: string | undefined, now: number): LaneView => {
  const { breaker, dueAt, lastAttempt, status } = lane
  const state = breakerState(breaker, now)
  return {
    subscriptionId: lane.laneId,
    area: areaOfSource(lane.source),
    client: client ?? null,
    endpointUrl: lane.endpointUrl,
    state: status.state,
    reason: status.reason ?? null,
    since: formatInstant(status.since),
    breaker: { state, failures: breaker.failures, until: state === "open" ? formatInstant(breaker.openUntil!) : null },
    waiting: lane.waiting,
    unsettled: lane.unsettled,
    dead: lane.dead,
    dueAt: dueAt === undefined ? null : formatInstant(dueAt),
    lastAttempt: lastAttempt === undefined
      ? null
      : { at: formatInstant(lastAttempt.at), outcome: lastAttempt.outcome, status: lastAttempt.status ?? null }
  }
}
