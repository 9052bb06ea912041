import { DocumentsClient, IntakeClient, InvoicesClient, PickupsClient, ShipmentStatusClient, TransitEventsClient } from "@waybill/client"
import { freightNetwork, type NetworkClients, play } from "@waybill/testkit"
import { expect, it } from "vitest"
import { runningServer } from "../commands/Cli.ts"

it("a simulated network is played through clients into a server, which accepts every call", { timeout: 60_000 }, async () => {
  const server = await runningServer()
  const network = freightNetwork({ seed: 21, startAt: new Date(), days: 1, shipmentsPerDay: 25, customers: 3, exceptions: 0.5 })
  const connection = { baseUrl: server.url, apiKey: server.carrierKey }
  const carrier = { intake: new IntakeClient(connection), invoices: new InvoicesClient(connection), documents: new DocumentsClient(connection) }
  const keys = new Map<string, string>()
  for (const { accounts, client } of network.customers) {
    keys.set(client, (await server.operator.createApiKey("acme", { name: client, roles: ["customer"], accounts })).key)
  }
  const customers = new Map(Array.from(keys, ([client, apiKey]) => [client, { pickups: new PickupsClient({ baseUrl: server.url, apiKey }) }]))
  const clients: NetworkClients = { carrier: () => carrier, customer: ({ client }) => customers.get(client)! }
  const played = await play(network, clients, { concurrency: 8 })
  expect(played).toMatchObject({ calls: Array.from(network).length, refused: 0 })
  expect(Object.keys(played.byCall).toSorted()).toEqual([
    "documents.upload",
    "events.publish",
    "freightCharges.publish",
    "invoices.create",
    "pickups.create",
    "pickups.report",
    "shipments.register",
    ...(played.byCall["shipments.report"] === undefined ? [] : ["shipments.report"])
  ])

  let seen = 0
  for (const [client, apiKey] of keys) {
    const sequences = new Map<string, number>()
    for await (const { sequence, shipment } of new TransitEventsClient({ baseUrl: server.url, apiKey }).allEvents()) {
      expect(sequence, `${client} ${shipment.shipmentId}`).toBe((sequences.get(shipment.shipmentId) ?? 0) + 1)
      sequences.set(shipment.shipmentId, sequence)
    }
    seen += sequences.size
  }
  expect(seen).toBeGreaterThanOrEqual(25)
  const call = Array.from(network).find(({ name }) => name === "booked")!
  if (call.call !== "shipments.register") throw new Error("No shipment was booked.")
  const status = await new ShipmentStatusClient(connection).verified({ proNumber: call.shipment.ProNumber })
  expect(status).toMatchObject({ shipment: { ShipmentMilestoneStatus: "Delivered" } })
})
