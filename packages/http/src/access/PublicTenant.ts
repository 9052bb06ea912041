/** Selects the tenant of a call without credentials. */
import { monotonicMillis, type StorageError, type Tenant, Tenants, type TenantSuspended } from "@waybill/core"
import { Effect, Option } from "effect"
import { type Refused, unknownPublicTenant } from "../shared/Refused.ts"

/** Maximum delay in milliseconds until a change of tenants is visible here. */
const knownForMillis = 5_000

interface Known {
  readonly byHost: ReadonlyMap<string, string>
  readonly tenantIds: ReadonlySet<string>
  /** When the entry must be loaded again, in `monotonicMillis`. */
  until: number
}

/** By the requested host, otherwise the configured tenant, otherwise the only tenant. SPEC-GAP-A31 */
export const makePublicTenant = (configured: string | undefined) =>
  Effect.map(Tenants, (tenants) => {
    let known: Known | undefined

    const ask = (now: number): Effect.Effect<Known, StorageError> => {
      // Concurrent calls keep using the known value meanwhile.
      if (known !== undefined) known.until = now + knownForMillis
      return tenants.list.pipe(
        Effect.map((list) => known = knownOf(list, now + knownForMillis)),
        Effect.onError(() => Effect.sync(() => void (known = undefined)))
      )
    }

    const current = Effect.flatMap(monotonicMillis, (now) =>
      known !== undefined && now < known.until ? Effect.succeed(known) : ask(now))

    return Effect.fnUntraced(function*(host: string | undefined): Effect.fn.Return<string, Refused | TenantSuspended | StorageError> {
      const { byHost, tenantIds } = yield* current
      const named = host === undefined ? undefined : byHost.get(nameOf(host))
      const tenantId = named ?? configured ?? (tenantIds.size === 1 ? [...tenantIds][0]! : undefined)
      if (tenantId === undefined || !tenantIds.has(tenantId)) return yield* unknownPublicTenant
      // The known hosts may be seconds old, but the tenant's state is checked each time.
      return Option.isSome(yield* tenants.admit(tenantId)) ? tenantId : yield* unknownPublicTenant
    })
  })

const knownOf = (list: ReadonlyArray<Tenant>, until: number): Known => {
  const byHost = new Map<string, string>()
  for (const { hosts, tenantId } of list) for (const host of hosts) if (!byHost.has(host)) byHost.set(host, tenantId)
  return { byHost, tenantIds: new Set(list.map(({ tenantId }) => tenantId)), until }
}

/** The host without its port, as tenants configure it. */
const nameOf = (host: string): string => host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "")
