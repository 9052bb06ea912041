import { Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { describe, expect, it } from "vitest"
import { type ClientAddressOptions, anonymousClientOf } from "../../src/access/ClientAddress.ts"

const clientOf = (options: ClientAddressOptions & { readonly remote?: string; readonly forwardedFor?: string } = {}) => {
  const { forwardedFor, remote, ...rest } = options
  const request = new Request("http://waybill.test/", forwardedFor === undefined ? {} : { headers: { "x-forwarded-for": forwardedFor } })
  return anonymousClientOf(HttpServerRequest.fromWeb(request).modify({ remoteAddress: Option.fromUndefinedOr(remote) }), rest)
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
