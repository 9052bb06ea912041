import { assert, describe, it } from "@effect/vitest"
import { DeliveryOptions, type TakenDelivery } from "@waybill/core/delivery"
import { Effect } from "effect"
import { loadInto } from "../../../src/delivery/worker/Destination.ts"
import { type EngineServices, EngineState } from "../../../src/delivery/worker/EngineState.ts"
import { Sending, sendsPerTurn } from "../../../src/delivery/worker/Sending.ts"
import { makeLoaded } from "./DestinationLife.ts"

/** The destinations of three takes, all in partition 0. */
const destinationIds = ["a0", "b0", "c0"]

const takenFrom = (destinationId: string, count: number): ReadonlyArray<TakenDelivery> =>
  Array.from({ length: count }, (_, n) => ({
    destinationId,
    deliveryId: `${destinationId}-${n}`,
    flight: destinationId,
    sentAt: 0,
    attempt: 1,
    tries: 1,
    events: 1,
    body: new TextEncoder().encode("{}"),
    lastKey: `S${n}`,
    traceparent: undefined
  }))

/** Sends for one worker, and records what begins in each turn of the event loop, as `a0: 16`. */
const makeSending = Effect.gen(function*() {
  const turns: Array<Map<string, number>> = [new Map()]
  let turn = setImmediate(function next() {
    turns.push(new Map())
    turn = setImmediate(next)
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => clearImmediate(turn)))
  const services = {
    store: {},
    options: yield* DeliveryOptions,
    hmac: {},
    keysOf: () => Effect.succeed([]),
    sender: {
      start: ({ url }: { readonly url: string }) => {
        const began = turns.at(-1)!
        const { host } = new URL(url)
        began.set(host, (began.get(host) ?? 0) + 1)
        return () => {}
      }
    }
  }
  const parts = new EngineState(services as unknown as EngineServices, "worker", yield* Effect.context<never>())
  parts.leasedUntil = Infinity
  parts.work.hold({ tenantId: "acme", partition: 0, epoch: 1, othersUntil: undefined, destinations: [] }, 0, 0)
  for (const destinationId of destinationIds) {
    const settings = makeLoaded({}, { destinationId, endpointUrl: `https://${destinationId}/`, signing: "whenRegistered" })
    loadInto(parts.work.destination("acme", destinationId)!, settings, { since: 1, now: 0, storeAhead: 0 })
  }
  const sending = new Sending(parts)
  const begin = (destinationId: string, count: number) =>
    sending.begin(parts.work.tenants.get("acme")!, takenFrom(destinationId, count), { isHeld: () => true, left: new Set(), loaded: true, promised: new Map() })
  const began = () => turns.filter(({ size }) => size > 0).map((turn) => Array.from(turn, ([host, count]) => `${host}: ${count}`))
  return { began, begin }
})

describe("attempts of takes that are answered together", () => {
  it.effect("begin for one take in each turn of the event loop, in the order in which the takes waited", Effect.fnUntraced(function*() {
    const { began, begin } = yield* makeSending
    yield* Effect.all(destinationIds.map((destinationId) => begin(destinationId, 3 * sendsPerTurn)), { concurrency: "unbounded", discard: true })
    const of = (destinationId: string) => `${destinationId}: ${sendsPerTurn}`
    assert.deepStrictEqual(began(), [destinationIds.map(of), ...[...destinationIds, ...destinationIds].map((destinationId) => [of(destinationId)])])
  }, Effect.scoped, Effect.provide(DeliveryOptions.layer())))

  it.effect("begin at once for a take that needs one turn, beside takes that wait", Effect.fnUntraced(function*() {
    const { began, begin } = yield* makeSending
    const [large, other, small] = destinationIds as [string, string, string]
    yield* Effect.all([begin(large, 10 * sendsPerTurn), begin(other, 10 * sendsPerTurn), Effect.andThen(Effect.yieldNow, begin(small, 5))], { concurrency: "unbounded", discard: true })
    assert.strictEqual(began().findIndex((turn) => turn.includes(`${small}: 5`)), 1)
  }, Effect.scoped, Effect.provide(DeliveryOptions.layer())))
})
