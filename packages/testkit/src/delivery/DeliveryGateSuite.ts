/** What a `DeliveryQueue` keeps back: whatever a client may not see at the moment of sending. */
import { AccessStore, DeliveryQueue, type SecretOwner, SecretStore, type StoragePorts } from "@waybill/core"
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import {
  bytesOf,
  claim,
  claimOne,
  freezeOf,
  freshTenant,
  hasTurn,
  idOf,
  letSee,
  letSeeAll,
  publish,
  releaseOf,
  seed,
  settlementOf,
  storedSecret,
  subscribe
} from "../StorageFixtures.ts"

/** Ends the access of a client; what it saw last stays. */
const endAccess = (tenantId: string, client: string, accounts: ReadonlyArray<string>) =>
  Effect.flatMap(AccessStore, (access) =>
    access.putClientAccess(tenantId, { client, origin: "key", seesAll: false, accounts, live: { until: 0 } }))

/** Gives a client access and notifies the queue. */
const giveAccess = (tenantId: string, client: string, accounts: ReadonlyArray<string>) =>
  Effect.andThen(letSee(tenantId, client, accounts), Effect.flatMap(DeliveryQueue, (queue) => queue.accessRestored(tenantId, client)))

const reassign = (tenantId: string, shipmentId: string, accounts: ReadonlyArray<string>) =>
  publish(tenantId, [{ shipmentId, eventId: `${shipmentId} of ${accounts.join()}` }], { accounts })

const orderIds = (destination: { readonly waiting: ReadonlyArray<{ readonly orderId: string }> }) => destination.waiting.map(({ orderId }) => orderId)

const stateOf = Effect.fnUntraced(function*(tenantId: string, deliveryId: string) {
  const { reason, state } = Option.getOrThrow(yield* (yield* DeliveryQueue).find(tenantId, deliveryId))
  return { state, reason }
})

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: DeliveryQueue, what may be sent`, (it) => {
    it.effect("hands out nothing of a client without access, is not due meanwhile, and goes on where it was once access is back", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 9 })
        yield* endAccess(tenantId, "client", ["A"])
        assert.isTrue(yield* hasTurn(tenantId))
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        assert.isFalse(yield* hasTurn(tenantId))
        // what comes meanwhile waits as well
        yield* publish(tenantId, [{ shipmentId: "S" }])
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        assert.isFalse(yield* hasTurn(tenantId))
        yield* giveAccess(tenantId, "client", ["A"])
        assert.isTrue(yield* hasTurn(tenantId))
        assert.lengthOf((yield* claimOne(tenantId)).waiting, 10)
      }))

    it.effect("freezes nothing of a client whose access ended after the claim", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        yield* endAccess(tenantId, "client", ["A"])
        assert.deepStrictEqual([...yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })])], [])
        assert.isTrue(Option.isNone(yield* queue.find(tenantId, idOf(101))))
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination)] })
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        assert.isFalse(yield* hasTurn(tenantId))
      }))

    it.effect("hands out nothing more under a lease that it has when access ends", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const destination = yield* claimOne(tenantId)
        yield* endAccess(tenantId, "client", ["A"])
        assert.deepStrictEqual((yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })).destinations, [])
      }))

    it.effect("holds a delivery that waits for its next attempt, and counts no attempt for that", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })])
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state: "waiting" })], destinations: [releaseOf(destination)] })
        yield* endAccess(tenantId, "client", ["A"])
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        assert.strictEqual((yield* stateOf(tenantId, idOf(101))).state, "waiting")
        yield* giveAccess(tenantId, "client", ["A"])
        const [due] = (yield* claimOne(tenantId)).due
        assert.deepStrictEqual([due!.deliveryId, due!.attempt, due!.tries], [idOf(101), 1, 1])
      }))

    it.effect("leaves the destinations of other clients alone", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        yield* letSee(tenantId, "other", ["A"])
        yield* subscribe(tenantId, { n: 2, client: "other" })
        yield* publish(tenantId, [{ shipmentId: "S" }])
        yield* endAccess(tenantId, "client", ["A"])
        assert.deepStrictEqual(orderIds(yield* claimOne(tenantId)), ["S/2"])
      }))

    it.effect("drops what its client may no longer see, hands out the rest, and says that there may be more", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A", "B"])
        yield* subscribe(tenantId)
        for (const [shipmentId, account] of [["R", "A"], ["S", "B"], ["T", "A"]] as const) {
          yield* publish(tenantId, [{ shipmentId }, { shipmentId }], { accounts: [account] })
        }
        yield* letSee(tenantId, "client", ["A"])
        const { dropped, destinations: [destination] } = yield* claim(tenantId)
        assert.deepStrictEqual([dropped, orderIds(destination!)], [2, ["R/1", "R/2", "T/1", "T/2"]])
        // for good: what is given back is seen from then on
        yield* letSee(tenantId, "client", ["A", "B"])
        const again = yield* claim(tenantId, { maxDestinations: 0, refill: [destination!] })
        assert.deepStrictEqual([again.dropped, orderIds(again.destinations[0]!)], [0, ["R/1", "R/2", "T/1", "T/2"]])
      }))

    it.effect("drops what waits of a shipment that was taken from the account", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 3, T: 1 })
        yield* reassign(tenantId, "S", ["B"])
        const { dropped, destinations: [destination] } = yield* claim(tenantId)
        assert.deepStrictEqual([dropped, orderIds(destination!)], [3, ["T/1"]])
      }))

    it.effect("hands out everything to a client that sees everything", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* letSeeAll(tenantId, "client")
        yield* subscribe(tenantId)
        yield* publish(tenantId, [{ shipmentId: "S" }, { shipmentId: "T" }], { accounts: [] })
        const { dropped, destinations: [destination] } = yield* claim(tenantId)
        assert.deepStrictEqual([dropped, orderIds(destination!)], [0, ["S/1", "T/1"]])
      }))

    it.effect("ends a frozen delivery with something in it that may not be seen any more, and lets the rest wait again in its order", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 2, T: 2 })
        const destination = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })])
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state: "waiting" })], destinations: [releaseOf(destination)] })
        yield* publish(tenantId, [{ shipmentId: "T" }])
        yield* reassign(tenantId, "S", ["B"])
        let { destinations: [next] } = yield* claim(tenantId)
        assert.deepStrictEqual(next!.due, [])
        for (let turn = 0; turn < 2 && next!.more; turn++) ({ destinations: [next] } = yield* claim(tenantId, { maxDestinations: 0, refill: [next!] }))
        assert.deepStrictEqual(orderIds(next!), ["T/1", "T/2", "T/3"])
        const { reason, state } = yield* stateOf(tenantId, idOf(101))
        assert.strictEqual(state, "cancelled")
        assert.match(reason!, /may no longer see/)
        assert.isFalse(Option.isSome(yield* queue.retry(tenantId, idOf(101))) && (yield* stateOf(tenantId, idOf(101))).state !== "cancelled")
      }))

    it.effect("does so with a dead letter that is sent again, and with a delivery whose sender is gone", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const destination = yield* claimOne(tenantId)
        const [first, second] = destination.waiting
        yield* queue.freeze(tenantId, [freezeOf(destination, {
          fresh: [first!, second!].map((entry, at) => ({ deliveryId: idOf(101 + at), sentAt: 0, entries: [entry], traceparent: undefined }))
        })])
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state: "dead" })], destinations: [releaseOf(destination)] })
        yield* letSee(tenantId, "client", ["B"])
        yield* queue.retry(tenantId, idOf(101))
        let { destinations: [next] } = yield* claim(tenantId)
        assert.deepStrictEqual(next!.due, [])
        for (let turn = 0; turn < 2 && next!.more; turn++) ({ destinations: [next] } = yield* claim(tenantId, { maxDestinations: 0, refill: [next!] }))
        assert.deepStrictEqual([next!.due, next!.waiting, next!.more], [[], [], false])
        assert.deepStrictEqual([(yield* stateOf(tenantId, idOf(101))).state, (yield* stateOf(tenantId, idOf(102))).state], ["cancelled", "cancelled"])
      }))

    it.effect("leaves a delivery that is being sent to whoever sends it", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })])
        yield* letSee(tenantId, "client", ["B"])
        yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })
        assert.strictEqual((yield* stateOf(tenantId, idOf(101))).state, "sending")
      }))

    it.effect("does not send such a delivery again when its attempt fails", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })])
        yield* reassign(tenantId, "S", ["B"])
        // looked through while it is being sent, and again afterwards
        yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state: "waiting" })], destinations: [releaseOf(destination)] })
        const { destinations: [next] } = yield* claim(tenantId)
        assert.deepStrictEqual(next!.due, [])
        assert.strictEqual((yield* stateOf(tenantId, idOf(101))).state, "cancelled")
      }))

    it.effect("says of a destination that its secret belongs to somebody else by now", () =>
      Effect.gen(function*() {
        const secrets = yield* SecretStore
        const tenantId = freshTenant()
        const versions = [{ sealed: bytesOf("sealed"), signsUntil: undefined }]
        yield* letSee(tenantId, "key:client", ["A"])
        yield* subscribe(tenantId, { client: "key:client" })
        yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        const owners: ReadonlyArray<readonly [SecretOwner, boolean]> = [
          [{ _tag: "Client", client: "key:other" }, true],
          [{ _tag: "Client", client: "key:client" }, false],
          [{ _tag: "Accounts", accounts: ["B"] }, true],
          [{ _tag: "Accounts", accounts: ["A", "B"] }, false],
          [{ _tag: "AnyClient" }, false]
        ]
        let destination = yield* claimOne(tenantId)
        assert.isFalse(destination.secretRefused, "a secret that nobody registered is nobody's")
        for (const [owner, refused] of owners) {
          yield* secrets.put(tenantId, "main", storedSecret(versions, { owner }))
          const { destinations: [next] } = yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })
          destination = next!
          assert.strictEqual(destination.secretRefused, refused, JSON.stringify(owner))
        }
      }))
  })
