/** Mounts the service in `node:http`, Express, and other frameworks with `(req, res)` handlers. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { ReadableStream as NodeReadableStream } from "node:stream/web"
import { problemDetails } from "../shared/ProblemDetails.ts"
import { hostsNamed, usableHost } from "../shared/RequestHost.ts"
import { instanceOf } from "../shared/CorrelationId.ts"
import { checkMount, mountPathKind } from "../mounts/MountPath.ts"
import type { Waybill } from "./Waybill.ts"

/** Members that frameworks add to Node's request. */
export interface NodeRequest extends IncomingMessage {
  /** Express: the part of the path that was already matched. */
  readonly baseUrl?: string
  readonly originalUrl?: string
  /** Express: the caller's address, according to its `trust proxy` setting. */
  readonly ip?: string | undefined
  /** Bytes of the body, if another reader kept them. */
  readonly rawBody?: Uint8Array | string
  /** Bytes of the body after `express.raw()`. The output of other parsers cannot be used. */
  readonly body?: unknown
}

/** Where the handler is mounted. */
export interface NodeHandlerOptions {
  /** The mount path, such as `/freight`. Express provides it with `app.use("/freight", …)`. */
  readonly mountPath?: string
}

const bodyWasRead =
  "The request's body was read before Waybill got the request, most likely express.json() or another body parser. " +
  "Mount toNodeHandler(waybill) before the parser, or let the parser keep the bytes: " +
  "express.json({ verify: (req, _res, bytes) => Object.assign(req, { rawBody: bytes }) }), with Nest NestFactory.create(AppModule, { rawBody: true })."

/**
 * A handler for `(req, res)`.
 *
 * The body must be unread, unless `req.rawBody` contains its bytes: a parsed body cannot be restored. Otherwise the
 * response is 500, and `next`, or a process warning, explains the fix.
 */
export const toNodeHandler = (waybill: Pick<Waybill, "handler">, options: NodeHandlerOptions = {}) => {
  checkMount("toNodeHandler", waybill, options, { mountPath: mountPathKind })
  const { mountPath } = options
  return (req: NodeRequest, res: ServerResponse, next?: (error?: unknown) => void): void => {
    const body = bodyOf(req)
    if (body === "lost") {
      const error = new Error(bodyWasRead)
      if (next !== undefined) return next(error)
      process.emitWarning(error)
      return writeLost(res)
    }
    // without a length it may be either, and parsers keep no bytes that they cannot decode
    const isDecoded = body instanceof Uint8Array && Number(req.headers["content-length"]) !== body.byteLength
    const target = req.originalUrl ?? req.url
    const request = webRequestOf(req, { target, body, isDecoded, signal: abortSignalOf(res) })
    if (request === undefined) {
      res.writeHead(405, { allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", "content-length": 0 }).end()
      return
    }
    const reached = { mountPath: mountPath ?? req.baseUrl ?? "", remoteAddress: req.ip ?? req.socket.remoteAddress, host: req, target: unresolvedTargetOf(target) }
    // a handler of the host's own may throw, or answer without a promise
    const answered = async () => waybill.handler(request, reached)
    answered().then((response) => write(res, response)).catch((error: unknown) => {
      if (next !== undefined && !res.headersSent) next(error)
      else res.destroy()
    })
  }
}

/** Aborted when the caller leaves before it has the whole response. */
export const abortSignalOf = (res: ServerResponse): AbortSignal => {
  const aborted = new AbortController()
  res.once("close", () => {
    if (!res.writableFinished) aborted.abort()
  })
  return aborted.signal
}

interface WebRequestParts {
  /** Path and query as requested. */
  readonly target: string | undefined
  readonly body: Uint8Array | ReadableStream<Uint8Array> | undefined
  /** The host decompressed the body, so `content-encoding` and `content-length` no longer apply. */
  readonly isDecoded: boolean
  readonly signal: AbortSignal
}

/** `undefined` for methods that `Request` does not support, such as TRACE. */
export const webRequestOf = (req: IncomingMessage, { body, isDecoded, signal, target }: WebRequestParts): Request | undefined => {
  const headers = headersOf(req, target)
  if (isDecoded) for (const name of ["content-encoding", "content-length"]) headers.delete(name)
  const secure = "encrypted" in req.socket && req.socket.encrypted === true
  try {
    return new Request(`${secure ? "https" : "http"}://${usableHost(req.headers.host ?? req.headers[":authority"])}${pathOf(target)}`, {
      method: req.method ?? "GET",
      headers,
      signal,
      ...(body === undefined ? {} : { body, duplex: "half" })
    } as RequestInit)
  } catch {
    return undefined
  }
}

const bodyOf = (req: NodeRequest): Uint8Array | ReadableStream<Uint8Array> | undefined | "lost" => {
  if (!hasBody(req)) return undefined
  const kept = req.rawBody ?? (req.body instanceof Uint8Array ? req.body : undefined)
  if (kept !== undefined) return typeof kept === "string" ? new TextEncoder().encode(kept) : kept
  return wasRead(req) ? "lost" : streamOnDemand(req)
}

/** Requests of HTTP/2 have a `stream`, and may have a body without a header that says so. */
export const hasBody = ({ headers, method, stream }: IncomingMessage & { readonly stream?: { readonly endAfterHeaders?: boolean } }): boolean => {
  if (method === "GET" || method === "HEAD") return false
  const length = headers["content-length"]
  if (stream !== undefined && length === undefined) return stream.endAfterHeaders !== true
  return headers["transfer-encoding"] !== undefined || Number(length ?? 0) > 0
}

export const wasRead = (body: Readable): boolean => body.readableDidRead || body.readableEnded

/** Reads only on demand, so that Node discards the body of requests that are refused by their headers. */
export const streamOnDemand = (req: Readable): ReadableStream<Uint8Array> => {
  let chunks: AsyncIterator<Uint8Array> | undefined
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      chunks ??= req.iterator({ destroyOnReturn: false })
      const next = await chunks.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    cancel: async () => {
      await chunks?.return?.()
      // Node discards the rest only of a body that nobody began to read, and reads no further request of the connection before its end
      req.resume()
    }
  }, { highWaterMark: 0 })
}

/** Other forms of targets are left to Node's parser and to the service's 404. */
export const pathOf = (target: string | undefined): string => {
  if (target === undefined || target === "*") return "/"
  return target.startsWith("/") ? target : target.replace(/^[a-z]+:\/\/[^/?#]*/i, "") || "/"
}

/**
 * A target whose path a `Request` would change: its URL resolves dot segments and reads a backslash as a slash. The host's router has done neither, so a guard
 * of the host for one path could be passed by another path that becomes the same.
 */
export const unresolvedTargetOf = (target: string | undefined): string | undefined => {
  const path = pathOf(target)
  return /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path.split(/[?#]/, 1)[0]!) ? path : undefined
}

const headersOf = (req: IncomingMessage, target: string | undefined): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) {
    // HTTP/2 puts method and target into pseudo-headers.
    if (name.startsWith(":")) continue
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) headers.append(name, each)
  }
  // As lists, which the service refuses: Node keeps the first of these headers and ignores the others, which a proxy may have checked.
  const hosts = hostsNamed(req, target)
  if (hosts.length > 1) headers.set("host", hosts.join(", "))
  const credentials = req.headersDistinct?.["authorization"] ?? []
  if (credentials.length > 1) headers.set("authorization", credentials.join(", "))
  return headers
}

const write = async (res: ServerResponse, response: Response): Promise<void> => {
  // The caller has left, or the host has answered meanwhile, such as by a timeout. `pipeline` would leave the body with what it holds open.
  if (res.destroyed || res.headersSent) return await response.body?.cancel()
  res.statusCode = response.status
  response.headers.forEach((value, name) => {
    // HTTP/2 has no such header, and Node refuses to send it.
    if (name !== "connection" || res.req.httpVersionMajor === 1) res.setHeader(name, value)
  })
  if (response.body === null) {
    res.end()
    return
  }
  await pipeline(Readable.fromWeb(response.body as NodeReadableStream), res)
}

const writeLost = (res: ServerResponse): void => {
  const body = problemDetails.write({ status: 500, code: "body_already_read", detail: bodyWasRead }, instanceOf(crypto.randomUUID()))
  res.writeHead(500, { "content-type": problemDetails.contentType, "content-length": Buffer.byteLength(body) }).end(body)
}
