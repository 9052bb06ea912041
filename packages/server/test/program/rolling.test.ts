import { expect, inject, it } from "vitest"
import { loadBalancer } from "./LoadBalancer.ts"
import { eventually, Program, receiver, sharedSettings } from "./Program.ts"
import { event, tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

it("refuses no request while two processes are replaced behind a load balancer", { timeout: 180_000 }, async () => {
  const { env, operatorKey } = sharedSettings(pgUrl, { WAYBILL_DRAIN_DELAY_SECONDS: "3", WAYBILL_POOL_SIZE: "4" })
  const balancer = await loadBalancer()
  const start = async () => {
    const program = new Program({ env })
    await balancer.add(await program.ready())
    return program
  }
  const first = await Promise.all([start(), start()])
  const tenant = await tenantOn(balancer.url, operatorKey)
  const hook = await receiver()
  await tenant.customerAt(balancer.url).createSubscription({ endpointUrl: `${hook.url}/hook`, hmacSecretId: "main" })

  const statuses = new Map<number, number>()
  const published: Array<string> = []
  let over = false
  const call = async (caller: number) => {
    for (let sequence = 1; !over; sequence++) {
      const { eventId } = event(`S-${caller}`, sequence)
      const response = await fetch(`${balancer.url}/intake/v1/transit-events`, {
        method: "POST",
        headers: { "x-api-key": tenant.carrierKey, "content-type": "application/json" },
        body: JSON.stringify({ events: [event(`S-${caller}`, sequence)] })
      })
      await response.arrayBuffer()
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      published.push(eventId!)
    }
  }
  const callers = Promise.all(Array.from({ length: 4 }, (_, caller) => call(caller)))

  for (const old of first) {
    await start()
    const before = published.length
    expect(await old.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    expect(published.length).toBeGreaterThan(before)
  }
  over = true
  await callers
  expect(balancer.refused).toEqual([])
  expect([...statuses.keys()]).toEqual([200])
  const received = () => new Set(hook.receptions.flatMap(({ body }) => (JSON.parse(body) as { events: Array<{ eventId: string }> }).events.map(({ eventId }) => eventId)))
  await eventually(() => published.every((eventId) => received().has(eventId)) ? true : undefined)
})

it("is not ready and still serves after SIGTERM, until the drain delay is over", { timeout: 90_000 }, async () => {
  const { env, operatorKey } = sharedSettings(pgUrl, { WAYBILL_DRAIN_DELAY_SECONDS: "3" })
  const program = new Program({ env })
  const url = await program.ready()
  const tenant = await tenantOn(url, operatorKey)
  program.child.kill("SIGTERM")
  const readiness = await eventually(() => fetch(`${url}/readyz`).then((response) => response.status === 503 ? response : undefined))
  expect(await readiness.json()).toEqual({ status: "not_ready", checks: [{ name: "running", ok: false }] })
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  const published = await fetch(`${url}/intake/v1/transit-events`, {
    method: "POST",
    headers: { "x-api-key": tenant.carrierKey, "content-type": "application/json" },
    body: JSON.stringify({ events: [event("S-1", 1)] })
  })
  expect([published.status, published.headers.get("connection")]).toEqual([200, "close"])
  await eventually(() => fetch(`${url}/readyz`).then(() => undefined, () => true))
  expect(await program.end()).toEqual({ code: 0, signal: null })
})

it("skips the drain delay at SIGINT, and a second signal ends the delay at once", { timeout: 90_000 }, async () => {
  const { env } = sharedSettings(pgUrl, { WAYBILL_DRAIN_DELAY_SECONDS: "600" })
  const interrupted = new Program({ env })
  await interrupted.ready()
  expect(await interrupted.kill("SIGINT")).toEqual({ code: 0, signal: null })

  const ended = new Program({ env })
  const url = await ended.ready()
  ended.child.kill("SIGTERM")
  await eventually(() => fetch(`${url}/readyz`).then(({ status }) => status === 503 ? true : undefined))
  // Signals in the first second are the same request, so it is repeated until it counts.
  await eventually(() => ended.child.kill("SIGTERM") && ended.ended === undefined ? undefined : true)
  expect(await ended.end()).toEqual({ code: 1, signal: null })
})
