import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { AuthenticatorHost, type HostOperator, type HostPrincipal } from "../../src/index.ts"
import { start } from "../facade/Host.ts"
import { problemCode, reportedEvent, runningService } from "../TestService.ts"

const sessions: Readonly<Record<string, HostPrincipal | HostOperator>> = {
  carrier: { tenantId: "acme", client: "tms", roles: ["carrier"] },
  shop: { tenantId: "acme", client: "shop", roles: ["customer"], accounts: ["A1"] },
  admin: { client: "root", roles: ["operator"] },
  nonsense: { tenantId: "../etc", client: "x", roles: ["carrier"] }
}

const startHost = async (seen: Array<Request> = []) => {
  const service = await runningService({
    authenticator: AuthenticatorHost.layer(async (request) => {
      seen.push(request)
      const session = /session=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1]
      if (session === "failure") throw new Error("session store is down")
      return session === undefined ? undefined : sessions[session]
    })
  })
  const ask = (session: string | undefined, method = "GET", path = "/visibility/v1/events", body?: unknown) =>
    service.send(method, path, { ...(session === undefined ? {} : { headers: { cookie: `session=${session}` } }), ...(body === undefined ? {} : { body }) })
  await ask("admin", "PUT", "/operator/v1/tenants/acme", { name: "Acme" })
  return { ask }
}

it("accepts the host's principal", async () => {
  const { ask } = await startHost()
  const events = [reportedEvent("S1", { eventId: "a", accounts: ["A1"] }), reportedEvent("S2", { eventId: "b", accounts: ["A2"] })]
  expect((await ask("carrier", "POST", "/intake/v1/transit-events", { events })).status).toBe(200)
  expect((await ask("shop")).json.data.map((event: { eventId: string }) => event.eventId)).toEqual(["a"])
  expect((await ask("shop", "GET", "/operator/v1/tenants/acme/deliveries")).status).toBe(403)
  expect((await ask("admin", "GET", "/operator/v1/tenants/acme/deliveries")).status).toBe(200)
})

it("answers 401 when the host does not know the caller, and 503 when the host fails", async () => {
  const { ask } = await startHost()
  for (const session of [undefined, "unknown"]) {
    const answer = await ask(session)
    expect([answer.status, problemCode(answer)]).toEqual([401, "unauthenticated"])
  }
  const failure = await ask("failure")
  expect([failure.status, problemCode(failure)]).toEqual([503, "authentication_unavailable"])
  expect(failure.text).not.toContain("session store")
})

it("accepts a principal that the host returns without a promise", async () => {
  const service = await runningService({ authenticator: AuthenticatorHost.layer((() => sessions["admin"]) as never) })
  expect((await service.send("GET", "/operator/v1/tenants")).status).toBe(200)
})

it("answers 503 after 10 seconds when the host does not answer", async () => {
  let noteAsked = () => {}
  const asked = new Promise<void>((resolve) => (noteAsked = resolve))
  const authenticate = () => {
    noteAsked()
    return new Promise<never>(() => {})
  }
  const service = await runningService({ authenticator: AuthenticatorHost.layer(authenticate), over: TestClock.layer() })
  const answer = service.send("GET", "/operator/v1/tenants")
  await asked
  await service.run(TestClock.adjust("10 seconds"))
  expect(problemCode(await answer)).toBe("authentication_unavailable")
})

it("refuses an invalid principal before it reaches a store", async () => {
  const { ask } = await startHost()
  expect((await ask("nonsense")).status).toBe(500)
})

it("passes method, address and headers to the host, and leaves the body unread", async () => {
  const seen: Array<Request> = []
  const { ask } = await startHost(seen)
  await ask("carrier", "POST", "/intake/v1/transit-events?partial=true", { events: [reportedEvent("S1")] })
  const request = seen.at(-1)!
  expect([request.method, new URL(request.url).pathname + new URL(request.url).search]).toEqual(["POST", "/intake/v1/transit-events?partial=true"])
  expect(request.headers.get("cookie")).toBe("session=carrier")
  expect(request.body).toBe(null)
})

describe("beside API keys", () => {
  const startBoth = async ({ describes = true } = {}) => {
    const seen: Array<Request> = []
    const waybill = start({
      apiKeys: true,
      authenticate: async (request) => {
        seen.push(request)
        return request.headers.get("cookie") === "session=shop" ? { tenantId: "acme", client: "shop", roles: ["customer"], accounts: ["A1"] } : undefined
      },
      ...(describes ? { securitySchemes: { Session: { type: "apiKey", in: "cookie", name: "session" } } } : {})
    })
    await waybill.tenants.put("acme", { name: "Acme" })
    const { id, key } = await waybill.apiKeys.create("acme", { name: "shop", roles: ["customer"], accounts: ["A1"] })
    const ask = (headers: Record<string, string>, path = "/visibility/v1/subscriptions", init: RequestInit = {}) =>
      waybill.handler(new Request(`http://x${path}`, { ...init, headers: { ...headers, "content-type": "application/json" } }), { remoteAddress: "192.0.2.1" })
    return { ask, id, key, seen, waybill }
  }

  it("a key and a session of the same client have the same subscriptions, and the host does not see the key", async () => {
    const { ask, key, seen, waybill } = await startBoth()
    await waybill.secrets.put("acme", "main", { client: "shop" })
    const created = await ask({ "x-api-key": key }, undefined, { method: "POST", body: JSON.stringify({ endpointUrl: "https://shop.example/hook", hmacSecretId: "main" }) })
    expect([created.status, seen.length]).toEqual([201, 0])
    const { id } = await created.json() as { readonly id: string }
    const listed = await (await ask({ cookie: "session=shop" })).json() as { readonly data: ReadonlyArray<{ readonly id: string }> }
    expect(listed.data.map((each) => each.id)).toEqual([id])
    expect(seen.length).toBe(1)
  })

  it("a wrong or revoked key is refused, whatever the host knows about the request", async () => {
    const { ask, id, key, seen, waybill } = await startBoth()
    const session = { cookie: "session=shop", authorization: "Bearer of-the-host" }
    expect((await ask({ ...session, "x-api-key": key })).status).toBe(200)
    await waybill.apiKeys.revoke("acme", id)
    for (const wrong of [key, "wb.acme.nobody", "", "word"]) expect((await ask({ ...session, "x-api-key": wrong })).status).toBe(401)
    expect(seen).toEqual([])
    expect((await ask(session)).status).toBe(200)
  })

  it("wrong keys are counted", async () => {
    const { ask } = await startBoth()
    const statuses = []
    for (let attempt = 0; attempt <= 60; attempt++) statuses.push((await ask({ "x-api-key": `wb.acme.${attempt}` })).status)
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429])
  })

  it("the document and a 401 name both", async () => {
    const { ask } = await startBoth()
    const { components } = await (await ask({}, "/openapi.json")).json() as { readonly components: { readonly securitySchemes: object } }
    expect(Object.keys(components.securitySchemes).toSorted()).toEqual(["ApiKey", "Session"])
    expect(await (await ask({})).text()).toContain("Send the cookie session, or the header X-API-Key.")
  })

  it("a 401 names a login too, if the host does not describe its credentials", async () => {
    const { ask } = await startBoth({ describes: false })
    expect(await (await ask({})).text()).toContain("Send the header X-API-Key, or log in at the application that serves this call.")
  })
})
