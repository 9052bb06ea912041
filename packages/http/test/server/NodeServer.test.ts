/** The service on a real socket: cases that a web handler never sees. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ApiKeys, Tenants, TransitEventIntake } from "@waybill/core"
import { SigningSecrets } from "@waybill/core/delivery"
import { TransitEvents } from "@waybill/core/transit-events"
import { Context, Effect, Exit, Latch, Layer, Logger, Redacted, Scope } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { connect, type Socket } from "node:net"
import { describe, expect, it } from "vitest"
import { createStartupBufferServer, WaybillHttp } from "../../src/index.ts"
import { endAfterwards } from "../endAfterwards.ts"
import { layerOfService, reportedEvent, type TestServiceOptions } from "../TestService.ts"

type Routes = Layer.Layer<never, never, HttpServer.HttpServer | Layer.Success<ReturnType<typeof layerOfService>>>

const start = async (routes: Routes = WaybillHttp.serve(), options: TestServiceOptions = {}, clock: Layer.Layer<never> = Layer.empty) => {
  const scope = Scope.makeUnsafe()
  const sockets: Array<Socket> = []
  const listener = () => createStartupBufferServer().on("connection", (socket: Socket) => sockets.push(socket))
  const layer = routes.pipe(
    Layer.provideMerge(NodeHttpServer.layerServer(listener, { port: 0, host: "127.0.0.1" })),
    Layer.provideMerge(layerOfService(options)),
    Layer.provideMerge(Logger.layer([])),
    Layer.provideMerge(clock)
  )
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const key = await Effect.runPromiseWith(context)(Effect.gen(function*() {
    yield* (yield* Tenants).put("acme", { name: "Acme" })
    yield* (yield* SigningSecrets).put("acme", "main", { anyClient: true })
    return Redacted.value((yield* (yield* ApiKeys).create("acme", { name: "carrier", roles: ["carrier"] })).key)
  }))
  const { address } = Context.get(context, HttpServer.HttpServer)
  const port = (address as unknown as { readonly port: number }).port
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  endAfterwards(stop)
  const run = <A>(effect: Effect.Effect<A>) => Effect.runPromiseWith(context)(effect)
  return { key, port, url: `http://127.0.0.1:${port}`, sockets, run, stop }
}

const server = await start()

/** Writes raw bytes and returns everything received until the connection ended. */
const raw = (port: number, ...parts: ReadonlyArray<string | Uint8Array>): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    socket.setEncoding("utf8")
    socket.on("data", (chunk: string) => void (text += chunk))
    socket.on("close", () => resolve(text))
    socket.on("error", () => {})
    for (const part of parts) socket.write(part)
  })

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])

describe("a request over a socket", () => {
  it("is answered", async () => {
    const published = await fetch(`${server.url}/intake/v1/transit-events`, {
      method: "POST",
      headers: { "x-api-key": server.key, "content-type": "application/json" },
      body: JSON.stringify({ events: [reportedEvent("S1", { eventId: "e1" })] })
    })
    expect(published.status).toBe(200)
    const listed = await fetch(`${server.url}/visibility/v1/events`, { headers: { "x-api-key": server.key } })
    expect(listed.headers.get("link")).toContain(`<${server.url}/visibility/v1/events?`)
    expect((await listed.json() as { readonly totalCount: number }).totalCount).toBe(1)
    const head = await fetch(`${server.url}/visibility/v1/events`, { method: "HEAD", headers: { "x-api-key": server.key } })
    expect([head.status, Number(head.headers.get("content-length")) > 100, await head.text()]).toEqual([200, true, ""])
    expect(head.headers.get("date")).not.toBe(null)
  })

  it.each([
    ["that is no HTTP", 400, "hello\r\n\r\n"],
    ["with headers beyond all measure", 431, `GET /healthz HTTP/1.1\r\nhost: x\r\nx-large: ${"x".repeat(40_000)}\r\n\r\n`],
    ["with a target beyond all measure", 414, `GET /healthz?${"x".repeat(9_000)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`],
    ["with two lengths", 400, "POST /intake/v1/transit-events HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n"],
    ["with a length and chunks", 400, "POST /intake/v1/transit-events HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["with another transfer coding", 501, "POST /intake/v1/transit-events HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
    ["with chunks twice", 400, "POST /intake/v1/transit-events HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["with chunks in capitals", 401, "POST /intake/v1/transit-events HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: Chunked\r\n\r\n0\r\n\r\n"],
    ["for everything", 404, "OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"],
    ["with a target in absolute form", 200, "GET http://x.example/healthz HTTP/1.1\r\nhost: X.example:80\r\nconnection: close\r\n\r\n"],
    ["with a target of another host than its Host header", 400, "GET http://elsewhere.example/healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"],
    ["with two Host headers", 400, "GET /healthz HTTP/1.1\r\nhost: a.example\r\nhost: b.example\r\nconnection: close\r\n\r\n"],
    ["with one Host header twice", 400, "GET /healthz HTTP/1.1\r\nhost: a.example\r\nhost: a.example\r\nconnection: close\r\n\r\n"],
    ["with a path in its Host header", 400, "GET /healthz HTTP/1.1\r\nhost: a.example/b?c\r\nconnection: close\r\n\r\n"],
    ["with a user in its Host header", 400, "GET /healthz HTTP/1.1\r\nhost: user@a.example\r\nconnection: close\r\n\r\n"],
    ["with a user in a target in absolute form", 400, "GET http://user@a.example/healthz HTTP/1.1\r\nhost: user@a.example\r\nconnection: close\r\n\r\n"],
    ["with an empty Host header", 200, "GET /healthz HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n"],
    ["with an IPv6 address and a port as its host", 200, "GET /healthz HTTP/1.1\r\nhost: [fe80::1%25eth0]:8080\r\nconnection: close\r\n\r\n"],
    ["with a list of hosts", 400, "GET /healthz HTTP/1.1\r\nhost: a.example, b.example\r\nconnection: close\r\n\r\n"],
    ["with a method of its own", 405, "PURGE /visibility/v1/events HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"],
    ["that would be traced", 405, "TRACE /visibility/v1/events HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"],
    ["that wants to speak something else", 200, "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n"]
  ])("%s is answered with %i", async (_what, status, text) => {
    const answer = await raw(server.port, text)
    expect(statusOf(answer)).toBe(status)
    if (status >= 400) expect(answer).toContain("application/problem+json")
  })

  it("that cannot be read is answered with the reason", async () => {
    const bodyOf = async (text: string) => JSON.parse((await raw(server.port, text)).split("\r\n\r\n")[1]!)
    expect(await bodyOf("hello\r\n\r\n")).toMatchObject({ status: 400, title: "Bad request", code: "malformed_request", detail: "The bytes are not an HTTP request." })
    expect(await bodyOf(`GET /healthz HTTP/1.1\r\nhost: x\r\nx-large: ${"x".repeat(40_000)}\r\n\r\n`)).toMatchObject({
      status: 431, title: "Request header fields too large", code: "headers_too_large", detail: "Method, path and headers are too large. Send less."
    })
  })

  it("that names two hosts is refused before a tenant is selected, in the format of its area", async () => {
    for (const hosts of ["host: a.example\r\nhost: b.example", "host: a.example, b.example"]) {
      const answer = await raw(server.port, `GET /in-transit/v1/shipment/pro/1/public HTTP/1.1\r\n${hosts}\r\nconnection: close\r\n\r\n`)
      expect([statusOf(answer), answer.includes("{\"message\":\"The request does not name one host.")]).toEqual([400, true])
    }
  })

  it("with two Authorization headers is refused, although the first one is valid", async () => {
    const ask = async (...keys: ReadonlyArray<string>) =>
      statusOf(await raw(server.port, `GET /visibility/v1/events HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${keys.map((key) => `authorization: Bearer ${key}\r\n`).join("")}\r\n`))
    expect([await ask(server.key), await ask(server.key, "another"), await ask(server.key, server.key)]).toEqual([200, 401, 401])
  })

  it("that is too large is refused while it arrives, with and without Content-Length", async () => {
    const head = `POST /visibility/v1/subscriptions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: ${server.key}\r\ncontent-type: application/json\r\n`
    const declared = await raw(server.port, `${head}content-length: 99999999\r\n\r\n{`)
    expect([statusOf(declared), declared.includes("body_too_large")]).toEqual([413, true])
    const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`
    const chunked = await raw(server.port, `${head}transfer-encoding: chunked\r\n\r\n`, ...Array.from({ length: 20 }, () => chunk))
    expect([statusOf(chunked), chunked.includes("body_too_large")]).toEqual([413, true])
  })

  it.each([["of a declared length", "content-length: 12"], ["of a larger one", "content-length: 2000000"], ["in chunks", "transfer-encoding: chunked"]])("whose body %s does not arrive in time is answered before its connection is closed", async (_what, header) => {
    const hasty = await start(WaybillHttp.serve({ bodyTimeoutMillis: 50 }))
    const answer = await raw(hasty.port, `POST /intake/v1/transit-events HTTP/1.1\r\nhost: x\r\nx-api-key: ${hasty.key}\r\ncontent-type: application/json\r\n${header}\r\n\r\n`)
    expect(statusOf(answer)).toBe(408)
    expect(answer).toContain("body_too_slow")
  })

  it("with Expect gets 100 Continue, or a refusal", async () => {
    const head = (key: string, length: number) =>
      `POST /visibility/v1/subscriptions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: 100-continue\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
    expect(await raw(server.port, head(server.key, 2), "{}")).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /)
    expect(await raw(server.port, head("wrong", 2))).toMatch(/^HTTP\/1\.1 401 /)
    expect(await raw(server.port, head(server.key, 99_999_999))).toMatch(/^HTTP\/1\.1 413 /)
  })

  it("whose caller disconnects leaves nothing behind", async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.write(`POST /intake/v1/transit-events HTTP/1.1\r\nhost: x\r\nx-api-key: ${server.key}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`)
        setImmediate(() => socket.destroy())
      })
      socket.on("close", () => resolve())
    })
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })
})

describe("a response over a socket", () => {
  it("that nobody reads ends after five minutes", async () => {
    const timed = await start(WaybillHttp.serve(), {}, TestClock.layer())
    const events = Array.from({ length: 200 }, (_, at) => ({ ...reportedEvent(`S${at}`), attributes: { text: Array.from({ length: 60 }, () => "x".repeat(1000)) } }))
    const published = await fetch(`${timed.url}/intake/v1/transit-events`, {
      method: "POST",
      headers: { "x-api-key": timed.key, "content-type": "application/json" },
      body: JSON.stringify({ events })
    })
    expect(published.status).toBe(200)
    const socket = connect(timed.port, "127.0.0.1")
    socket.write(`GET /visibility/v1/events?pageSize=200 HTTP/1.1\r\nhost: x\r\nx-api-key: ${timed.key}\r\n\r\n`)
    const first = await new Promise<Buffer>((resolve) => socket.once("data", (bytes: Buffer) => {
      socket.pause()
      resolve(bytes)
    }))
    expect(statusOf(first.toString())).toBe(200)
    const sending = timed.sockets.find(({ remotePort }) => remotePort === socket.localPort)!
    while (!sending.destroyed) {
      await timed.run(TestClock.adjust("5 minutes"))
      await new Promise((resolve) => setImmediate(resolve))
    }
    let rest = 0
    socket.on("data", (bytes: Buffer) => void (rest += bytes.length)).on("error", () => {}).resume()
    await new Promise((resolve) => socket.once("close", resolve))
    expect(rest).toBeLessThan(11_000_000)
  })
})

describe("a shutdown", () => {
  it("waits for the request in flight", async () => {
    const entered = Latch.makeUnsafe(false)
    const released = Latch.makeUnsafe(false)
    const slow = Layer.fresh(TransitEventIntake.layer).pipe(Layer.provideMerge(Layer.succeed(TransitEvents, TransitEvents.of({
      list: () =>
        Effect.as(Effect.andThen(Effect.sync(() => entered.openUnsafe()), released.await), {
          data: [], page: 1, pageSize: 100, totalPages: 0, totalCount: 0, hasMore: false, nextCursor: undefined
        }),
      append: () => Effect.die("not called"),
      history: () => Effect.die("not called"),
      since: () => Effect.die("not called")
    }))))
    const stopped = await start(WaybillHttp.serve(), { over: slow })
    const running = fetch(`${stopped.url}/visibility/v1/events`, { headers: { "x-api-key": stopped.key } })
    await Effect.runPromise(entered.await)
    const stopping = stopped.stop()
    await new Promise((resolve) => setImmediate(resolve))
    await expect(fetch(`${stopped.url}/healthz`)).rejects.toThrow()
    released.openUnsafe()
    const answer = await running
    expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"])
    await stopping
  })
})

describe("in a host's router", () => {
  it("all paths below its bases belong to the service, and all others to the host", async () => {
    const host = HttpRouter.add("GET", "/own", HttpServerResponse.text("own"))
    const mounted = await start(HttpRouter.serve(Layer.mergeAll(host, WaybillHttp.layer()), { disableLogger: true, disableListenLog: true }))
    const get = (path: string) => fetch(`${mounted.url}${path}`, { headers: { "x-api-key": mounted.key } })
    expect(await (await get("/own")).text()).toBe("own")
    for (const path of ["/visibility/v1/events", "/visibility/v1/events/", "/healthz", "/readyz", "/docs", "/openapi.json", "/openapi/intake.json"]) {
      expect([path, (await get(path)).status]).toEqual([path, 200])
    }
    expect((await get("/metrics")).status).toBe(403)
    const unknown = await get("/visibility/v1/none")
    expect([unknown.status, unknown.headers.get("content-type")]).toEqual([404, "application/problem+json"])
    const wrong = await fetch(`${mounted.url}/operator/v1/tenants/acme`, { method: "PATCH" })
    expect([wrong.status, wrong.headers.get("content-type")]).toEqual([405, "application/problem+json"])
    expect((await get("/elsewhere")).headers.get("content-type")).not.toBe("application/problem+json")
  })

  it("URLs keep the prefix that the host's router removed", async () => {
    const mounted = await start(HttpRouter.serve(
      HttpRouter.use((router) =>
        Effect.asVoid(Effect.flatMap(WaybillHttp.make(), (app) => router.prefixed("/api/freight").add("*", "/*", app)))),
      { disableLogger: true, disableListenLog: true }
    ))
    const created = await fetch(`${mounted.url}/api/freight/visibility/v1/subscriptions`, {
      method: "POST",
      headers: { "x-api-key": mounted.key, "content-type": "application/json" },
      body: JSON.stringify({ endpointUrl: "https://receiver.example/hook", hmacSecretId: "main" })
    })
    expect(created.status).toBe(201)
    const location = created.headers.get("location")!
    expect(location.startsWith(`${mounted.url}/api/freight/visibility/v1/subscriptions/`)).toBe(true)
    expect((await fetch(location, { headers: { "x-api-key": mounted.key } })).status).toBe(200)
    const document = await (await fetch(`${mounted.url}/api/freight/openapi.json`)).json() as { readonly servers: unknown }
    expect(document.servers).toEqual([{ url: `${mounted.url}/api/freight` }])
  })
})
