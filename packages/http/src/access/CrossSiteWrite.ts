/** What a page of another site can make a browser send. */
import type { PresentedRequest } from "@waybill/core"
import type { HttpServerRequest } from "effect/http"
import { presentedIn } from "./PresentedCredentials.ts"

/** Whether another site's page made a browser send this write. `host` is the requested one. */
export const isCrossSiteWrite = ({ headers, method }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "method">, host: string | undefined): boolean => {
  if (method === "GET" || method === "HEAD") return false
  const site = headers["sec-fetch-site"]
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  // browsers without that header send the origin of the page
  const origin = headers["origin"]
  return origin !== undefined && URL.parse(origin)?.host !== host
}

/** Whether a request has a key or a token. A browser adds none by itself, as it does with cookies and with the password of `Basic`. */
export const hasKeyOrToken = (headers: PresentedRequest["headers"]): boolean => {
  const { apiKey, bearer } = presentedIn(headers)
  return apiKey !== undefined || bearer !== undefined
}
