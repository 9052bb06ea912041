/** What a `DeliveryQueue` hands out, holds and drops after any changes of access, against a model of the rules in a few lines. */
import { AccessStore, type ClaimedLane, DeliveryQueue, type StoragePorts, Transaction } from "@waybill/core"
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

interface ModelLane {
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
  readonly lanes: ReadonlyArray<ModelLane>
  readonly shipments = new Map<string, ReadonlyArray<string>>()
  suspended = false
  /** What the rules had to do, so that a run shows that it tried all of them. */
  readonly did = { held: 0, dropped: 0, withdrawn: 0 }

  constructor(count: number) {
    this.lanes = Array.from({ length: count }, (_, n) => ({ client: `client-${n}`, sources: new Map(), waiting: [], frozen: [] }))
  }

  private sees({ sources }: ModelLane, shipmentId: string): boolean {
    const accounts = this.shipments.get(shipmentId)!
    return [...sources.values()].some((source) => source.seesAll || source.accounts.some((account) => accounts.includes(account)))
  }

  publish(shipmentId: string, names: ReadonlyArray<string>): void {
    for (const lane of this.lanes) if (this.sees(lane, shipmentId)) lane.waiting = [...lane.waiting, ...names].sort()
  }

  admits({ sources }: ModelLane): boolean {
    return !this.suspended && [...sources.values()].some(({ live }) => live)
  }

  /** Drops what may not be seen. Answers how many. */
  clear(lane: ModelLane): number {
    const visible = (name: string) => this.sees(lane, name.split("/")[0]!)
    if (!lane.frozen.every(visible)) {
      lane.waiting = [...lane.waiting, ...lane.frozen].sort()
      lane.frozen = []
      this.did.withdrawn += 1
    }
    const before = lane.waiting.length
    lane.waiting = lane.waiting.filter(visible)
    this.did.dropped += before - lane.waiting.length
    return before - lane.waiting.length
  }

  /** What a claim hands out: retries, and what does not wait behind them. */
  handedOut({ frozen, waiting }: ModelLane): { readonly due: number; readonly waiting: ReadonlyArray<string> } {
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

  readonly putAccess = (lane: ModelLane, origin: "key" | "token", source: Source) => {
    lane.sources.set(origin, source)
    const { accounts, live, seesAll } = source
    const access = { client: lane.client, origin, seesAll, accounts, ...(live ? {} : { live: { until: 0 } }) }
    const { tenantId } = this
    return Effect.gen(function*() {
      const [store, queue, transaction] = [yield* AccessStore, yield* DeliveryQueue, yield* Transaction]
      yield* transaction.run(Effect.tap(store.putClientAccess(tenantId, access), (wasHeld) => wasHeld ? queue.accessRestored(tenantId, lane.client) : Effect.void))
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
    const lane = random.pick(model.lanes)
    switch (random.pick(["access", "access", "access", "shipment", "shipment", "tenant"] as const)) {
      case "access":
        return this.putAccess(lane, random.pick(["key", "key", "token"]), drawSource(random, random.share(0.6)))
      case "shipment":
        return this.publish(`S${random.between(1, 4)}`)
      case "tenant":
        return this.suspend(random.share(0.5))
    }
  }

  /** Claims until nothing more comes, and compares: who is handed something, what, and how much was dropped. */
  readonly compare = Effect.fnUntraced(function*(this: Told, says: string) {
    const { model, tenantId } = this
    let { dropped, lanes } = yield* claim(tenantId)
    const fresh = lanes.map(({ laneId }) => laneId)
    for (let turn = 0; turn < 3 && lanes.some(({ more }) => more); turn++) {
      const again = yield* claim(tenantId, { maxLanes: 0, refill: lanes })
      dropped += again.dropped
      lanes = again.lanes
    }
    const expected = model.lanes.map((lane) => model.admits(lane) ? model.clear(lane) : 0).reduce((sum, each) => sum + each, 0)
    const found = new Map(lanes.map((lane) => [lane.laneId, lane]))
    for (const [n, lane] of model.lanes.entries()) {
      const laneId = idOf(n + 1)
      if (!model.admits(lane)) {
        assert.isFalse(fresh.includes(laneId), `${says}: ${lane.client} has no access`)
        model.did.held += lane.waiting.length
      } else assert.deepStrictEqual(handedOut(found.get(laneId)), model.handedOut(lane), `${says}: ${lane.client}`)
    }
    assert.strictEqual(dropped, expected, `${says}: dropped`)
    return lanes
  })

  /** Freezes some of what a claim hands out as one delivery of each lane, which waits for its next attempt from then on. */
  readonly freezeSome = Effect.fnUntraced(function*(this: Told) {
    const { random, model, tenantId } = this
    const queue = yield* DeliveryQueue
    const { lanes } = yield* claim(tenantId)
    // whatever their order, every store is told the same
    for (const lane of [...lanes].sort((a, b) => a.laneId < b.laneId ? -1 : 1)) {
      const n = Number(lane.laneId.slice(-12))
      const count = Math.min(random.between(0, 5), lane.waiting.length)
      const deliveryId = idOf(100 + n)
      if (count > 0) {
        const entries = lane.waiting.slice(0, count)
        yield* queue.freeze(tenantId, [freezeOf(lane, { fresh: [{ deliveryId, sentAt: 0, entries, traceparent: undefined }] })])
        const own = model.lanes[n - 1]!
        own.frozen = entries.map(({ orderId }) => orderId)
        own.waiting = own.waiting.filter((name) => !own.frozen.includes(name))
      }
      yield* queue.settle(tenantId, { deliveries: count > 0 ? [settlementOf(lane, deliveryId, { state: "waiting" })] : [], lanes: [releaseOf(lane)] })
    }
  })
}

const handedOut = (lane: ClaimedLane | undefined) => ({
  due: (lane?.due ?? []).reduce((sum, { events }) => sum + events, 0),
  waiting: (lane?.waiting ?? []).map(({ orderId }) => orderId).sort()
})

const schedule = Effect.fnUntraced(function*(seed: number) {
  const random = new SimulationRandom(seed, "gate")
  const told = new Told(random)
  const { model, tenantId } = told
  const queue = yield* DeliveryQueue
  yield* (yield* AccessStore).putTenant({ tenantId, name: "Acme", hosts: [] })
  for (const [n, lane] of model.lanes.entries()) {
    yield* told.putAccess(lane, "key", { ...drawSource(random, true), accounts: ["A", "B", "C"].filter(() => random.share(0.7)) })
    yield* subscribe(tenantId, { n: n + 1, client: lane.client })
  }
  for (const shipmentId of ["S1", "S2", "S3", "S4"]) yield* told.publish(shipmentId)
  if (random.share(0.8)) yield* told.freezeSome()
  for (let change = random.between(1, 8); change > 0; change--) yield* told.change()
  const lanes = yield* told.compare(`seed ${seed}, after the changes`)
  yield* queue.settle(tenantId, { deliveries: [], lanes: lanes.map((lane) => releaseOf(lane)) })
  // access is back, with what each had last
  yield* told.suspend(false)
  for (const lane of model.lanes) for (const [origin, source] of lane.sources) yield* told.putAccess(lane, origin, { ...source, live: true })
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
