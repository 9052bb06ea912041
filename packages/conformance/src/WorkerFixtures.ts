/** Fixtures for suites that take deliveries from a storage: a worker that owns partitions, its takes and its settlements. */
import { compareText, noticeSource, subscriptionsOfArea } from "@waybill/core"
import {
  closedBreaker,
  type DeliveryOutcome,
  deliveriesPerTake,
  DeliveryQueue,
  DeliveryStore,
  type DestinationChange,
  type Dropped,
  type DropRequest,
  type OwnedPartition,
  partitionOf,
  partitionsPerTenant,
  type SettleRequest,
  type TakenDelivery,
  type TakeFrom,
  type TakeRequest
} from "@waybill/core/delivery"
import { Effect, Option } from "effect"
import { destinationSettings, idOf, occurredAt, seed, type SeedFixture, textOf } from "./StorageFixtures.ts"

/** A worker with the partitions of a tenant that it acquired. */
export interface OwningWorker {
  readonly tenantId: string
  readonly owned: ReadonlyArray<OwnedPartition>
}

export const everyPartition = Array.from({ length: partitionsPerTenant }, (_, partition) => partition)

export const workerId = (): string => `worker ${globalThis.crypto.randomUUID()}`

/** Acquires every partition of a tenant that is free. */
export const acquire = (tenantId: string, { leaseMillis = 600_000, worker = workerId() } = {}) =>
  Effect.gen(function*() {
    const store = yield* DeliveryStore
    const { now, partitions } = yield* store.acquire({ workerId: worker, leaseMillis }, tenantId, everyPartition)
    const destinations = partitions.flatMap((each) => each.destinations)
    return {
      tenantId,
      workerId: worker,
      owned: partitions.map(({ epoch, partition }) => ({ tenantId, partition, epoch })),
      takenOver: partitions.filter(({ othersUntil }) => othersUntil === now).map(({ partition }) => partition),
      othersUntil: partitions.map(({ othersUntil }) => othersUntil),
      destinations,
      waiting: yield* waitingIn(tenantId, destinations)
    }
  })

/** What `seed` stores, and a worker that acquires every partition then. */
export const seededWorker = (tenantId: string, events: Readonly<Record<string, number>>, fixture?: SeedFixture) =>
  Effect.andThen(seed(tenantId, events, fixture), acquire(tenantId))

/** The deliveries of these destinations that wait. */
export const waitingIn = (tenantId: string, destinationIds: ReadonlyArray<string>) =>
  Effect.flatMap(DeliveryStore, (store) => Effect.map(store.load(tenantId, destinationIds), (loaded) =>
    loaded.flatMap(({ destinationId, waiting }) => waiting.map((each) => ({ destinationId, ...each })))))

let flights = 0

/** Ids of flights sort by creation, and begin with the instant in `sentAt`. */
const nextFlight = () => {
  const sentAt = occurredAt + ++flights
  return { sentAt, flight: `${sentAt.toString(16).padStart(12, "0").replace(/^(.{8})/, "$1-")}-7000-8000-000000000000` }
}

export const from = (n: number, parts: Partial<TakeFrom> = {}): TakeFrom =>
  ({ destinationId: idOf(n), after: undefined, batches: 10, bytes: 10_000_000, inFlight: [], again: [], ...parts })

const deliverySources = [...Object.values(subscriptionsOfArea).flatMap(({ sources }): ReadonlyArray<string> => sources), noticeSource]

/** A take from the destinations in `from`, with up to 1,000 signals. */
export const takeRequest = ({ owned, tenantId }: OwningWorker, parts: Partial<TakeRequest> = {}): TakeRequest =>
  ({ tenantId, owned, ...nextFlight(), from: [], sources: deliverySources, signals: 1000, skip: [], unrequested: 0, unrequestedBytes: 10_000_000, maxBatchBytes: 10_000_000, lookAt: 10_000, ...parts })

/** Takes deliveries and returns the results sorted by id. */
export const take = (worker: OwningWorker, parts: Partial<TakeRequest> = {}) =>
  Effect.flatMap(DeliveryStore, (store) =>
    Effect.map(store.take(takeRequest(worker, parts)), (taken) => ({
      ...taken,
      deliveries: taken.deliveries.toSorted((a, b) => compareText(a.deliveryId, b.deliveryId)),
      signals: taken.signals.toSorted((a, b) => compareText(a.destinationId, b.destinationId)),
      from: taken.from
        .map((each) => ({ ...each, unseenKeys: each.unseenKeys.toSorted(), unseenDeliveries: each.unseenDeliveries.toSorted() }))
        .sort((a, b) => compareText(a.destinationId, b.destinationId))
    })))

/** Takes from destination `n` alone. */
export const takeFrom = (worker: OwningWorker, n = 1, parts: Partial<TakeFrom> = {}) =>
  Effect.map(take(worker, { from: [from(n, parts)] }), ({ deliveries, from: [found] }) => ({ deliveries, found }))

/** Takes the only delivery of destination `n`. */
export const takeOne = (worker: OwningWorker, n = 1, parts: Partial<TakeFrom> = {}) =>
  Effect.flatMap(takeFrom(worker, n, parts), ({ deliveries }) =>
    deliveries.length === 1 ? Effect.succeed(deliveries[0]!) : Effect.die(new Error(`Expected one delivery, took ${deliveries.length}.`)))

/** Sends deliveries again, without new ones. */
export const takeAgain = (worker: OwningWorker, again: ReadonlyArray<string>, inFlight: ReadonlyArray<string> = []) =>
  Effect.map(take(worker, { from: [from(1, { again, inFlight, batches: 0 })] }), ({ deliveries }) => deliveries)

export const outcomeOf = ({ attempt, deliveryId, destinationId, flight }: TakenDelivery, parts: Partial<DeliveryOutcome> = {}): DeliveryOutcome => ({
  destinationId,
  deliveryId,
  flight,
  attempt,
  state: "delivered",
  dueInMillis: 0,
  notCounted: false,
  record: { attempt, at: occurredAt, durationMillis: 5, outcome: "accepted", status: 200 },
  ...parts
})

export const changeOf = (n = 1, parts: Partial<DestinationChange> = {}): DestinationChange =>
  ({ destinationId: idOf(n), endpointUrl: destinationSettings().endpointUrl, breaker: closedBreaker, pause: undefined, always: false, ...parts })

/** Returns the partitions that the worker still owns. */
export const settle = ({ owned, tenantId }: OwningWorker, parts: Partial<SettleRequest>) =>
  Effect.flatMap(DeliveryStore, (store) => Effect.map(store.settle({ tenantId, owned, outcomes: [], ended: [], destinations: [], ...parts }), (settled) => settled.owned))

/** What a settlement writes while another transaction has locked this destination. */
export const settledWithout = (request: SettleRequest, destinationId: string): SettleRequest => {
  const isOther = (each: { readonly destinationId: string }) => each.destinationId !== destinationId
  const left = new Set(request.outcomes.flatMap((each) => isOther(each) ? [] : [`${partitionOf(destinationId)} ${each.flight}`]))
  return {
    ...request,
    outcomes: request.outcomes.filter(isOther),
    destinations: request.destinations.filter(isOther),
    ended: request.ended.filter(({ flight, partition }) => !left.has(`${partition} ${flight}`))
  }
}

/** Settles the remaining deliveries of their flights with one state, and removes the flights. */
export const end = (worker: OwningWorker, deliveries: ReadonlyArray<TakenDelivery>, parts: Partial<DeliveryOutcome> = {}, destinations: ReadonlyArray<DestinationChange> = []) =>
  settle(worker, {
    outcomes: deliveries.map((each) => outcomeOf(each, parts)),
    ended: deliveries.map(({ destinationId, flight }) => ({ partition: partitionOf(destinationId), flight })),
    destinations
  })

export const drop = ({ owned, tenantId }: OwningWorker, parts: Partial<DropRequest>) =>
  Effect.flatMap(DeliveryStore, (store) => store.drop({ tenantId, owned, closed: [], keys: [], deliveries: [], ...parts }))

export const nothingDropped: Dropped = { dropped: 0, more: false, locked: [] }

export const release = ({ owned, tenantId }: OwningWorker, idle: boolean) =>
  Effect.flatMap(DeliveryStore, (store) => store.release(tenantId, owned.map((each) => ({ ...each, idle, othersUntil: undefined })), []))

export const load = (tenantId: string, n = 1) =>
  Effect.flatMap(DeliveryStore, (store) => Effect.map(store.load(tenantId, [idOf(n)]), ([loaded]) => loaded!))

export const find = (tenantId: string, deliveryId: string) =>
  Effect.flatMap(DeliveryQueue, (queue) => Effect.map(queue.find(tenantId, deliveryId), Option.getOrThrow))

export const stateOf = (tenantId: string, deliveryId: string) => Effect.map(find(tenantId, deliveryId), ({ state }) => state)

/** Whether the tenant has work without an owner. */
export const hasWork = (tenantId: string) =>
  Effect.flatMap(DeliveryStore, (store) =>
    Effect.map(store.look(workerId(), 100_000), ({ free }) => free.some((each) => each.tenantId === tenantId)))

/**
 * Sends all entries that may be sent now, with a worker that starts and stops: drops entries that clients may not see, and entries of closed
 * destinations, and settles all deliveries as delivered. `dropped`: entries that clients may not see.
 */
export const drain = Effect.fnUntraced(function*(tenantId: string) {
  const worker = yield* acquire(tenantId)
  const named = worker.destinations
  const again = (destinationId: string) => worker.waiting.filter((each) => each.destinationId === destinationId).map(({ deliveryId }) => deliveryId).sort()
  const sent: Array<TakenDelivery> = []
  let dropped = 0
  for (;;) {
    const batches = Math.floor(deliveriesPerTake / Math.max(1, named.length))
    const taken = yield* take(worker, { from: named.map((destinationId) => ({ destinationId, after: undefined, batches, bytes: 10_000_000, inFlight: [], again: again(destinationId) })) })
    yield* drop(worker, { closed: named.filter((id) => taken.from.every(({ destinationId }) => destinationId !== id)) })
    const keys = taken.from.flatMap(({ destinationId, unseenKeys }) => unseenKeys.map((key) => ({ destinationId, key })))
    const deliveries = taken.from.flatMap(({ destinationId, unseenDeliveries }) => unseenDeliveries.map((deliveryId) => ({ destinationId, deliveryId })))
    dropped += (yield* drop(worker, { keys, deliveries })).dropped
    sent.push(...taken.deliveries)
    yield* end(worker, taken.deliveries)
    if (taken.deliveries.length + keys.length + deliveries.length === 0) break
  }
  yield* release(worker, true)
  return { sent, dropped }
})

/** Ids of the events in a delivery, in the order of its body. */
export const eventIdsOf = ({ body }: Pick<TakenDelivery, "body">): ReadonlyArray<string> =>
  (JSON.parse(`[${textOf(body)}]`) as ReadonlyArray<{ readonly eventId: string }>).map(({ eventId }) => eventId)

/** A value of each delivery, by the number of its destination and in the order of keys. */
export const byDestination = <A>(sent: ReadonlyArray<TakenDelivery>, read: (delivery: TakenDelivery) => ReadonlyArray<A>): Readonly<Record<number, ReadonlyArray<A>>> => {
  const found: Record<number, ReadonlyArray<A>> = {}
  for (const each of sent.toSorted((a, b) => compareText(a.lastKey, b.lastKey))) {
    const n = Number(each.destinationId.slice(-4))
    found[n] = [...found[n] ?? [], ...read(each)]
  }
  return found
}

/** Sends all entries, and returns the event ids that each destination received. */
export const drainedEvents = (tenantId: string) => Effect.map(drain(tenantId), ({ sent }) => byDestination(sent, eventIdsOf))

/** Sends all entries, and returns the bodies that each destination received. */
export const drainedBodies = (tenantId: string) => Effect.map(drain(tenantId), ({ sent }) => byDestination(sent, ({ body }) => [textOf(body)]))
