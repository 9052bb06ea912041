/** Egress policy for webhooks: public addresses over https, and destinations that the operator allowed. */
import { addressNotAllowed } from "@waybill/core/delivery"
import { Result } from "effect"
import { Host, IpNetwork, NetAddress } from "effect/net"

/** Destinations that the operator allowed besides the public internet, usually from `WAYBILL_EGRESS_ALLOW`. */
export interface EgressPolicy {
  /**
   * Allowed networks. A cloud's metadata address needs an entry with exactly this address, so that `169.254.0.0/16`
   * does not expose credentials by accident.
   */
  readonly networks: ReadonlyArray<IpNetwork.IpNetwork>
  /**
   * Host names in lower case; `*.corp.example` covers every name below `corp.example`. These may use `http`, any port,
   * and private addresses (RFC 1918, loopback, shared, unique local), but no others.
   */
  readonly hosts: ReadonlyArray<string>
}

/** Public addresses over https only. */
export const publicOnly: EgressPolicy = { networks: [], hosts: [] }

/**
 * Parses networks (`10.1.0.0/16`, `fd00::/8`), addresses (`127.0.0.1`, `::1`) and host names (`receiver.internal`,
 * `*.corp.example`), separated by commas or spaces. Fails with one message for each invalid entry.
 */
export const parseEgressAllow = (text: string): Result.Result<EgressPolicy, ReadonlyArray<string>> => {
  const networks: Array<IpNetwork.IpNetwork> = []
  const hosts: Array<string> = []
  const faults: Array<string> = []
  for (const entry of text.split(/[\s,]+/)) {
    if (entry === "") continue
    const parsed = parseEntry(entry)
    if (Result.isFailure(parsed)) faults.push(`"${entry}" cannot be allowed: ${parsed.failure}.`)
    else if (typeof parsed.success === "string") hosts.push(parsed.success)
    else networks.push(parsed.success)
  }
  return faults.length > 0 ? Result.fail(faults) : Result.succeed({ networks, hosts })
}

/** Whether connections to this address are allowed; `host` is the name that resolved to it, if any. */
export const isAllowedAddress = (address: string, policy: EgressPolicy, host?: string): boolean => {
  const parsed = parseAddress(address)
  return parsed !== undefined && mayReach(parsed, policy, host !== undefined && opensHost(policy, host))
}

/**
 * Why a subscription may not use this URL, or `undefined`.
 *
 * Messages about the form of a URL say what to change; a forbidden destination always gets `addressNotAllowed`. Names
 * are not resolved here: their addresses are checked at each connection. SPEC-GAP-X12
 */
export const refusalOfUrl = (text: string, policy: EgressPolicy): string | undefined => {
  if (text.length > maxUrlLength) return "The URL is longer than 2,048 characters."
  if (/[\s\p{Cc}]/u.test(text)) return "The URL must not contain spaces or control characters."
  const url = URL.parse(text)
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return httpsRequired
  if (url.username !== "" || url.password !== "") return "The URL must not contain a user name or a password."
  if (url.href.includes("#")) return "The URL must not contain a fragment."
  const host = hostOf(url)
  const opened = isOpenedHost(host, policy)
  if (url.protocol === "http:" && !opened) return httpsRequired
  if (url.port === "0" || !(opened || mayName(host, policy) && isPublicPort(url.port))) return addressNotAllowed
  return undefined
}

/** The host to connect to: without brackets around IPv6 and without a trailing dot. `URL` has normalized the rest. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$|\.$/g, "")

const maxUrlLength = 2048
const httpsRequired = "The URL must be a full address that starts with https://."

type Entry = Result.Result<IpNetwork.IpNetwork | string, string>

const parseEntry = (entry: string): Entry => {
  if (entry.includes("/")) return Result.flatMap(reason(IpNetwork.fromString(entry)), asWritten)
  const address = NetAddress.ipFromString(entry.replace(/^\[(.*)\]$/, "$1"))
  if (Result.isSuccess(address)) return asWritten(only(address.success))
  const wildcard = entry.startsWith("*.")
  const name = reason(Host.domainNameFromString((wildcard ? entry.slice(2) : entry).replace(/\.$/, "")))
  return Result.map(name, (name) => wildcard ? `*.${name}` : name)
}

const reason = <A>(result: Result.Result<A, NetAddress.NetAddressError>): Result.Result<A, string> =>
  Result.mapError(result, (error) => error.message)

/** Treats an IPv4-mapped address as IPv4, like the operating system. */
const parseAddress = (text: string): NetAddress.IpAddress | undefined => {
  const parsed = NetAddress.ipFromString(text)
  return Result.isSuccess(parsed) ? NetAddress.toCanonical(parsed.success) : undefined
}

/** Normalizes an entry in IPv4-mapped form, which would never match. */
const asWritten = (network: IpNetwork.IpNetwork): Entry =>
  NetAddress.isIpv6Address(network.address) && NetAddress.isIpv4Mapped(network.address)
    ? Result.fail("write IPv4 addresses and networks in dotted form")
    : Result.succeed(network)

const only = (address: NetAddress.IpAddress): IpNetwork.IpNetwork =>
  IpNetwork.makeUnsafe(address, NetAddress.width(address))

const opensHost = (policy: EgressPolicy, host: string): boolean =>
  policy.hosts.some((entry) => entry.startsWith("*.") ? host.endsWith(entry.slice(1)) : host === entry)

/** Whether the operator allowed this host or literal address; public literals need no entry. */
export const isOpenedHost = (hostname: string, policy: EgressPolicy): boolean => {
  const host = hostname.replace(/^\[|\]$|\.$/g, "")
  const literal = parseAddress(host)
  return literal === undefined ? opensHost(policy, host) : isListed(literal, policy)
}

const mayName = (host: string, policy: EgressPolicy): boolean => {
  const literal = parseAddress(host)
  if (literal !== undefined) return mayReach(literal, policy, false)
  return Host.isDomainName(host) && !Host.isFullyQualified(host) && host.includes(".") && !innerNames.test(host)
}

const mayReach = (address: NetAddress.IpAddress, policy: EgressPolicy, privateOpened: boolean): boolean => {
  if (isListed(address, policy)) return true
  const carried = carriedIpv4(address)
  if (carried !== undefined) return mayReach(carried, policy, privateOpened)
  if (isIn(metadata, address)) return false
  return isPublic(address) || privateOpened && isIn(privateUse, address)
}

const isListed = (address: NetAddress.IpAddress, policy: EgressPolicy): boolean => {
  const carried = carriedIpv4(address)
  if (carried !== undefined && isListed(carried, policy)) return true
  const exactly = isIn(metadata, carried ?? address)
  return policy.networks.some((network) =>
    IpNetwork.contains(network, address) && (!exactly || network.prefixLength === NetAddress.width(address))
  )
}

/** The IPv4 address behind a NAT64 address. Networks with only IPv6 reach public IPv4 receivers this way. */
const carriedIpv4 = (address: NetAddress.IpAddress): NetAddress.Ipv4Address | undefined => {
  if (NetAddress.isIpv4Address(address) || !IpNetwork.contains(nat64, address)) return undefined
  return NetAddress.ipv4FromBytesUnsafe(Uint8Array.from(NetAddress.ipv6ToOctets(address).slice(12)))
}

const isPublic = (address: NetAddress.IpAddress): boolean =>
  NetAddress.isIpv4Address(address)
    ? !isIn(notPublicIpv4, address)
    : IpNetwork.contains(globalUnicast, address) && !isIn(notPublicIpv6, address)

const isIn = (networks: ReadonlyArray<IpNetwork.IpNetwork>, address: NetAddress.IpAddress): boolean =>
  networks.some((network) => IpNetwork.contains(network, address))

/** Below 1024 only 80 and 443; above, no ports of databases, brokers and control planes. */
const isPublicPort = (port: string): boolean => {
  const number = port === "" ? 443 : Number(port)
  return number === 80 || number === 443 || number >= 1024 && !serverPorts.has(number)
}

const serverPorts: ReadonlySet<number> = new Set([
  1080, 1433, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 3128, 3306, 3389, 3659, 4045, 4190,
  4369, 5060, 5061, 5432, 5433, 5672, 5900, 5984, 5985, 5986, 6000, 6379, 6380, 6443, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 8086, 8500, 8600, 9042, 9092, 9100, 9160, 9200, 9300, 10080, 10250, 10255, 11211, 15672, 25672, 26379,
  27017, 27018, 27019, 28015
])

/** Names that resolve only inside a network, and public names of metadata services. */
const innerNames =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|corp|home|private|home\.arpa|metadata\.goog|metadata\.tencentyun\.com)$/

const all = (...texts: ReadonlyArray<string>): ReadonlyArray<IpNetwork.IpNetwork> =>
  texts.map(IpNetwork.fromStringUnsafe)

const globalUnicast = IpNetwork.fromStringUnsafe("2000::/3")
const nat64 = IpNetwork.fromStringUnsafe("64:ff9b::/96")

/** Metadata services of cloud providers, which return credentials. Azure's and Oracle's are not in a private range. */
const metadata = all(
  "168.63.129.16/32", "169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "100.100.100.200/32",
  "192.0.0.192/32", "fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128", "fd00:42::42/128"
)

/** Non-public addresses that an allowed host name may resolve to. */
const privateUse = all(
  "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "::1/128", "fc00::/7"
)

/** IANA special-purpose registry, multicast, reserved, and the 6to4 relays. */
const notPublicIpv4 = all(
  "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
  "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"
)

/**
 * Inside global unicast: protocol assignments with Teredo, documentation, and 6to4. Everything outside it (loopback,
 * IPv4-compatible, translated `::ffff:0:0:0/96`, local NAT64, unique local, link local, site local, multicast) is not
 * public anyway.
 */
const notPublicIpv6 = all("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
