/** The quotas of each tenant, set by the operator. */
import { Context, Effect, Layer, Option } from "effect"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { monotonicMillis } from "../shared/MonotonicTime.ts"
import { RecentMap } from "../shared/RecentMap.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { TenantNotFound } from "./AccessErrors.ts"
import { AccessStore } from "./AccessStore.ts"
import { changedLimits, type Limits, LimitsChange, limitsOf } from "./model/Limits.ts"

/** How long a process may use cached limits after another process changed them. */
const cacheMillis = 3_000

/** Most tenants in the cache. Beyond that the least recently refreshed entry is removed. */
const maxCached = 10_000

interface CachedLimits {
  readonly limits: Limits
  /** Until when, in `monotonicMillis`, the entry is used without a read. */
  freshUntil: number
}

/** The quotas of tenants: reads them for checks, and changes them for operators. */
export class TenantLimits extends Context.Service<TenantLimits, {
  /** For checks at every call: at most three seconds old. Defaults when the tenant does not exist. */
  readonly of: (tenantId: string) => Effect.Effect<Limits, StorageError>
  /** The stored limits, with defaults filled in. */
  readonly get: (tenantId: string) => Effect.Effect<Limits, TenantNotFound | StorageError>
  /** Changes the named limits; `null` resets one to its default. Takes effect at once in this process, within seconds in others. */
  readonly put: (tenantId: string, input: typeof LimitsChange.Encoded) => Effect.Effect<Limits, InvalidInput | TenantNotFound | StorageError>
}>()("@waybill/core/access/TenantLimits") {
  static readonly layer = Layer.effect(TenantLimits, Effect.gen(function*() {
    const store = yield* AccessStore
    const transaction = yield* Transaction
    const decode = decodeInput(LimitsChange, { closed: true })
    const cache = new RecentMap<CachedLimits>(maxCached)

    const remember = (tenantId: string, limits: Limits, now: number) => {
      cache.put(tenantId, { limits, freshUntil: now + cacheMillis })
      return limits
    }

    const stored = (tenantId: string) => Effect.map(store.findLimits(tenantId), Option.map(limitsOf))

    const of = Effect.fnUntraced(function*(tenantId: string) {
      const now = yield* monotonicMillis
      const cached = cache.get(tenantId)
      if (cached !== undefined && now < cached.freshUntil) return cached.limits
      // one call refreshes the entry; concurrent calls use the cached value
      if (cached !== undefined) cached.freshUntil = now + cacheMillis
      const read = Effect.map(stored(tenantId), Option.getOrElse(() => limitsOf(undefined)))
      const limits = yield* cached === undefined ? read : Effect.orElseSucceed(read, () => cached.limits)
      // an entry that changed during the read is newer than what was read
      return cache.get(tenantId) === cached ? remember(tenantId, limits, now) : cache.get(tenantId)?.limits ?? limits
    })

    const get = Effect.fn("TenantLimits.get")(function*(tenantId: string) {
      return yield* Effect.fromOption(yield* stored(tenantId), () => new TenantNotFound({ tenantId }))
    })

    const put = Effect.fn("TenantLimits.put")(function*(tenantId: string, input: unknown) {
      const change = yield* decode(input)
      const limits = yield* transaction.run(Effect.gen(function*() {
        const before = yield* Effect.fromOption(yield* store.findLimits(tenantId, true), () => new TenantNotFound({ tenantId }))
        const text = changedLimits(before, change)
        yield* store.putLimits(tenantId, text)
        return limitsOf(text)
      }))
      return remember(tenantId, limits, yield* monotonicMillis)
    })

    return TenantLimits.of({ of, get, put })
  }))
}
