/** Resolves names by the hosts file and by DNS, without the threads of the process. */
import { Resolver } from "node:dns/promises"
import { closeSync, openSync } from "node:fs"
import { devNull } from "node:os"
import { HostsFile, systemHostsFile, WatchedFile } from "./HostsFile.ts"

/** Resolves a name to all its addresses, in the order in which they are tried. Fails or is empty when there is none. */
export type ResolveName = (hostname: string) => Promise<ReadonlyArray<string>>

export interface NameResolverOptions {
  readonly hostsFile?: string
  /** DNS servers, as addresses with an optional port. Default: the system's. */
  readonly servers?: ReadonlyArray<string>
}

/** Timeout of one query to one server; doubles with each further attempt. */
const timeoutMillis = 2_000
const tries = 2

const resolverSettings = "/etc/resolv.conf"

/**
 * `dns.lookup` runs in one of the process's four threads until it ends: four names whose servers do not answer block all others, and
 * file access as well. Queries over DNS have no such limit.
 */
export class NameResolver {
  readonly #hosts: HostsFile
  readonly #settings = new WatchedFile(resolverSettings)
  readonly #servers: ReadonlyArray<string> | undefined
  #resolver: Resolver | undefined

  constructor({ hostsFile = systemHostsFile, servers }: NameResolverOptions = {}) {
    this.#hosts = new HostsFile(hostsFile)
    this.#servers = servers
  }

  /** IPv4 addresses first. Fails if neither kind of address was found. */
  async resolve(hostname: string): Promise<ReadonlyArray<string>> {
    const listed = this.#hosts.addressesOf(hostname)
    if (listed.length > 0) return listed
    if (hostname === "localhost") return ["127.0.0.1", "::1"]
    const resolver = this.#current()
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    if (four.status === "rejected" && six.status === "rejected") throw ownFailure() ?? four.reason
    return [...valueOf(four), ...valueOf(six)]
  }

  /** Ends queries that are still open. */
  close(): void {
    this.#resolver?.cancel()
  }

  /** A new resolver when the system's settings have changed, because one reads them only once. */
  #current(): Resolver {
    if (this.#settings.hasChanged() || this.#resolver === undefined) {
      this.#resolver = new Resolver({ timeout: timeoutMillis, tries })
      if (this.#servers !== undefined) this.#resolver.setServers(this.#servers)
    }
    return this.#resolver
  }
}

/** Without a free file descriptor no query is sent, and Node reports that as if the DNS servers had refused it. */
const ownFailure = (): unknown => {
  try {
    closeSync(openSync(devNull, "r"))
    return undefined
  } catch (error) {
    return error
  }
}

const valueOf = (result: PromiseSettledResult<ReadonlyArray<string>>): ReadonlyArray<string> => result.status === "fulfilled" ? result.value : []
