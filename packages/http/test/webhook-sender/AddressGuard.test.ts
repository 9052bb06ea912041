import { assert, describe, it } from "@effect/vitest"
import { addressNotAllowed } from "@waybill/core/delivery"
import { Result, Schema } from "effect"
import { BlockList, isIPv4 } from "node:net"
import { type EgressPolicy, isAllowedAddress, parseEgressAllow, publicOnly, refusalOfUrl } from "../../src/webhook-sender/AddressGuard.ts"

const policy = (text: string): EgressPolicy => Result.getOrThrow(parseEgressAllow(text))

/** IANA's special-purpose address registries, entries that are not "globally reachable", plus multicast and reserved. */
const registryIpv4 = [
  "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
  "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
  "255.255.255.255/32", "168.63.129.16/32"
]
const registryIpv6 = [
  "::/128", "::1/128", "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32",
  "2001:2::/48", "2001:10::/28", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10",
  "ff00::/8"
]

/** A second implementation to compare with: Node's block list for the registries, arithmetic for embedded IPv4. */
const blockList = (networks: ReadonlyArray<string>): BlockList => {
  const list = new BlockList()
  for (const network of networks) {
    const [address, prefix] = network.split("/") as [string, string]
    list.addSubnet(address, Number(prefix), isIPv4(address) ? "ipv4" : "ipv6")
  }
  return list
}
const specialIpv4 = blockList(registryIpv4)
const specialIpv6 = blockList(registryIpv6)

const oracleIpv4 = (value: bigint): boolean => !specialIpv4.check(dotted(value), "ipv4")
const oracleIpv6 = (value: bigint): boolean => {
  const carries = value >> 32n === 0xffffn || value >> 32n === 0x0064_ff9b_0000_0000_0000_0000n
  if (carries) return oracleIpv4(value & 0xffff_ffffn)
  return value >> 125n === 1n && !specialIpv6.check(colons(value), "ipv6")
}

const dotted = (value: bigint): string => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".")
const groups = (value: bigint): ReadonlyArray<bigint> => Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn)
const colons = (value: bigint): string => groups(value).map((group) => group.toString(16)).join(":")
const parse = (address: string): bigint =>
  isIPv4(address)
    ? address.split(".").reduce((sum, octet) => sum * 256n + BigInt(octet), 0n)
    : BigInt(`0x${new URL(`http://[${address}]`).hostname.slice(1, -1).replace(/::/, (gap, at, all) => {
      const missing = 8 - all.split(":").filter((part: string) => part !== "").length
      return `${at === 0 ? "" : ":"}${Array(missing).fill("0").join(":")}${at + 2 === all.length ? "" : ":"}`
    }).split(":").map((group) => group.padStart(4, "0")).join("")}`)

const Octet = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const Group = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))
const Ipv4 = Schema.Tuple([Octet, Octet, Octet, Octet])
const Ipv6 = Schema.Tuple([Group, Group, Group, Group, Group, Group, Group, Group])
const Pick = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
const value4 = (octets: ReadonlyArray<number>): bigint => octets.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n)
const value6 = (parts: ReadonlyArray<number>): bigint => parts.reduce((sum, part) => sum * 65_536n + BigInt(part), 0n)

const spellingsIpv4 = (octets: typeof Ipv4.Type): ReadonlyArray<string> => {
  const [a, b, c, d] = octets
  const value = value4(octets)
  const octal = (number: number) => `0${number.toString(8)}`
  const hex = (number: number) => `0x${number.toString(16)}`
  const wide = octets.join(".").replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
  return [
    octets.join("."),
    `${octets.join(".")}.`,
    String(value),
    `0x${value.toString(16)}`,
    `0${value.toString(8)}`,
    [octal(a), octal(b), octal(c), octal(d)].join("."),
    [hex(a), b, octal(c), hex(d)].join("."),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    wide,
    octets.join("。"),
    encodeURIComponent(wide),
    octets.join(".").replace(/\d/g, (digit) => `%3${digit}`)
  ]
}

const spellingsIpv6 = (value: bigint): ReadonlyArray<string> => {
  const full = groups(value).map((group) => group.toString(16).padStart(4, "0"))
  return [
    colons(value),
    full.join(":"),
    full.join(":").toUpperCase(),
    new URL(`http://[${colons(value)}]`).hostname.slice(1, -1),
    `${full.slice(0, 6).join(":")}:${dotted(value & 0xffff_ffffn)}`
  ]
}

describe("isAllowedAddress", () => {
  it("agrees with the registries at the edges of every special network", () => {
    for (const network of [...registryIpv4, ...registryIpv6]) {
      const [address, prefix] = network.split("/") as [string, string]
      const width = isIPv4(address) ? 32n : 128n
      const first = parse(address)
      const last = first + (1n << (width - BigInt(prefix))) - 1n
      for (const value of [first - 1n, first, first + 1n, last - 1n, last, last + 1n]) {
        if (value < 0n || value >= 1n << width) continue
        const text = width === 32n ? dotted(value) : colons(value)
        assert.strictEqual(isAllowedAddress(text, publicOnly), width === 32n ? oracleIpv4(value) : oracleIpv6(value), text)
      }
    }
  })

  it.prop("agrees with the registries on any IPv4 address", [Ipv4], ([octets]) => {
    assert.strictEqual(isAllowedAddress(octets.join("."), publicOnly), oracleIpv4(value4(octets)))
  }, { arbitrary: { runs: 2000 } })

  it.prop("agrees with the registries on any IPv6 address, in any notation", [Ipv6], ([parts]) => {
    const value = value6(parts)
    for (const text of spellingsIpv6(value)) assert.strictEqual(isAllowedAddress(text, publicOnly), oracleIpv6(value), text)
  }, { arbitrary: { runs: 500 } })

  it.prop("agrees with the registries inside every special network", [Pick, Ipv6], ([pick, parts]) => {
    for (const registry of [registryIpv4, registryIpv6]) {
      const [address, prefix] = registry[pick % registry.length]!.split("/") as [string, string]
      const width = isIPv4(address) ? 32n : 128n
      const value = parse(address) + (value6(parts) & ((1n << (width - BigInt(prefix))) - 1n))
      assert.strictEqual(
        isAllowedAddress(width === 32n ? dotted(value) : colons(value), publicOnly),
        width === 32n ? oracleIpv4(value) : oracleIpv6(value)
      )
    }
  }, { arbitrary: { runs: 1000 } })

  it.prop("judges IPv4-mapped and NAT64 addresses by their IPv4 address, and refuses other embedded forms", [Ipv4], ([octets]) => {
    const value = value4(octets)
    assert.strictEqual(isAllowedAddress(`::ffff:${octets.join(".")}`, publicOnly), oracleIpv4(value))
    assert.strictEqual(isAllowedAddress(`64:ff9b::${octets.join(".")}`, publicOnly), oracleIpv4(value))
    const hex = value.toString(16).padStart(8, "0")
    const inside = `${hex.slice(0, 4)}:${hex.slice(4)}`
    for (const text of [`::${octets.join(".")}`, `::ffff:0:${octets.join(".")}`, `64:ff9b:1::${octets.join(".")}`, `2002:${inside}::1`, `2001:0:${inside}::`, `2001::${inside}`]) {
      assert.isFalse(isAllowedAddress(text, publicOnly), text)
    }
  })

  it("refuses the metadata address of every cloud", () => {
    for (const address of ["169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254", "::ffff:168.63.129.16"]) {
      assert.isFalse(isAllowedAddress(address, publicOnly), address)
    }
  })

  it("refuses text that is not an address", () => {
    for (const text of ["", "localhost", "1.2.3", "01.2.3.4", "1.2.3.4.5", "256.1.1.1", "fe80::1%eth0", "2606:4700::1111%1", "[2606:4700::1111]", "::1::"]) {
      assert.isFalse(isAllowedAddress(text, publicOnly), text)
    }
  })

  it.prop("allows exactly the network that the operator named", [Ipv4], ([octets]) => {
    const opened = policy("10.1.0.0/16 fd00:1::/32")
    const inside = octets[0] === 10 && octets[1] === 1
    assert.strictEqual(isAllowedAddress(octets.join("."), opened), inside || oracleIpv4(value4(octets)))
    assert.isTrue(isAllowedAddress(`10.1.${octets[2]}.${octets[3]}`, opened))
    assert.isTrue(isAllowedAddress(`::ffff:10.1.${octets[2]}.${octets[3]}`, opened))
    assert.isTrue(isAllowedAddress(`fd00:1::${octets[2]}`, opened))
    assert.isFalse(isAllowedAddress(`10.2.${octets[2]}.${octets[3]}`, opened))
    assert.isFalse(isAllowedAddress(`fd00:2::${octets[2]}`, opened))
  })

  it("allows a metadata address only if exactly this address is named", () => {
    for (const wide of ["169.254.0.0/16", "0.0.0.0/0", "169.254.169.254/31"]) assert.isFalse(isAllowedAddress("169.254.169.254", policy(wide)), wide)
    assert.isTrue(isAllowedAddress("169.254.169.254", policy("169.254.169.254")))
    assert.isTrue(isAllowedAddress("169.254.10.1", policy("169.254.0.0/16")))
  })

  it("does not allow IPv4 addresses by an IPv6 network", () => {
    assert.isFalse(isAllowedAddress("::ffff:127.0.0.1", policy("::/0")))
    assert.isTrue(isAllowedAddress("::1", policy("::/0")))
  })

  it("lets an allowed name resolve to private addresses, but to no other special ones", () => {
    const opened = policy("receiver.internal, *.corp.example")
    for (const host of ["receiver.internal", "a.corp.example", "b.a.corp.example"]) {
      for (const address of ["10.0.0.1", "172.20.0.3", "192.168.1.1", "127.0.0.1", "100.64.0.1", "::1", "fd12::1", "1.1.1.1"]) {
        assert.isTrue(isAllowedAddress(address, opened, host), `${host} at ${address}`)
      }
      for (const address of ["169.254.169.254", "169.254.1.1", "0.0.0.0", "224.0.0.1", "168.63.129.16", "100.100.100.200", "fe80::1", "fd00:ec2::254", "::"]) {
        assert.isFalse(isAllowedAddress(address, opened, host), `${host} at ${address}`)
      }
    }
    for (const host of ["corp.example", "evilcorp.example", "receiver.internal.evil.example", "x.receiver.internal"]) {
      assert.isFalse(isAllowedAddress("10.0.0.1", opened, host), host)
    }
  })
})

describe("refusalOfUrl", () => {
  const refused = (url: string, opened = publicOnly) => assert.isDefined(refusalOfUrl(url, opened), url)
  const notAllowed = (url: string, opened = publicOnly) => assert.strictEqual(refusalOfUrl(url, opened), addressNotAllowed, url)
  const fine = (url: string, opened = publicOnly) => assert.isUndefined(refusalOfUrl(url, opened), url)

  it("accepts public https addresses", () => {
    for (const url of [
      "https://receiver.example.com/hook", "https://example.com", "https://example.com:8443/a?b=c", "https://1.1.1.1/",
      "https://[2606:4700:4700::1111]/", "https://bücher.example.com/", "https://xn--bcher-kva.example.com/", "https://EXAMPLE.com./",
      "https://example.com:80/", "https://local.example.com/", "https://localhost.example.com/", "https://mylocal.com/"
    ]) fine(url)
  })

  it.prop("judges an IPv4 address alike in any notation", [Ipv4], ([octets]) => {
    const expected = oracleIpv4(value4(octets)) ? undefined : addressNotAllowed
    for (const spelling of spellingsIpv4(octets)) assert.strictEqual(refusalOfUrl(`https://${spelling}/hook`, publicOnly), expected, spelling)
  }, { arbitrary: { runs: 500 } })

  it.prop("judges an IPv6 address alike in any notation", [Ipv6, Pick], ([parts, pick]) => {
    const [address, prefix] = registryIpv6[pick % registryIpv6.length]!.split("/") as [string, string]
    for (const value of [value6(parts), parse(address) + (value6(parts) & ((1n << (128n - BigInt(prefix))) - 1n))]) {
      const expected = oracleIpv6(value) ? undefined : addressNotAllowed
      for (const spelling of spellingsIpv6(value)) assert.strictEqual(refusalOfUrl(`https://[${spelling}]/hook`, publicOnly), expected, spelling)
    }
  }, { arbitrary: { runs: 300 } })

  it("refuses tabs, line breaks and spaces anywhere", () => {
    for (const url of ["https://127.0.\t0.1/", "https://exa\nmple.com/", " https://example.com/", "https://example.com/a b", "https://example.com/\u0000", "https://example.com/\u00a0"]) refused(url)
  })

  it("refuses names that resolve only inside a network", () => {
    for (const host of [
      "localhost", "LOCALHOST", "localhost.", "localhost..", "a.localhost", "a.localhost.", "localhost.localdomain", "printer.local", "router.lan", "db.internal",
      "metadata.google.internal", "METADATA.GOOGLE.INTERNAL.", "metadata.google。internal", "metadata", "metadata.goog", "instance-data", "postgres", "kubernetes.default.svc.cluster.local",
      "intranet", "a.home.arpa", "%6cocalhost", "ｌocalhost", "loc\u00adalhost"
    ]) notAllowed(`https://${host}/`)
  })

  it("refuses hosts that cannot be names", () => {
    for (const host of ["a..b.com", "-a.example.com", "a-.example.com", `${"a".repeat(64)}.example.com`, `${"abc.".repeat(64)}com`, "a.example.com.."]) refused(`https://${host}/`)
    for (const url of ["https://", "https:///path", "https://?", "https://:443/", "https://[::1", "https://[fe80::1%25eth0]/", "https://1.2.3.4.5/"]) refused(url)
  })

  it("refuses every other scheme, and http unless the operator allowed the host (SPEC-GAP-X12)", () => {
    for (const url of ["http://example.com/", "http://1.1.1.1/", "http://127.0.0.1/", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "javascript:alert(1)", "data:,x", "ws://example.com/", "//example.com/", "example.com", ""]) {
      refused(url)
    }
    const opened = policy("127.0.0.0/8, receiver.internal, *.corp.example, ::1")
    for (const url of ["http://127.0.0.1:6379/hook", "http://127.9.9.9/", "http://[::1]:22/", "http://[::ffff:127.0.0.1]/", "http://[64:ff9b::127.0.0.1]:6379/", "http://receiver.internal:8080/", "http://a.corp.example/", "http://2130706433/", "https://RECEIVER.internal./"]) {
      fine(url, opened)
    }
    for (const url of ["http://10.0.0.1/", "http://corp.example/", "http://example.com/", "http://receiver.internal.example.com/", "http://localhost/"]) refused(url, opened)
  })

  it("refuses credentials, fragments, port 0 and URLs of more than 2,048 characters", () => {
    for (const url of ["https://user:secret@example.com/", "https://user@example.com/", "https://:secret@example.com/", "https://example.com/#part", "https://example.com/#", "https://example.com:0/", "https://example.com:65536/"]) {
      refused(url)
      refused(url, policy("example.com"))
    }
    const base = "https://example.com/"
    fine(base + "a".repeat(2048 - base.length))
    refused(base + "a".repeat(2049 - base.length))
  })

  it("refuses the ports of other services unless the operator allowed the host", () => {
    for (const port of [1, 21, 22, 23, 25, 53, 81, 110, 143, 389, 445, 465, 587, 636, 853, 993, 2375, 2379, 3306, 3389, 5432, 5672, 6000, 6379, 6443, 9042, 9092, 9200, 10250, 11211, 27017]) {
      notAllowed(`https://example.com:${port}/`)
      notAllowed(`https://1.1.1.1:${port}/`)
      fine(`https://example.com:${port}/`, policy("example.com"))
      fine(`https://1.1.1.1:${port}/`, policy("1.1.1.1"))
    }
    for (const port of [80, 443, 1024, 3000, 4443, 8080, 8443, 9443, 65_535]) fine(`https://example.com:${port}/`)
  })

  it("returns the same message for every address that is not allowed", () => {
    const sentences = new Set(["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[fd00::1]", "localhost", "db.internal", "example.com:22"].map((host) => refusalOfUrl(`https://${host}/`, publicOnly)))
    assert.deepStrictEqual(sentences, new Set([addressNotAllowed]))
  })
})

describe("parseEgressAllow", () => {
  it("reads networks, addresses and names separated by commas or spaces", () => {
    const parsed = policy(" 127.0.0.0/8, ::1\n[fd00::1] fd12::/16,,Receiver.Internal. *.corp.example,bücher.example ")
    assert.deepStrictEqual(parsed.networks.map(String), ["127.0.0.0/8", "::1/128", "fd00::1/128", "fd12::/16"])
    assert.deepStrictEqual(parsed.hosts, ["receiver.internal", "*.corp.example", "xn--bcher-kva.example"])
  })

  it("reads an empty text as an empty policy", () => {
    for (const text of ["", "  ", ",", "\n"]) assert.deepStrictEqual(parseEgressAllow(text), Result.succeed({ networks: [], hosts: [] }))
  })

  it("names every invalid entry", () => {
    const bad = ["10.0.0.1/8", "10.0.0.0/33", "300.1.1.1", "1.2.3", "::ffff:10.0.0.0/104", "fe80::1%eth0", "*", "*.*.example", "https://example.com", "a_b!c", "example.com:443", "fd00::/129"]
    const parsed = parseEgressAllow(`127.0.0.1 ${bad.join(",")}`)
    assert.isTrue(Result.isFailure(parsed))
    if (Result.isFailure(parsed)) {
      assert.lengthOf(parsed.failure, bad.length)
      bad.forEach((entry, index) => assert.include(parsed.failure[index], `"${entry}"`))
    }
  })
})
