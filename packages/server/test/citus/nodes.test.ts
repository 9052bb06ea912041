/** Deliveries on Citus while a node is killed and while a shard moves. Run by `npm run citus`. */
import { describe, expect, it } from "vitest"
import { underLoad } from "../program/Load.ts"
import { eventually } from "../program/Program.ts"
import { moveTenant, nodeCommands, placementOf, runCommand, servedByCitus, tenantsOnAllNodes } from "./Cluster.ts"

const settings = { WAYBILL_LEASE_SECONDS: "3", WAYBILL_ATTEMPT_TIMEOUT_SECONDS: "2" }

describe("deliveries on Citus", { timeout: 600_000 }, () => {
  it("lose nothing and keep every shipment's order while the tenant's shard moves", async () => {
    const { operatorKey, program, schema, url } = await servedByCitus(settings)
    const load = await underLoad({ operatorKey, programs: [program], url, tenants: ["acme"], rounds: 60 })
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
    const load = await underLoad({ operatorKey, programs: [program], url, tenants, rounds: 60 })
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
