import { setTimeout as after } from "node:timers/promises"
import { describe, expect, inject, it } from "vitest"
import { connectionsOf } from "./connectionsOf.ts"
import { eventually, Program, receiver, sharedSettings } from "./Program.ts"
import { firstDeliveries } from "./ReceivedEvents.ts"
import { event, tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

const leaseSeconds = 3

describe("many processes on one database", { timeout: 120_000 }, () => {
  it("starts ten at once on a missing schema", async () => {
    const { env } = sharedSettings(pgUrl, { WAYBILL_POOL_SIZE: "2" })
    const programs = Array.from({ length: 10 }, () => new Program({ env }))
    const urls = await Promise.all(programs.map((program) => program.ready(100)))
    expect(new Set(urls).size).toBe(10)
    expect(await Promise.all(urls.map(async (url) => (await fetch(`${url}/readyz`)).status))).toEqual(urls.map(() => 200))
    expect(programs.flatMap((program) => program.log.filter(({ level }) => level !== "info"))).toEqual([])
    expect(await Promise.all(programs.map((program) => program.kill("SIGTERM")))).toEqual(programs.map(() => ({ code: 0, signal: null })))
  })

  it.runIf(process.platform === "linux")("loses nothing and keeps every shipment's order when one of three is killed under load", async () => {
    const shipments = 40
    const rounds = 8
    const destinations = 9
    const { env, operatorKey } = sharedSettings(pgUrl, {
      WAYBILL_LEASE_SECONDS: String(leaseSeconds),
      WAYBILL_ATTEMPT_TIMEOUT_SECONDS: "2",
      WAYBILL_POOL_SIZE: "5"
    })
    const programs = Array.from({ length: 3 }, () => new Program({ env }))
    const urls = await Promise.all(programs.map((program) => program.ready()))
    const tenant = await tenantOn(urls[0]!, operatorKey)
    let holding = false
    const held: Array<() => void> = []
    const hook = await receiver((_, response) => {
      const answer = () => void response.writeHead(200).end()
      if (holding) held.push(answer)
      else void after(50).then(answer)
    })
    for (let destination = 0; destination < destinations; destination++) {
      await tenant.customerAt(urls[0]!).createSubscription({
        endpointUrl: `${hook.url}/${destination}`,
        hmacSecretId: "main",
        delivery: { batchMaxSize: 4, initialBackoffSeconds: 1 }
      })
    }
    let living = urls
    const published = (async () => {
      for (let round = 1; round <= rounds; round++) {
        const events = Array.from({ length: shipments }, (_, shipment) => event(`S-${shipment}`, round))
        // A carrier whose call breaks off retries it at another process.
        for (let tries = 0;; tries++) {
          const report = await tenant.intakeAt(living[(round + tries) % living.length]!).publishTransitEvents(events).catch(() => undefined)
          if (report !== undefined) break
        }
      }
    })()

    await eventually(() => hook.receptions.length > destinations * 10 ? true : undefined)
    holding = true
    await eventually(() => held.length > 0 ? true : undefined)
    const underWay = hook.receptions.slice(-held.length).map(({ port }) => port)
    const victim = programs.findIndex(({ child }) => {
      const ports = connectionsOf(child.pid!)
      return underWay.some((port) => ports.has(port))
    })
    expect(victim).toBeGreaterThanOrEqual(0)
    living = urls.filter((_, index) => index !== victim)
    const killedAt = Date.now()
    await programs[victim]!.kill("SIGKILL")
    await eventually(() => hook.receptions.some(({ lost }) => lost) ? true : undefined)
    holding = false
    for (const answer of held) answer()
    await published

    const expected = shipments * rounds * destinations
    await eventually(() => firstDeliveries(hook.receptions).count === expected ? true : undefined, {
      seconds: 60,
      what: () => `all events; ${firstDeliveries(hook.receptions).count} of ${expected} are there`
    })
    const inOrder = Array.from({ length: rounds }, (_, index) => index + 1)
    const { perShipment } = firstDeliveries(hook.receptions)
    expect(perShipment.size).toBe(shipments * destinations)
    for (const sequences of perShipment.values()) expect(sequences).toEqual(inOrder)

    // Deliveries in flight of the killed process are those whose response was lost.
    for (const orphan of hook.receptions.filter(({ lost }) => lost)) {
      const again = await eventually(() => hook.receptions.find(({ at, id, path }) => at > orphan.at && id === orphan.id && path === orphan.path))
      expect(again.at - killedAt).toBeLessThanOrEqual((leaseSeconds + 5) * 1000)
    }
    // The same bytes at every attempt.
    const bodies = new Map<string, string>()
    for (const { body, id } of hook.receptions) {
      expect(bodies.get(id) ?? body).toBe(body)
      bodies.set(id, body)
    }
    for (const [index, program] of programs.entries()) {
      if (index !== victim) expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    }
  })
})
