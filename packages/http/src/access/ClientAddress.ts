/** The address of a caller, as the key for its rate limits. */
import { Option, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { NetAddress } from "effect/net"
import { isIPv4 } from "node:net"

export interface ClientAddressOptions {
  /** Trusts `X-Forwarded-For` and uses its last address, which the proxy in front of this server added. */
  readonly trustForwarded?: boolean | undefined
  /** The host's own way to find the address; it has precedence. */
  readonly clientAddress?: ((request: HttpServerRequest.HttpServerRequest) => string | undefined) | undefined
}

/** Cannot collide with a client: names have no leading or trailing spaces. Callers without a known address share one limit. */
export const anonymousClientNamed = (name: string): string => ` ${name}`

/** The caller's address, with IPv6 as its /64 network, or the name from the host; `undefined` when unknown. Throws what the host's function throws. */
export const clientAddressOf = (request: HttpServerRequest.HttpServerRequest, options: ClientAddressOptions): string | undefined => {
  const stated: unknown = options.clientAddress?.(request)
  // for hosts without types
  if (stated !== undefined && typeof stated !== "string") throw new TypeError("clientAddress returns a text or undefined, without a promise.")
  // The host may return a name instead of an address.
  const address = stated === undefined ? networkOf(seenAddress(request, options)) : networkOf(stated) || stated.slice(0, 100)
  return address === "" ? undefined : address
}

const seenAddress = (request: HttpServerRequest.HttpServerRequest, options: ClientAddressOptions): string => {
  const forwarded = options.trustForwarded === true ? request.headers["x-forwarded-for"] : undefined
  return forwarded === undefined ? Option.getOrElse(request.remoteAddress, () => "") : forwarded.slice(forwarded.lastIndexOf(",") + 1)
}

/** One key for all addresses of a subscriber line: an IPv4 address, or the first half of an IPv6 address. */
const networkOf = (address: string): string => {
  if (isIPv4(address)) return address
  const text = address.trim()
    .replace(/^\[(.*)\](?::\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
    .replace(/%.*$/, "")
  const parsed = NetAddress.ipFromString(text)
  if (Result.isFailure(parsed)) return ""
  const ip = NetAddress.toCanonical(parsed.success)
  if (NetAddress.isIpv4Address(ip)) return NetAddress.ipv4ToOctets(ip).join(".")
  return `${NetAddress.ipv6ToSegments(ip).slice(0, 4).map((part) => part.toString(16)).join(":")}::/64`
}
