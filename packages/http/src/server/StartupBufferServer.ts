/**
 * A `node:http` server that loses no request at startup or shutdown: requests between listening and readiness wait, and
 * requests while stopping get 503. The requests of a connection are answered one after the other. With `maxConnections`, connections without a
 * request, and those that do not end one that was answered, take at most half of it.
 */
import { type IncomingMessage, Server, STATUS_CODES, type ServerOptions, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { problemContentType, problemDetails } from "../shared/ProblemDetails.ts"
import { instanceOf } from "../shared/CorrelationId.ts"
import { expectationFailed, hostMissing, type Refused, stopping } from "../shared/Refused.ts"

/** Maximum number of held requests; further ones are asked to retry. */
const maxHeld = 1024

/** While connections are refused, idle ones are closed this often. */
const closeIdleMillis = 100

/** Requests of a connection that wait for the answer to an earlier one. The connection is not read when it has as many. */
const mostAhead = 100

/** The bytes that were read may hold more. A connection with more than this is closed: a request that waits takes 3 KB, which may be a hundred times what was sent for it. */
const mostAheadInBytesRead = 500

/** An answer that its caller has not read for this long may be given up for a new connection. */
const unreadMillis = 10_000

/** What a connection asked for while an earlier request of it is answered: all at once, the answers would fill memory although nobody reads them. */
interface Pipeline {
  isAnswering: boolean
  /** What is answered, or was answered last. */
  request: IncomingMessage
  response: ServerResponse
  readonly ahead: Array<() => void>
  /** The bytes behind the requests are none. */
  isBroken: boolean
}

/** Pass it to the code that attaches a `request` listener. `close()` starts the shutdown: requests in flight finish, new ones get 503. */
export const createStartupBufferServer = (options: ServerOptions = {}): Server => new StartupBufferServer(options)

class StartupBufferServer extends Server {
  #held: Array<readonly [IncomingMessage, ServerResponse]> = []
  /** With the times at which they began, the oldest first. */
  #running = new Map<ServerResponse, number>()
  #pipelines = new WeakMap<Socket, Pipeline>()
  #stopping = false
  /** Connections whose first request has not arrived, or the rest of one that was answered, the oldest first. */
  #silent = new Set<Socket>()
  #idleClosedAt = -Infinity

  constructor(options: ServerOptions) {
    // Node answers a request without a host, and one with another expectation, without a body.
    // It would also keep the first of two `Authorization` headers, where a proxy may have checked the other.
    super({ ...options, requireHostHeader: false, joinDuplicateHeaders: true })
    super.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => void refuse(response, expectationFailed))
    super.on("newListener", (event: string) => {
      // The listener is attached right after this event.
      if (event === "request") setImmediate(() => this.#release())
    })
    super.on("clientError", (error: BrokenRequest, socket: Socket) => this.#answerBroken(error, socket))
    super.on("connection", (socket: Socket) => {
      socket.once("close", () => this.#silent.delete(socket))
      this.#addSilent(socket)
    })
    super.on("drop", () => {
      if (!this.#closeOldestSilent()) this.#closeIdle()
    })
  }

  /** A caller without credentials could otherwise hold all connections and never send a request, or never the body that it announced. */
  #addSilent(socket: Socket): void {
    this.#silent.add(socket)
    if (this.#silent.size > this.maxConnections / 2) this.#closeOldestSilent()
  }

  /** Goes through all connections, so a flood of refused ones must not make it do so each time. */
  #closeIdle(): void {
    const now = performance.now()
    if (now - this.#idleClosedAt < closeIdleMillis) return
    this.#idleClosedAt = now
    this.closeIdleConnections()
    for (const [response, begunAt] of this.#running) {
      if (now - begunAt < unreadMillis) return
      if (response.writableEnded) response.destroy()
    }
  }

  override emit(event: string, ...args: ReadonlyArray<never>): boolean {
    if (event !== "request" && event !== "checkContinue") return super.emit(event, ...args)
    const [request, response] = args as unknown as readonly [IncomingMessage, ServerResponse]
    const { socket } = request
    const pipeline = this.#pipelines.get(socket)
    if (pipeline === undefined) {
      this.#beginFirst(event, request, response)
      return true
    }
    if (!pipeline.isAnswering) return this.#begin(event, request, response, pipeline)
    pipeline.ahead.push(() => this.#begin(event, request, response, pipeline))
    if (pipeline.ahead.length > mostAheadInBytesRead) {
      pipeline.ahead.length = 0
      socket.destroy()
    } else if (pipeline.ahead.length === mostAhead) socket.pause()
    return true
  }

  /**
   * Begins the first request of a connection, unless its caller has left. During a flood a connection waits before it is accepted, and a caller who
   * gives up then has sent a request as well as its end, which Node reads in the next turn of the event loop.
   */
  #beginFirst(event: string, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const pipeline: Pipeline = { isAnswering: true, request, response, ahead: [], isBroken: false }
    this.#pipelines.set(socket, pipeline)
    // Node reads on whenever it has discarded the body of a request that was answered
    socket.on("resume", () => {
      if (pipeline.ahead.length >= mostAhead) socket.pause()
    })
    this.#silent.delete(socket)
    setImmediate(() => setImmediate(() => {
      if (socket.writable) this.#begin(event, request, response, pipeline)
    }))
  }

  #begin(event: string, request: IncomingMessage, response: ServerResponse, pipeline: Pipeline): boolean {
    const { socket } = request
    this.#silent.delete(socket)
    pipeline.isAnswering = true
    pipeline.request = request
    pipeline.response = response
    response.once("close", () => {
      this.#running.delete(response)
      pipeline.isAnswering = false
      const next = pipeline.ahead.shift()
      if (socket.destroyed) return
      if (!request.complete) this.#addSilent(socket)
      if (pipeline.ahead.length === mostAhead - 1) socket.resume()
      next?.()
    })
    return this.#answer(event, request, response)
  }

  /** After the answers to the requests before it: in the middle of one, its bytes would be taken for those of the other. */
  #answerBroken(error: BrokenRequest, socket: Socket): void {
    const pipeline = this.#pipelines.get(socket)
    if (!socket.writable || error.code === "ECONNRESET" || pipeline?.isAnswering !== true) return answerBrokenRequest(error, socket)
    if (!pipeline.request.complete) {
      // what is broken is the body of the request itself
      if (pipeline.response.headersSent) socket.destroy(error)
      else answerBrokenRequest(error, socket)
    } else if (!pipeline.isBroken) {
      pipeline.isBroken = true
      pipeline.ahead.push(() => answerBrokenRequest(error, socket))
    }
  }

  #answer(event: string, request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#stopping) return refuse(response, stopping)
    if (request.headers.host === undefined && request.httpVersion === "1.1") return refuse(response, hostMissing)
    if (event === "request" && this.listenerCount("request") === 0) {
      if (this.#held.length >= maxHeld) return refuse(response, stopping)
      this.#held.push([request, response])
      return true
    }
    this.#running.set(response, performance.now())
    return super.emit(event, ...[request, response] as unknown as ReadonlyArray<never>)
  }

  override close(callback?: (error?: Error) => void): this {
    this.#stopping = true
    // A keep-alive connection would outlive the last response and delay the shutdown.
    for (const response of this.#running.keys()) if (!response.headersSent) response.shouldKeepAlive = false
    for (const [, response] of this.#held.splice(0)) refuse(response, stopping)
    return super.close(callback)
  }

  #closeOldestSilent(): boolean {
    const [oldest] = this.#silent
    if (oldest === undefined) return false
    this.#silent.delete(oldest)
    oldest.destroy()
    return true
  }

  #release(): void {
    for (const [request, response] of this.#held.splice(0)) {
      if (!response.destroyed) this.#answer("request", request, response)
    }
  }
}

const refuse = (response: ServerResponse, { problem }: Refused): true => {
  const body = problemDetails.write(problem, instanceOf(crypto.randomUUID()))
  response.writeHead(problem.status, { ...problem.headers, "content-type": problemContentType, "content-length": Buffer.byteLength(body) })
  response.end(body)
  return true
}

/** Malformed requests do not get past Node's parser. */
type BrokenRequest = Error & { readonly code?: string }

const answerBrokenRequest = (error: BrokenRequest, socket: Socket): void => {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy(error)
    return
  }
  const problem = error.code === "HPE_HEADER_OVERFLOW"
    ? { status: 431, code: "headers_too_large", detail: "Method, path and headers are too large. Send less." }
    : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
    ? { status: 408, code: "request_too_slow", detail: "The request did not arrive in time. Send it again." }
    : { status: 400, code: "malformed_request", detail: "The bytes are not an HTTP request." }
  const body = problemDetails.write(problem, instanceOf(crypto.randomUUID()))
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\nconnection: close\r\ncontent-type: ${problemContentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}
