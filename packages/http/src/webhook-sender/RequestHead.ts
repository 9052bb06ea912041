/** Writes the request line and the headers of a POST. */
import { RecentMap } from "@waybill/core"

/** Headers that the sender or HTTP sets; a request must not override them. */
const reservedHeaders = new Set([
  "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "upgrade", "expect", "te",
  "trailer", "user-agent", "accept-encoding"
])

/** The part that all requests to one URL share, without its last line break. `host` has a port unless it is the scheme's own; both must be normalized by `URL`. */
export const sharedHead = (host: string, path: string, userAgent: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\nuser-agent: ${userAgent}\r\naccept-encoding: identity`

/** The head with these headers, in latin1, or `undefined` if a header cannot be written. Reserved headers are left out. */
export const requestHead = (shared: string, headers: Readonly<Record<string, string>>, bodyBytes: number): string | undefined => {
  let head = shared
  for (const name in headers) {
    const start = startOf(name)
    if (start === reserved) continue
    const value = headers[name]!
    if (start === undefined || !isHeaderValue(value)) return undefined
    head += start + value
  }
  return `${head}\r\ncontent-length: ${bodyBytes}\r\n\r\n`
}

/** Whether it has no line breaks, other control characters, and characters beyond latin1. */
export const isHeaderValue = (value: string): boolean => {
  // A regular expression takes three times as long.
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code < 0x20 ? code !== 0x09 : code > 0x7e && (code < 0x80 || code > 0xff)) return false
  }
  return true
}

/** Stands for the line of a reserved header. */
const reserved = ""

/** Beginnings of lines: most requests have the same few names. */
const knownStarts = new RecentMap<string>(256)

/** A header's line up to its value, behind the line before; undefined if the name cannot be written. */
const startOf = (name: string): string | undefined => {
  const known = knownStarts.get(name)
  if (known !== undefined) return known
  if (!/^[\w!#$%&'*+\-.^`|~]+$/.test(name)) return undefined
  const start = reservedHeaders.has(name.toLowerCase()) ? reserved : `\r\n${name}: `
  knownStarts.put(name, start)
  return start
}
