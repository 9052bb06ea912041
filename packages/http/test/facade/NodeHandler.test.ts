import { makeStorage } from "@waybill/core"
import { StorageMemory } from "@waybill/testkit"
import { once } from "node:events"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2"
import { connect } from "node:net"
import { afterAll, describe, expect, it } from "vitest"
import { createWaybill, type NodeRequest, toNodeHandler } from "../../src/index.ts"
import { listening } from "../listening.ts"
import { reportedEvent } from "../TestService.ts"

const waybill = createWaybill({
  storage: makeStorage({ layer: StorageMemory.layer, joined: () => (effect) => effect }),
  sealingKeys: [new Uint8Array(32)],
  authenticate: async () => ({ tenantId: "acme", client: "tms", roles: ["carrier"] }),
  log: () => {}
})
afterAll(() => waybill.stop())
await waybill.tenants.put("acme", { name: "Acme" })
await waybill.secrets.put("acme", "main", { anyClient: true })

const serve = (listener: RequestListener) => listening(createServer(listener))

const publish = (url: string) =>
  fetch(`${url}/intake/v1/transit-events`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ events: [reportedEvent("S1")] })
  })

/** Writes the bytes, and returns all that comes until the connection ends. */
const raw = (url: string, text: string) =>
  new Promise<string>((resolve) => {
    let answer = ""
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    socket.setEncoding("utf8").on("data", (chunk: string) => void (answer += chunk)).on("close", () => resolve(answer)).on("error", () => {})
    socket.write(text)
  })

/** Like express.json(): reads the body, parses it, and calls the next handler. */
const parseBody = async (req: IncomingMessage, keep: boolean) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  Object.assign(req, { body: bytes.length === 0 ? {} : JSON.parse(bytes.toString()) }, keep ? { rawBody: bytes } : {})
}

describe("toNodeHandler", () => {
  it("serves node:http", async () => {
    const url = await serve(toNodeHandler(waybill))
    expect(await (await publish(url)).json()).toMatchObject({ results: [{ result: "accepted" }] })
    const listed = await fetch(`${url}/visibility/v1/events?pageSize=1`)
    expect(listed.headers.get("link")).toContain(`<${url}/visibility/v1/events?`)
    const head = await fetch(`${url}/visibility/v1/events`, { method: "HEAD" })
    expect([head.status, await head.text()]).toEqual([200, ""])
    expect((await fetch(`${url}/nowhere`)).headers.get("content-type")).toBe("application/problem+json")
  })

  it("serves HTTP/2", async () => {
    const server = createHttp2Server(toNodeHandler(waybill) as never)
    const url = await listening(server)
    const session = connectHttp2(url)
    const send = async (path: string, method = "GET", body?: string) => {
      const stream = session.request({ ":path": path, ":method": method, "content-type": "application/json" }, { endStream: body === undefined })
      if (body !== undefined) stream.end(body)
      const [headers] = await once(stream, "response") as [Record<string, unknown>]
      let text = ""
      for await (const chunk of stream.setEncoding("utf8")) text += chunk
      return { status: headers[":status"], link: headers["link"], text }
    }
    const listed = await send("/visibility/v1/events")
    expect([listed.status, listed.link]).toEqual([200, expect.stringContaining(`<${url}/visibility/v1/events?`)])
    expect((await send(`/visibility/v1/events?shipmentId=${"x".repeat(9000)}`)).status).toBe(414)
    // without a content-length, which HTTP/2 does not need
    const subscription = JSON.stringify({ endpointUrl: "https://receiver.example/hook", hmacSecretId: "main" })
    const created = await send("/visibility/v1/subscriptions", "POST", subscription)
    expect(created.status).toBe(201)
    expect((await send(`/visibility/v1/subscriptions/${(JSON.parse(created.text) as { id: string }).id}`, "DELETE")).status).toBe(204)
    session.close()
  })

  it("keeps the prefix that a router removed, as Express does", async () => {
    const handler = toNodeHandler(waybill)
    const url = await serve((req, res) => {
      const inner = Object.assign(req, { originalUrl: req.url!, baseUrl: "/api/freight" })
      inner.url = req.url!.slice("/api/freight".length)
      handler(inner, res)
    })
    const created = await fetch(`${url}/api/freight/visibility/v1/subscriptions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ endpointUrl: "https://receiver.example/hook", hmacSecretId: "main" })
    })
    expect(created.status).toBe(201)
    expect(created.headers.get("location")).toMatch(new RegExp(`^${url}/api/freight/visibility/v1/subscriptions/`))
  })

  it("is refused without a service, when it is mounted and not at the first request", () => {
    expect(() => toNodeHandler(undefined as unknown as typeof waybill)).toThrow("toNodeHandler takes the service that createWaybill returned")
  })

  it("explains what to do when a parser consumed the body", async () => {
    const handler = toNodeHandler(waybill)
    const warnings: Array<Error> = []
    const onWarning = (warning: Error) => void warnings.push(warning)
    process.on("warning", onWarning)
    const url = await serve((req, res) => void parseBody(req, false).then(() => handler(req, res)))
    const answer = await publish(url)
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ code: "body_already_read", detail: expect.stringContaining("rawBody") })
    await new Promise((resolve) => setImmediate(resolve))
    process.off("warning", onWarning)
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining("before the parser")])
    // Requests without a body lose nothing.
    expect((await fetch(`${url}/visibility/v1/events`)).status).toBe(200)
  })

  it("passes the same error to `next` if there is one", async () => {
    const handler = toNodeHandler(waybill)
    const url = await serve((req, res) =>
      void parseBody(req, false).then(() => handler(req, res, (error) => res.writeHead(500).end(String(error)))))
    expect(await (await publish(url)).text()).toMatch(/^Error: The request's body was read before Waybill got the request/)
  })

  it("accepts the bytes that a parser kept", async () => {
    const handler = toNodeHandler(waybill)
    const url = await serve((req, res) => void parseBody(req, true).then(() => handler(req as NodeRequest, res)))
    expect(await (await publish(url)).json()).toMatchObject({ results: [{ result: "accepted" }] })
  })

  it("answers requests that cannot become a `Request`, and refuses large bodies without reading them", async () => {
    const url = await serve(toNodeHandler(waybill))
    expect(await raw(url, "TRACE / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).toMatch(/^HTTP\/1\.1 405 /)
    expect(await raw(url, "OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).toMatch(/^HTTP\/1\.1 404 /)
    expect(await raw(url, "GET /healthz HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n")).toMatch(/^HTTP\/1\.1 (200|400) /)
    expect(await raw(url, "POST /visibility/v1/subscriptions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 999999999\r\n\r\n{"))
      .toMatch(/^HTTP\/1\.1 413 /)
  })

  it("answers the next request of a connection after a body that was too large for the call", async () => {
    const url = await serve(toNodeHandler(waybill))
    const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`
    const answer = await raw(url, `POST /visibility/v1/subscriptions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["413", "200"])
  })

  it("passes on both of two Authorization headers, which the service refuses", async () => {
    const requests: Array<string | null> = []
    const url = await serve(toNodeHandler({
      handler: async ({ headers }) => {
        requests.push(headers.get("authorization"))
        return new Response()
      }
    }))
    await raw(url, "GET / HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\nconnection: close\r\n\r\n")
    await raw(url, "GET / HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\r\nconnection: close\r\n\r\n")
    expect(requests).toEqual(["Bearer a, Bearer b", "Bearer a"])
  })

  it("aborts the service's request when the caller disconnects", async () => {
    let signal: AbortSignal | undefined
    const hanging = toNodeHandler({
      handler: (request) => {
        signal = request.signal
        return new Promise(() => {})
      }
    })
    const url = await serve(hanging)
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    while (signal === undefined) await new Promise((resolve) => setImmediate(resolve))
    socket.destroy()
    if (!signal.aborted) await once(signal, "abort")
    expect(signal.aborted).toBe(true)
  })

  it("releases the answer to a caller that has left, and reports no error to `next`", async () => {
    let release = () => {}
    let arrive = () => {}
    const released = new Promise<void>((resolve) => release = resolve)
    const arrived = new Promise<void>((resolve) => arrive = resolve)
    const late = toNodeHandler({
      handler: async ({ signal }) => {
        arrive()
        await once(signal, "abort")
        return new Response(new ReadableStream({ cancel: () => release() }))
      }
    })
    const reported: Array<unknown> = []
    const url = await serve((request, response) => late(request, response, (error) => reported.push(error)))
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    await arrived
    socket.destroy()
    await released
    await new Promise((resolve) => setImmediate(resolve))
    expect(reported).toEqual([])
  })

  it("releases an answer that comes after the host's own, and leaves the host's unchanged", async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => release = resolve)
    const late = toNodeHandler({ handler: async () => new Response(new ReadableStream({ cancel: () => release() })) })
    const url = await serve((request, response) => {
      response.writeHead(503).write("host")
      late(request, response)
      void released.then(() => response.end(" is busy"))
    })
    expect(await (await fetch(url)).text()).toBe("host is busy")
  })

  it("uses the framework's caller address if there is one", async () => {
    const addresses: Array<unknown> = []
    const handler = toNodeHandler({
      handler: async (_request, options) => {
        addresses.push(options?.remoteAddress)
        return new Response()
      }
    })
    await fetch(await serve(handler))
    await fetch(await serve((req, res) => handler(Object.assign(req, { ip: "198.51.100.7" }), res)))
    expect(addresses).toEqual(["127.0.0.1", "198.51.100.7"])
  })

  it("serves a handler of the host that answers without a promise, and passes what it throws to `next`", async () => {
    const plain = toNodeHandler({ handler: (() => new Response("page")) as never })
    expect(await (await fetch(await serve(plain))).text()).toBe("page")
    const broken = toNodeHandler({ handler: () => { throw new Error("broken") } })
    const url = await serve((request, response) => broken(request, response, (error) => response.end(String(error))))
    expect(await (await fetch(url)).text()).toBe("Error: broken")
  })

  it("passes a handler's own failure to `next`", async () => {
    const failing = toNodeHandler({ handler: () => Promise.reject(new Error("broken")) })
    const url = await serve((req: IncomingMessage, res: ServerResponse) => failing(req, res, (error) => res.writeHead(500).end(String(error))))
    expect(await (await fetch(url)).text()).toBe("Error: broken")
  })
})
