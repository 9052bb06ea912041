import { DocumentsClient, InvoicesClient, PickupsClient, ShipmentStatusClient } from "@waybill/client"
import { describe, expect, it } from "vitest"
import { eventually } from "../program/Program.ts"
import { account, jsonLines, run, runningServer, start } from "./Cli.ts"

describe("simulate", { timeout: 60_000 }, () => {
  it("plays shipments to their delivery, for the customer with the given account", async () => {
    const server = await runningServer()
    const env = { WAYBILL_URL: server.url, WAYBILL_API_KEY: server.carrierKey }
    const played = await run(["simulate", "--account", account, "--pace", "0", "--json"], { env })
    expect(played.code).toBe(0)
    const [{ shipments, written }] = jsonLines(played.stdout) as [{ shipments: ReadonlyArray<{ shipmentId: string; proNumber: string }>; written: Readonly<Record<string, number>> }]
    expect(shipments).toHaveLength(3)
    const events = []
    for await (const { eventId } of server.customer.allEvents()) events.push(eventId)
    expect(events).toHaveLength(written["events"]!)
    const statuses = new ShipmentStatusClient({ baseUrl: server.url, apiKey: server.customerKey })
    expect(await statuses.verified({ proNumber: shipments[0]!.proNumber })).toMatchObject({ shipment: { ShipmentMilestoneStatus: "Delivered", BillToAccountNumber: account } })
    expect(written).toMatchObject({ pickups: 3, shipments: 3, charges: 9, invoices: 3 })
    const asCustomer = { baseUrl: server.url, apiKey: server.customerKey }
    const pickups = new PickupsClient(asCustomer)
    const invoices = new InvoicesClient(asCustomer)
    const documents = new DocumentsClient(asCustomer)
    for (const { proNumber, shipmentId } of shipments) {
      expect(await pickups.visibility({ proNumber })).toMatchObject({ status: "Departed with Exact Match" })
      const { data: [invoice] } = await invoices.list({ shipmentID: shipmentId })
      expect(invoice).toMatchObject({ shipmentID: shipmentId, attributes: [{ value: account }, { value: proNumber }, {}] })
      const { data: [papers] } = await documents.list({ invoiceNumber: invoice!.invoiceHeader.invoiceNumber })
      expect(papers).toMatchObject({ documents: [{ documentType: "POD", files: [{ id: expect.any(String) }] }] })
    }
    expect(played.stderr).toMatch(/; driver of DEMO-\S+: Arrived; /)
    // Progress goes to standard error.
    expect(played.stderr).toMatch(/^1\/\d+ {2}/)
  })

  it("writes invoices with the numbers of the carrier's key", async () => {
    const server = await runningServer()
    const { key } = await server.operator.createApiKey("acme", { name: "numbered", roles: ["carrier"], dot: "77", mc: "88" })
    const env = { WAYBILL_URL: server.url, WAYBILL_API_KEY: key }
    const strange = await run(["simulate", "--account", account, "--pace", "0"], { env })
    expect(strange.code).toBe(4)
    expect(strange.stderr).toContain("DOT 77")
    expect((await run(["simulate", "--account", account, "--pace", "0", "--dot", "77", "--mc", "88"], { env })).code).toBe(0)
    const { data } = await new InvoicesClient({ baseUrl: server.url, apiKey: server.customerKey }).list()
    expect(data.map(({ DOT, MC }) => [DOT, MC])).toEqual([["77", "88"], ["77", "88"], ["77", "88"]])
  })

  it("keeps its pace until it is stopped", async () => {
    const server = await runningServer()
    const program = start(["simulate", "--account", account, "--pace", "3600"], { WAYBILL_URL: server.url, WAYBILL_API_KEY: server.carrierKey })
    await eventually(() => /^1\/\d+ /.test(program.stderr) ? true : undefined, { what: () => program.output })
    expect(await program.kill("SIGINT")).toEqual({ code: 0, signal: null })
    expect(program.stderr).not.toMatch(/^2\//m)
  })

  it("reports which key it needs", async () => {
    const server = await runningServer()
    const none = await run(["simulate", "--url", server.url])
    expect(none.code).toBe(2)
    expect(none.stderr).toContain("WAYBILL_API_KEY")
    const customers = await run(["simulate", "--url", server.url], { env: { WAYBILL_API_KEY: server.customerKey } })
    expect(customers.code).toBe(4)
    expect(customers.stderr).not.toContain(server.customerKey)
  })
})
