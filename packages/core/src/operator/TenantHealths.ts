/** Delivery health of each tenant. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { AccessStore } from "../access/AccessStore.ts"
import { DeliveryControl } from "../delivery/DeliveryControl.ts"
import { instantOrNull, InstantText } from "../shared/Instant.ts"
import { Count } from "../shared/Members.ts"
import { LineLimiter } from "../shared/LineLimiter.ts"
import type { StorageError } from "../shared/StoragePort.ts"

/** Most tenants, in the order of tenantId, and how many are read concurrently. */
const maxTenants = 1000
const tenantsAtOnce = 4

const upTo10000 = (what: string) => Count.annotate({ description: `${what} 10,000 means that many or more.` })

/** Delivery counts of one tenant. Each stops at 10,000, which means 10,000 or more. */
const TenantHealthView = Schema.Struct({
  tenantId: Schema.String,
  subscriptions: upTo10000("Subscriptions of all areas."),
  inTrouble: upTo10000("Paused by the service or an operator, with a circuit breaker that is not closed, or with a dead letter."),
  waiting: upTo10000("Entries that are not in a delivery yet."),
  oldestWaitingAt: Schema.NullOr(InstantText).annotate({ description: "Oldest of the first 10,000 waiting entries." }),
  dead: upTo10000("Dead letters.")
}).annotate({ identifier: "TenantHealth" })
type TenantHealthView = typeof TenantHealthView.Type

/** The health of all tenants, worst first. */
export const HealthView = Schema.Struct({
  tenants: Schema.Array(TenantHealthView),
  unread: Schema.Array(Schema.String).annotate({ description: "Ids of tenants whose counts could not be read. The log has the causes." })
}).annotate({ identifier: "Health" })
export type HealthView = typeof HealthView.Type

/** Counts unhealthy subscriptions, waiting entries and dead letters of each tenant. */
export class TenantHealths extends Context.Service<TenantHealths, {
  /**
   * Sorted by most unhealthy subscriptions, then most dead letters, then most waiting entries. The first 1,000 tenants by tenantId. Fails when
   * none of them could be read.
   */
  readonly all: Effect.Effect<HealthView, StorageError>
}>()("@waybill/core/operator/TenantHealths") {
  static readonly layer = Layer.effect(TenantHealths, Effect.gen(function*() {
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
  }))
}

const worstFirst = (a: TenantHealthView, b: TenantHealthView): number =>
  b.inTrouble - a.inTrouble || b.dead - a.dead || b.waiting - a.waiting || (a.tenantId < b.tenantId ? -1 : 1)
