/** A stop while the first call opens the storage. */
import { makeStorage, type StorageError } from "@waybill/core"
import { StorageMemory } from "@waybill/testkit"
import { Deferred, Effect, Layer } from "effect"
import { expect, it, onTestFinished, vi } from "vitest"
import { layerOf } from "../../src/facade/Options.ts"
import { Service } from "../../src/facade/Service.ts"
import { rejection, sealingKey } from "./Host.ts"

/** A service whose storage opens as this effect does, and how often its work has begun and ended. */
const serviceOpening = (opening: Effect.Effect<void, StorageError>) => {
  const seen = { begun: 0, ended: 0, log: [] as Array<string> }
  const options = {
    storage: makeStorage<never>({ layer: Layer.provideMerge(Layer.effectDiscard(opening), StorageMemory.layer), joined: () => (effect) => effect }),
    sealingKeys: [sealingKey],
    log: ({ level, message }: { readonly level: string; readonly message: string }) => void (level === "warn" && seen.log.push(message))
  }
  const background = Effect.acquireUseRelease(Effect.sync(() => seen.begun++), () => Effect.never, () => Effect.sync(() => seen.ended++))
  return { service: new Service({ ...options, layer: layerOf(options), background }), seen }
}

/** Whether the promise settles within this time of the timers. */
const settledIn = async (millis: number, promise: Promise<unknown>): Promise<boolean> => {
  let settled = false
  promise.then(() => settled = true, () => settled = true)
  await vi.advanceTimersByTimeAsync(millis)
  return settled
}

const withTimers = () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
}

it("a stop interrupts an opening that does not end in the time of running calls", async () => {
  withTimers()
  const { seen, service } = serviceOpening(Effect.never)
  const failed = rejection(service.start())
  const stopped = service.stop()
  expect(await settledIn(9_000, stopped)).toBe(false)
  expect(await settledIn(1_000, stopped)).toBe(true)
  expect((await failed).code).toBe("stopping")
  expect(seen).toEqual({ begun: 0, ended: 0, log: [] })
})

it("a stop ends within a bound when the opening cannot be interrupted, and says so in the log", async () => {
  withTimers()
  const { seen, service } = serviceOpening(Effect.uninterruptible(Effect.never))
  void service.start()
  const stopped = service.stop()
  expect(await settledIn(17_000, stopped)).toBe(false)
  expect(await settledIn(1_000, stopped)).toBe(true)
  expect(seen.log).toEqual(["Stop not complete within 18 s, the database does not answer. Leases expire, then deliveries are sent again."])
})

it("a start that a stop overtook leaves no work running", async () => {
  const opened = Deferred.makeUnsafe<void>()
  const { seen, service } = serviceOpening(Deferred.await(opened))
  const started = service.start()
  const stopped = service.stop()
  Deferred.doneUnsafe(opened, Effect.void)
  await Promise.all([started, stopped])
  await new Promise(setImmediate)
  expect(seen.ended).toBe(seen.begun)
})
