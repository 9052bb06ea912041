/** Helpers for conformance suites: separate tenants, subscriptions with their destinations, published events. */
import { AccessStore, type StoredSince, Transaction } from "@waybill/core"
import { defaultPolicy, DeliveryQueue, type DeliveryPolicy, type DestinationSettings, type DestinationState, type StoredSecret } from "@waybill/core/delivery"
import { type StatusClaim, ShipmentStatusStore } from "@waybill/core/shipment-status"
import {
  allTypes,
  eventBatchEnvelope,
  type EventType,
  type NewEvent,
  type SubscriptionRecord,
  TransitEventStore,
  TransitSubscriptionStore,
  typeMask
} from "@waybill/core/transit-events"
import { Data, Effect } from "effect"

/** A tenant of its own for each test, so that suites can share one database. */
export const freshTenant = (): string => `t-${globalThis.crypto.randomUUID()}`

/** The same ids in every tenant, so that tests notice mixed-up tenants. */
export const idOf = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`

/** When sample events happened, in milliseconds since 1970. */
export const occurredAt = 1_763_600_000_000

const encoder = new TextEncoder()

/** UTF-8 bytes of a text. */
export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

/** Text of UTF-8 bytes. */
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Sets the access of a client. */
export const letSee = (tenantId: string, client: string, accounts: ReadonlyArray<string>, origin: "key" | "token" = "key") =>
  Effect.flatMap(AccessStore, (access) => access.putClientAccess(tenantId, { client, origin, seesAll: false, accounts }))

/** The present time by the store's clock, in milliseconds. */
export const storeNow = (tenantId: string) => Effect.flatMap(AccessStore, (access) => Effect.map(access.clientRows(tenantId, "nobody"), ({ now }) => now))

/** An instant of the store's clock after everything that was written before. */
export const storeLater = (tenantId: string) =>
  Effect.flatMap(storeNow(tenantId), (written) => eventually(storeNow(tenantId), (now) => Math.floor(now) > Math.ceil(written)))

/** Lets a client see all shipments of its tenant. */
export const letSeeAll = (tenantId: string, client: string) =>
  Effect.flatMap(AccessStore, (access) => access.putClientAccess(tenantId, { client, origin: "key", seesAll: true, accounts: [] }))

/** Whether a client sees a shipment now. */
export const seesShipment = (tenantId: string, client: string, shipmentId: string) =>
  Effect.flatMap(TransitSubscriptionStore, (store) => store.clientSees(tenantId, client, shipmentId))

/** A secret that every client may use by default. */
export const storedSecret = (versions: StoredSecret["versions"], parts: Partial<StoredSecret> = {}): StoredSecret => ({
  versions,
  owner: { _tag: "AnyClient" },
  bodySignature: false,
  createdAt: occurredAt,
  rotatedAt: undefined,
  ...parts
})

class RolledBack extends Data.TaggedError("RolledBack")<{}> {}

/** Runs an effect in a transaction, as use cases do. */
export const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>) => Transaction.use(({ run }) => run(effect))

/** Runs an effect in a transaction that is rolled back at its end. */
export const rolledBack = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchTag(inTransaction(Effect.andThen(effect, Effect.fail(new RolledBack()))), "RolledBack", () => Effect.void)

/** What differs from the sample subscription. `n` makes its id. */
export interface SubscriptionFixture {
  readonly n?: number
  readonly client?: string
  readonly types?: ReadonlyArray<EventType>
  readonly shipmentIds?: ReadonlyArray<string>
  readonly matched?: boolean
  readonly state?: DestinationState
  readonly policy?: Partial<DeliveryPolicy>
  readonly endpointUrl?: string
}

/** Several sample subscriptions. */
export interface SeedFixture extends SubscriptionFixture {
  readonly numbers?: ReadonlyArray<number>
}

/** One event in each delivery. */
export const single = { policy: { batchMaxSize: 1 } }

/** The destination of a sample subscription. */
export const destinationSettings = (fixture: SubscriptionFixture = {}): DestinationSettings => ({
  destinationId: idOf(fixture.n ?? 1),
  client: fixture.client ?? "client",
  source: "transit-events",
  endpointUrl: fixture.endpointUrl ?? "https://receiver.example/hook",
  hmacSecretId: "main",
  policy: { ...defaultPolicy, ...fixture.policy },
  envelope: eventBatchEnvelope,
  signing: "required",
  whenDead: "continue",
  state: fixture.state ?? "active"
})

/** The record of a sample subscription. */
export const recordOf = (fixture: SubscriptionFixture = {}): SubscriptionRecord => ({
  id: idOf(fixture.n ?? 1),
  client: fixture.client ?? "client",
  doc: "{}",
  createdAt: occurredAt,
  updatedAt: occurredAt,
  typeMask: fixture.types === undefined ? allTypes : typeMask(fixture.types),
  shipmentIds: fixture.shipmentIds,
  matched: fixture.matched ?? true
})

/** Opens a destination and inserts its subscription, as use cases do. */
export const openWith = <E, R>(tenantId: string, destination: DestinationSettings, insert: Effect.Effect<unknown, E, R>) =>
  inTransaction(Effect.andThen(DeliveryQueue.use((queue) => queue.openDestination(tenantId, destination)), insert))

/** A subscription with its destination. */
export const subscribe = (tenantId: string, fixture: SubscriptionFixture = {}) =>
  openWith(tenantId, destinationSettings(fixture), TransitSubscriptionStore.use((store) => store.insert(tenantId, recordOf(fixture))))

/** What differs from the sample event. */
export interface EventFixture {
  readonly shipmentId: string
  /** Assigned by default. */
  readonly sequence?: number
  readonly eventId?: string
  readonly type?: EventType
  readonly occurredAt?: number
  readonly body?: string
}

/** How sample events are published. */
export interface PublishFixture {
  /** The accounts that may see the shipments. */
  readonly accounts?: ReadonlyArray<string>
  readonly traceparent?: string
}

/** Gives shipments to accounts and carriers. */
export const claim = (tenantId: string, claims: ReadonlyArray<StatusClaim>) =>
  inTransaction(ShipmentStatusStore.use((store) => store.lock(tenantId, claims)))

/** A sample event with the given sequence. */
export const eventOf = (fixture: EventFixture, sequence: number): NewEvent => {
  const eventId = fixture.eventId ?? `${fixture.shipmentId}/${sequence}`
  const type = fixture.type ?? "IN_TRANSIT"
  return {
    eventId,
    shipmentId: fixture.shipmentId,
    sequence,
    body: bytesOf(fixture.body ?? JSON.stringify({ eventId, sequence })),
    type,
    typeBit: typeMask([type]),
    occurredAt: fixture.occurredAt ?? occurredAt
  }
}

/** Numbers and stores events in one transaction, as publishing does. Returns the stored events. */
export const publish = Effect.fnUntraced(function*(tenantId: string, fixtures: ReadonlyArray<EventFixture>, options: PublishFixture = {}) {
  const store = yield* TransitEventStore
  const shipmentIds = [...new Set(fixtures.map((each) => each.shipmentId))].sort()
  return yield* inTransaction(Effect.gen(function*() {
    const firsts = yield* store.allocate(tenantId, shipmentIds.map((shipmentId) => {
      const own = fixtures.filter((each) => each.shipmentId === shipmentId)
      return {
        shipmentId,
        needed: own.filter((each) => each.sequence === undefined).length,
        highestGiven: Math.max(0, ...own.map((each) => each.sequence ?? 0)),
        accounts: options.accounts
      }
    }))
    const next = new Map(shipmentIds.map((shipmentId, at) => [shipmentId, firsts[at]!]))
    const events = fixtures.map((fixture) => {
      if (fixture.sequence !== undefined) return eventOf(fixture, fixture.sequence)
      const sequence = next.get(fixture.shipmentId)!
      next.set(fixture.shipmentId, sequence + 1)
      return eventOf(fixture, sequence)
    })
    yield* store.append(tenantId, events, options.traceparent)
    return events
  }))
})

/** One client that sees account A, its subscriptions, one by default, and the given number of events of each shipment. */
export const seed = Effect.fnUntraced(function*(tenantId: string, events: Readonly<Record<string, number>>, fixture: SeedFixture = {}) {
  const { numbers = [fixture.n ?? 1], ...subscription } = fixture
  yield* letSee(tenantId, "client", ["A"])
  for (const n of numbers) yield* subscribe(tenantId, { ...subscription, n })
  const all = Object.entries(events).flatMap(([shipmentId, count]) => Array.from({ length: count }, () => ({ shipmentId })))
  if (all.length > 0) yield* publish(tenantId, all, { accounts: ["A"] })
})

/** Reads a list page by page, each after the last item of the one before, until one is short. */
export const allPages = <A, E, R>(limit: number, page: (after: A | undefined) => Effect.Effect<ReadonlyArray<A>, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> =>
  Effect.gen(function*() {
    const all: Array<A> = []
    for (;;) {
      const items = yield* page(all.at(-1))
      if (items.length > limit) return yield* Effect.die(new Error(`A page has ${items.length} items, at most ${limit} were asked for.`))
      all.push(...items)
      if (items.length < limit) return all
    }
  })

/** Reads everything that was stored since a position, and where it ends. */
export const allSince = <A, E, R>(first: string, since: (position: string) => Effect.Effect<StoredSince<A>, E, R>) =>
  Effect.gen(function*() {
    const rows: Array<A> = []
    for (let position = first;;) {
      const page = yield* since(position)
      rows.push(...page.rows)
      position = page.position
      if (!page.more) return { rows, position }
    }
  })

/** Polls until the result matches, with a timeout for slow databases. */
export const eventually = <A, E, R>(ask: Effect.Effect<A, E, R>, willDo: (answer: A) => boolean): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    for (let turn = 0; turn < 1000; turn++) {
      const answer = yield* ask
      if (willDo(answer)) return answer
      yield* Effect.sleep(10)
    }
    return yield* Effect.die(new Error("What was waited for did not happen within ten seconds."))
  })
