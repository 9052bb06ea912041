import { ShipmentStatusClient } from "@waybill/client"
import { describe, expect, it } from "vitest"
import { eventually } from "../program/Program.ts"
import { account, jsonLines, run, runningServer, start } from "./Cli.ts"

describe("simulate", { timeout: 60_000 }, () => {
  it("plays shipments to their delivery, for the customer whose account was named", async () => {
    const server = await runningServer()
    const env = { WAYBILL_URL: server.url, WAYBILL_API_KEY: server.carrierKey }
    const played = await run(["simulate", "--account", account, "--pace", "0", "--json"], { env })
    expect(played.code).toBe(0)
    const [{ shipments, written }] = jsonLines(played.stdout) as [{ shipments: ReadonlyArray<{ shipmentId: string; proNumber: string }>; written: { events: number } }]
    expect(shipments).toHaveLength(3)
    const events = []
    for await (const { eventId } of server.customer.allEvents()) events.push(eventId)
    expect(events).toHaveLength(written.events)
    const statuses = new ShipmentStatusClient({ baseUrl: server.url, apiKey: server.customerKey })
    expect(await statuses.verified({ proNumber: shipments[0]!.proNumber })).toMatchObject({ shipment: { ShipmentMilestoneStatus: "Delivered", BillToAccountNumber: account } })
    // progress goes where it is in nobody's way
    expect(played.stderr).toMatch(/^1\/\d+ {2}/)
  })

  it("keeps its pace until it is told to end", async () => {
    const server = await runningServer()
    const program = start(["simulate", "--account", account, "--pace", "3600"], { WAYBILL_URL: server.url, WAYBILL_API_KEY: server.carrierKey })
    await eventually(() => /^1\/\d+ /.test(program.stderr) ? true : undefined, { what: () => program.output })
    expect(await program.kill("SIGINT")).toEqual({ code: 0, signal: null })
    expect(program.stderr).not.toMatch(/^2\//m)
  })

  it("says whose key it needs", async () => {
    const server = await runningServer()
    const none = await run(["simulate", "--url", server.url])
    expect(none.code).toBe(2)
    expect(none.stderr).toContain("WAYBILL_API_KEY")
    const customers = await run(["simulate", "--url", server.url], { env: { WAYBILL_API_KEY: server.customerKey } })
    expect(customers.code).toBe(4)
    expect(customers.stderr).not.toContain(server.customerKey)
  })
})
