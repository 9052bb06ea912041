/** Conformance of `DeliveryStore`: what a worker sends, holds and drops after changes of access, compared with a model. */
import { AccessStore, type StoragePorts, Transaction } from "@waybill/core"
import { DeliveryQueue } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SeededRandom } from "../SeededRandom.ts"
import { freshTenant, publish, subscribe } from "../StorageFixtures.ts"
import { acquire, byDestination, drain, end, eventIdsOf, release, takeFrom } from "../WorkerFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

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

  /** Drops entries that may not be seen. Returns their number. */
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

  /** Sends everything. Returns its names, sorted. */
  send(destination: ModelDestination): ReadonlyArray<string> {
    const sent = [...destination.frozen, ...destination.waiting].sort()
    destination.frozen = []
    destination.waiting = []
    return sent
  }
}

const draw = (random: SeededRandom, names: ReadonlyArray<string>) => names.filter(() => random.share(0.4))

const drawSource = (random: SeededRandom, live: boolean): Source =>
  ({ seesAll: random.share(0.15), accounts: draw(random, ["A", "B", "C"]), live })

/** One tenant whose store and model get the same calls. */
class StoreAndModel {
  readonly tenantId = freshTenant()
  readonly model: Model
  private readonly random: SeededRandom

  constructor(random: SeededRandom) {
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

  /** Sends everything that may be sent, and compares: what each destination is sent, and how much is dropped. */
  readonly compare = Effect.fnUntraced(function*(this: StoreAndModel, says: string) {
    const { model, tenantId } = this
    const { dropped, sent } = yield* drain(tenantId)
    const found = byDestination(sent, eventIdsOf)
    let expected = 0
    for (const [n, destination] of model.destinations.entries()) {
      const own = [...found[n + 1] ?? []].sort()
      if (!model.admits(destination)) {
        assert.deepStrictEqual(own, [], `${says}: ${destination.client} has no access`)
        model.did.held += destination.waiting.length
        continue
      }
      expected += model.clear(destination)
      assert.deepStrictEqual(own, model.send(destination), `${says}: ${destination.client}`)
    }
    assert.strictEqual(dropped, expected, `${says}: dropped`)
  })

  /** Freezes some of what waits as one delivery of each destination, which waits for its next attempt from then on. */
  readonly freezeSome = Effect.fnUntraced(function*(this: StoreAndModel) {
    const { random, model, tenantId } = this
    const worker = yield* acquire(tenantId)
    for (const [at, own] of model.destinations.entries()) {
      if (random.share(0.2)) continue
      const { deliveries } = yield* takeFrom(worker, at + 1, { batches: 1 })
      yield* end(worker, deliveries, { state: "waiting" })
      own.frozen = deliveries.flatMap(eventIdsOf)
      own.waiting = own.waiting.filter((name) => !own.frozen.includes(name))
    }
    yield* release(worker, false)
  })
}

const schedule = Effect.fnUntraced(function*(seed: number) {
  const random = new SeededRandom(seed, "gate")
  const both = new StoreAndModel(random)
  const { model, tenantId } = both
  yield* (yield* AccessStore).putTenant({ tenantId, name: "Acme", hosts: [] })
  for (const [n, destination] of model.destinations.entries()) {
    yield* both.putAccess(destination, "key", { ...drawSource(random, true), accounts: ["A", "B", "C"].filter(() => random.share(0.7)) })
    yield* subscribe(tenantId, { n: n + 1, client: destination.client, policy: { batchMaxSize: random.between(1, 5) } })
  }
  for (const shipmentId of ["S1", "S2", "S3", "S4"]) yield* both.publish(shipmentId)
  if (random.share(0.8)) yield* both.freezeSome()
  for (let change = random.between(1, 8); change > 0; change--) yield* both.change()
  yield* both.compare(`seed ${seed}, after the changes`)
  // access is back, with what each had last
  yield* both.suspend(false)
  for (const destination of model.destinations) for (const [origin, source] of destination.sources) yield* both.putAccess(destination, origin, { ...source, live: true })
  yield* both.compare(`seed ${seed}, with access again`)
  return model.did
})

export const suite = storeSuite("DeliveryStore, against a model of access", DeliveryQueue, (test) => {
  test("sends, holds and drops what the rules of access say, after any changes", function*() {
    const did = yield* Effect.forEach(Array.from({ length: schedules }, (_, n) => n + 1), schedule)
    for (const rule of ["held", "dropped", "withdrawn"] as const) assert.isAbove(did.reduce((sum, each) => sum + each[rule], 0), 3, rule)
  }, 60_000)
})
