/** All kinds of callers with their permissions. */
import type { TestService } from "../TestService.ts"
import { operatorKey, readOnlyKey } from "../TestService.ts"
import type { IdentityProvider } from "./IdentityProvider.ts"
import type { Subject } from "./Subject.ts"

export interface Caller {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  /** `nobody` sends no credentials, an `impostor` sends invalid ones. */
  readonly role: "nobody" | "impostor" | "customer" | "carrier" | "operator"
  /** The tenant of the credentials, or of the requested host. */
  readonly tenantId?: string
  /** An operator without writes and without reads of delivery bodies. */
  readonly readOnly?: true
  readonly client?: string
  readonly accounts?: ReadonlyArray<string>
  /** A carrier limited to its own number. */
  readonly numbers?: { readonly dot?: string; readonly mc?: string }
}

/** The first subject belongs to `shop` of `acme`, the second to `neighbour` of `acme`, the third to `shop` of `bolt`. */
export const clients = { mine: "shop", near: "neighbour", far: "shop" } as const

export const makeCallers = async (
  acme: Awaited<ReturnType<TestService["tenant"]>>,
  bolt: Awaited<ReturnType<TestService["tenant"]>>,
  service: TestService,
  provider: IdentityProvider,
  subjects: Readonly<Record<"mine" | "near" | "far", Subject>>
): Promise<ReadonlyArray<Caller>> => {
  const { far, mine, near } = subjects
  const key = (value: string) => ({ "x-api-key": value })
  const bearer = async (claims: Readonly<Record<string, unknown>>) => ({ authorization: `Bearer ${await provider.token(claims)}` })
  const customer = async (name: string, of: typeof acme, client: string, accounts: ReadonlyArray<string>): Promise<Caller> =>
    ({ name, headers: key(await of.customer(client, accounts)), role: "customer", tenantId: of.tenantId, client, accounts })
  const carrier = (name: string, of: typeof acme, value: string, client: string, numbers?: Caller["numbers"]): Caller =>
    ({ name, headers: key(value), role: "carrier", tenantId: of.tenantId, client, accounts: [], ...(numbers === undefined ? {} : { numbers }) })
  const impostor = (name: string, headers: Caller["headers"]): Caller => ({ name, headers, role: "impostor" })

  const revoked = await acme.customer("gone", mine.accounts)
  const [, , keyId] = revoked.split(".")
  await service.send("DELETE", `/operator/v1/tenants/acme/api-keys/${keyId}`, { key: operatorKey })
  const shop = { sub: clients.mine, tenant: "acme", roles: ["customer"], accounts: mine.accounts }
  const asCustomer = { role: "customer", tenantId: "acme", accounts: mine.accounts } as const

  return [
    { name: "nobody", headers: {}, role: "nobody" },
    { name: "nobody at acme's host", headers: { host: "acme.example" }, role: "nobody", tenantId: "acme" },
    { name: "nobody at bolt's host", headers: { host: "bolt.example" }, role: "nobody", tenantId: "bolt" },
    impostor("a wrong key", key("wb.YWNtZQ.0199ffff-0000-7000-8000-00000000c000.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
    impostor("junk", key("letmein")),
    impostor("a revoked key", key(revoked)),
    impostor("an expired token", await bearer({ ...shop, ...provider.expired })),
    impostor("a token for another audience", await bearer({ ...shop, ...provider.elsewhere })),
    impostor("a token of a tenant that is not there", await bearer({ ...shop, tenant: "nowhere" })),
    await customer("the owner", acme, clients.mine, mine.accounts),
    await customer("the neighbour", acme, clients.near, near.accounts),
    await customer("a customer without accounts", acme, "newcomer", []),
    await customer("a customer of bolt", bolt, clients.far, far.accounts),
    { ...asCustomer, name: "the owner's colleague, by token", headers: await bearer({ ...shop, sub: "colleague" }), client: "colleague" },
    { ...asCustomer, name: "a token whose sub is the owner's name", headers: await bearer(shop), client: `jwt:${clients.mine}` },
    carrier("acme's carrier", acme, acme.carrier, "carrier"),
    carrier("acme's carrier of one DOT", acme, await acme.carrierOf("fleet", { dot: mine.dot }), "fleet", { dot: mine.dot }),
    carrier("acme's carrier of another MC", acme, await acme.carrierOf("rival", { mc: near.mc }), "rival", { mc: near.mc }),
    carrier("bolt's carrier", bolt, bolt.carrier, "carrier"),
    {
      name: "acme's carrier, by token",
      headers: await bearer({ sub: "tms", tenant: "acme", roles: ["carrier"] }),
      role: "carrier",
      tenantId: "acme",
      client: "tms",
      accounts: []
    },
    { name: "the operator", headers: key(operatorKey), role: "operator" },
    { name: "the read-only operator", headers: key(readOnlyKey), role: "operator", readOnly: true },
    { name: "the operator, by token", headers: await bearer({ sub: "ops", roles: ["operator"] }), role: "operator" }
  ]
}
