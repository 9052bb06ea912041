import { assert, describe, it } from "@effect/vitest"
import { DeliveryOptions, type LoadedDestination } from "@waybill/core/delivery"
import { Deferred, Effect } from "effect"
import { type Destination, failed, loadInto, secretOpened } from "../../../src/delivery/worker/Destination.ts"
import { type EngineServices, EngineState } from "../../../src/delivery/worker/EngineState.ts"
import { destinationClosed, loadDestinations } from "../../../src/delivery/worker/Loading.ts"
import { makeLoaded } from "./DestinationLife.ts"

const destinationId = "a0"

/** A worker with one destination, whose loads are answered one by one. */
const makeLoading = Effect.gen(function*() {
  const answers: Array<Deferred.Deferred<ReadonlyArray<LoadedDestination>>> = []
  const load = () =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<ReadonlyArray<LoadedDestination>>()
      answers.push(answer)
      return yield* Deferred.await(answer)
    })
  const services = { store: { load }, options: yield* DeliveryOptions, keysOf: () => Effect.succeed([]) }
  const parts = new EngineState(services as unknown as EngineServices, "worker", yield* Effect.context<never>())
  parts.work.hold({ tenantId: "acme", partition: 0, epoch: 1, othersUntil: undefined, destinations: [] }, 0, 0)
  const tenant = parts.work.tenants.get("acme")!
  const destination = parts.work.destination("acme", destinationId)!
  const loads = Effect.suspend(() => Effect.andThen(Effect.forkChild(loadDestinations(parts, tenant, [destination])), Effect.yieldNow))
  const answer = (number: number, parts: Partial<LoadedDestination>) =>
    Effect.andThen(Deferred.succeed(answers[number]!, [makeLoaded({}, { destinationId, ...parts })]), Effect.yieldNow)
  return { answer, destination, loads, parts, tenant }
})

describe("a load that is answered after a later one", () => {
  it.effect("pauses no destination because of a secret that was refused when it began", Effect.fnUntraced(function*() {
    const { answer, destination, loads, parts } = yield* makeLoading
    yield* loads
    yield* loads
    yield* answer(1, { version: 2 })
    yield* answer(0, { version: 1, secretRefused: true })
    assert.deepStrictEqual([destination.settings?.version, destination.pause, parts.outcomes.isEmpty], [2, undefined, true])
    assert.strictEqual(destination.loads, 0)
  }, Effect.provide(DeliveryOptions.layer())))
})

describe("a destination that is closed", () => {
  it.effect("is not among those that may send", Effect.fnUntraced(function*() {
    const { destination, parts, tenant } = yield* makeLoading
    loadInto(destination, makeLoaded({}, { destinationId }), { since: 1, now: 0, storeAhead: 0 })
    // its outcome was written during the take that did not find it
    parts.work.touch(destination)
    destinationClosed(parts, tenant, destination)
    assert.strictEqual(tenant.ready.size, 0)
  }, Effect.provide(DeliveryOptions.layer())))

  it.effect("is forgotten, although it failed or its secret could not be opened", Effect.fnUntraced(function*() {
    for (const trouble of [(each: Destination) => failed(each, 0, 5000), (each: Destination) => secretOpened(each, false, 0)]) {
      const { destination, parts, tenant } = yield* makeLoading
      loadInto(destination, makeLoaded({}, { destinationId }), { since: 1, now: 0, storeAhead: 0 })
      trouble(destination)
      destinationClosed(parts, tenant, destination)
      tenant.drops.closed.clear()
      parts.work.tidy(destination.owned, 0, 0)
      assert.isUndefined(parts.work.find("acme", destinationId))
    }
  }, Effect.provide(DeliveryOptions.layer())))
})
