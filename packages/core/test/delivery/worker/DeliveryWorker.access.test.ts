/** Access that ends and returns while entries wait. */
import { assert, describe, it } from "@effect/vitest"
import { AccessStore, StorageError } from "@waybill/core"
import { DeliveryQueue, type DropRequest, type SecretOwner, SecretStore, Wakeups } from "@waybill/core/delivery"
import { batchOf, Receiver, reportedEvent, TestWaybill } from "@waybill/testkit"
import { Effect, Logger, Option, References } from "effect"
import { account, hook, inEngine, makeEngine, workerOver } from "../Engine.ts"

type Engine = Effect.Success<ReturnType<typeof makeEngine>>

const endAccess = ({ customer, tenant }: Engine) =>
  Effect.flatMap(AccessStore, (store) => store.holdClient(tenant.tenantId, { client: customer.client, origin: customer.origin, until: 0, reviewAt: Number.MAX_SAFE_INTEGER }))

const giveAccess = ({ customer, tenant }: Engine, accounts: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const access = { client: customer.client, origin: customer.origin, seesAll: false, accounts }
    yield* (yield* AccessStore).putClientAccess(tenant.tenantId, access)
    yield* (yield* DeliveryQueue).accessRestored(tenant.tenantId, customer.client)
    yield* (yield* Wakeups).wake(tenant.tenantId)
  })

const nine = (engine: Engine) => engine.publish(...Array.from({ length: 9 }, () => "S"))

const nineNames = Array.from({ length: 9 }, (_, at) => `S/${at + 1}`)

describe("access of a client", () => {

  it.effect("waiting events are not sent after their client's access has ended, and are sent in order when it returns", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 2 } })
    yield* nine(engine)
    yield* endAccess(engine)
    yield* TestWaybill.run
    yield* TestWaybill.pass(60_000)
    assert.deepStrictEqual(yield* engine.delivered(), [])
    yield* giveAccess(engine, [account])
    yield* TestWaybill.pass(60_000)
    assert.deepStrictEqual(yield* engine.delivered(), nineNames)
  }, inEngine))

  it.effect("a client that returns with fewer accounts receives only events that these accounts may see", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* giveAccess(engine, [account, "B"])
    yield* nine(engine)
    yield* engine.events.append(engine.tenant.carrier, [reportedEvent("T", { accounts: ["B"] })])
    yield* endAccess(engine)
    yield* giveAccess(engine, ["B"])
    yield* TestWaybill.run
    yield* TestWaybill.pass(60_000)
    assert.deepStrictEqual(yield* engine.delivered(), ["T/1"])
  }, inEngine))

  it.effect("waiting events and retries of a shipment are dropped when it leaves the account, and others keep their order", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.publish("S", "T", "T")
    // it gets the first request, and its answer is lost
    yield* engine.receivers.script(hook, [Receiver.hang, Receiver.accept()])
    yield* TestWaybill.run
    yield* TestWaybill.pass(100)
    // one delivery with all three waits for its next attempt
    yield* engine.events.append(engine.tenant.carrier, [reportedEvent("S", { accounts: ["B"] })])
    yield* TestWaybill.pass(60_000)
    assert.deepStrictEqual(yield* engine.delivered(), ["T/1", "T/2"])
    const requests = (yield* engine.receivers.requests(hook)).map(batchOf)
    assert.deepStrictEqual(requests.map(({ events }) => events.map(({ sequence, shipment }) => `${shipment.shipmentId}/${sequence}`)), [["S/1", "T/1", "T/2"], ["T/1", "T/2"]])
    assert.deepStrictEqual(requests[1]!.events, requests[0]!.events.slice(1))
    const [first] = yield* engine.list()
    assert.deepStrictEqual([first!.deliveryId, first!.state, first!.attempts.length], [requests[0]!.deliveryId, "cancelled", 1])
    assert.notStrictEqual(requests[1]!.deliveryId, first!.deliveryId)
    assert.match(first!.reason!, /may no longer see/)
  }, inEngine))

  it.effect("what it ended for is dropped once a transaction has ended that had locked the subscription, and asked for every second until then", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.publish("S", "T", "T")
    yield* engine.receivers.script(hook, [Receiver.fail(), Receiver.accept()])
    let drops = 0
    let isLocked = true
    const locks = ({ closed, deliveries, keys }: DropRequest) => Effect.sync(() => {
      drops += 1
      return { dropped: 0, more: false, locked: [...closed, ...[...keys, ...deliveries].map(({ destinationId }) => destinationId)] }
    })
    yield* workerOver((store) => ({ drop: (request) => isLocked ? locks(request) : store.drop(request) }))
    yield* TestWaybill.pass(100)
    yield* engine.events.append(engine.tenant.carrier, [reportedEvent("S", { accounts: ["B"] })])
    // its retry is due and shows that the client may no longer see all of it
    yield* TestWaybill.pass(60_000)
    yield* engine.publish("U")
    yield* TestWaybill.pass(1000)
    assert.deepStrictEqual(yield* engine.delivered(), ["U/1"])
    const before = drops
    yield* TestWaybill.pass(20_000)
    assert.deepStrictEqual([drops - before, (yield* engine.list()).map(({ state }) => state)], [20, ["waiting", "delivered"]])
    isLocked = false
    yield* TestWaybill.pass(2000)
    assert.deepStrictEqual([yield* engine.delivered(), (yield* engine.list()).map(({ state }) => state)], [["U/1", "T/1", "T/2"], ["cancelled", "delivered", "delivered"]])
    assert.isUndefined((yield* engine.list()).find(({ state }) => state === "waiting"))
  }, Effect.scoped, inEngine))

  it.effect("what it ended for is dropped when the storage answers again", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.publish("S")
    yield* engine.events.append(engine.tenant.carrier, [reportedEvent("S", { accounts: ["B"] })])
    const waiting = Effect.map((yield* DeliveryQueue).destinations(engine.tenant.tenantId, { state: undefined, after: undefined, limit: 1 }), ({ destinations: [each] }) => each!.waiting)
    let isBroken = true
    const failure = Effect.fail(new StorageError({ operation: "DeliveryStore.drop", cause: "connection lost" }))
    yield* workerOver((store) => ({ drop: (request) => isBroken ? failure : store.drop(request) }))
    yield* TestWaybill.pass(3000)
    assert.strictEqual(yield* waiting, 1)
    isBroken = false
    yield* TestWaybill.pass(1500)
    assert.deepStrictEqual([yield* waiting, yield* engine.delivered()], [0, []])
  }, Effect.scoped, inEngine))

  it.effect("a retry is sent when the client may see its shipment again before it is cancelled", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const assign = (to: string) => engine.events.append(engine.tenant.carrier, [reportedEvent("S", { accounts: [to] })])
    yield* engine.publish("S")
    yield* engine.receivers.script(hook, [Receiver.fail(), Receiver.accept()])
    let drops = 0
    yield* workerOver((store) => ({ drop: (request) => Effect.andThen(drops++ === 0 ? Effect.orDie(assign(account)) : Effect.void, store.drop(request)) }))
    yield* TestWaybill.pass(100)
    yield* assign("B")
    yield* TestWaybill.pass(60_000)
    assert.isAbove(drops, 0)
    assert.deepStrictEqual(yield* engine.delivered(), ["S/1", "S/3"])
  }, Effect.scoped, inEngine))

  it.effect("a suspended tenant receives nothing, and all waiting events once it is resumed", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const { tenantId } = engine.tenant
    yield* engine.publish("S")
    yield* (yield* AccessStore).setTenantState(tenantId, "suspended")
    yield* TestWaybill.run
    yield* TestWaybill.pass(60_000)
    assert.deepStrictEqual(yield* engine.delivered(), [])
    yield* (yield* AccessStore).setTenantState(tenantId, "active")
    yield* (yield* DeliveryQueue).accessRestored(tenantId, undefined)
    yield* (yield* Wakeups).wake(tenantId)
    yield* TestWaybill.pass(60_000)
    assert.deepStrictEqual(yield* engine.delivered(), ["S/1"])
  }, inEngine))

  it.effect("a subscription is paused with a reason when its secret gets another owner", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const { tenantId } = engine.tenant
    const queue = yield* DeliveryQueue
    const secrets = yield* SecretStore
    const [destination] = (yield* queue.destinations(tenantId, { state: undefined, after: undefined, limit: 1 })).destinations
    const { hmacSecretId } = engine.subscription
    const secret = Option.getOrThrow(yield* secrets.find(tenantId, hmacSecretId))
    const owner: SecretOwner = { _tag: "Client", client: "key:somebody-else" }
    yield* secrets.put(tenantId, hmacSecretId, { ...secret, owner })
    yield* engine.publish("S")
    const lines: Array<unknown> = []
    const logger = Logger.make(({ message }) => void lines.push(message))
    yield* TestWaybill.run.pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Warn"))
    yield* TestWaybill.pass(60_000)
    yield* engine.publish("S")
    yield* TestWaybill.pass(60_000)
    assert.deepStrictEqual(yield* engine.delivered(), [])
    const status = Option.getOrThrow(yield* queue.destinationStatus(tenantId, destination!.destinationId))
    assert.strictEqual(status.state, "paused")
    assert.match(status.reason!, /signing secret/)
    assert.deepStrictEqual(lines.flat(), [`Subscription paused. ${status.reason}`])
  }, inEngine))
})
