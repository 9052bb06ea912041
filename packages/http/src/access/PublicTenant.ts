/** Whose freight a call without credentials asks for. */
import { type StorageError, type Tenant, Tenants, type TenantSuspended } from "@waybill/core"
import { Effect, Option } from "effect"
import * as Clock from "effect/Clock"
import { type Refused, unknownPublicTenant } from "../shared/Refused.ts"

/** How long a change of tenants may take to be seen here. */
const knownForMillis = 5_000

interface Known {
  readonly byHost: ReadonlyMap<string, string>
  readonly tenantIds: ReadonlySet<string>
  /** When somebody has to ask again. */
  until: number
}

/** By the host that was asked, else the one that is configured, else the only one there is. SPEC-GAP-A31 */
export const makePublicTenant = (configured: string | undefined) =>
  Effect.map(Tenants, (tenants) => {
    let known: Known | undefined

    const ask = (now: number): Effect.Effect<Known, StorageError> => {
      // whoever comes meanwhile goes on with what was known
      if (known !== undefined) known.until = now + knownForMillis
      return tenants.list.pipe(
        Effect.map((list) => known = knownOf(list, now + knownForMillis)),
        Effect.onError(() => Effect.sync(() => void (known = undefined)))
      )
    }

    const current = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      known !== undefined && now < known.until ? Effect.succeed(known) : ask(now))

    return Effect.fnUntraced(function*(host: string | undefined): Effect.fn.Return<string, Refused | TenantSuspended | StorageError> {
      const { byHost, tenantIds } = yield* current
      const named = host === undefined ? undefined : byHost.get(nameOf(host))
      const tenantId = named ?? configured ?? (tenantIds.size === 1 ? [...tenantIds][0]! : undefined)
      if (tenantId === undefined || !tenantIds.has(tenantId)) return yield* unknownPublicTenant
      // what is known of hosts may be seconds old; whether the tenant is served is not
      return Option.isSome(yield* tenants.admit(tenantId)) ? tenantId : yield* unknownPublicTenant
    })
  })

const knownOf = (list: ReadonlyArray<Tenant>, until: number): Known => {
  const byHost = new Map<string, string>()
  for (const { hosts, tenantId } of list) for (const host of hosts) if (!byHost.has(host)) byHost.set(host, tenantId)
  return { byHost, tenantIds: new Set(list.map(({ tenantId }) => tenantId)), until }
}

/** Without the port, as tenants name it. */
const nameOf = (host: string): string => host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "")
