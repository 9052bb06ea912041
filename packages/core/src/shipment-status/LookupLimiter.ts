/** Rate limit on lookups of other parties' freight. Numbers are sequential, so unlimited lookups would reveal all of them. */
import { Context, Effect } from "effect"
import { monotonicMillis } from "../shared/MonotonicTime.ts"
import { RecentMap } from "../shared/RecentMap.ts"
import { SpreadLimiter } from "../shared/SpreadLimiter.ts"
import { TooManyLookups } from "./ShipmentStatusErrors.ts"

/** How many lookups of other clients' shipments are allowed. */
export class ShipmentStatusOptions extends Context.Reference<{
  /** Lookups per 60 seconds and process that do not find the caller's own shipments. Missing shipments count too. SPEC-GAP-A7 */
  readonly othersLookupsPerMinute: number
  /** Burst size after idle time; further lookups are spread over the minute. Default: a tenth of `othersLookupsPerMinute`. */
  readonly othersLookupsAtOnce?: number
}>("@waybill/core/shipment-status/ShipmentStatusOptions", {
  defaultValue: () => ({ othersLookupsPerMinute: 60 })
}) {}

/** Most callers that are tracked. Beyond that the least recent caller is removed and starts with a full burst. */
const maxCallers = 50_000

/** The owner of a rate limit: a client, or for lookups without credentials the caller's address or the host's key. */
export interface LookupCaller {
  readonly tenantId: string
  readonly client: string
}

/** Limits lookups of other clients' shipments. SPEC-GAP-A7 */
export interface LookupLimiter {
  /** Takes one lookup from the caller's limit, or fails with the time until the next one. */
  readonly take: (caller: LookupCaller) => Effect.Effect<void, TooManyLookups>
}

/** Makes a limiter that counts each caller of this process. */
export const makeLookupLimiter: Effect.Effect<LookupLimiter> = Effect.gen(function*() {
  const { othersLookupsAtOnce, othersLookupsPerMinute: perMinute } = yield* ShipmentStatusOptions
  const limits = { perMinute, atOnce: Math.min(perMinute, Math.max(1, othersLookupsAtOnce ?? Math.floor(perMinute / 10))) }
  const limiters = new RecentMap<SpreadLimiter>(maxCallers)
  return {
    take: ({ client, tenantId }) =>
      Effect.flatMap(monotonicMillis, (now) => {
        const caller = JSON.stringify([tenantId, client])
        const limiter = limiters.get(caller) ?? new SpreadLimiter()
        const waitMillis = limiter.admit(limits, now)
        if (waitMillis > 0) return Effect.fail(new TooManyLookups({ retryAfterSeconds: Math.ceil(waitMillis / 1000) }))
        limiters.put(caller, limiter)
        return Effect.void
      })
  }
})
