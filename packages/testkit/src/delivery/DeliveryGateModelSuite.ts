/** What a `DeliveryQueue` hands out, holds and drops after any changes of access, against a model of the rules in a few lines. */
import { AccessStore, type ClaimedDestination, DeliveryQueue, type StoragePorts, Transaction } from "@waybill/core"
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { SimulationRandom } from "../simulation/SimulationRandom.ts"
import { claim, freezeOf, freshTenant, idOf, publish, releaseOf, settlementOf, subscribe } from "../StorageFixtures.ts"

const schedules = 30

interface Source {
  readonly seesAll: boolean
  readonly accounts: ReadonlyArray<string>
  readonly live: boolean
}

interface ModelDestination {
  readonly client: string
  /** By credential source. */
  readonly sources: Map<"key" | "token", Source>
  /** Names of events, in their order. */
  waiting: ReadonlyArray<string>
  /** A delivery that waits for its next attempt. */
  frozen: ReadonlyArray<string>
}

/** The rules. */
class Model {
  readonly destinations: ReadonlyArray<ModelDestination>
  readonly shipments = new Map<string, ReadonlyArray<string>>()
  suspended = false
  /** What the rules had to do, so that a run shows that it tried all of them. */
  readonly did = { held: 0, dropped: 0, withdrawn: 0 }

  constructor(count: number) {
    this.destinations = Array.from({ length: count }, (_, n) => ({ client: `client-${n}`, sources: new Map(), waiting: [], frozen: [] }))
  }

  private sees({ sources }: ModelDestination, shipmentId: string): boolean {
    const accounts = this.shipments.get(shipmentId)!
    return [...sources.values()].some((source) => source.seesAll || source.accounts.some((account) => accounts.includes(account)))
  }

  publish(shipmentId: string, names: ReadonlyArray<string>): void {
    for (const destination of this.destinations) if (this.sees(destination, shipmentId)) destination.waiting = [...destination.waiting, ...names].sort()
  }

  admits({ sources }: ModelDestination): boolean {
    return !this.suspended && [...sources.values()].some(({ live }) => live)
  }

  /** Drops what may not be seen. Answers how many. */
  clear(destination: ModelDestination): number {
    const visible = (name: string) => this.sees(destination, name.split("/")[0]!)
    if (!destination.frozen.every(visible)) {
      destination.waiting = [...destination.waiting, ...destination.frozen].sort()
      destination.frozen = []
      this.did.withdrawn += 1
    }
    const before = destination.waiting.length
    destination.waiting = destination.waiting.filter(visible)
    this.did.dropped += before - destination.waiting.length
    return before - destination.waiting.length
  }

  /** What a claim hands out: retries, and what does not wait behind them. */
  handedOut({ frozen, waiting }: ModelDestination): { readonly due: number; readonly waiting: ReadonlyArray<string> } {
    const behind = new Set(frozen.map((name) => name.split("/")[0]))
    return { due: frozen.length, waiting: waiting.filter((name) => !behind.has(name.split("/")[0])) }
  }
}

const draw = (random: SimulationRandom, names: ReadonlyArray<string>) => names.filter(() => random.share(0.4))

const drawSource = (random: SimulationRandom, live: boolean): Source =>
  ({ seesAll: random.share(0.15), accounts: draw(random, ["A", "B", "C"]), live })

/** One tenant whose store and model are told the same. */
class Told {
  readonly tenantId = freshTenant()
  readonly model: Model
  private readonly random: SimulationRandom

  constructor(random: SimulationRandom) {
    this.random = random
    this.model = new Model(random.between(1, 3))
  }

  readonly putAccess = (destination: ModelDestination, origin: "key" | "token", source: Source) => {
    destination.sources.set(origin, source)
    const { accounts, live, seesAll } = source
    const access = { client: destination.client, origin, seesAll, accounts, ...(live ? {} : { live: { until: 0 } }) }
    const { tenantId } = this
    return Effect.gen(function*() {
      const [store, queue, transaction] = [yield* AccessStore, yield* DeliveryQueue, yield* Transaction]
      yield* transaction.run(Effect.tap(store.putClientAccess(tenantId, access), (wasHeld) => wasHeld ? queue.accessRestored(tenantId, destination.client) : Effect.void))
    })
  }

  readonly suspend = (suspended: boolean) => {
    this.model.suspended = suspended
    const { tenantId } = this
    return Effect.gen(function*() {
      yield* (yield* AccessStore).setTenantState(tenantId, suspended ? "suspended" : "active")
      if (!suspended) yield* (yield* DeliveryQueue).accessRestored(tenantId, undefined)
    })
  }

  /** Gives a shipment to other accounts, or keeps those that it has. */
  readonly publish = (shipmentId: string) => {
    const { random, model } = this
    if (!model.shipments.has(shipmentId) || random.share(0.5)) model.shipments.set(shipmentId, draw(random, ["A", "B", "C"]))
    const accounts = model.shipments.get(shipmentId)!
    const fixtures = Array.from({ length: random.between(1, 2) }, () => ({ shipmentId }))
    return Effect.map(publish(this.tenantId, fixtures, { accounts }), (events) => model.publish(shipmentId, events.map(({ eventId }) => eventId)))
  }

  readonly change = (): Effect.Effect<void, unknown, StoragePorts> => {
    const { random, model } = this
    const destination = random.pick(model.destinations)
    switch (random.pick(["access", "access", "access", "shipment", "shipment", "tenant"] as const)) {
      case "access":
        return this.putAccess(destination, random.pick(["key", "key", "token"]), drawSource(random, random.share(0.6)))
      case "shipment":
        return this.publish(`S${random.between(1, 4)}`)
      case "tenant":
        return this.suspend(random.share(0.5))
    }
  }

  /** Claims until nothing more comes, and compares: who is handed something, what, and how much was dropped. */
  readonly compare = Effect.fnUntraced(function*(this: Told, says: string) {
    const { model, tenantId } = this
    let { dropped, destinations } = yield* claim(tenantId)
    const fresh = destinations.map(({ destinationId }) => destinationId)
    for (let turn = 0; turn < 3 && destinations.some(({ more }) => more); turn++) {
      const again = yield* claim(tenantId, { maxDestinations: 0, refill: destinations })
      dropped += again.dropped
      destinations = again.destinations
    }
    const expected = model.destinations.map((destination) => model.admits(destination) ? model.clear(destination) : 0).reduce((sum, each) => sum + each, 0)
    const found = new Map(destinations.map((destination) => [destination.destinationId, destination]))
    for (const [n, destination] of model.destinations.entries()) {
      const destinationId = idOf(n + 1)
      if (!model.admits(destination)) {
        assert.isFalse(fresh.includes(destinationId), `${says}: ${destination.client} has no access`)
        model.did.held += destination.waiting.length
      } else assert.deepStrictEqual(handedOut(found.get(destinationId)), model.handedOut(destination), `${says}: ${destination.client}`)
    }
    assert.strictEqual(dropped, expected, `${says}: dropped`)
    return destinations
  })

  /** Freezes some of what a claim hands out as one delivery of each destination, which waits for its next attempt from then on. */
  readonly freezeSome = Effect.fnUntraced(function*(this: Told) {
    const { random, model, tenantId } = this
    const queue = yield* DeliveryQueue
    const { destinations } = yield* claim(tenantId)
    // whatever their order, every store is told the same
    for (const destination of [...destinations].sort((a, b) => a.destinationId < b.destinationId ? -1 : 1)) {
      const n = Number(destination.destinationId.slice(-12))
      const count = Math.min(random.between(0, 5), destination.waiting.length)
      const deliveryId = idOf(100 + n)
      if (count > 0) {
        const entries = destination.waiting.slice(0, count)
        yield* queue.freeze(tenantId, [freezeOf(destination, { fresh: [{ deliveryId, sentAt: 0, entries, traceparent: undefined }] })])
        const own = model.destinations[n - 1]!
        own.frozen = entries.map(({ orderId }) => orderId)
        own.waiting = own.waiting.filter((name) => !own.frozen.includes(name))
      }
      yield* queue.settle(tenantId, { deliveries: count > 0 ? [settlementOf(destination, deliveryId, { state: "waiting" })] : [], destinations: [releaseOf(destination)] })
    }
  })
}

const handedOut = (destination: ClaimedDestination | undefined) => ({
  due: (destination?.due ?? []).reduce((sum, { events }) => sum + events, 0),
  waiting: (destination?.waiting ?? []).map(({ orderId }) => orderId).sort()
})

const schedule = Effect.fnUntraced(function*(seed: number) {
  const random = new SimulationRandom(seed, "gate")
  const told = new Told(random)
  const { model, tenantId } = told
  const queue = yield* DeliveryQueue
  yield* (yield* AccessStore).putTenant({ tenantId, name: "Acme", hosts: [] })
  for (const [n, destination] of model.destinations.entries()) {
    yield* told.putAccess(destination, "key", { ...drawSource(random, true), accounts: ["A", "B", "C"].filter(() => random.share(0.7)) })
    yield* subscribe(tenantId, { n: n + 1, client: destination.client })
  }
  for (const shipmentId of ["S1", "S2", "S3", "S4"]) yield* told.publish(shipmentId)
  if (random.share(0.8)) yield* told.freezeSome()
  for (let change = random.between(1, 8); change > 0; change--) yield* told.change()
  const destinations = yield* told.compare(`seed ${seed}, after the changes`)
  yield* queue.settle(tenantId, { deliveries: [], destinations: destinations.map((destination) => releaseOf(destination)) })
  // access is back, with what each had last
  yield* told.suspend(false)
  for (const destination of model.destinations) for (const [origin, source] of destination.sources) yield* told.putAccess(destination, origin, { ...source, live: true })
  yield* told.compare(`seed ${seed}, with access again`)
  return model.did
})

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: DeliveryQueue, against a model`, (it) => {
    it.effect("hands out, holds and drops what the rules of access say, after any changes", () =>
      Effect.gen(function*() {
        const did = yield* Effect.forEach(Array.from({ length: schedules }, (_, n) => n + 1), schedule)
        for (const what of ["held", "dropped", "withdrawn"] as const) assert.isAbove(did.reduce((sum, each) => sum + each[what], 0), 3, what)
      }), 60_000)
  })
