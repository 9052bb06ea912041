/** Mounts the service in `node:http`, Express, or wherever else handlers take `(req, res)`. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { ReadableStream as NodeReadableStream } from "node:stream/web"
import { problemDetails } from "../shared/ProblemDetails.ts"
import { instanceOf } from "../shared/CorrelationId.ts"
import type { Waybill } from "./Waybill.ts"

/** What frameworks add to Node's own request. */
export interface NodeRequest extends IncomingMessage {
  /** Express: the part of the path that was matched before. */
  readonly baseUrl?: string
  readonly originalUrl?: string
  /** Express: the caller's address, as its `trust proxy` setting has it. */
  readonly ip?: string | undefined
  /** The body's bytes, kept by whoever read it. */
  readonly rawBody?: Uint8Array | string
}

export const bodyWasRead =
  "Something read this request's body before Waybill could, most likely express.json() or another body parser. " +
  "Mount toNodeHandler(waybill) before the parser, or let the parser keep the bytes: " +
  "express.json({ verify: (req, _res, bytes) => { req.rawBody = bytes } })."

/**
 * A handler for `(req, res)`.
 *
 * The body must not have been read, unless `req.rawBody` has its bytes: what was parsed cannot be put together again.
 * Otherwise the answer is 500, and `next`, or a warning of the process, says what to do.
 */
export const toNodeHandler = (waybill: Pick<Waybill, "handler">) =>
(req: NodeRequest, res: ServerResponse, next?: (error?: unknown) => void): void => {
  const body = bodyOf(req)
  if (body === "lost") {
    const error = new Error(bodyWasRead)
    if (next !== undefined) return next(error)
    process.emitWarning(error)
    return writeLost(res)
  }
  const aborted = new AbortController()
  res.once("close", () => {
    if (!res.writableFinished) aborted.abort()
  })
  const secure = "encrypted" in req.socket && req.socket.encrypted === true
  let request: Request
  try {
    request = new Request(`${secure ? "https" : "http"}://${hostOf(req.headers.host ?? req.headers[":authority"])}${pathOf(req.originalUrl ?? req.url)}`, {
      method: req.method ?? "GET",
      headers: headersOf(req),
      signal: aborted.signal,
      ...(body === undefined ? {} : { body, duplex: "half" })
    } as RequestInit)
  } catch {
    // methods that `Request` does not know, such as TRACE
    res.writeHead(405, { allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", "content-length": 0 }).end()
    return
  }
  waybill.handler(request, { mountPath: req.baseUrl ?? "", remoteAddress: req.ip ?? req.socket.remoteAddress }).then((response) => write(res, response)).catch((error: unknown) => {
    if (next !== undefined && !res.headersSent) next(error)
    else res.destroy()
  })
}

const bodyOf = (req: NodeRequest): Uint8Array | ReadableStream<Uint8Array> | undefined | "lost" => {
  const declared = req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0
  if (!declared || req.method === "GET" || req.method === "HEAD") return undefined
  if (req.rawBody !== undefined) return typeof req.rawBody === "string" ? new TextEncoder().encode(req.rawBody) : req.rawBody
  return req.readableDidRead || req.readableEnded ? "lost" : lazily(req)
}

/** Reads nothing until somebody wants it, so that what is refused at its headers leaves the rest to Node. */
const lazily = (req: IncomingMessage): ReadableStream<Uint8Array> => {
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
    }
  }, { highWaterMark: 0 })
}

const hostOf = (host: string | ReadonlyArray<string> | undefined): string => typeof host === "string" && /^[\w.:[\]-]+$/.test(host) && URL.canParse(`http://${host}`) ? host : "localhost"

/** Absolute and other forms of targets are left to Node's own parser and to the service's 404. */
const pathOf = (target: string | undefined): string => {
  if (target === undefined || target === "*") return "/"
  return target.startsWith("/") ? target : target.replace(/^[a-z]+:\/\/[^/?#]*/i, "") || "/"
}

const headersOf = (req: IncomingMessage): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) {
    // HTTP/2 puts method and target among the headers
    if (name.startsWith(":")) continue
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) headers.append(name, each)
  }
  return headers
}

const write = async (res: ServerResponse, response: Response): Promise<void> => {
  res.statusCode = response.status
  response.headers.forEach((value, name) => {
    // HTTP/2 has no such header, and Node refuses to send it
    if (name !== "connection" || res.req.httpVersionMajor === 1) res.setHeader(name, value)
  })
  if (response.body === null) {
    res.end()
    return
  }
  await pipeline(Readable.fromWeb(response.body as NodeReadableStream), res)
}

const writeLost = (res: ServerResponse): void => {
  const body = problemDetails.write(
    { status: 500, code: "body_already_read", title: "Internal server error", detail: bodyWasRead },
    instanceOf(crypto.randomUUID())
  )
  res.writeHead(500, { "content-type": problemDetails.contentType, "content-length": Buffer.byteLength(body) }).end(body)
}
