import { OperatorClient } from "@waybill/client"
import { randomBytes } from "node:crypto"
import { expect, inject, it } from "vitest"
import { runProcess } from "../commands/Cli.ts"
import { loadBalancer } from "./LoadBalancer.ts"
import { eventually, leaked, Program, receiver, sharedSettings, startProgram } from "./Program.ts"
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
  // each body is read once: reading thousands again and again would block the receiver, which is in this process
  const missing = new Set(published)
  let read = 0
  const allReceived = () => {
    for (; read < hook.receptions.length; read++) {
      const { events } = JSON.parse(hook.receptions[read]!.body) as { events: Array<{ eventId: string }> }
      for (const { eventId } of events) missing.delete(eventId)
    }
    return missing.size === 0 ? true : undefined
  }
  // a worker that could not give its partitions back in time leaves them until their lease of 20 seconds expires
  await eventually(allReceived, { seconds: 30 })
})

it("is not ready and still serves after SIGTERM, until the drain delay is over", { timeout: 90_000 }, async () => {
  const { env, operatorKey } = sharedSettings(pgUrl, { WAYBILL_DRAIN_DELAY_SECONDS: "3" })
  const { program, url } = await startProgram({ env })
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

  const { program: ended, url } = await startProgram({ env })
  ended.child.kill("SIGTERM")
  await eventually(() => fetch(`${url}/readyz`).then(({ status }) => status === 503 ? true : undefined))
  // Signals in the first second are the same request, so it is repeated until it counts.
  await eventually(() => ended.child.kill("SIGTERM") && ended.ended === undefined ? undefined : true)
  expect(await ended.end()).toEqual({ code: 1, signal: null })
})

it("changes the sealing key in a rolling restart: no attempt fails, and the old key is not needed afterwards", { timeout: 240_000 }, async () => {
  const { env, operatorKey, sealingKey: old } = sharedSettings(pgUrl, { WAYBILL_POOL_SIZE: "4" })
  const fresh = randomBytes(32).toString("base64")
  const under = async (keys: string) => {
    const program = new Program({ env: { ...env, WAYBILL_SEALING_KEY: keys } })
    return { program, url: await program.ready() }
  }
  const hook = await receiver()
  let before = await under(old)
  const tenant = await tenantOn(before.url, operatorKey)
  let sent = 0
  const publishAt = async (url: string) => {
    await tenant.intakeAt(url).publishTransitEvents([event("S-1", ++sent)])
    await eventually(() => hook.receptions.length === sent ? true : undefined)
  }
  await tenant.customerAt(before.url).createSubscription({ endpointUrl: `${hook.url}/hook`, hmacSecretId: "main" })
  await publishAt(before.url)
  for (const keys of [`${old},${fresh}`, `${fresh},${old}`]) {
    const next = await under(keys)
    await new OperatorClient({ baseUrl: next.url, apiKey: operatorKey }).putSecret("acme", "main", {})
    await publishAt(next.url)
    await before.program.kill("SIGTERM")
    await publishAt(next.url)
    before = next
  }

  const reseal = (keys: string) => runProcess(["secrets", "reseal", "--json"], { env: { ...env, WAYBILL_SEALING_KEY: keys } })
  const withoutOld = await reseal(fresh)
  expect(withoutOld.code).toBe(1)
  expect(withoutOld.stderr).toContain("WAYBILL_SEALING_KEY=new,old")
  const done = await reseal(`${fresh},${old}`)
  expect([done.code, JSON.parse(done.stdout).unreadable]).toEqual([0, []])
  expect(JSON.parse((await reseal(fresh)).stdout)).toMatchObject({ resealed: 0, unreadable: [] })

  const last = await under(fresh)
  await before.program.kill("SIGTERM")
  await publishAt(last.url)
  // received outcomes are written soon after
  const operator = new OperatorClient({ baseUrl: last.url, apiKey: operatorKey })
  const data = await eventually(async () => {
    const page = await operator.listDeliveries("acme", {})
    return page.data.filter(({ state }) => state === "delivered").length === sent ? page.data : undefined
  })
  expect(data.flatMap(({ attempts }) => attempts.map(({ outcome }) => outcome))).toEqual(Array.from({ length: sent }, () => "accepted"))
  expect(leaked([done, withoutOld].map(({ stderr, stdout }) => stdout + stderr).join(""), [old, fresh, tenant.secret])).toEqual([])
  expect(await last.program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
})
