/** Stands before the service, and before the receiver of its deliveries, and breaks one thing: what a mutant says. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Fixtures } from "../../src/api/Fixtures.ts"

type Json = any

export interface Call {
  readonly method: string
  /** With the area's prefix, such as `/visibility/v1/events`. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Delivery {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Mutation {
  /** Changes a call before the service sees it, or answers it instead of the service. */
  readonly call?: (call: Call, fixtures: Fixtures) => Call | Reply
  readonly answer?: (reply: Reply, call: Call, fixtures: Fixtures) => Reply
  /** `swallow`: the service believes that it was accepted. */
  readonly delivery?: (delivery: Delivery, nth: number) => Delivery | "swallow"
  /** What the service gets as the receiver's status; 0 is a connection that was cut. */
  readonly receiverStatus?: (status: number) => number
}

export const jsonReply = (status: number, json: Json, type = "application/json"): Reply => ({ status, headers: { "content-type": type }, body: json === undefined ? "" : JSON.stringify(json) })

/** Members of requests and answers that belong to one connection. */
const hopByHop = new Set(["host", "connection", "content-length", "transfer-encoding", "keep-alive", "expect", "content-encoding"])

const headersOf = (entries: Iterable<readonly [string, string | ReadonlyArray<string> | undefined]>): Record<string, string> =>
  Object.fromEntries(Array.from(entries).filter(([name, value]) => !hopByHop.has(name) && value !== undefined).map(([name, value]) => [name, String(value)]))

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

interface Broken {
  readonly mutation: Mutation
  readonly serviceUrl: string
}

interface Bound {
  readonly fixtures: Fixtures
  readonly receiverPort: number
}

interface Route extends Broken {
  /** Set before the first call. */
  bound: Bound | undefined
  deliveries: number
}

const forward = async (url: string, { body, headers, method }: { readonly method: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }): Promise<Reply> => {
  const response = await fetch(url, { method, headers, ...(body === "" ? {} : { body }), redirect: "manual" })
  return { status: response.status, headers: headersOf(response.headers), body: await response.text() }
}

const served = async ({ bound, mutation, serviceUrl }: Route, call: Call): Promise<Reply> => {
  const { fixtures } = bound!
  const changed = mutation.call?.(call, fixtures) ?? call
  if ("status" in changed) return changed
  const query = changed.query.toString()
  const reply = await forward(`${serviceUrl}${changed.path}${query === "" ? "" : `?${query}`}`, changed)
  return mutation.answer?.(reply, changed, fixtures) ?? reply
}

const delivered = async (route: Route, path: string, delivery: Delivery): Promise<Reply> => {
  const { bound, mutation } = route
  const changed = mutation.delivery?.(delivery, route.deliveries++) ?? delivery
  if (changed === "swallow") return { status: 200, headers: {}, body: "" }
  const reply = await forward(`http://127.0.0.1:${bound!.receiverPort}${path}`, { method: "POST", ...changed }).catch(() => ({ status: 0, headers: {}, body: "" }))
  return { ...reply, status: mutation.receiverStatus?.(reply.status) ?? reply.status }
}

export interface MutatingProxy {
  /** The addresses of one mutant: of the service, and of the receiver. */
  readonly add: (broken: Broken) => { readonly url: string; readonly receiverUrl: string; readonly bind: (bound: Bound) => void }
  readonly close: () => void
}

export const startMutatingProxy = async (): Promise<MutatingProxy> => {
  const routes: Array<Route> = []
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url!, "http://proxy")
    const [, index, ...rest] = url.pathname.split("/")
    const route = routes[Number(index)]!
    const headers = headersOf(Object.entries(request.headers))
    const body = await bodyOf(request)
    const reply = rest[0] === "deliveries"
      ? await delivered(route, `/${rest.slice(1).join("/")}`, { headers, body })
      : await served(route, { method: request.method!, path: `/${rest.join("/")}`, query: url.searchParams, headers, body })
    if (reply.status === 0) return void request.socket.destroy()
    response.writeHead(reply.status, reply.headers).end(reply.body)
  }
  // a check on a busy machine may pause for longer than the default of five seconds
  const server: Server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => void serve(request, response).catch((error: unknown) => void response.writeHead(599).end(String(error))))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    add: (broken) => {
      const route: Route = { ...broken, bound: undefined, deliveries: 0 }
      const url = `${base}/${routes.push(route) - 1}`
      return { url, receiverUrl: `${url}/deliveries`, bind: (bound) => void (route.bound = bound) }
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
