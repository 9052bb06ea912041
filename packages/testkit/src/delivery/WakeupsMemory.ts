/** Hints between fibers of one process. None is lost, so a worker in memory needs no polling. */
import { Wakeups } from "@waybill/core/delivery"
import { Effect, type Fiber, Latch } from "effect"
import { storeLayer } from "../shared/StoreLayer.ts"

export const layer = storeLayer(Wakeups, {}, ({ atCommit }) => {
  /** When each tenant was last hinted at; the order of insertion is the order of hints. */
  const hints = new Map<string, number>()
  /** The last hint that each waiting fiber received. */
  const received = new WeakMap<Fiber.Fiber<unknown, unknown>, number>()
  const waiting = new Set<Latch.Latch>()
  let latest = 0

  const since = (seen: number): ReadonlySet<string> => new Set([...hints].filter(([, at]) => at > seen).map(([tenantId]) => tenantId))

  return {
    wake: (tenantId) =>
      atCommit(() => {
        hints.set(tenantId, ++latest)
        for (const latch of waiting) latch.openUnsafe()
        waiting.clear()
      }),
    serve: () => Effect.void,
    next: Effect.withFiber((fiber) =>
      Effect.suspend(() => {
        const seen = received.get(fiber) ?? 0
        if (latest > seen) return Effect.void
        const latch = Latch.makeUnsafe(false)
        waiting.add(latch)
        return Effect.ensuring(latch.await, Effect.sync(() => waiting.delete(latch)))
      }).pipe(Effect.andThen(Effect.sync(() => {
        const tenants = since(received.get(fiber) ?? 0)
        received.set(fiber, latest)
        return tenants
      })))
    )
  }
})
