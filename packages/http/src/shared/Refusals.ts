/**
 * The statuses that a call refuses with. The OpenAPI document declares them, and the tests check every response against it. 405, 417, 431 and 501
 * are not among them: they answer requests that no document describes.
 */
import type { EndpointSpec } from "./Contract.ts"

/** Any call: the target, the parameters, the quotas and the state of the process are checked for all of them. */
const ofEveryCall = {
  400: "The request is invalid.",
  414: "Path and query are too long.",
  429: "Too many requests. Retry-After says when to send it again.",
  500: "The service failed. Report the x-request-id of this response to its operator.",
  503: "The service cannot do this at present. Send it again later."
} as const

/** Calls that know their caller, anonymous ones too: credentials that are sent have to be valid. */
const ofCallers = {
  401: "Credentials are missing or invalid.",
  403: "The caller may not make this call, or its tenant is suspended."
} as const

const ofBodies = {
  408: "The body did not arrive in time.",
  413: "The body is too large.",
  415: "The body has a media type or an encoding that this call does not accept."
} as const

/** Statuses of refusals, with their descriptions. Those of the endpoint itself come first. */
export const refusalsOf = ({ access, body, refusals = {} }: Pick<EndpointSpec, "access" | "body" | "refusals">): Readonly<Record<number, string>> => ({
  ...ofEveryCall,
  ...(access === "public" ? {} : ofCallers),
  ...(body === undefined ? {} : ofBodies),
  ...refusals
})
