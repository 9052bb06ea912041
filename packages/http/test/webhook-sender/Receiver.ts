/** A loopback receiver that writes raw bytes, so that it can misbehave in any way. */
import { Deferred, Effect, type Scope } from "effect"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { createServer as createTlsServer, type TlsOptions } from "node:tls"

/** One request with its complete body. */
export interface Received {
  readonly socket: Socket
  /** Request line and headers. */
  readonly head: string
  readonly body: Buffer
}

export interface Receiver {
  readonly port: number
  /** `http://127.0.0.1:<port>/hook`, or `https` */
  readonly url: string
  readonly requests: ReadonlyArray<Received>
  readonly sockets: ReadonlyArray<Socket>
  /** The first connection, even without data. */
  readonly connected: Effect.Effect<Socket>
  /** The first request. */
  readonly received: Effect.Effect<Received>
}

export interface ReceiverOptions {
  readonly tls?: TlsOptions
  /** Breaks the connection of a sender that wants to resume a TLS session. */
  readonly resumesNone?: boolean
  /** Accepts connections but never sends data, not even for a TLS handshake. */
  readonly silent?: boolean
  readonly address?: string
  readonly port?: number
}

/** Answers every request with `answer`, which gets the number of requests before it; closed with the scope. */
export const makeReceiver = (
  answer: (received: Received, index: number) => void = ({ socket }) => ok(socket),
  { address = "127.0.0.1", port = 0, resumesNone = false, silent = false, tls }: ReceiverOptions = {}
): Effect.Effect<Receiver, never, Scope.Scope> =>
  Effect.gen(function*() {
    const requests: Array<Received> = []
    const sockets: Array<Socket> = []
    const connected = yield* Deferred.make<Socket>()
    const received = yield* Deferred.make<Received>()
    const accept = (socket: Socket) => {
      socket.on("error", () => {})
      if (silent) return
      listen(socket, (request) => {
        requests.push(request)
        answer(request, requests.length - 1)
        Deferred.doneUnsafe(received, Effect.succeed(request))
      })
    }
    const server = yield* Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const server: Server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept)
        server.on("connection", (socket: Socket) => {
          sockets.push(socket)
          socket.on("error", () => {})
          Deferred.doneUnsafe(connected, Effect.succeed(socket))
        })
        server.on("tlsClientError", () => {})
        if (resumesNone) breakResumption(server)
        server.listen(port, address, () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const socket of sockets) socket.destroy()
        })
    )
    const listening = (server.address() as AddressInfo).port
    return {
      port: listening,
      url: `${tls === undefined ? "http" : "https"}://${address}:${listening}/hook`,
      requests,
      sockets,
      connected: Deferred.await(connected),
      received: Deferred.await(received)
    }
  })

const breakResumption = (server: Server): void => {
  const begun = new Set<string>()
  server.on("newSession", (id: Buffer, _data: Buffer, done: () => void) => {
    begun.add(id.toString("hex"))
    done()
  })
  // a first connection has an id too, which no server gave
  server.on("resumeSession", (id: Buffer, done: (error: Error | null, data: null) => void) => done(begun.has(id.toString("hex")) ? new Error("No session is resumed.") : null, null))
}

/** A plain 200 that keeps the connection. */
export const ok = (socket: Socket, body = "ok"): void => {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

/** Waits until the other side closed the socket. */
export const closed = (socket: Socket): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (socket.destroyed) return resume(Effect.void)
    socket.once("close", () => resume(Effect.void))
  })

const listen = (socket: Socket, each: (request: Received) => void): void => {
  let pending = Buffer.alloc(0)
  let chunks: Array<Buffer> = []
  let missing = 0
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk)
    missing -= chunk.length
    if (missing > 0) return
    pending = Buffer.concat([pending, ...chunks])
    chunks = []
    for (;;) {
      const end = pending.indexOf("\r\n\r\n")
      if (end === -1) return
      const head = pending.toString("latin1", 0, end)
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
      missing = end + 4 + length - pending.length
      if (missing > 0) return
      const body = pending.subarray(end + 4, end + 4 + length)
      pending = pending.subarray(end + 4 + length)
      each({ socket, head, body })
    }
  })
}

/** A port that nothing listens on. */
export const closedPort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})
