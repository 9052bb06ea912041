/** The addresses of the operating system's hosts file, read again when the file changes. */
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { isIP } from "node:net"

export const systemHostsFile = process.platform === "win32"
  ? join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", "drivers", "etc", "hosts")
  : "/etc/hosts"

/**
 * The file is read synchronously: it is small, and asynchronous reads use the threads that names which do not resolve may
 * occupy.
 */
export class HostsFile {
  readonly #file: WatchedFile
  #addresses: ReadonlyMap<string, ReadonlyArray<string>> = new Map()

  constructor(path: string) {
    this.#file = new WatchedFile(path)
  }

  /** All addresses of the name, in lower case, in the file's order. Empty if the file does not have it or cannot be read. */
  addressesOf(hostname: string): ReadonlyArray<string> {
    if (this.#file.hasChanged()) this.#addresses = parseHosts(this.#file.read())
    return this.#addresses.get(hostname) ?? []
  }
}

/** Whether a file has changed, by its time and size. A file that does not exist is empty. */
export class WatchedFile {
  readonly #path: string
  #version: string | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Since the last call; at the first call always. */
  hasChanged(): boolean {
    const version = this.#stat()
    const changed = version !== this.#version
    this.#version = version
    return changed
  }

  #stat(): string {
    try {
      const { ino, mtimeNs, size } = statSync(this.#path, { bigint: true })
      return `${ino} ${size} ${mtimeNs}`
    } catch {
      return ""
    }
  }

  read(): string {
    try {
      return readFileSync(this.#path, "utf8")
    } catch {
      // it is there, and cannot be read now: without a free file descriptor, for example
      if (this.#version !== "") this.#version = undefined
      return ""
    }
  }
}

const parseHosts = (text: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const addresses = new Map<string, Array<string>>()
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, "")
      const known = addresses.get(key)
      if (known === undefined) addresses.set(key, [address])
      else if (!known.includes(address)) known.push(address)
    }
  }
  return addresses
}
