import { DeliveryControl } from "@waybill/core/delivery"
import { Effect, Latch } from "effect"
import { describe, expect, it } from "vitest"
import { operatorKey, readOnlyKey, reportedEvent, runningService } from "../TestService.ts"

const service = await runningService()

describe("probes", () => {
  it("report that the process lives and the storage answers, without credentials", async () => {
    expect((await service.send("GET", "/healthz")).json).toEqual({ status: "ok" })
    expect((await service.send("GET", "/readyz")).json).toEqual({ status: "ready", checks: [{ name: "storage", ok: true }] })
  })

  it("name the failed check, and only log the reason", async () => {
    const unready = await runningService({
      readiness: [
        { name: "database", check: Effect.fail(new Error("connect ECONNREFUSED 10.0.0.7")) },
        { name: "migrations", check: Effect.void },
        { name: "broken", check: Effect.die("bug") }
      ]
    })
    const answer = await unready.send("GET", "/readyz")
    expect(answer.status).toBe(503)
    expect(answer.json).toEqual({
      status: "not_ready",
      checks: [{ name: "storage", ok: true }, { name: "database", ok: false }, { name: "migrations", ok: true }, { name: "broken", ok: false }]
    })
    expect((await unready.send("GET", "/healthz")).status).toBe(200)
    expect(unready.log.some(({ cause }) => cause?.includes("ECONNREFUSED") === true)).toBe(true)
  })

  it("do not fill the log", async () => {
    const before = service.log.length
    await service.send("GET", "/healthz")
    expect(service.log.slice(before).map(({ level }) => level)).toEqual(["DEBUG"])
  })
})

describe("reading the database without credentials", () => {
  it.each(["/readyz", "/metrics"])("happens once for all that ask %s at the same time, and again for the next one", async (path) => {
    const latch = Latch.makeUnsafe()
    let reads = 0
    const read = <A>(answer: A) => Effect.suspend(() => {
      reads += 1
      return Effect.as(latch.await, answer)
    })
    const open = await runningService({ publicMetrics: true, readiness: path === "/readyz" ? [{ name: "migrations", check: read(undefined) }] : [] })
    if (path === "/metrics") Object.assign(await open.run(DeliveryControl), { troubles: read({ now: 0, sources: [], destinations: [] }) })
    const asked = Array.from({ length: 50 }, () => open.send("GET", path))
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(reads).toBe(1)
    latch.openUnsafe()
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]))
    expect((await open.send("GET", path)).status).toBe(200)
    expect(reads).toBe(2)
  })

  it("goes on for others when the first that asked leaves", async () => {
    const latch = Latch.makeUnsafe()
    const open = await runningService({ readiness: [{ name: "migrations", check: latch.await }] })
    const leaving = new AbortController()
    const first = open.respond(new Request("http://waybill.test/readyz", { signal: leaving.signal }))
    const second = open.send("GET", "/readyz")
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    leaving.abort()
    await first
    latch.openUnsafe()
    expect((await second).status).toBe(200)
  })
})

describe("the two parts of the service", () => {
  const from = async (part: "customers" | "operators", path: string, key?: string) => {
    const answer = await service.fetch(new Request(`http://waybill.test${path}`, key === undefined ? {} : { headers: { "x-api-key": key } }), part)
    return { status: answer.status, json: answer.json }
  }
  const statuses = (part: "customers" | "operators", paths: ReadonlyArray<string>) => Promise.all(paths.map(async (path) => (await from(part, path, operatorKey)).status))
  const ofOperators = ["/operator/v1/tenants", "/metrics", "/docs", "/openapi/operator.json"]
  const ofCustomers = ["/visibility/v1/events", "/invoicing/invoices", "/intake/v1/pickups/1", "/openapi/pickups.json"]

  it("answer their own calls, 404 to those of the other, and probes both", async () => {
    expect(await statuses("operators", ofOperators)).toEqual([200, 200, 200, 200])
    expect(await statuses("customers", ofOperators)).toEqual([404, 404, 404, 404])
    expect(await statuses("operators", ofCustomers.slice(0, 3))).toEqual([404, 404, 404])
    expect((await statuses("customers", ofCustomers)).includes(404)).toBe(false)
    for (const part of ["customers", "operators"] as const) expect(await statuses(part, ["/healthz", "/readyz", "/openapi.json"])).toEqual([200, 200, 200])
  })

  it("describe themselves: each call is in one document only", async () => {
    const paths = async (part: "customers" | "operators") => Object.keys((await from(part, "/openapi.json")).json.paths)
    expect((await paths("customers")).filter((path) => path.startsWith("/operator"))).toEqual([])
    expect(await paths("customers")).toContain("/visibility/v1/events")
    const own = await paths("operators")
    expect(own).toContain("/operator/v1/tenants")
    expect(own.filter((path) => !path.startsWith("/operator"))).toEqual([])
    expect(await statuses("operators", ["/openapi/pickups.json"])).toEqual([404])
  })

  it("count failed credentials together", async () => {
    const failing = await runningService({ trustForwarded: true })
    const ask = (part: "customers" | "operators", path: string) =>
      failing.fetch(new Request(`http://waybill.test${path}`, { headers: { "x-api-key": "wrong", "x-forwarded-for": "198.51.100.7" } }), part)
    for (let n = 0; n < 30; n++) {
      expect((await ask("customers", "/visibility/v1/events")).status).toBe(401)
      expect((await ask("operators", "/operator/v1/tenants")).status).toBe(401)
    }
    expect((await ask("operators", "/operator/v1/tenants")).status).toBe(429)
  })
})

describe("/metrics", () => {
  it("is for operators on the whole service, unless it is configured as public", async () => {
    const tenant = await service.tenant("metrics")
    expect((await service.send("GET", "/metrics")).status).toBe(401)
    expect((await service.send("GET", "/metrics", { key: tenant.carrier })).status).toBe(403)
    expect((await service.send("GET", "/metrics", { key: readOnlyKey })).status).toBe(200)
    const open = await runningService({ publicMetrics: true })
    expect((await open.send("GET", "/metrics")).status).toBe(200)
    expect((await open.fetch(new Request("http://waybill.test/metrics"), "customers")).status).toBe(404)
  })

  it("shows operators unhealthy subscriptions with tenant and id, until they recover", async () => {
    const tenant = await service.tenant("failing")
    await tenant.subscribe(tenant.carrier)
    const id = "01a20a3f-f4f3-75b1-b63e-08d760ce72eb"
    const control = await service.run(DeliveryControl)
    const original = control.troubles
    const paused = { tenantId: "failing", destinationId: id, source: "transit-events", paused: true, breakerOpen: false, dead: 3, waitingMillis: 90_500 }
    const sources = [{ source: "transit-events", paused: 1, breakersOpen: 0, dead: 3, waitingMillis: 90_500 }]
    Object.assign(control, { troubles: Effect.succeed({ sources, destinations: [paused] }) })
    const labels = `{tenant="failing",subscription="${id}",area="transit-events"}`
    const during = (await service.send("GET", "/metrics", { key: operatorKey })).text
    for (const line of [
      `waybill_subscription_paused${labels} 1`,
      `waybill_subscription_recent_dead_deliveries${labels} 3`,
      `waybill_subscription_oldest_waiting_seconds${labels} 90.5`,
      "waybill_subscriptions_paused{area=\"transit-events\"} 1",
      "waybill_subscriptions_recent_dead_deliveries{area=\"freight-charges\"} 0"
    ]) expect(during.split("\n")).toContain(line)
    expect(during).not.toContain("waybill_subscription_breaker_open{")
    Object.assign(control, { troubles: original })
    const after = (await service.send("GET", "/metrics", { key: operatorKey })).text
    expect(after).not.toContain("waybill_subscription_paused{")
    expect(after.split("\n")).toContain("waybill_subscriptions_paused{area=\"transit-events\"} 0")
  })

  it("names no tenant where everybody may read it", async () => {
    const open = await runningService({ publicMetrics: true })
    const control = await open.run(DeliveryControl)
    Object.assign(control, {
      troubles: Effect.succeed({ sources: [], destinations: [{ tenantId: "hidden", destinationId: "d", source: "transit-events", paused: true, breakerOpen: true, dead: 1, waitingMillis: 1 }] })
    })
    expect((await open.send("GET", "/metrics")).text).not.toContain("hidden")
    expect((await open.fetch(new Request("http://waybill.test/metrics"), "operators")).text).toContain("tenant=\"hidden\"")
  })

  it("is Prometheus text with the requests and the queue depth", async () => {
    const tenant = await service.tenant("acme")
    await tenant.subscribe(tenant.carrier)
    await tenant.publish(reportedEvent("S1"), reportedEvent("S2"))
    await service.send("GET", "/visibility/v1/subscriptions/secret-looking-id", { key: tenant.carrier })
    const answer = await service.send("GET", "/metrics", { key: operatorKey })
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"])
    expect(answer.text).toMatch(/^waybill_queue_waiting_entries 2$/m)
    expect(answer.text).toMatch(/^waybill_http_requests_total\{method="POST",route="\/intake\/v1\/transit-events",status="200"\} 1$/m)
    expect(answer.text).toMatch(/^waybill_http_request_seconds_count\{route="\/intake\/v1\/transit-events"\} 1$/m)
    expect(answer.text).not.toContain("secret-looking-id")
    const sample = /^[a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*"(,[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*")*\})? (NaN|[+-]?(Inf|\d+(\.\d+)?(e[+-]?\d+)?))$/
    for (const line of answer.text.split("\n")) {
      if (line !== "" && !line.startsWith("# HELP ") && !line.startsWith("# TYPE ")) expect(line).toMatch(sample)
    }
  })
})
