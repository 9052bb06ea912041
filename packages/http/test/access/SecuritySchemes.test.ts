import { NotPermitted, Unauthenticated } from "@waybill/core"
import { AccountNotPermitted } from "@waybill/core/shipment-status"
import { describe, expect, it } from "vitest"
import { placesOf, type SecuritySchemesByName, standardSchemes, withChallenge } from "../../src/access/SecuritySchemes.ts"
import type { Failure } from "../../src/shared/ProblemOf.ts"
import { problemOf } from "../../src/shared/ProblemOf.ts"
import { ShipmentStatusContract } from "../../src/shipment-status/ShipmentStatusContract.ts"
import { start } from "../facade/Host.ts"

const problemFor = (failure: Failure, schemes: SecuritySchemesByName, statuses = {}) => {
  const { detail, headers, status } = withChallenge(problemOf(failure, undefined, statuses), failure, schemes)
  return { status, detail, challenge: headers?.["www-authenticate"] }
}
const missing = new Unauthenticated({ presented: false })
const invalid = new Unauthenticated({ presented: true })

describe("a 401", () => {
  it("names Waybill's own credentials, if these are accepted", () => {
    expect(problemFor(missing, standardSchemes)).toEqual({
      status: 401,
      detail: "The request has no credentials. Send the header X-API-Key, or Authorization: Bearer.",
      challenge: "Bearer realm=\"waybill\""
    })
    expect(problemFor(invalid, standardSchemes)).toEqual({
      status: 401,
      detail: "The credentials are not valid here. Check them, or ask the operator for new ones.",
      challenge: "Bearer realm=\"waybill\", error=\"invalid_token\""
    })
  })

  it("has one challenge for each scheme of `Authorization`, and none for others", () => {
    const schemes: SecuritySchemesByName = {
      basic: { type: "http", scheme: "basic" },
      login: { type: "openIdConnect", openIdConnectUrl: "https://login.example/.well-known/openid-configuration" },
      token: { type: "oauth2", flows: {} },
      certificate: { type: "mutualTLS" },
      query: { type: "apiKey", in: "query", name: "key" }
    }
    expect(problemFor(invalid, schemes).challenge).toBe("Basic realm=\"waybill\", Bearer realm=\"waybill\", error=\"invalid_token\"")
    expect(placesOf(schemes)).toEqual(["Authorization: Basic", "Authorization: Bearer", "a client certificate", "the query parameter key"])
    expect(problemFor(missing, { certificate: { type: "mutualTLS" } }).challenge).toBeUndefined()
  })

  it("keeps the reason of a caller without access, with a challenge (SPEC-GAP-A32)", () => {
    const statuses = ShipmentStatusContract.statuses
    expect(problemFor(new NotPermitted({ needed: "carrier" }), standardSchemes, statuses)).toEqual({
      status: 401,
      detail: "This needs the role carrier. Ask the operator for access with that role.",
      challenge: "Bearer realm=\"waybill\""
    })
    expect(problemFor(new NotPermitted({ needed: "carrier" }), standardSchemes)).toMatchObject({ status: 403, challenge: undefined })
    expect(problemFor(new AccountNotPermitted({ accountNumber: "A1" }), {})).toMatchObject({ status: 401, challenge: undefined })
  })
})

describe("securitySchemes", () => {
  it("are refused without `authenticate`, and with a name that OpenAPI does not allow", () => {
    const scheme = { type: "http", scheme: "bearer" } as const
    expect(() => start({ securitySchemes: { Login: scheme } })).toThrow("securitySchemes describes the credentials of authenticate. Give both, or neither.")
    expect(() => start({ authenticate: async () => undefined, securitySchemes: { "my login": scheme } })).toThrow("securitySchemes: the name \"my login\"")
  })
})
