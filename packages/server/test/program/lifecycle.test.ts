import type { ServerResponse } from "node:http"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import { eventually, freePort, leaked, Program, receiver, sharedSettings, startProgram } from "./Program.ts"
import { event, tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

/** A proxy in front of the database, to interrupt it. */
const databaseProxy = async () => {
  const target = new URL(pgUrl)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((near) => {
    if (isFrozen) return void sockets.add(near.on("error", () => {}).on("close", () => sockets.delete(near)))
    const far = connect(Number(target.port || 5432), target.hostname)
    for (const [one, other] of [[near, far], [far, near]] as const) {
      sockets.add(one)
      one.on("error", () => {})
      one.on("close", () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const takeAway = async () => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  }
  /** Stops forwarding without closing connections, and accepts new ones that it says nothing on. */
  const freeze = () => {
    isFrozen = true
    for (const socket of sockets) socket.unpipe().pause()
  }
  onTestFinished(async () => {
    if (server.listening) await takeAway()
  })
  const url = new URL(pgUrl)
  url.hostname = "127.0.0.1"
  url.port = String(port)
  return { url: url.href, takeAway, giveBack: () => listen(port), freeze }
}

/** A server whose first delivery has arrived at its receiver. */
const delivering = async (databaseUrl: string, settings: Readonly<Record<string, string>>, answer?: Parameters<typeof receiver>[0], launched = false) => {
  const { env, operatorKey } = sharedSettings(databaseUrl, settings)
  const { program, url } = await startProgram({ env, launched })
  const tenant = await tenantOn(url, operatorKey)
  const hook = await receiver(answer)
  await tenant.customerAt(url).createSubscription({ endpointUrl: `${hook.url}/hook`, hmacSecretId: "main" })
  await tenant.intakeAt(url).publishTransitEvents([event("S-1", 1)])
  await eventually(() => hook.receptions[0])
  return { env, operatorKey, program, url, tenant, hook }
}

/** A receiver's answer that waits until it is released. */
const heldAnswer = () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => release = resolve)
  return { release: () => release(), answer: (_: unknown, response: ServerResponse) => void held.then(() => response.writeHead(200).end()) }
}

/** A request whose body is sent on demand. */
const slowPost = (baseUrl: string, path: string, headers: Readonly<Record<string, string>>, body: string) => {
  const { hostname, port } = new URL(baseUrl)
  let answer = ""
  const socket = connect(Number(port), hostname)
  socket.on("error", () => {})
  socket.on("data", (chunk) => answer += chunk.toString())
  const lines = Object.entries({ host: `${hostname}:${port}`, "content-type": "application/json", "content-length": String(Buffer.byteLength(body)), ...headers })
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body.slice(0, 5)}`)
  return {
    finish: () => socket.write(body.slice(5)),
    answer: () => eventually(() => /\r\n\r\n/.test(answer) ? answer : undefined, { what: () => "an answer" })
  }
}

describe("a server's life", { timeout: 60_000 }, () => {
  it("answers requests that arrived before it was ready", async () => {
    const { env } = sharedSettings(pgUrl)
    const port = await freePort()
    const program = new Program({ env: { ...env, WAYBILL_PORT: String(port) } })
    expect((await eventually(() => fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))).status).toBe(200)
    expect(await program.ready()).toBe(`http://127.0.0.1:${port}`)
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
  })

  it("serves when its log cannot be written any more", async () => {
    const { hook, program, tenant, url } = await delivering(pgUrl, { WAYBILL_LOG_LEVEL: "debug" })
    program.child.stderr!.destroy()
    await tenant.intakeAt(url).publishTransitEvents([event("S-2", 1)])
    await eventually(() => hook.receptions.find(({ body }) => body.includes("S-2/1")))
    await tenant.intakeAt(url).publishTransitEvents([event("S-3", 1)])
    await eventually(() => hook.receptions.find(({ body }) => body.includes("S-3/1")))
  })

  it("finishes requests and attempts in flight when it is stopped, and leaves no lease", async () => {
    const { answer, release } = heldAnswer()
    const { env, hook, operatorKey, program, tenant, url } = await delivering(pgUrl, { WAYBILL_LOG_LEVEL: "debug" }, answer)

    const slow = slowPost(url, "/intake/v1/transit-events", { "x-api-key": tenant.carrierKey }, JSON.stringify({ events: [event("S-2", 1)] }))
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 200 ? true : undefined)
    program.child.kill("SIGTERM")
    // It no longer listens, and requests in flight continue.
    await eventually(() => fetch(`${url}/readyz`).then((response) => response.status === 503 ? true : undefined, () => true))
    expect(program.ended).toBeUndefined()
    slow.finish()
    expect(await slow.answer()).toMatch(/^HTTP\/1\.1 200 /)
    release()
    expect(await program.end()).toEqual({ code: 0, signal: null })

    const { program: next, url: nextUrl } = await startProgram({ env })
    // The last event is delivered; deliveries during the shutdown are not repeated.
    await eventually(() => hook.receptions.find(({ body }) => body.includes("S-2/1")))
    const { data } = await tenant.customerAt(nextUrl).listEvents()
    expect(data.map(({ eventId }) => eventId)).toEqual(["S-1/1", "S-2/1"])
    expect(hook.receptions.filter(({ body }) => body.includes("S-1/1"))).toHaveLength(1)
    expect(await next.kill("SIGTERM")).toEqual({ code: 0, signal: null })

    const password = new URL(pgUrl).password
    const secrets = [operatorKey, env["WAYBILL_SEALING_KEY"]!, tenant.carrierKey, tenant.customerKey, tenant.secret, ...(password.length > 6 ? [password] : [])]
    expect(leaked(program.output + next.output, secrets)).toEqual([])
  })

  it("waits no longer than configured, and releases its leases", async () => {
    let hangs = true
    const { env, hook, program } = await delivering(pgUrl, { WAYBILL_DRAIN_SECONDS: "0.5", WAYBILL_LEASE_SECONDS: "600" }, (_, response) => {
      if (!hangs) response.writeHead(200).end()
    })
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })

    hangs = false
    const next = new Program({ env })
    await next.ready()
    // With its lease, this would take ten minutes.
    const again = await eventually(() => hook.receptions[1])
    expect(again.id).toBe(hook.receptions[0]!.id)
    expect(again.body).toBe(hook.receptions[0]!.body)
  })

  it("ends in time when connections to the database are open on this side only", async () => {
    const database = await databaseProxy()
    const { program, tenant, url } = await delivering(database.url, { WAYBILL_DRAIN_SECONDS: "1" })
    database.freeze()
    // a request that waits for the database
    const lookup = tenant.customerAt(url).listEvents().catch(() => undefined)
    const stoppedAt = performance.now()
    program.child.kill("SIGTERM")
    expect(await program.end(120)).toEqual({ code: 0, signal: null })
    expect(performance.now() - stoppedAt).toBeLessThan(15_000)
    await lookup
  })

  it("exits at once at the second signal", async () => {
    const { program, url } = await delivering(pgUrl, { WAYBILL_DRAIN_SECONDS: "60", WAYBILL_ATTEMPT_TIMEOUT_SECONDS: "60", WAYBILL_LEASE_SECONDS: "90" }, () => {})
    program.child.kill("SIGTERM")
    await eventually(() => fetch(`${url}/readyz`).then(() => undefined, () => true))
    expect(program.ended).toBeUndefined()
    // the signals of the first second are the same request
    const ended = await eventually(() => {
      program.child.kill("SIGTERM")
      return program.ended
    })
    expect(ended).toEqual({ code: 1, signal: null })
  })

  it.each(["SIGTERM", "SIGINT"] as const)("finishes attempts in flight when %s goes to its whole process group, launcher included", async (signal) => {
    const { answer, release } = heldAnswer()
    const { hook, program, url } = await delivering(pgUrl, {}, answer, true)
    process.kill(-program.child.pid!, signal)
    await eventually(() => fetch(`${url}/readyz`).then(() => undefined, () => true))
    expect(program.ended).toBeUndefined()
    release()
    expect(await program.end()).toEqual({ code: 0, signal: null })
    expect(hook.receptions).toHaveLength(1)
  })

  it("continues after SIGHUP without a terminal, as nohup, logrotate and process managers expect, and logs it", async () => {
    const { hook, program, tenant, url } = await delivering(pgUrl, {})
    program.child.kill("SIGHUP")
    await eventually(() => program.log.find(({ message }) => String(message).startsWith("SIGHUP ignored.")))
    await tenant.intakeAt(url).publishTransitEvents([event("S-2", 1)])
    await eventually(() => hook.receptions.find(({ body }) => body.includes("S-2/1")))
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })

  it("survives an outage of its database, logs it, and recovers", async () => {
    const proxy = await databaseProxy()
    const { env, operatorKey } = sharedSettings(proxy.url)
    const { program, url } = await startProgram({ env })
    const tenant = await tenantOn(url, operatorKey)
    const hook = await receiver()
    await tenant.customerAt(url).createSubscription({ endpointUrl: `${hook.url}/hook`, hmacSecretId: "main" })

    await proxy.takeAway()
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 503 ? true : undefined)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const refused = await fetch(`${url}/visibility/v1/events`, { headers: { "x-api-key": tenant.customerKey } })
    expect(refused.status).toBe(503)
    expect(refused.headers.get("retry-after")).not.toBeNull()

    await proxy.giveBack()
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 200 ? true : undefined)
    await tenant.intakeAt(url).publishTransitEvents([event("S-1", 1)])
    await eventually(() => hook.receptions[0])
    expect(program.ended).toBeUndefined()
  })

  it("starts and answers lookups without its read replica, and reports that", async () => {
    const { env, operatorKey } = sharedSettings(pgUrl)
    const { program, url } = await startProgram({ env: { ...env, WAYBILL_READ_DATABASE_URL: "postgres://waybill:hunter2hunter2@127.0.0.1:9/freight" } })
    const tenant = await tenantOn(url, operatorKey)
    await tenant.intakeAt(url).publishTransitEvents([event("S-1", 1)])
    expect((await fetch(`${url}/visibility/v1/events`, { headers: { "x-api-key": tenant.customerKey } })).status).toBe(200)
    const readiness = await fetch(`${url}/readyz`)
    expect([readiness.status, await readiness.json()]).toEqual([200, {
      status: "ready",
      checks: [{ name: "storage", ok: true }, { name: "migrations", ok: true }, { name: "primary", ok: true }, { name: "read replica", ok: false }]
    }])
    await eventually(() => program.log.find(({ message }) => String(message).startsWith("Read replica not in use: ")))
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^waybill_replica_used 0$/m)
    expect(leaked(JSON.stringify(program.log), ["hunter2hunter2"])).toEqual([])
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    expect(program.log.filter(({ message }) => String(message).startsWith("Read replica "))).toHaveLength(1)
  })

  it("stops gracefully while its database is unavailable", async () => {
    const proxy = await databaseProxy()
    const { program, url } = await startProgram({ env: sharedSettings(proxy.url).env })
    await proxy.takeAway()
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 503 ? true : undefined)
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })

  it("waits for a database that starts after it", async () => {
    const proxy = await databaseProxy()
    await proxy.takeAway()
    const program = new Program({ env: sharedSettings(proxy.url).env })
    await eventually(() => program.log.find(({ message }) => /^Database at .+ does not answer: /.test(String(message))))
    await proxy.giveBack()
    await program.ready()
  })

  it("splits its work: one process answers, another delivers", async () => {
    const { env, operatorKey } = sharedSettings(pgUrl)
    const { url } = await startProgram({ env: { ...env, WAYBILL_ROLE: "api" } })
    const tenant = await tenantOn(url, operatorKey)
    const hook = await receiver()
    await tenant.customerAt(url).createSubscription({ endpointUrl: `${hook.url}/hook`, hmacSecretId: "main" })
    await tenant.intakeAt(url).publishTransitEvents([event("S-1", 1)])

    const { url: workerUrl } = await startProgram({ env: { ...env, WAYBILL_ROLE: "worker" } })
    await eventually(() => hook.receptions[0])
    for (const path of ["/healthz", "/readyz", "/metrics"]) expect((await fetch(workerUrl + path)).status).toBe(200)
    expect((await fetch(`${workerUrl}/visibility/v1/events`, { headers: { "x-api-key": tenant.customerKey } })).status).toBe(404)
    // the receiver has the request before the worker has the response
    await eventually(async () => (await (await fetch(`${workerUrl}/metrics`)).text()).includes("waybill_delivery_attempts_total{outcome=\"accepted\"} 1") ? true : undefined)
  })

  it("explains in one line why it cannot start", async () => {
    const { env } = sharedSettings(pgUrl)
    const first = new Program({ env })
    const { port } = new URL(await first.ready())
    const second = new Program({ env: { ...env, WAYBILL_PORT: port } })
    expect(await second.end()).toEqual({ code: 1, signal: null })
    expect(second.log.at(-1)!["message"]).toContain(`Port ${port} on 127.0.0.1 is taken by another program.`)

    const wrong = new URL(pgUrl)
    wrong.password = "not-the-password"
    wrong.username = "nobody-here"
    const third = new Program({ env: { ...env, WAYBILL_DATABASE_URL: wrong.href } })
    expect(await third.end()).toEqual({ code: 1, signal: null })
    expect(third.log.at(-1)!["message"]).toMatch(/^The database at \S+ refused the connection: .* Check WAYBILL_DATABASE_URL\.$/)
    expect(leaked(third.output, ["not-the-password"])).toEqual([])
    expect(third.stderr.trim().split("\n").filter((line) => !line.startsWith("{"))).toEqual([])
    await first.kill("SIGTERM")
  })
})

describe("waybill migrate", { timeout: 60_000 }, () => {
  it("prints the migrations, reports missing ones, and applies them", async () => {
    const { env } = sharedSettings(pgUrl)
    const run = async (...flags: ReadonlyArray<string>) => {
      const program = new Program({ args: ["migrate", ...flags], env })
      const { code } = await program.end()
      return { code, said: program.stdout + program.stderr.split("\n").filter((line) => !line.startsWith("{")).join("\n") }
    }
    const printed = await run("--print")
    expect(printed.code).toBe(0)
    expect(printed.said).toContain(`CREATE SCHEMA IF NOT EXISTS "${env["WAYBILL_SCHEMA"]}"`)
    const before = await run("--check")
    expect(before.code).toBe(1)
    expect(before.said).toContain("Run: waybill migrate")
    const applied = await run()
    expect(applied.code).toBe(0)
    expect(applied.said).toContain("applied")
    expect(await run("--check")).toMatchObject({ code: 0 })
    expect((await run()).said).toContain("is up to date")
  })

  it("refuses an unknown migration", async () => {
    const program = new Program({ args: ["migrate", "--chekc"] })
    expect((await program.end()).code).toBe(2)
    expect(program.output).toContain("--chekc")
  })
})
