import { createAdaptorServer } from "@hono/node-server"
import { fastify, type FastifyRequest } from "fastify"
import { Hono } from "hono"
import { createServer, type Server } from "node:http"
import { createRequire } from "node:module"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { toNodeHandler, type Waybill } from "../../src/index.ts"
import { toFastifyPlugin } from "../../src/mounts/fastify.ts"
import { toHonoHandler } from "../../src/mounts/hono.ts"
import { expectOwnCalls, openApiAt } from "./Documents.ts"
import { endAfterwards } from "../endAfterwards.ts"
import { listening } from "../listening.ts"
import { echo, expectAborts, expectStreams, failingService, startWaybill, type User, userNamed } from "./Mounted.ts"

// It has no types.
const express = createRequire(import.meta.url)("express")

type Handler = Pick<Waybill, "handler">

const mountedIn = {
  Express: async (handler: Handler) => {
    const app = express().use("/api/freight", toNodeHandler(handler))
    app.use((_error: Error, _req: unknown, res: any, _next: unknown) => res.destroy())
    return `${await listening(createServer(app))}/api/freight`
  },
  Fastify: async (handler: Handler) => {
    const app = fastify({ forceCloseConnections: true })
    app.register(toFastifyPlugin(handler), { prefix: "/api/freight" })
    endAfterwards(() => app.close())
    return `${await app.listen({ host: "127.0.0.1", port: 0 })}/api/freight`
  },
  Hono: async (handler: Handler) => {
    const app = new Hono().all("/api/freight/*", toHonoHandler(handler))
    return `${await listening(createAdaptorServer({ fetch: app.fetch }) as Server)}/api/freight`
  }
}

const userOf = (host: { readonly headers?: FastifyRequest["headers"]; readonly req?: { header(name: string): string | undefined } }): User | undefined =>
  userNamed(host.headers?.authorization ?? host.req?.header?.("authorization"))

const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "freight.example.com" }

describe.each(Object.entries(mountedIn))("a service mounted in %s", (_, mountIn) => {
  it("describes and serves the same calls on each handler", async () => {
    const waybill = await startWaybill(userOf)
    const [customers, operators] = [await mountIn({ handler: waybill.customerHandler }), await mountIn({ handler: waybill.operatorHandler })]
    await expectOwnCalls({ customers, operators })
  })

  it("names the address of a trusted proxy, and no other forwarded address", async () => {
    const [trusting, careful] = [await mountIn(await startWaybill(userOf, { trustForwarded: true })), await mountIn(await startWaybill(userOf))]
    expect((await openApiAt(trusting, forwarded)).json.servers).toEqual([{ url: "https://freight.example.com/api/freight" }])
    expect((await openApiAt(careful, forwarded)).json.servers).toEqual([{ url: careful }])
  })

  it("names the public URL as configured, and not the path of the mount", async () => {
    const mount = await mountIn(await startWaybill(userOf, { publicBaseUrl: "https://freight.example.com/v2/" }))
    expect((await openApiAt(mount)).json.servers).toEqual([{ url: "https://freight.example.com/v2" }])
    expect(await (await fetch(`${mount}/docs`)).text()).toContain("<code>https://freight.example.com/v2</code>")
  })

  it("names the host's credentials, if it describes them", async () => {
    const securitySchemes = { Session: { type: "apiKey", in: "cookie", name: "sid" }, Login: { type: "http", scheme: "bearer" } } as const
    const mount = await mountIn(await startWaybill(userOf, { securitySchemes }))
    const { json, text } = await openApiAt(mount)
    expect([json.security, json.components.securitySchemes]).toEqual([[{ Session: [] }, { Login: [] }], securitySchemes])
    const lookup = json.paths["/in-transit/v1/shipment/pro/{proNumber}/public"].get
    expect(lookup.security).toEqual([{}, { Session: [] }, { Login: [] }])
    const page = await (await fetch(`${mount}/docs`)).text()
    expect(page).toContain("Callers send the cookie sid or Authorization: Bearer.")
    expect(text + page).not.toContain("X-API-Key")
    const none = await fetch(`${mount}/visibility/v1/events`)
    expect([none.status, none.headers.get("www-authenticate")]).toEqual([401, "Bearer realm=\"waybill\""])
    expect(await none.json()).toMatchObject({ detail: "The request has no credentials. Send the cookie sid, or Authorization: Bearer." })
    const wrong = await fetch(`${mount}/visibility/v1/events`, { headers: { authorization: "Bearer nobody" } })
    expect([wrong.status, wrong.headers.get("www-authenticate")]).toEqual([401, "Bearer realm=\"waybill\", error=\"invalid_token\""])
  })

  it("streams bodies in both directions", async () => expectStreams(await mountIn(echo())))

  it("aborts when the caller disconnects, and when the response breaks off", async () => {
    // Hono's server logs to the console
    const logged = vi.spyOn(console, "error").mockReturnValue()
    onTestFinished(() => void logged.mockRestore())
    const service = failingService()
    await expectAborts(await mountIn(service), service)
  })
})
