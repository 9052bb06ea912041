import { Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { describe, expect, it } from "vitest"
import { type ClientAddressOptions, anonymousClientNamed, clientAddressOf } from "../../src/access/ClientAddress.ts"
import type { LogEntry } from "../../src/index.ts"
import { startWithTenant } from "../facade/Host.ts"

const clientOf = (options: ClientAddressOptions & { readonly remote?: string; readonly forwardedFor?: string } = {}) => {
  const { forwardedFor, remote, ...rest } = options
  const request = new Request("http://waybill.test/", forwardedFor === undefined ? {} : { headers: { "x-forwarded-for": forwardedFor } })
  return anonymousClientNamed(clientAddressOf(HttpServerRequest.fromWeb(request).modify({ remoteAddress: Option.fromUndefinedOr(remote) }), rest) ?? "")
}

describe("an anonymous caller", () => {
  it("is counted by the address of the connection", () => {
    expect(clientOf({ remote: "198.51.100.7" })).toBe(" 198.51.100.7")
    expect(clientOf({ remote: "::ffff:198.51.100.7" })).toBe(clientOf({ remote: "198.51.100.7" }))
    expect(clientOf({ remote: "198.51.100.8" })).not.toBe(clientOf({ remote: "198.51.100.7" }))
  })

  it("is counted by the /64 network of its IPv6 address", () => {
    expect(clientOf({ remote: "2001:db8:1:2::1" })).toBe(" 2001:db8:1:2::/64")
    expect(clientOf({ remote: "2001:db8:1:2:ffff::9" })).toBe(clientOf({ remote: "2001:db8:1:2::1" }))
    expect(clientOf({ remote: "2001:db8:1:3::1" })).not.toBe(clientOf({ remote: "2001:db8:1:2::1" }))
  })

  it("is counted by the last address that a trusted proxy added, never by what the caller sent", () => {
    const trustForwarded = true
    expect(clientOf({ trustForwarded, remote: "10.0.0.1", forwardedFor: "6.6.6.6, 198.51.100.7" })).toBe(" 198.51.100.7")
    expect(clientOf({ trustForwarded, remote: "10.0.0.1", forwardedFor: "[2001:db8::1]:443" })).toBe(" 2001:db8:0:0::/64")
    expect(clientOf({ trustForwarded, remote: "10.0.0.1", forwardedFor: "198.51.100.7:8443" })).toBe(" 198.51.100.7")
    expect(clientOf({ trustForwarded, remote: "10.0.0.1" })).toBe(" 10.0.0.1")
    expect(clientOf({ remote: "198.51.100.1", forwardedFor: "6.6.6.6" })).toBe(" 198.51.100.1")
  })

  it("is counted by the host's key, if it provides one", () => {
    const clientAddress = () => "session-77"
    expect(clientOf({ clientAddress, trustForwarded: true, remote: "10.0.0.1", forwardedFor: "6.6.6.6" })).toBe(" session-77")
    expect(clientOf({ clientAddress: () => "198.51.100.7", remote: "10.0.0.1" })).toBe(" 198.51.100.7")
    expect(clientOf({ clientAddress: () => undefined, remote: "10.0.0.1" })).toBe(" 10.0.0.1")
  })

  it("shares one rate limit with all callers without a known address", () => {
    expect(clientOf()).toBe(" ")
    expect(clientOf({ trustForwarded: true, forwardedFor: "unknown" })).toBe(" ")
  })
})

describe("clientAddress of a host", () => {
  it.each<readonly [string, () => unknown, string]>([
    ["throws", () => { throw new Error("The proxy sent no address.") }, "Error: The proxy sent no address."],
    ["returns a promise", async () => "198.51.100.7", "TypeError: clientAddress returns a text or undefined, without a promise."],
    ["returns null", () => null, "TypeError: clientAddress returns a text or undefined, without a promise."]
  ])("that %s fails no request, and is in the log", async (_what, clientAddress, cause) => {
    const log: Array<LogEntry> = []
    const waybill = await startWithTenant({ clientAddress: clientAddress as () => string, log: (entry) => void (entry.level === "error" && log.push(entry)) })
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const { headers: given, status } = await waybill.handler(new Request(`http://x${path}`, { headers }))
      return [status, given.has("x-request-id")]
    }
    expect(await ask("/healthz")).toEqual([200, true])
    expect(await ask("/visibility/v1/events")).toEqual([401, true])
    expect(await ask("/visibility/v1/events", { "x-api-key": "wrong" })).toEqual([401, true])
    expect(await ask("/in-transit/v1/shipment/pro/1/public")).toEqual([404, true])
    expect(new Set(log.map(({ message }) => message))).toEqual(new Set(["clientAddress of the host failed. The caller counts as one without an address."]))
    expect(log[0]?.cause?.split("\n")[0]).toBe(cause)
  })
})
