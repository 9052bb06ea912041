import { createAdaptorServer } from "@hono/node-server"
import { type Context, Hono } from "hono"
import type { Server } from "node:http"
import { validator } from "hono/validator"
import { describe, expect, it } from "vitest"
import { type HonoContext, toHonoHandler } from "../../src/mounts/hono.ts"
import { listening } from "../listening.ts"
import { type User, expectDocuments, expectMounted, publish, remembering, startWaybill, userNamed } from "./Mounted.ts"

interface Env {
  readonly Variables: { user: User | undefined }
}

const listen = ({ fetch }: { fetch: (request: Request, env: object) => Response | Promise<Response> }) => listening(createAdaptorServer({ fetch }) as Server)

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
    await expectMounted(mount)
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
})
