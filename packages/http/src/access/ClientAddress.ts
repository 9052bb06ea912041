/** Where a call came from, as the name under which its lookups are counted. */
import { Option, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { NetAddress } from "effect/net"

export interface ClientAddressOptions {
  /** Takes `X-Forwarded-For` at its word: its last address, which is the one the proxy in front of us saw. */
  readonly trustForwarded?: boolean | undefined
  /** A host's own knowledge; it goes before everything else. */
  readonly clientAddress?: ((request: HttpServerRequest.HttpServerRequest) => string | undefined) | undefined
}

/** No client is called like this: names have no outer blanks. Callers of whom nothing is known share one allowance. */
export const anonymousClientNamed = (name: string): string => ` ${name}`

export const anonymousClientOf = (request: HttpServerRequest.HttpServerRequest, options: ClientAddressOptions): string =>
  anonymousClientNamed(clientAddressOf(request, options) ?? "")

/** The caller's address, IPv6 as its /64 network, or the name that a host gave; `undefined` where nothing is known. */
export const clientAddressOf = (request: HttpServerRequest.HttpServerRequest, options: ClientAddressOptions): string | undefined => {
  const stated = options.clientAddress?.(request)
  // what a host tells may be a name of its own making
  const address = stated === undefined ? networkOf(seenAddress(request, options)) : networkOf(stated) || stated.slice(0, 100)
  return address === "" ? undefined : address
}

const seenAddress = (request: HttpServerRequest.HttpServerRequest, options: ClientAddressOptions): string => {
  const forwarded = options.trustForwarded === true ? request.headers["x-forwarded-for"] : undefined
  return forwarded === undefined ? Option.getOrElse(request.remoteAddress, () => "") : forwarded.slice(forwarded.lastIndexOf(",") + 1)
}

/** One for all addresses that a subscriber line has: an IPv4 address, or the first half of an IPv6 one. */
const networkOf = (address: string): string => {
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
