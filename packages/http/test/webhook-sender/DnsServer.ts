/** A DNS server on loopback that knows a few names. */
import { createSocket } from "node:dgram"
import { Effect, type Scope } from "effect"

/** The addresses of a name by kind. `silence`: the query gets no answer. Unknown names do not exist. */
export type DnsZone = Readonly<Record<string, { readonly a?: ReadonlyArray<string> | "silence"; readonly aaaa?: ReadonlyArray<string> | "silence" }>>

export interface DnsServer {
  /** As `NameResolver` takes it. */
  readonly address: string
  /** Names that were asked for, with the kind of address. */
  readonly asked: ReadonlyArray<string>
}

export const makeDnsServer = (zone: DnsZone): Effect.Effect<DnsServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const asked: Array<string> = []
    const socket = yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createSocket>>((resume) => {
        const socket = createSocket("udp4")
        socket.bind(0, "127.0.0.1", () => resume(Effect.succeed(socket)))
      }),
      (socket) => Effect.callback<void>((resume) => void socket.close(() => resume(Effect.void)))
    )
    socket.on("message", (query, { address, port }) => {
      const { end, kind, name } = questionOf(query)
      asked.push(`${name} ${kind}`)
      const found = zone[name]
      const addresses = found?.[kind] ?? []
      if (addresses !== "silence") socket.send(answerOf(query, end, kind, addresses, found !== undefined), port, address)
    })
    return { address: `127.0.0.1:${socket.address().port}`, asked }
  })

const headerBytes = 12

const questionOf = (query: Buffer) => {
  const labels: Array<string> = []
  let at = headerBytes
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join(".").toLowerCase(), kind: query.readUInt16BE(at + 1) === 28 ? "aaaa" as const : "a" as const, end: at + 5 }
}

const answerOf = (query: Buffer, end: number, kind: "a" | "aaaa", addresses: ReadonlyArray<string>, exists: boolean): Buffer => {
  const head = Buffer.from(query.subarray(0, end))
  // A response, recursion available; NXDOMAIN.
  head.writeUInt16BE(exists ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...addresses.map((address) => recordOf(kind, address))])
}

/** The name is that of the question; valid for a minute. */
const recordOf = (kind: "a" | "aaaa", address: string): Buffer => {
  const bytes = kind === "a" ? Buffer.from(address.split(".").map(Number)) : Buffer.from(address.split(":").map((group) => group.padStart(4, "0")).join(""), "hex")
  const record = Buffer.from([0xc0, headerBytes, 0, kind === "a" ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, bytes.length])
  return Buffer.concat([record, bytes])
}
