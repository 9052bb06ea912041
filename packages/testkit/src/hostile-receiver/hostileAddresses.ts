/** Addresses and names that a sender must never connect to. */

export interface HostileUrl {
  readonly name: string
  readonly url: string
}

const inside = (port: number): ReadonlyArray<readonly [name: string, host: string]> => [
  ["loopback", "127.0.0.1"],
  ["loopback, decimal", "2130706433"],
  ["loopback, hex", "0x7f000001"],
  ["loopback, hex octets", "0x7f.0.0x0.1"],
  ["loopback, octal", "0177.0.0.01"],
  ["loopback, short", "127.1"],
  ["loopback, full width", "１２７.０.０.１"],
  ["loopback, ideographic dots", "127。0。0。1"],
  ["loopback, percent-encoded", "%31%32%37.0.0.1"],
  ["loopback, dot at the end", "127.0.0.1."],
  ["loopback, tab inside", "127.0\t.0.1"],
  ["loopback, line break inside", "127.0.\n0.1"],
  ["loopback, elsewhere", "127.255.255.254"],
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
  ["metadata of containers", "169.254.170.2"],
  ["metadata, Azure's public address", "168.63.129.16"],
  ["metadata, Alibaba's", "100.100.100.200"],
  ["metadata, Oracle's", "192.0.0.192"],
  ["metadata, AWS IPv6", "[fd00:ec2::254]"],
  ["metadata by name", "metadata.google.internal"],
  ["localhost", "localhost"],
  ["localhost, dot at the end", "localhost."],
  ["localhost, capitals", "LOCALHOST"],
  ["below localhost", "a.localhost"],
  ["a name without a dot", "intranet"],
  ["an inner name", "db.internal"]
].map(([name, host]) => [name!, `${host}:${port}`] as const)

const odd = (port: number): ReadonlyArray<HostileUrl> => [
  { name: "credentials", url: `https://user:secret@public.example:${port}/` },
  { name: "a user only", url: `https://user@public.example:${port}/` },
  { name: "credentials that look like a host", url: `https://public.example@127.0.0.1:${port}/` },
  { name: "a backslash behind the host", url: `https://127.0.0.1:${port}\\@public.example/` },
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
  { name: "nothing", url: "" },
  { name: "longer than 2,048 characters", url: `https://public.example/${"a".repeat(2048)}` },
  { name: "control characters", url: "https://public.example/\r\nx: y" }
]

/** URLs that a sender without exceptions refuses, with the given port where possible. */
export const hostileUrls = (port: number): ReadonlyArray<HostileUrl> => [
  ...inside(port).flatMap(([name, host]) => ["https", "http"].map((scheme) => ({ name: `${name}, ${scheme}`, url: `${scheme}://${host}/` }))),
  ...odd(port)
]

/** A name below `hostile.example`, and the changing answers of its resolver. */
export interface HostileName {
  readonly name: string
  readonly does: string
  /** One list of addresses for each query; the last one repeats. `none`: the name does not exist. `silence`: no answer. */
  readonly addresses: ReadonlyArray<ReadonlyArray<string> | "none" | "silence">
}

/** Placeholder for the only address that the sender may reach. */
export const outsideAddress = "127.0.0.1"

/** Placeholder for an address that it may not reach. */
export const insideAddress = "127.0.0.2"

export const hostileNames: ReadonlyArray<HostileName> = [
  { name: "rebinding", does: "Leads outside first and inside from then on.", addresses: [[outsideAddress], [insideAddress]] },
  { name: "inside", does: "Leads inside.", addresses: [[insideAddress]] },
  { name: "outside-and-inside", does: "Leads outside and inside.", addresses: [[outsideAddress, insideAddress]] },
  { name: "inside-and-outside", does: "Leads inside and outside.", addresses: [[insideAddress, outsideAddress]] },
  { name: "inside-among-many", does: "Leads outside 63 times and inside once.", addresses: [[...Array<string>(63).fill(outsideAddress), insideAddress]] },
  { name: "mapped", does: "Leads inside by an IPv4-mapped address.", addresses: [[outsideAddress, `::ffff:${insideAddress}`]] },
  { name: "loopback-6", does: "Leads outside and to IPv6's loopback.", addresses: [[outsideAddress, "::1"]] },
  { name: "zone", does: "Leads to a link-local address with a zone.", addresses: [["fe80::1%lo"]] },
  { name: "this-host", does: "Leads to 0.0.0.0, which is this host.", addresses: [["0.0.0.0"]] },
  { name: "metadata", does: "Leads to a cloud's metadata.", addresses: [["169.254.169.254"]] },
  { name: "nat64", does: "Leads inside through NAT64.", addresses: [["64:ff9b::7f00:2"]] },
  { name: "no-address", does: "Leads to something that is no address.", addresses: [["127.0.0.2.evil.example"]] },
  { name: "nowhere", does: "Has no address.", addresses: [[]] },
  { name: "unknown", does: "Does not exist.", addresses: ["none"] },
  { name: "unanswered", does: "Is never answered.", addresses: ["silence"] }
]
