/** Which host a request was made to. A request that names several could reach a tenant that its sender only claims. */
import type { HttpServerRequest } from "effect/http"

/** What is needed of `node:http`'s request. It keeps the first of several Host headers and passes over the others. */
export interface NodeRequestHead {
  readonly url?: string | undefined
  readonly rawHeaders: ReadonlyArray<string>
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
}

/** Whether a request names more than one host: by a repeated Host header, by a list in one, or by a target with another authority. */
export const namesSeveralHosts = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean =>
  isNodeRequest(source) ? hostsNamed(source, source.url).length > 1 : headers["host"]?.includes(",") === true

/** Every host that a request of `node:http` names; one where all agree. A Host header that is there twice counts twice. */
export const hostsNamed = ({ headers, rawHeaders }: NodeRequestHead, target: string | undefined): ReadonlyArray<string> => {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === "host").flatMap((value) => value.split(","))
  const meant = [/^https?:\/\/([^/?#]*)/i.exec(target ?? "")?.[1], headers[":authority"]].filter((each) => typeof each === "string")
  if (hosts.length > 1) return hosts
  return [...new Set([...hosts, ...meant].map(withoutDefaultPort))]
}

const withoutDefaultPort = (host: string): string => host.trim().toLowerCase().replace(/:(80|443)$/, "")

const isNodeRequest = (source: unknown): source is NodeRequestHead =>
  typeof source === "object" && source !== null && Array.isArray((source as { readonly rawHeaders?: unknown }).rawHeaders)
