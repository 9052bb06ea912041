/** The caller of test methods. */
import { type Principal, clientNamed } from "@waybill/core"

/** The same type that `createWaybill` accepts. Carriers see all of their tenant, customers the freight of their `accounts`. */
export interface Caller {
  readonly tenantId: string
  /** A bare name means `key:<name>`. */
  readonly client: string
  readonly roles: ReadonlyArray<"carrier" | "customer">
  readonly accounts?: ReadonlyArray<string>
  readonly dot?: string
  readonly mc?: string
}

export const principalOf = (caller: Caller): Principal => {
  const client = clientNamed(caller.client)
  if (client === undefined) throw new TypeError(`${JSON.stringify(caller.client)} cannot be the name of a client.`)
  return { accounts: [], ...caller, client, origin: "token" }
}
