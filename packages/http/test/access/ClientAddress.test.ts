import { Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { describe, expect, it } from "vitest"
import { type ClientAddressOptions, anonymousClientOf } from "../../src/access/ClientAddress.ts"

const clientOf = (options: ClientAddressOptions & { readonly remote?: string; readonly forwardedFor?: string } = {}) => {
  const { forwardedFor, remote, ...rest } = options
  const request = new Request("http://waybill.test/", forwardedFor === undefined ? {} : { headers: { "x-forwarded-for": forwardedFor } })
  return anonymousClientOf(HttpServerRequest.fromWeb(request).modify({ remoteAddress: Option.fromUndefinedOr(remote) }), rest)
}

describe("whoever comes without credentials", () => {
  it("is counted by the address of the connection", () => {
    expect(clientOf({ remote: "198.51.100.7" })).toBe(" 198.51.100.7")
    expect(clientOf({ remote: "::ffff:198.51.100.7" })).toBe(clientOf({ remote: "198.51.100.7" }))
    expect(clientOf({ remote: "198.51.100.8" })).not.toBe(clientOf({ remote: "198.51.100.7" }))
  })

  it("is counted with its whole line, which may have more IPv6 addresses than there are lookups", () => {
    expect(clientOf({ remote: "2001:db8:1:2::1" })).toBe(" 2001:db8:1:2::/64")
    expect(clientOf({ remote: "2001:db8:1:2:ffff::9" })).toBe(clientOf({ remote: "2001:db8:1:2::1" }))
    expect(clientOf({ remote: "2001:db8:1:3::1" })).not.toBe(clientOf({ remote: "2001:db8:1:2::1" }))
  })

  it("is counted by what a trusted proxy saw last, never by what the caller wrote in front of it", () => {
    const trustForwarded = true
    expect(clientOf({ trustForwarded, remote: "10.0.0.1", forwardedFor: "6.6.6.6, 198.51.100.7" })).toBe(" 198.51.100.7")
    expect(clientOf({ trustForwarded, remote: "10.0.0.1", forwardedFor: "[2001:db8::1]:443" })).toBe(" 2001:db8:0:0::/64")
    expect(clientOf({ trustForwarded, remote: "10.0.0.1", forwardedFor: "198.51.100.7:8443" })).toBe(" 198.51.100.7")
    expect(clientOf({ trustForwarded, remote: "10.0.0.1" })).toBe(" 10.0.0.1")
    expect(clientOf({ remote: "198.51.100.1", forwardedFor: "6.6.6.6" })).toBe(" 198.51.100.1")
  })

  it("is counted as a host tells, before everything else", () => {
    const clientAddress = () => "session-77"
    expect(clientOf({ clientAddress, trustForwarded: true, remote: "10.0.0.1", forwardedFor: "6.6.6.6" })).toBe(" session-77")
    expect(clientOf({ clientAddress: () => "198.51.100.7", remote: "10.0.0.1" })).toBe(" 198.51.100.7")
    expect(clientOf({ clientAddress: () => undefined, remote: "10.0.0.1" })).toBe(" 10.0.0.1")
  })

  it("shares one allowance with everybody whose address is not known", () => {
    expect(clientOf()).toBe(" ")
    expect(clientOf({ trustForwarded: true, forwardedFor: "unknown" })).toBe(" ")
  })
})
