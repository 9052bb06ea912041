import { assert, describe, it } from "@effect/vitest"
import { DeliveryOptions, type DropRequest, type Dropped } from "@waybill/core/delivery"
import { Effect } from "effect"
import { dropUnsendable } from "../../../src/delivery/worker/Dropping.ts"
import { type EngineServices, EngineState } from "../../../src/delivery/worker/EngineState.ts"
import { destinationClosed } from "../../../src/delivery/worker/Loading.ts"

/** A worker with a closed destination, whose store answers a drop like this. */
const makeDropping = Effect.fnUntraced(function*(drop: (request: DropRequest, publish: () => void) => Dropped) {
  const services = { store: { drop: (request: DropRequest) => Effect.sync(() => drop(request, publish)) }, options: yield* DeliveryOptions }
  const parts = new EngineState(services as unknown as EngineServices, "worker", yield* Effect.context<never>())
  parts.work.hold({ tenantId: "acme", partition: 0, epoch: 1, othersUntil: undefined, destinations: [] }, 0, 0)
  const tenant = parts.work.tenants.get("acme")!
  // what the signal of a publication leads to
  const publish = () => destinationClosed(parts, tenant, parts.work.destination("acme", "a0")!)
  publish()
  return { drops: dropUnsendable(parts, tenant), closed: tenant.drops.closed }
})

describe("entries of a closed destination", () => {
  it.effect("are dropped once, unless some are left", Effect.fnUntraced(function*() {
    for (const more of [false, true]) {
      const { closed, drops } = yield* makeDropping(() => ({ dropped: 1, more, locked: [] }))
      yield* drops
      assert.deepStrictEqual(Array.from(closed), more ? ["a0"] : [])
    }
  }, Effect.provide(DeliveryOptions.layer())))

  it.effect("that are published while others are dropped are dropped next", Effect.fnUntraced(function*() {
    const { closed, drops } = yield* makeDropping((_, publish) => {
      publish()
      return { dropped: 1, more: false, locked: [] }
    })
    yield* drops
    assert.deepStrictEqual(Array.from(closed), ["a0"])
  }, Effect.provide(DeliveryOptions.layer())))
})
