/** How callers present credentials: for the OpenAPI document and for 401 responses. */
import { Context } from "effect"
import type { Problem } from "../shared/ProblemDetails.ts"
import type { Failure } from "../shared/ProblemOf.ts"

/** A security scheme of OpenAPI 3.1. */
export type SecurityScheme =
  & { readonly description?: string }
  & (
    | { readonly type: "apiKey"; readonly in: "header" | "query" | "cookie"; readonly name: string }
    | { readonly type: "http"; readonly scheme: string; readonly bearerFormat?: string }
    | { readonly type: "oauth2"; readonly flows: Readonly<Record<string, unknown>> }
    | { readonly type: "openIdConnect"; readonly openIdConnectUrl: string }
    | { readonly type: "mutualTLS" }
  )

/** Schemes by name. A caller uses one of them. */
export type SecuritySchemesByName = Readonly<Record<string, SecurityScheme>>

/** The credentials that `AuthenticatorStandard` accepts. */
export const standardSchemes = {
  ApiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "A key from the operator." },
  Bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "A token of the identity provider the operator trusts, or an API key." }
} as const satisfies SecuritySchemesByName

/** The schemes of the authenticator. Empty when a host authenticates and does not describe how. */
export const SecuritySchemes = Context.Reference<SecuritySchemesByName>("@waybill/http/access/SecuritySchemes", { defaultValue: () => standardSchemes })

/** Whether the host's authentication accepts credentials that the schemes do not describe. */
export const AcceptsUndescribed = Context.Reference<boolean>("@waybill/http/access/AcceptsUndescribed", { defaultValue: () => false })

/** Throws a `RangeError` for a name that an OpenAPI document cannot have. */
export const checkSchemeNames = (schemes: SecuritySchemesByName): void => {
  const wrong = Object.keys(schemes).find((name) => !/^[A-Za-z0-9._-]+$/.test(name))
  if (wrong !== undefined) throw new RangeError(`securitySchemes: the name ${JSON.stringify(wrong)} has other characters than letters, digits, ".", "_" and "-".`)
}

/** Where each scheme's credentials are in a request, such as `the header X-API-Key`. */
export const placesOf = (schemes: SecuritySchemesByName): ReadonlyArray<string> => [...new Set(Object.values(schemes).map(placeOf))]

const placeOf = (scheme: SecurityScheme): string => {
  switch (scheme.type) {
    case "apiKey":
      return `the ${scheme.in === "query" ? "query parameter" : scheme.in} ${scheme.name}`
    case "mutualTLS":
      return "a client certificate"
    default:
      return `Authorization: ${authorizationOf(scheme)!}`
  }
}

/** The name of the scheme in `Authorization` and `WWW-Authenticate`. */
const authorizationOf = (scheme: SecurityScheme): string | undefined => {
  switch (scheme.type) {
    case "http":
      return `${scheme.scheme.slice(0, 1).toUpperCase()}${scheme.scheme.slice(1)}`
    case "oauth2":
    case "openIdConnect":
      return "Bearer"
    default:
      return undefined
  }
}

/** Whether a 401 has a `WWW-Authenticate` header. */
export const hasChallenge = (schemes: SecuritySchemesByName): boolean => Object.values(schemes).some((scheme) => authorizationOf(scheme) !== undefined)

/** Adds to a 401 which credentials the service expects. A scheme outside of `Authorization` has no challenge. */
export const withChallenge = (problem: Problem, failure: Failure, schemes: SecuritySchemesByName, acceptsUndescribed = false): Problem => {
  if (problem.status !== 401) return problem
  const invalid = failure._tag === "Unauthenticated" && failure.presented
  const names = new Set(Object.values(schemes).flatMap((scheme) => authorizationOf(scheme) ?? []))
  const challenges = [...names].map((name) => `${name} realm="waybill"${invalid && name === "Bearer" ? ", error=\"invalid_token\"" : ""}`)
  return {
    ...problem,
    ...(failure._tag === "Unauthenticated" ? { detail: detailOf(failure.message, invalid, schemes, acceptsUndescribed) } : {}),
    ...(challenges.length === 0 ? {} : { headers: { ...problem.headers, "www-authenticate": challenges.join(", ") } })
  }
}

const detailOf = (message: string, invalid: boolean, schemes: SecuritySchemesByName, acceptsUndescribed: boolean): string => {
  const places = placesOf(schemes)
  // A host may find credentials anywhere, so it is unknown whether the request has any.
  if (places.length === 0) return "The application that serves this call does not recognize the caller. Log in, or send credentials that it accepts."
  return invalid ? message : `${message} Send ${places.join(", or ")}${acceptsUndescribed ? ", or log in at the application that serves this call" : ""}.`
}
