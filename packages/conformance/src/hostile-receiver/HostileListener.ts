/** One port for one behaviour. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { startDeafListener } from "./DeafListener.ts"
import type { HostileRequest, HostileScript } from "./HostileBehaviour.ts"
import type { TestCertificates } from "./TestCertificates.ts"

export interface HostileListener {
  readonly port: number
  /** The requests read, in order; none with `reads: "nothing"`. */
  readonly requests: ReadonlyArray<HostileRequest>
  /** Connections in total, and open ones. */
  readonly connections: () => { readonly all: number; readonly open: number }
  readonly stop: () => Promise<void>
}

interface ListenerEnvironment {
  readonly certificates: TestCertificates
  readonly inside: string
}

export const host = "127.0.0.1"

export const startHostileListener = async (script: HostileScript, environment: ListenerEnvironment): Promise<HostileListener> => {
  script.prepare?.()
  if (script.deaf === true) {
    const { port, stop } = await startDeafListener(host)
    return { port, stop, requests: [], connections: () => ({ all: 0, open: 0 }) }
  }
  const requests: Array<HostileRequest> = []
  const serve = connectionHandler(script, environment, requests)
  const { tls } = script
  const options = typeof tls === "function" ? tls(environment.certificates) : environment.certificates.good
  if (tls === "slowly") {
    const quick = await listen(createTlsServer(options, serve))
    const slow = await listen(createServer({ allowHalfOpen: true }, (socket) => forwardSlowly(socket, quick.port)))
    return { ...slow, requests, stop: async () => void await Promise.all([slow.stop(), quick.stop()]) }
  }
  const server = typeof tls === "function" ? createTlsServer(options, serve) : createServer({ allowHalfOpen: true }, serve)
  return { ...await listen(server), requests }
}

/** Starts the listener and counts its connections. */
export const listen = async (server: Server, { address = host, port = 0 } = {}): Promise<Omit<HostileListener, "requests">> => {
  const open = new Set<Socket>()
  let all = 0
  server.on("connection", (socket: Socket) => {
    all += 1
    open.add(socket)
    socket.on("error", () => {}).once("close", () => open.delete(socket))
  })
  server.on("tlsClientError", () => {})
  await new Promise<void>((done, failed) => server.once("error", failed).listen({ port, host: address, backlog: 1024 }, done))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => ({ all, open: open.size }),
    stop: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        for (const socket of open) socket.destroy()
      })
  }
}

const connectionHandler = (script: HostileScript, { inside }: ListenerEnvironment, requests: Array<HostileRequest>) => (socket: Socket): void => {
  // ignore errors of aborted connections
  socket.on("error", () => {})
  script.onConnection?.(socket)
  if (script.reads === "nothing") {
    // closing with unread bytes would reset the connection; with `never` the script itself waits for the first bytes
    if (script.onConnection === undefined) socket.pause()
    else if (script.tls !== "never") socket.resume()
    return
  }
  socket.once("end", () => setImmediate(() => socket.end()))
  let beforeHere = 0
  readRequests(socket, script.reads === "head", (request) => {
    const exchange = { socket, request, before: requests.length, beforeHere: beforeHere++, inside }
    requests.push(request)
    script.onRequest?.(exchange)
  })
}

/** Calls `each` for each request, or for each head, after which nothing is read any more. */
const readRequests = (socket: Socket, headsOnly: boolean, each: (request: HostileRequest) => void): void => {
  let pending: Array<Buffer> = []
  let missing = 0
  socket.on("data", (chunk: Buffer) => {
    pending.push(chunk)
    missing -= chunk.length
    if (missing > 0) return
    let bytes = Buffer.concat(pending)
    for (;;) {
      const end = bytes.indexOf("\r\n\r\n")
      if (end === -1) break
      const head = bytes.toString("latin1", 0, end)
      const length = headsOnly ? 0 : Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? 0)
      missing = end + 4 + length - bytes.length
      if (missing > 0) break
      if (headsOnly) socket.pause()
      each({ head, body: bytes.subarray(end + 4, end + 4 + length) })
      bytes = headsOnly ? Buffer.alloc(0) : bytes.subarray(end + 4 + length)
    }
    pending = [bytes]
  })
}

/** Forwards bytes in both directions between the connection and `port`. */
const forwardSlowly = (socket: Socket, port: number): void => {
  const upstream = connect({ port, host }).on("error", () => {})
  const answer: Array<number> = []
  socket.pipe(upstream)
  upstream.on("data", (chunk: Buffer) => answer.push(...chunk))
  const timer = setInterval(() => {
    const byte = answer.shift()
    if (byte !== undefined) socket.write(Uint8Array.of(byte))
  }, 20)
  socket.once("close", () => {
    clearInterval(timer)
    upstream.destroy()
  })
}
