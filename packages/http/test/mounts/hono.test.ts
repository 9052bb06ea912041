import { serve } from "@hono/node-server"
import { type Context, Hono } from "hono"
import { once } from "node:events"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { validator } from "hono/validator"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { type HonoContext, toHonoHandler } from "../../src/mounts/hono.ts"
import { expectOwnDocuments } from "./Documents.ts"
import { endAfterwards } from "../endAfterwards.ts"
import { echo, expectDocuments, expectIsolatedCallers, expectService, expectStreams, expectAborts, publish, remembering, startWaybill, failingService, type User, userNamed } from "./Mounted.ts"

interface Env {
  readonly Variables: { user: User | undefined }
}

const listen = async (app: { fetch: (request: Request, env: object) => Response | Promise<Response> }): Promise<string> => {
  const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }) as Server
  await once(server, "listening")
  endAfterwards(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const started = async (prepare: (app: Hono<Env>) => void = () => {}) => {
  const waybill = await startWaybill((c: Context<Env>) => c.get("user"))
  const app = new Hono<Env>()
  app.use(async (c, next) => {
    c.set("user", userNamed(c.req.header("authorization")))
    await next()
  })
  prepare(app)
  app.all("/freight/*", toHonoHandler(waybill))
  return `${await listen(app)}/freight`
}

describe("Hono", () => {
  it("mounts the service below a path, with its own authentication and streamed documents", async () => {
    const mount = await started()
    await expectService(mount)
    await expectIsolatedCallers(mount)
    await expectDocuments(mount)
    await expectOwnDocuments(mount)
  })

  it("accepts a body that was read through Hono", async () => {
    const mounts = [
      await started((app) => app.post("*", validator("json", (value) => value))),
      await started((app) =>
        app.post("*", async (c, next) => {
          await c.req.arrayBuffer()
          await next()
        }))
    ]
    for (const mount of mounts) {
      expect(await (await publish(mount, "e1")).json()).toMatchObject({ results: [{ result: "accepted" }] })
      await expectDocuments(mount)
    }
  })

  it("explains what to do when the body was read otherwise", async () => {
    const mount = await started((app) =>
      app.post("*", async (c, next) => {
        await c.req.raw.text()
        await next()
      }))
    const answer = await publish(mount, "e1")
    expect([answer.status, await answer.json()]).toMatchObject([500, { code: "body_already_read", detail: expect.stringContaining("request.clone()") }])
  })

  it("mounts it below a base path, a parameter and another application", async () => {
    const service = remembering()
    const inner = new Hono().basePath("/tenants/:tenant").all("/freight/*", toHonoHandler(service))
    const url = await listen(new Hono().route("/api", inner))
    await fetch(`${url}/api/tenants/a%20b/freight/healthz?x=1`)
    expect(service.reached[0]).toMatchObject({ mountPath: "/api/tenants/a%20b/freight", remoteAddress: "127.0.0.1" })
    expect(service.reached[0]!.request.url).toBe(`${url}/api/tenants/a%20b/freight/healthz?x=1`)
  })

  it("runs without Node, with an option for the remote address", async () => {
    const service = remembering()
    const app = new Hono()
    app.all("/freight/*", toHonoHandler(service, { remoteAddress: ({ req }) => req.raw.headers.get("cf-connecting-ip") ?? undefined }))
    await app.request("/freight/healthz", { headers: { "cf-connecting-ip": "198.51.100.7" } })
    const { host, mountPath, remoteAddress } = service.reached[0]!
    expect([mountPath, remoteAddress, (host as Context).req.path]).toEqual(["/freight", "198.51.100.7", "/freight/healthz"])
  })

  it("accepts an explicit path, and requires it when Hono provides none", async () => {
    const service = remembering()
    const context: HonoContext = { req: { raw: new Request("http://x/freight/healthz"), bodyCache: {}, arrayBuffer: async () => new ArrayBuffer(0) }, env: undefined }
    await toHonoHandler(service, { mountPath: "/freight" })(context)
    expect(service.reached[0]).toMatchObject({ mountPath: "/freight", remoteAddress: undefined })
    await expect(toHonoHandler(service)(context)).rejects.toThrow("mountPath")
  })

  it("streams bodies in both directions", async () => {
    const app = new Hono()
    app.all("/freight/*", toHonoHandler(echo()))
    await expectStreams(`${await listen(app)}/freight`)
  })

  it("aborts when the caller disconnects, and when the response breaks off", async () => {
    // Its server logs to the console.
    const logged = vi.spyOn(console, "error").mockReturnValue()
    onTestFinished(() => void logged.mockRestore())
    const service = failingService()
    const app = new Hono()
    app.all("/freight/*", toHonoHandler(service))
    await expectAborts(`${await listen(app)}/freight`, service)
  })
})
