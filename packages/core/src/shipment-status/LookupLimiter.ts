/** How many lookups of other people's freight a caller may make: numbers are sequential, so whoever may ask without end learns them all. */
import { Context, Effect } from "effect"
import * as Clock from "effect/Clock"
import { RecentMap } from "../shared/RecentMap.ts"
import { SpreadLimiter } from "../shared/SpreadLimiter.ts"
import { TooManyLookups } from "./ShipmentStatusErrors.ts"

export class ShipmentStatusOptions extends Context.Reference<{
  /** Lookups of freight that is not the caller's own, in any sixty seconds and process; also of what does not exist. SPEC-GAP-A7 */
  readonly othersLookupsPerMinute: number
  /** How many of them at once after a quiet time; the others are spread over the minute. A tenth by default. */
  readonly othersLookupsAtOnce?: number
}>("@waybill/core/shipment-status/ShipmentStatusOptions", {
  defaultValue: () => ({ othersLookupsPerMinute: 60 })
}) {}

/** Callers remembered at the same time. Beyond that, whoever was quiet longest starts afresh. */
const maxCallers = 50_000

/** Whoever shares an allowance: a client, or for lookups without credentials whatever the transport knows of the caller. */
export interface LookupCaller {
  readonly tenantId: string
  readonly client: string
}

export interface LookupLimiter {
  /** Takes one lookup out of the caller's allowance, or says when there is one again. */
  readonly pay: (caller: LookupCaller) => Effect.Effect<void, TooManyLookups>
}

export const makeLookupLimiter: Effect.Effect<LookupLimiter> = Effect.gen(function*() {
  const { othersLookupsAtOnce, othersLookupsPerMinute: perMinute } = yield* ShipmentStatusOptions
  const limits = { perMinute, atOnce: Math.min(perMinute, Math.max(1, othersLookupsAtOnce ?? Math.floor(perMinute / 10))) }
  const limiters = new RecentMap<SpreadLimiter>(maxCallers)
  return {
    pay: ({ client, tenantId }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const caller = JSON.stringify([tenantId, client])
        const limiter = limiters.get(caller) ?? new SpreadLimiter()
        const waitMillis = limiter.admit(limits, now)
        if (waitMillis > 0) return Effect.fail(new TooManyLookups({ retryAfterSeconds: Math.ceil(waitMillis / 1000) }))
        limiters.put(caller, limiter)
        return Effect.void
      })
  }
})
