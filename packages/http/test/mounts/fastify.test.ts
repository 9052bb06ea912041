import { fastify, type FastifyRequest, type FastifyServerOptions } from "fastify"
import { connect } from "node:http2"
import { Readable } from "node:stream"
import { createGunzip } from "node:zlib"
import { describe, expect, it } from "vitest"
import type { Waybill } from "../../src/index.ts"
import { toFastifyPlugin } from "../../src/mounts/fastify.ts"
import { endAfterwards } from "../endAfterwards.ts"
import { type User, expectDocuments, expectGuarded, expectMounted, expectService, publish, publishCompressed, remembering, startWaybill, userNamed, users } from "./Mounted.ts"
import { reportedEvent } from "../TestService.ts"

type LoggedIn = FastifyRequest & { user?: User | undefined }

const appOf = (options: FastifyServerOptions = {}) => {
  const app = fastify({ forceCloseConnections: true, ...options })
  endAfterwards(() => app.close())
  return app
}

const listen = (app: { listen(options: object): Promise<string> }) => app.listen({ host: "127.0.0.1", port: 0 })

const started = async (prepare: (app: ReturnType<typeof appOf>) => void = () => {}, options: FastifyServerOptions = {}) => {
  const waybill: Waybill = await startWaybill((request) => request.user)
  const app = appOf(options)
  app.addHook("onRequest", async (request: LoggedIn) => {
    request.user = userNamed(request.headers.authorization)
  })
  prepare(app)
  app.register(toFastifyPlugin(waybill), { prefix: "/freight" })
  return `${await listen(app)}/freight`
}

describe("Fastify", () => {
  it("mounts the service below a prefix, with its own authentication and streamed documents", async () => {
    const mount = await started()
    await expectMounted(mount)
  })

  it("mounts the service without a prefix, beside routes of the host", async () => {
    const app = appOf()
    app.addHook("onRequest", async (request: LoggedIn) => {
      request.user = userNamed(request.headers.authorization)
    })
    app.get("/orders", async () => "orders")
    app.register(toFastifyPlugin(await startWaybill((request) => request.user)))
    const url = await listen(app)
    await expectService(url)
    expect(await (await fetch(`${url}/orders`)).text()).toBe("orders")
    expect((await fetch(`${url}/nothing`)).status).toBe(404)
  })

  it("is behind the guards of the host, however a path is written", async () => {
    await expectGuarded(await started((app) => void app.all("/freight/operator/*", async (_request, reply) => reply.code(403).send())))
  })

  it("applies neither the host's body limit nor its parsers, and does not change them", async () => {
    const parsed: Array<string> = []
    const mount = await started((app) => {
      app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
        parsed.push(body as string)
        done(null, JSON.parse(body as string))
      })
      app.post("/orders", async ({ body }) => body)
    }, { bodyLimit: 1000 })
    await expectDocuments(mount)
    expect(parsed).toEqual([])
    const ordered = await fetch(new URL("/orders", mount), { method: "POST", headers: { "content-type": "application/json" }, body: "{\"item\":1}" })
    expect([await ordered.json(), parsed]).toEqual([{ item: 1 }, ["{\"item\":1}"]])
  })

  it("accepts a stream that a preParsing hook substituted for the body", async () => {
    const mount = await started((app) =>
      app.addHook("preParsing", async (_request, _reply, payload) => {
        const chunks: Array<Buffer> = []
        for await (const chunk of payload) chunks.push(chunk as Buffer)
        return Readable.from([Buffer.concat(chunks)], { objectMode: false })
      }))
    await expectService(mount)
    await expectDocuments(mount)
  })

  it("accepts a body that a preParsing hook decompressed", async () => {
    const mount = await started((app) => app.addHook("preParsing", async (_request, _reply, payload) => payload.pipe(createGunzip())))
    expect((await publishCompressed(mount)).status).toBe(200)
    expect((await publishCompressed(await started())).status).toBe(415)
  })

  it("explains what to do when a hook read the body", async () => {
    const mount = await started((app) =>
      app.addHook("onRequest", async ({ raw }) => {
        for await (const _chunk of raw) { /* gone */ }
      }))
    const answer = await publish(mount, "e1")
    expect([answer.status, await answer.json()]).toMatchObject([500, { code: "body_already_read", message: expect.stringContaining("Register toFastifyPlugin(waybill)") }])
    expect((await fetch(`${mount}/visibility/v1/events`)).status).toBe(401)
  })

  it("mounts it below a prefix with a parameter and inside another plugin, and keeps headers of its hooks", async () => {
    const service = remembering()
    const app = appOf({ trustProxy: true })
    app.addHook("onSend", async (_request, reply) => void reply.header("x-host", "mine"))
    app.register(async (scope) => void scope.register(toFastifyPlugin(service), { prefix: "/freight" }), { prefix: "/tenants/:tenant" })
    const url = await listen(app)
    const answer = await fetch(`${url}/tenants/a%20b/freight/healthz?x=1`, { headers: { "x-forwarded-for": "198.51.100.7" } })
    expect([await answer.text(), answer.headers.get("x-host")]).toEqual(["told", "mine"])
    const { host, mountPath, remoteAddress, request } = service.reached[0]!
    expect([mountPath, remoteAddress, request.url, (host as FastifyRequest).params]).toEqual([
      "/tenants/a%20b/freight", "198.51.100.7", `${url}/tenants/a%20b/freight/healthz?x=1`, { tenant: "a b", "*": "healthz" }
    ])
  })

  it("mounts it without a prefix, and answers injected requests", async () => {
    const service = remembering()
    const app = appOf()
    app.register(toFastifyPlugin(service))
    expect((await app.inject({ method: "POST", url: "/healthz", payload: { a: 1 } })).payload).toBe("told")
    expect(service.reached[0]).toMatchObject({ mountPath: "" })
    expect(await service.reached[0]!.request.json()).toEqual({ a: 1 })
  })

  it("releases an answer that comes after the host's own, such as that of handlerTimeout", async () => {
    const app = appOf({ handlerTimeout: 1 })
    const released = new Promise<void>((release) => {
      app.register(toFastifyPlugin({
        handler: async ({ signal }) => {
          await answered
          expect(signal.aborted).toBe(false)
          return new Response(new ReadableStream({ cancel: () => release() }))
        }
      }))
    })
    const answered = new Promise<void>((resolve) => void app.addHook("onResponse", async () => resolve()))
    expect((await fetch(await listen(app))).status).toBe(503)
    await released
  })

  it("serves HTTP/2, also bodies without a length", async () => {
    const waybill = await startWaybill(() => users["carrier"])
    const app = fastify({ http2: true })
    app.register(toFastifyPlugin(waybill), { prefix: "/freight" })
    const session = connect(await listen(app))
    endAfterwards(() => app.close())
    const send = (path: string, body?: string) =>
      new Promise((resolve, reject) => {
        const head = { ":path": path, ":method": body === undefined ? "GET" : "POST", "content-type": "application/json" }
        const stream = session.request(head, { endStream: body === undefined })
        stream.on("response", (headers) => resolve(headers[":status"])).on("error", reject).resume()
        if (body !== undefined) stream.end(body)
      })
    expect(await send("/freight/healthz")).toBe(200)
    expect(await send("/freight/intake/v1/transit-events", JSON.stringify({ events: [reportedEvent("S-1")] }))).toBe(200)
    // The response closes the connection, and HTTP/2 has no header for that.
    expect(await send(`/freight/visibility/v1/events?shipmentId=${"x".repeat(9000)}`)).toBe(414)
    await new Promise<void>((resolve) => session.close(resolve))
  })
})
