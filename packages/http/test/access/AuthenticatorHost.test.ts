import { expect, it } from "vitest"
import { AuthenticatorHost, type HostOperator, type HostPrincipal } from "../../src/index.ts"
import { problemCode, reportedEvent, startService } from "../TestService.ts"

const sessions: Readonly<Record<string, HostPrincipal | HostOperator>> = {
  carrier: { tenantId: "acme", client: "tms", roles: ["carrier"] },
  shop: { tenantId: "acme", client: "shop", roles: ["customer"], accounts: ["A1"] },
  admin: { client: "root", roles: ["operator"] },
  nonsense: { tenantId: "../etc", client: "x", roles: ["carrier"] }
}

const start = async (seen: Array<Request> = []) => {
  const service = await startService({
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
  return { service, ask }
}

it("accepts the host's principal", async () => {
  const { ask, service } = await start()
  const events = [reportedEvent("S1", { eventId: "a", accounts: ["A1"] }), reportedEvent("S2", { eventId: "b", accounts: ["A2"] })]
  expect((await ask("carrier", "POST", "/intake/v1/transit-events", { events })).status).toBe(200)
  expect((await ask("shop")).json.data.map((event: { eventId: string }) => event.eventId)).toEqual(["a"])
  expect((await ask("shop", "GET", "/operator/v1/tenants/acme/deliveries")).status).toBe(403)
  expect((await ask("admin", "GET", "/operator/v1/tenants/acme/deliveries")).status).toBe(200)
  await service.stop()
})

it("answers 401 when the host does not know the caller, and 503 when the host fails", async () => {
  const { ask, service } = await start()
  for (const session of [undefined, "unknown"]) {
    const answer = await ask(session)
    expect([answer.status, problemCode(answer)]).toEqual([401, "unauthenticated"])
  }
  const failure = await ask("failure")
  expect([failure.status, problemCode(failure)]).toEqual([503, "authentication_unavailable"])
  expect(failure.text).not.toContain("session store")
  await service.stop()
})

it("refuses an invalid principal before it reaches a store", async () => {
  const { ask, service } = await start()
  expect((await ask("nonsense")).status).toBe(500)
  await service.stop()
})

it("passes method, address and headers to the host, and leaves the body unread", async () => {
  const seen: Array<Request> = []
  const { ask, service } = await start(seen)
  await ask("carrier", "POST", "/intake/v1/transit-events?partial=true", { events: [reportedEvent("S1")] })
  const request = seen.at(-1)!
  expect([request.method, new URL(request.url).pathname + new URL(request.url).search]).toEqual(["POST", "/intake/v1/transit-events?partial=true"])
  expect(request.headers.get("cookie")).toBe("session=carrier")
  expect(request.body).toBe(null)
  await service.stop()
})
