/** How many lookups of other people's freight a caller may make: numbers are sequential, so whoever may ask without end learns them all. */
import { Context, Effect } from "effect"
import * as Clock from "effect/Clock"
import { CallLog } from "../shared/CallLog.ts"
import { TooManyLookups } from "./ShipmentStatusErrors.ts"

export class ShipmentStatusOptions extends Context.Reference<{
  /** Lookups of freight that is not the caller's own, in any sixty seconds and process; also of what does not exist. SPEC-GAP-A7 */
  readonly othersLookupsPerMinute: number
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

export interface LookupAllowance {
  /** Takes one lookup out of the caller's allowance, or says when there is one again. */
  readonly pay: (caller: LookupCaller) => Effect.Effect<void, TooManyLookups>
}

export const lookupAllowance: Effect.Effect<LookupAllowance> = Effect.gen(function*() {
  const { othersLookupsPerMinute } = yield* ShipmentStatusOptions
  // in the order of the last payment, so that the first one was quiet longest
  const logs = new Map<string, CallLog>()
  return {
    pay: ({ client, tenantId }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const caller = JSON.stringify([tenantId, client])
        const log = logs.get(caller) ?? new CallLog()
        const waitMillis = log.admit(othersLookupsPerMinute, now)
        if (waitMillis > 0) return Effect.fail(new TooManyLookups({ retryAfterSeconds: Math.ceil(waitMillis / 1000) }))
        logs.delete(caller)
        logs.set(caller, log)
        if (logs.size > maxCallers) logs.delete(logs.keys().next().value!)
        return Effect.void
      })
  }
})
