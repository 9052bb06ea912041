/** The address of this server as the request used it, for absolute URLs in responses. */
import { Context } from "effect"
import type { HttpServerRequest } from "effect/http"

export interface SiteOptions {
  /** Public URL, such as `https://freight.example.com/api`; its path is prepended to every URL. */
  readonly publicBaseUrl?: string | undefined
  /** Trusts `X-Forwarded-Proto`, `-Host` and `-For`. Only for servers behind a proxy that sets them. */
  readonly trustForwarded?: boolean | undefined
}

/** The mount path that a host names. The path of a request may lack it, such as behind a router that has removed it. */
export const MountPath = Context.Reference<string | undefined>("@waybill/http/shared/MountPath", { defaultValue: () => undefined })

export interface Site {
  /** Time of the request in milliseconds since 1970. */
  readonly now: number
  /** The absolute URL of a path; the path alone when the request named no usable host. */
  readonly urlOf: (path: string) => string
  /** This endpoint's own path: base included, without the query and trailing slash. */
  readonly path: string
}

const hostShape = /^[A-Za-z0-9._-]{1,255}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/

export const siteOf = (
  request: HttpServerRequest.HttpServerRequest,
  path: string,
  now: number,
  mountPath: string,
  options: SiteOptions
): Site => ({
  now,
  path,
  urlOf: (target) => `${originOf(request, options)}${options.publicBaseUrl === undefined ? mountPath : ""}${target}`
})

const originOf = (request: HttpServerRequest.HttpServerRequest, options: SiteOptions): string => {
  if (options.publicBaseUrl !== undefined) return options.publicBaseUrl.replace(/\/+$/, "")
  const host = hostOf(request, options)
  if (host === undefined) return ""
  const proto = options.trustForwarded === true ? firstOf(request.headers["x-forwarded-proto"])?.toLowerCase() : undefined
  const secure = proto === undefined ? request.originalUrl.startsWith("https:") : proto === "https"
  return `${secure ? "https" : "http"}://${host}`
}

/** The requested host and port, or `undefined` if unusable. */
export const hostOf = (request: HttpServerRequest.HttpServerRequest, options: SiteOptions): string | undefined => {
  const { headers } = request
  const forwarded = options.trustForwarded === true ? firstOf(headers["x-forwarded-host"]) : undefined
  const host = forwarded ?? headers["host"] ?? hostIn(request.originalUrl)
  return host !== undefined && hostShape.test(host) ? host : undefined
}

const firstOf = (header: string | undefined): string | undefined => {
  const first = header?.split(",", 1)[0]?.trim()
  return first === undefined || first === "" ? undefined : first
}

const hostIn = (url: string): string | undefined => /^https?:\/\/([^/?#]+)/.exec(url)?.[1]
