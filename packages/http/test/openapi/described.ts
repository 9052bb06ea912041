/** Handlers and servers whose responses are checked against an OpenAPI document. A disagreement fails the running test. */
import { expect, onTestFinished } from "vitest"
import { type ApiDescription, descriptionOf } from "./ApiDescription.ts"
import { jsonIn, maxSentBytes, recorded, recordedStream } from "./SentBody.ts"

/** Larger bodies, and accepted ones of unknown length, are streams that a test may want to read slowly. */
const maxReadBytes = 1024 * 1024

interface Call {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** The JSON that was sent, once the service has read it. */
  readonly sent: () => unknown
}

const check = async (description: ApiDescription, call: Call, response: Response): Promise<void> => {
  const { headers, status } = response
  const length = Number(headers.get("content-length") ?? (response.body === null || status >= 400 ? 0 : Infinity))
  const text = length <= maxReadBytes ? await response.clone().text() : undefined
  expect.soft(description.faultOf({ ...call, sent: call.sent(), status, headers, text })).toBeUndefined()
}

const targetOf = (url: string): string => url.replace(/^[a-z]+:\/\/[^/]*/, "").split("#", 1)[0]!

/** The three handlers of a service, checked against its description. */
export const describedHandlers = <W extends WaybillHandlers>(waybill: W, description: ApiDescription): W => {
  const described = (handler: WaybillHandlers["handler"]): WaybillHandlers["handler"] => async (request, options?: { readonly mountPath?: string; readonly target?: string }) => {
    const sent = recorded(request)
    const response = await handler(sent.request, options as never)
    const target = options?.target ?? targetOf(request.url)
    const mount = options?.mountPath?.replace(/\/$/, "") ?? ""
    await check(description, { method: request.method, target: target.startsWith(mount) ? target.slice(mount.length) : target, sent: sent.json }, response)
    return response
  }
  return {
    ...waybill,
    handler: described(waybill.handler),
    customerHandler: described(waybill.customerHandler),
    operatorHandler: described(waybill.operatorHandler)
  }
}

/** Servers and the documents that they serve, once they are read. */
const servers = new Map<string, Promise<ApiDescription> | undefined>()

/** Instead of each server's own address, so that servers with the same calls have the same document. */
const anyOrigin = "http://any.test"

const plainFetch = globalThis.fetch

/** Until the test ends, responses of this server to `fetch` are checked against the document that it serves. */
export const describeServer = (url: string): void => {
  const { origin } = new URL(url)
  servers.set(origin, undefined)
  globalThis.fetch = describedFetch
  onTestFinished(() => {
    servers.delete(origin)
    if (servers.size === 0) globalThis.fetch = plainFetch
  })
}

const describedFetch: typeof fetch = async (input, init) => {
  const url = input instanceof Request ? input.url : String(input)
  const { origin } = new URL(url)
  if (!servers.has(origin)) return plainFetch(input, init)
  const given = input instanceof Request && init?.body === undefined ? recorded(input) : { request: input, json: () => undefined }
  const streamed = init?.body instanceof ReadableStream ? recordedStream(init.body) : undefined
  const response = await plainFetch(given.request, streamed === undefined ? init : { ...init, body: streamed.body })
  const reading = servers.get(origin) ?? plainFetch(`${origin}/openapi.json`).then(async (answer) => descriptionOf((await answer.text()).replaceAll(origin, anyOrigin)))
  servers.set(origin, reading)
  const method = init?.method ?? (input instanceof Request ? input.method : "GET")
  await check(await reading, { method, target: targetOf(url), sent: streamed?.json ?? (() => init?.body === undefined ? given.json() : jsonOf(init.body)) }, response)
  return response
}

/** JSON that is sent as text or bytes, if it is. */
const jsonOf = (body: unknown): unknown => {
  if (typeof body === "string") return jsonIn(body)
  return body instanceof Uint8Array && body.byteLength <= maxSentBytes ? jsonIn(Buffer.from(body).toString("utf8")) : undefined
}
