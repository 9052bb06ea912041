/** Credentials of a request: an API key, a bearer token, or both. */
import { type PresentedRequest, Unauthenticated } from "@waybill/core"
import { Redacted } from "effect"

export interface PresentedCredentials {
  readonly apiKey: Redacted.Redacted | undefined
  readonly bearer: Redacted.Redacted | undefined
  /** The `Authorization` header is not a bearer token, and no other credentials take its place. */
  readonly unreadable: boolean
}

/** `reason` is for the log. */
export const invalidCredentials = (reason: string) => new Unauthenticated({ presented: true, reason })

/** Beside an API key, another scheme is for another program, such as a proxy that checks a password. */
export const presentedIn = (headers: PresentedRequest["headers"]): PresentedCredentials => {
  const apiKey = headers["x-api-key"]
  const authorization = headers["authorization"]
  const bearer = authorization === undefined ? undefined : /^bearer +([^\s]+) *$/i.exec(authorization)?.[1]
  return {
    apiKey: apiKey === undefined ? undefined : Redacted.make(apiKey.trim()),
    bearer: bearer === undefined ? undefined : Redacted.make(bearer),
    unreadable: authorization !== undefined && bearer === undefined && (apiKey === undefined || /^ *bearer( |$)/i.test(authorization))
  }
}
