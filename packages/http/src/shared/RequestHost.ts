/** The host that a request names. A request that names several could reach a tenant by a false claim. */
import type { HttpServerRequest } from "effect/http"

/** The used members of Node's request. It keeps the first of several Host headers and ignores the others. */
interface NodeRequestHead {
  readonly url?: string | undefined
  readonly rawHeaders: ReadonlyArray<string>
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
}

/** False for a repeated Host header, a list in one, a target with another authority, and a text that cannot be a host: its path would become part of links. */
export const namesOneHost = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean => {
  if (!isNodeRequest(source)) return isHost(headers["host"] ?? "")
  if (hasOneHostHeader(source)) return true
  const hosts = hostsNamed(source, source.url)
  return hosts.length <= 1 && hosts.every(isHost)
}

/** Characters of a host and port in RFC 3986, without the comma of a list. An empty one is permitted. */
const isHost = (text: string): boolean => /^[\w.~%!$&'()*+;=:[\]-]*$/.test(text)

/** Most requests have one Host header and a path as target. */
const hasOneHostHeader = ({ headers, rawHeaders, url }: NodeRequestHead): boolean => {
  if (url?.startsWith("/") !== true || headers[":authority"] !== undefined) return false
  let host: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length !== 4 || name.toLowerCase() !== "host") continue
    if (host !== undefined) return false
    host = rawHeaders[index + 1]!
  }
  return host !== undefined && isHost(host)
}

/** Every host that a Node request names; one if all agree. A repeated Host header counts twice. */
export const hostsNamed = ({ headers, rawHeaders }: NodeRequestHead, target: string | undefined): ReadonlyArray<string> => {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === "host").flatMap((value) => value.split(","))
  const meant = [/^https?:\/\/([^/?#]*)/i.exec(target ?? "")?.[1], headers[":authority"]].filter((each) => typeof each === "string")
  if (hosts.length > 1) return hosts
  return [...new Set([...hosts, ...meant].map(withoutDefaultPort))]
}

/** For the address of a `Request`, which cannot have every text as its host. */
export const usableHost = (host: unknown): string => typeof host === "string" && /^[\w.:[\]-]+$/.test(host) && URL.canParse(`http://${host}`) ? host : "localhost"

const withoutDefaultPort = (host: string): string => host.trim().toLowerCase().replace(/:(80|443)$/, "")

const isNodeRequest = (source: unknown): source is NodeRequestHead =>
  typeof source === "object" && source !== null && Array.isArray((source as { readonly rawHeaders?: unknown }).rawHeaders)
