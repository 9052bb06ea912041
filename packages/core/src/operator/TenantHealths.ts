/** Delivery health of each tenant. */
import { Context, Effect, Layer, Option } from "effect"
import { AccessStore } from "../access/AccessStore.ts"
import { DeliveryControl } from "../delivery/DeliveryControl.ts"
import { instantOrNull } from "../shared/Instant.ts"
import { LineLimiter } from "../shared/LineLimiter.ts"
import type { StorageError } from "../shared/StorageError.ts"

/** Most tenants, in the order of tenantId, and how many are read concurrently. */
const maxTenants = 1000
const tenantsAtOnce = 4

/** Delivery counts of one tenant. Each stops at 10,000, which means 10,000 or more. */
export interface TenantHealthView {
  readonly tenantId: string
  readonly subscriptions: number
  /** Subscriptions that are paused by the service or an operator, have a breaker that is not closed, or have a dead letter. */
  readonly inTrouble: number
  readonly waiting: number
  readonly oldestWaitingAt: string | null
  readonly dead: number
}

/** The health of all tenants, worst first. */
export interface HealthView {
  readonly tenants: ReadonlyArray<TenantHealthView>
  /** Ids of tenants whose counts could not be read. The log has the causes. */
  readonly unread: ReadonlyArray<string>
}

/** Counts subscriptions in trouble, waiting entries and dead letters of each tenant. */
export class TenantHealths extends Context.Service<TenantHealths, {
  /**
   * Sorted by most unhealthy subscriptions, then most dead letters, then most waiting entries. The first 1,000 tenants by tenantId. Fails when
   * none of them could be read.
   */
  readonly all: Effect.Effect<HealthView, StorageError>
}>()("@waybill/core/operator/TenantHealths") {
  static readonly layer = Layer.effect(
    TenantHealths,
    Effect.gen(function*() {
      const access = yield* AccessStore
      const control = yield* DeliveryControl
      const lines = new LineLimiter()

      const healthOf = (tenantId: string) =>
        Effect.map(control.health(tenantId), ({ oldestWaitingAt, ...counts }): TenantHealthView => ({
          tenantId,
          ...counts,
          oldestWaitingAt: instantOrNull(oldestWaitingAt)
        }))

      const all = Effect.gen(function*() {
        const tenants = yield* access.pageTenants({ after: undefined, limit: maxTenants })
        const unread: Array<string> = []
        const healths = yield* Effect.forEach(tenants, ({ tenantId }) => Effect.asSome(healthOf(tenantId)).pipe(
          Effect.catch((error) => {
            if (unread.push(tenantId) === tenants.length) return Effect.fail(error)
            const line = Effect.annotateLogs(Effect.logWarning("Health of a tenant not read.", error), { tenant: tenantId })
            return Effect.as(lines.log("Health of a tenant", line), Option.none<TenantHealthView>())
          })
        ), { concurrency: tenantsAtOnce })
        return { tenants: healths.flatMap(Option.toArray).toSorted(worstFirst), unread: unread.toSorted() }
      }).pipe(Effect.withSpan("TenantHealths.all"))

      return TenantHealths.of({ all })
    })
  )
}

const worstFirst = (a: TenantHealthView, b: TenantHealthView): number =>
  b.inTrouble - a.inTrouble || b.dead - a.dead || b.waiting - a.waiting || (a.tenantId < b.tenantId ? -1 : 1)
