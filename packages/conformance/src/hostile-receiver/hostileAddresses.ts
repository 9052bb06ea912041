/** Addresses and names that a sender must never connect to. */

export interface HostileUrl {
  readonly name: string
  readonly url: string
}

const internalHosts = (port: number): ReadonlyArray<readonly [name: string, host: string]> => [
  ["loopback", "127.0.0.1"],
  ["loopback, decimal", "2130706433"],
  ["loopback, hex", "0x7f000001"],
  ["loopback, hex octets", "0x7f.0.0x0.1"],
  ["loopback, octal", "0177.0.0.01"],
  ["loopback, short", "127.1"],
  ["loopback, full width", "１２７.０.０.１"],
  ["loopback, ideographic dots", "127。0。0。1"],
  ["loopback, percent-encoded", "%31%32%37.0.0.1"],
  ["loopback, trailing dot", "127.0.0.1."],
  ["loopback, tab inside", "127.0\t.0.1"],
  ["loopback, line break inside", "127.0.\n0.1"],
  ["loopback, end of 127/8", "127.255.255.254"],
  ["loopback IPv6", "[::1]"],
  ["loopback IPv6, in full", "[0000:0000:0000:0000:0000:0000:0000:0001]"],
  ["loopback, IPv4-mapped", "[::ffff:127.0.0.1]"],
  ["loopback, IPv4-mapped in hex", "[::ffff:7f00:1]"],
  ["loopback, IPv4-compatible", "[::127.0.0.1]"],
  ["loopback, translated", "[::ffff:0:127.0.0.1]"],
  ["loopback, NAT64", "[64:ff9b::127.0.0.1]"],
  ["loopback, local NAT64", "[64:ff9b:1::127.0.0.1]"],
  ["loopback, 6to4", "[2002:7f00:1::1]"],
  ["loopback, Teredo", "[2001:0:7f00:1::]"],
  ["link local with a zone", "[fe80::1%25lo]"],
  ["this host", "0.0.0.0"],
  ["this host, IPv6", "[::]"],
  ["private 10/8", "10.0.0.1"],
  ["private 172.16/12", "172.31.255.255"],
  ["private 192.168/16", "192.168.1.1"],
  ["shared 100.64/10", "100.64.0.1"],
  ["link local", "169.254.1.1"],
  ["protocol assignments", "192.0.0.1"],
  ["documentation", "192.0.2.1"],
  ["documentation, second", "198.51.100.1"],
  ["documentation, third", "203.0.113.1"],
  ["benchmarking", "198.18.0.1"],
  ["multicast", "224.0.0.1"],
  ["reserved", "240.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["unique local", "[fd12:3456::1]"],
  ["site local", "[fec0::1]"],
  ["multicast IPv6", "[ff02::1]"],
  ["documentation IPv6", "[2001:db8::1]"],
  ["metadata", "169.254.169.254"],
  ["metadata, decimal", "2852039166"],
  ["metadata, IPv4-mapped", "[::ffff:169.254.169.254]"],
  ["metadata, AWS containers", "169.254.170.2"],
  ["metadata, Azure's public address", "168.63.129.16"],
  ["metadata, Alibaba's", "100.100.100.200"],
  ["metadata, Oracle's", "192.0.0.192"],
  ["metadata, AWS IPv6", "[fd00:ec2::254]"],
  ["metadata by name", "metadata.google.internal"],
  ["localhost", "localhost"],
  ["localhost, trailing dot", "localhost."],
  ["localhost, capitals", "LOCALHOST"],
  ["below localhost", "a.localhost"],
  ["a name without a dot", "intranet"],
  ["an internal name", "db.internal"]
].map(([name, host]) => [name!, `${host}:${port}`] as const)

const invalidUrls = (port: number): ReadonlyArray<HostileUrl> => [
  { name: "credentials", url: `https://user:secret@public.example:${port}/` },
  { name: "a user only", url: `https://user@public.example:${port}/` },
  { name: "credentials that look like a host", url: `https://public.example@127.0.0.1:${port}/` },
  { name: "a backslash after the host", url: `https://127.0.0.1:${port}\\@public.example/` },
  { name: "a fragment that looks like a host", url: `https://127.0.0.1:${port}#@public.example/` },
  { name: "a fragment", url: "https://public.example/#here" },
  { name: "plain http", url: "http://public.example/" },
  ...[0, 19, 22, 23, 25, 110, 2375, 3306, 5432, 6379, 9200, 11211, 27017].map((number) => ({
    name: `port ${number}`,
    url: `https://public.example:${number}/`
  })),
  ...["file:///etc/passwd", "gopher://public.example/", "ftp://public.example/", "ws://public.example/", "data:text/plain,x", "javascript:alert(1)"].map((url) => ({
    name: `scheme ${url.slice(0, url.indexOf(":"))}`,
    url
  })),
  { name: "no scheme", url: "//public.example/" },
  { name: "empty", url: "" },
  { name: "longer than 2,048 characters", url: `https://public.example/${"a".repeat(2048)}` },
  { name: "control characters", url: "https://public.example/\r\nx: y" }
]

/** URLs that a sender without exceptions refuses, with the given port where possible. */
export const hostileUrls = (port: number): ReadonlyArray<HostileUrl> => [
  ...internalHosts(port).flatMap(([name, host]) => ["https", "http"].map((scheme) => ({ name: `${name}, ${scheme}`, url: `${scheme}://${host}/` }))),
  ...invalidUrls(port)
]

/** A name below `hostile.example`, and the changing answers of its resolver. */
export interface HostileName {
  readonly name: string
  readonly does: string
  /** One list of addresses for each query; the last one repeats. `none`: the name does not exist. `silence`: no answer. */
  readonly addresses: ReadonlyArray<ReadonlyArray<string> | "none" | "silence">
}

/** Placeholder for the only address that the sender may reach. */
const allowedAddress = "127.0.0.1"

/** Placeholder for an address that it may not reach. */
export const internalAddress = "127.0.0.2"

export const hostileNames: ReadonlyArray<HostileName> = [
  { name: "rebinding", does: "Resolves to an allowed address first, then to an internal one.", addresses: [[allowedAddress], [internalAddress]] },
  { name: "inside", does: "Resolves to an internal address.", addresses: [[internalAddress]] },
  { name: "outside-and-inside", does: "Resolves to an allowed and an internal address.", addresses: [[allowedAddress, internalAddress]] },
  { name: "inside-and-outside", does: "Resolves to an internal and an allowed address.", addresses: [[internalAddress, allowedAddress]] },
  { name: "inside-among-many", does: "Resolves to 63 allowed addresses and one internal address.", addresses: [[...Array<string>(63).fill(allowedAddress), internalAddress]] },
  { name: "mapped", does: "Resolves to an allowed address and an IPv4-mapped internal one.", addresses: [[allowedAddress, `::ffff:${internalAddress}`]] },
  { name: "loopback-6", does: "Resolves to an allowed address and the IPv6 loopback.", addresses: [[allowedAddress, "::1"]] },
  { name: "zone", does: "Resolves to a link-local address with a zone.", addresses: [["fe80::1%lo"]] },
  { name: "this-host", does: "Resolves to 0.0.0.0, which is this host.", addresses: [["0.0.0.0"]] },
  { name: "metadata", does: "Resolves to a cloud metadata address.", addresses: [["169.254.169.254"]] },
  { name: "nat64", does: "Resolves to an internal address in NAT64 form.", addresses: [["64:ff9b::7f00:2"]] },
  { name: "no-address", does: "Resolves to a text that is not an address.", addresses: [["127.0.0.2.evil.example"]] },
  { name: "nowhere", does: "Resolves to an empty list.", addresses: [[]] },
  { name: "unknown", does: "Does not exist.", addresses: ["none"] },
  { name: "unanswered", does: "Never gets an answer from the resolver.", addresses: ["silence"] }
]
