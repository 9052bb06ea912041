/** Deliveries on Citus while a node is killed and while a shard moves. Run by `npm run citus`. */
import { describe, expect, it } from "vitest"
import { eventually, type Program, receiver } from "../program/Program.ts"
import { firstDeliveries } from "../program/ReceivedEvents.ts"
import { event, tenantOn } from "../program/Tenant.ts"
import { moveTenant, nodeCommands, placementOf, runCommand, servedByCitus, tenantsOnAllNodes } from "./Cluster.ts"

const shipments = 10
const destinations = 3

interface Load {
  readonly url: string
  readonly operatorKey: string
  readonly program: Program
  readonly tenants: ReadonlyArray<string>
  readonly rounds: number
}

/**
 * Publishes rounds of events for each tenant, which has subscriptions to all of them. Carriers repeat a call that failed. Returns what checks the
 * receptions once everything has arrived.
 */
const underLoad = async ({ operatorKey, program, rounds, tenants, url }: Load) => {
  const hook = await receiver()
  const carriers = []
  for (const tenantId of tenants) {
    const tenant = await tenantOn(url, operatorKey, tenantId)
    for (let destination = 0; destination < destinations; destination++) {
      await tenant.customerAt(url).createSubscription({
        endpointUrl: `${hook.url}/${tenantId}/${destination}`,
        hmacSecretId: "main",
        delivery: { batchMaxSize: 4, initialBackoffSeconds: 1 }
      })
    }
    carriers.push(tenant.intakeAt(url))
  }
  const done: Array<number> = tenants.map(() => 0)
  const publishing = Promise.all(carriers.map(async (carrier, index) => {
    for (let round = 1; round <= rounds; round++) {
      const events = Array.from({ length: shipments }, (_, shipment) => event(`S-${shipment}`, round))
      await eventually(() => carrier.publishTransitEvents(events).then(() => true, () => undefined), { seconds: 120, what: () => `round ${round} of ${tenants[index]}` })
      done[index] = round
    }
  }))
  const reached = (round: number) => eventually(() => done.every((each) => each >= round) ? true : undefined, { seconds: 120, what: () => `round ${round}; ${done.join(", ")}` })
  const check = async () => {
    await publishing
    const expected = tenants.length * destinations * shipments * rounds
    await eventually(() => firstDeliveries(hook.receptions).count === expected ? true : undefined, {
      seconds: 180,
      what: () => `all events; ${firstDeliveries(hook.receptions).count} of ${expected} are there:\n${program.stderr.slice(-3000)}`
    })
    const { perShipment } = firstDeliveries(hook.receptions)
    expect(perShipment.size).toBe(tenants.length * destinations * shipments)
    for (const sequences of perShipment.values()) expect(sequences).toEqual(Array.from({ length: rounds }, (_, index) => index + 1))
    // the same bytes at every attempt
    const bodies = new Map<string, string>()
    for (const { body, id } of hook.receptions) {
      expect(bodies.get(id) ?? body).toBe(body)
      bodies.set(id, body)
    }
    return hook.receptions.length - bodies.size
  }
  return { check, reached }
}

const settings = { WAYBILL_LEASE_SECONDS: "3", WAYBILL_ATTEMPT_TIMEOUT_SECONDS: "2" }

describe("deliveries on Citus", { timeout: 600_000 }, () => {
  it("lose nothing and keep every shipment's order while the tenant's shard moves", async () => {
    const { operatorKey, program, schema, url } = await servedByCitus(settings)
    const load = await underLoad({ operatorKey, program, url, tenants: ["acme"], rounds: 60 })
    await load.reached(5)
    const before = await placementOf(schema, "acme")
    const to = await moveTenant(schema, "acme")
    const repeats = await load.check()
    process.stdout.write(`The shard of a tenant moved from ${before.nodename}:${before.nodeport} to ${to} while it published and was delivered; ${repeats} deliveries were repeated.\n`)
    const after = await placementOf(schema, "acme")
    expect(`${after.nodename}:${after.nodeport}`).toBe(to)
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })

  it.skipIf(nodeCommands.stop === undefined || nodeCommands.start === undefined)("lose nothing and keep every shipment's order while a node is killed and started again", async () => {
    const { operatorKey, program, schema, url } = await servedByCitus(settings)
    const tenants = await tenantsOnAllNodes(schema)
    const load = await underLoad({ operatorKey, program, url, tenants, rounds: 60 })
    await load.reached(5)
    await runCommand(nodeCommands.stop!)
    try {
      // the server notices that the node is gone
      await eventually(() => program.log.find(({ level }) => level === "error"), { seconds: 60, what: () => "an error in the log of the server" })
    } finally {
      await runCommand(nodeCommands.start!)
    }
    const repeats = await load.check()
    process.stdout.write(`A node was killed and started again under load on ${tenants.length} nodes; ${repeats} deliveries were repeated.\n`)
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })
})
