/** Rules about bearer tokens, which area A declares beside API keys. An implementation may offer one of the two, or both. */
import type { CallOptions, Exchange } from "./ApiCaller.ts"
import { expectEqual, expectStatus } from "./Expectations.ts"
import { tokenIn } from "./Fixtures.ts"
import { type Area, areas, must, type Need, type Rule, type RuleContext, rulesOf, should } from "./Rule.ts"
import { around, rangePath } from "./shipment-status/StatusShapes.ts"

const authentication = "Authentication"
const nowhere = "WAYBILL-CHECK-NO-SUCH-THING"

interface Probe {
  readonly needs: ReadonlyArray<Need>
  /** A read. Its answer says whether the caller was known. */
  readonly get: (context: RuleContext) => readonly [path: string, query: NonNullable<CallOptions["query"]>]
}

const probes: Readonly<Record<Area, Probe>> = {
  a: { needs: ["shipment"], get: ({ fixtures: { shipment } }) => [rangePath(shipment!.accountNumber, ...around(shipment!.pickupDate)), {}] },
  b: { needs: [], get: () => ["/invoices", { uniqueID: nowhere }] },
  c: { needs: [], get: () => ["/v1/pickups/", { lookupType: "PickupConfirmationID", requestType: "PickupStatus", isTest: "true", lookupValue: nowhere }] },
  d: { needs: [], get: () => ["/v1/events", { shipmentId: nowhere }] },
  e: { needs: [], get: () => [`/v1/subscriptions/${nowhere}`, {}] }
}

const ask = (context: RuleContext, area: Area, options: Pick<CallOptions, "bearer">): Promise<Exchange> => {
  const [path, query] = probes[area].get(context)
  return context.call(area, "GET", path, { query, ...options })
}

const json64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

const claimsOf = (text: string | undefined): object | undefined => {
  try {
    const claims: unknown = JSON.parse(Buffer.from(text ?? "", "base64url").toString("utf8"))
    return typeof claims === "object" && claims !== null ? claims : undefined
  } catch {
    return undefined
  }
}

/** Another first character: the last one may hold bits that decoders ignore. */
const altered = (text: string): string => `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`

/** Tokens that nobody issued, made of a valid one. A token that is no JWT has a changed first character. */
const forgedFrom = (token: string): ReadonlyArray<string> => {
  const [header, payload, signature] = token.split(".")
  const claims = claimsOf(payload)
  if (claims === undefined || signature === undefined) return [altered(token)]
  return [
    `${header}.${payload}.${altered(signature)}`,
    `${header}.${json64({ ...claims, accounts: [nowhere], sub: nowhere })}.${signature}`,
    `${json64({ alg: "none", typ: "JWT" })}.${payload}.`
  ]
}

/** Area A answers 401 only. */
const refusals: Readonly<Partial<Record<Area, ReadonlyArray<number>>>> = { a: [401] }

const tokenRulesOf = (area: Area): ReadonlyArray<Rule> => rulesOf(area, authentication, ["customer", "token", ...probes[area].needs], [
  (area === "a" ? must : should)("token", "answers a bearer token of a customer as it answers the customer's other credentials", {
    source: area === "a" ? authentication : "Authentication: the schemes of area A, because the interface shows none for this area"
  }, async (context) => {
    const [byToken, known] = [await ask(context, area, { bearer: tokenIn(context.fixtures)! }), await ask(context, area, {})]
    expectStatus(byToken, 200, 404)
    expectEqual(byToken.status, known.status, "The status for the bearer token", byToken)
    return String(byToken.status)
  }),
  must("token-forged", "refuses bearer tokens with another signature, with other claims, or unsigned", { needs: ["token", ...probes[area].needs] }, async (context) => {
    const forged = forgedFrom(tokenIn(context.fixtures)!)
    for (const bearer of forged) expectStatus(await ask(context, area, { bearer }), ...refusals[area] ?? [401, 403])
    return `${forged.length} refused`
  })
])

const expiryRules = rulesOf("a", authentication, ["expiredToken", ...probes.a.needs], [
  must("token-expired", "answers 401 to a bearer token that has expired", async (context) => String(expectStatus(await ask(context, "a", { bearer: context.fixtures.tokens!.expired! }), 401).status))
])

export const tokenRules = [...areas.flatMap(tokenRulesOf), ...expiryRules]
