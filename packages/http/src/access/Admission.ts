/** Admits callers of known tenants. Saves the access of clients with tokens, and when they were seen, because deliveries need it while they are offline. */
import { type AccessStore, isCarrier, isOperator, makeRememberAccess, makeTenantAdmission, monotonicMillis, type Principal, RecentMap, type Transaction } from "@waybill/core"
import type { DeliveryQueue, Wakeups } from "@waybill/core/delivery"
import { Effect, Option } from "effect"
import { clientKeyOf } from "./ClientKey.ts"
import { invalidCredentials } from "./PresentedCredentials.ts"

/** Storage ports that authenticators need. */
export type AccessPorts = AccessStore | DeliveryQueue | Transaction | Wakeups

/** Clients whose saved access is remembered. A forgotten client costs one write at its next call. */
const maxRemembered = 10_000

/** A client's access is saved again after this time, because the client was seen. */
const seenMillis = 60_000

export const makeAdmission = Effect.gen(function*() {
  const admit = yield* makeTenantAdmission
  const rememberAccess = yield* makeRememberAccess
  const lastSeen = new RecentMap<{ readonly says: string; readonly until: number }>(maxRemembered)

  /** Writes when the access differs from the client's last call here, and once per minute. `unknown`: why a principal of an unknown tenant is refused. */
  return Effect.fnUntraced(function*(principal: Principal, unknown: string) {
    if (isOperator(principal)) return
    if (Option.isNone(yield* admit(principal.tenantId, principal.client))) return yield* invalidCredentials(unknown)
    if (principal.origin !== "token") return
    const now = yield* monotonicMillis
    const who = clientKeyOf(principal)
    const says = JSON.stringify([isCarrier(principal), principal.roles.toSorted(), principal.accounts.toSorted()])
    const known = lastSeen.get(who)
    if (known !== undefined && known.says === says && now < known.until) return
    yield* rememberAccess(principal)
    lastSeen.put(who, { says, until: now + seenMillis })
  })
})
