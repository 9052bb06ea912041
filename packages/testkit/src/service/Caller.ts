/** Who calls, as plain tests say it. */
import type { Principal } from "@waybill/core"

/** The same shape that `createWaybill` takes. Carriers see all of their tenant, customers what belongs to their `accounts`. */
export interface Caller {
  readonly tenantId: string
  readonly client: string
  readonly roles: ReadonlyArray<"carrier" | "customer">
  readonly accounts?: ReadonlyArray<string>
  readonly dot?: string
  readonly mc?: string
}

export const principalOf = (caller: Caller): Principal => ({ accounts: [], ...caller, origin: "token" })
