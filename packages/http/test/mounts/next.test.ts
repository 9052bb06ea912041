import { createServer } from "node:http"
import { describe, expect, it } from "vitest"
import { toNodeHandler, type Waybill } from "../../src/index.ts"
import { type NextHandlers, type NextRoute, toNextHandlers } from "../../src/mounts/next.ts"
import { listening } from "../listening.ts"
import { echo, expectMounted, expectStreams, remembering, startWaybill, userNamed } from "./Mounted.ts"

/** Calls the route of a catch-all folder like Next: with decoded parameters in a promise. */
const folder = "/api/freight/"
const called = (handlers: NextHandlers, request: Request) => {
  const path = new URL(request.url).pathname.slice(folder.length).split("/").map(decodeURIComponent)
  return handlers[request.method as "GET"](request, { params: Promise.resolve({ tenant: "acme", path }) })
}

const started = async (waybill: Pick<Waybill, "handler">): Promise<string> => {
  const handlers = toNextHandlers(waybill)
  return `${await listening(createServer(toNodeHandler({ handler: (request) => called(handlers, request) })))}/api/freight`
}

describe("Next", () => {
  it("mounts the service in a catch-all route, with its own authentication and streamed documents", async () => {
    const mount = await started(await startWaybill((request: Request) => userNamed(request.headers.get("authorization"))))
    await expectMounted(mount)
  })

  it("streams bodies in both directions", async () => {
    await expectStreams(await started(echo()))
  })

  it("finds the folder before the catch-all, whatever the paths contain", async () => {
    const service = remembering()
    const { GET } = toNextHandlers(service)
    const request = new Request("https://freight.example/a%20b/freight/shipment/pro/1%2F2?x=/y/z")
    expect(await (await GET(request, { params: Promise.resolve({ tenant: "a b", rest: ["shipment", "pro", "1/2"] }) })).text()).toBe("told")
    // Before Next 15.
    await GET(request, { params: { rest: ["shipment", "pro", "1/2"] } as never })
    expect(service.reached.map(({ host, mountPath }) => [mountPath, host === request])).toEqual([["/a%20b/freight", true], ["/a%20b/freight", true]])
  })

  it("gives addresses below the `basePath`, which Next removes from the URL of a request", async () => {
    const { GET } = toNextHandlers(await startWaybill((request: Request) => userNamed(request.headers.get("authorization"))), { basePath: "/tms" })
    const get = (...path: ReadonlyArray<string>) =>
      GET(new Request(`https://freight.example/freight/${path.join("/")}?pageSize=1`, { headers: { authorization: "Bearer shopA" } }), { params: Promise.resolve({ path: [...path] }) })
    expect((await get("visibility", "v1", "events")).headers.get("link")).toContain("<https://freight.example/tms/freight/visibility/v1/events?pageSize=1&page=1>")
    const document = await GET(new Request("https://freight.example/freight/openapi.json"), { params: Promise.resolve({ path: ["openapi.json"] }) })
    expect(await document.json()).toMatchObject({ servers: [{ url: "https://freight.example/tms/freight" }] })
    expect(() => toNextHandlers(remembering(), { basePath: "tms" })).toThrow("basePath")
  })

  it("has the types that Next requires of a route", () => {
    type Demanded = (request: Request & { readonly nextUrl: URL }, context: { params: Promise<{ tenant: string; path: Array<string> }> }) => Promise<Response | void> | Response | void
    const demanded: Readonly<Record<"GET" | "OPTIONS", Demanded>> = toNextHandlers(remembering())
    // The reverse assignment, as up to Next 15.
    const given: (route: NextRoute) => { params: Promise<object> } = (route) => route
    expect([typeof demanded.GET, typeof given]).toEqual(["function", "function"])
  })

  it("answers 404 at the folder of an optional catch-all, where there is no call", async () => {
    const { GET } = toNextHandlers(await startWaybill(() => undefined))
    for (const params of [{}, { path: undefined }, undefined]) {
      for (const url of ["http://x/freight", "http://x/freight/", "http://x/freight?x=1"]) {
        const answer = await GET(new Request(url), { params: Promise.resolve(params as {}) })
        expect([answer.status, await answer.json()]).toMatchObject([404, { code: "path_not_found" }])
      }
    }
  })

  it("explains where to mount it", async () => {
    await expect(toNextHandlers(remembering()).GET(new Request("http://x/freight"), { params: Promise.resolve({ id: "1" }) })).rejects.toThrow("app/freight/[...path]/route.ts")
  })

  it("explains what to do when the body was read", async () => {
    const { POST } = toNextHandlers(await startWaybill(() => undefined))
    const request = new Request("http://x/freight/intake/v1/transit-events", { method: "POST", body: "{}" })
    await request.json()
    const answer = await POST(request, { params: Promise.resolve({ path: ["intake", "v1", "transit-events"] }) })
    expect([answer.status, await answer.json()]).toMatchObject([500, { code: "body_already_read", detail: expect.stringContaining("request.clone()") }])
  })
})
