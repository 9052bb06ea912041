/** The five areas through a real server on Citus, for a tenant on each node. Run by `npm run citus`. */
import {
  DocumentsClient,
  type DocumentUpload,
  type FreightBillChange,
  FreightChargesClient,
  type Invoice,
  InvoicesClient,
  type PickupOrder,
  PickupsClient,
  type ReportedShipment,
  ShipmentStatusClient,
  verifyDelivery
} from "@waybill/client"
import { billChange, documentsSample, fileSample, invoiceSample, pickupRequest, postedShipment } from "@waybill/testkit"
import { describe, expect, it } from "vitest"
import { eventually, receiver, type Reception } from "../program/Program.ts"
import { account, event, tenantOn } from "../program/Tenant.ts"
import { moveTenant, servedByCitus, tenantsOnAllNodes } from "./Cluster.ts"

const proNumber = "0418367745"

const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)

/** For a client, which adds the rest itself. */
const order = () => {
  const { carrierPickupNumber: _, requestFunction: __, ...asked } = pickupRequest({ day: tomorrow, pro: proNumber, orgAccountNumber: account })
  return { ...asked, isTest: false } as unknown as PickupOrder
}

describe("a server on Citus", { timeout: 300_000 }, () => {
  it("serves and delivers all five areas, for a tenant on each node", async () => {
    const { operatorKey, program, schema, url } = await servedByCitus()
    const tenants = await tenantsOnAllNodes(schema)
    expect(tenants.length).toBeGreaterThan(1)
    const hook = await receiver()
    for (const tenantId of tenants) {
      const tenant = await tenantOn(url, operatorKey, tenantId)
      const [carrier, asCustomer] = [tenant.intakeAt(url), { baseUrl: url, apiKey: tenant.customerKey }]
      const arrived = (path: string, count = 1): Promise<Reception> =>
        eventually(() => hook.receptions.filter((reception) => reception.path === `/${tenantId}/${path}`)[count - 1], { seconds: 60, what: () => `${path} of ${tenantId}:\n${program.stderr.slice(-3000)}` })
      await carrier.registerShipments([postedShipment("S-1", { ProNumber: proNumber, accounts: [account] }) as ReportedShipment])

      const [statuses, charges, events] = [new ShipmentStatusClient(asCustomer), new FreightChargesClient(asCustomer), tenant.customerAt(url)]
      await statuses.subscribe({ referenceNumbers: [proNumber], webhookUrl: `${hook.url}/${tenantId}/status` })
      const { subscriptionId } = await charges.create({ webhookUrl: `${hook.url}/${tenantId}/charges`, accounts: [account], dataOptions: { shipmentDataType: "all_monitored_events" } })
      await events.createSubscription({ endpointUrl: `${hook.url}/${tenantId}/events`, hmacSecretId: "main", delivery: { batchMaxSize: 10 } })

      await carrier.publishTransitEvents([event("S-1", 1), event("S-1", 2)])
      const sent = await arrived("events")
      expect((await verifyDelivery({ secrets: tenant.secret, headers: sent.headers, body: Buffer.from(sent.body) })).deliveryId).toBe(sent.id)
      expect(JSON.parse((await arrived("status")).body)).toMatchObject({ proNumber, shipmentMilestoneStatus: "In Transit" })
      expect(await statuses.verified({ proNumber })).toMatchObject({ view: "verified", shipment: { ShipmentMilestoneStatus: "In Transit" } })

      await carrier.publishFreightCharges([billChange("created", `${proNumber}WAYB20261120`, { account }) as unknown as FreightBillChange])
      expect(JSON.parse((await arrived("charges")).body)).toMatchObject([{ pfc: { header: { function: "PFC1" } } }])
      expect(await charges.inFlight(subscriptionId)).toEqual([])

      const [billing, paying] = [new InvoicesClient({ baseUrl: url, apiKey: tenant.carrierKey }), new InvoicesClient(asCustomer)]
      const own = invoiceSample({ uniqueID: "INV-1", accounts: [account], costs: ["0.10", "0.20"], total: "0.30" }) as Invoice
      await billing.create(own)
      expect((await paying.list()).data).toEqual([own])
      await billing.replace(invoiceSample({ uniqueID: "INV-1", accounts: ["A-2"], total: "0.30" }) as Invoice)
      expect((await paying.list()).data).toEqual([])
      const documents = new DocumentsClient({ baseUrl: url, apiKey: tenant.carrierKey })
      const file = fileSample("PDF", 300_000)
      await documents.upload(documentsSample({ invoiceNumber: "4711", documents: [{ documentType: "POD", files: [file] }] }) as DocumentUpload)
      const pieces: Array<Uint8Array> = []
      await documents.download("4711", async (_, content) => {
        for await (const piece of content) pieces.push(piece)
      })
      expect(Buffer.concat(pieces).equals(Buffer.from(file))).toBe(true)

      const pickups = new PickupsClient(asCustomer)
      const [answer] = await pickups.create(order(), { idempotencyKey: "order-1" })
      expect(await pickups.create(order(), { idempotencyKey: "order-1" })).toEqual([answer])
      await carrier.reportPickupStatus(answer.carrierPickupNumber!, { status: "En Route", stopEta: `${tomorrow}T09:40:00` })
      expect(await pickups.visibility({ proNumber })).toMatchObject({ pickupConfirmationId: answer.carrierPickupNumber!, status: "En Route" })
      await pickups.cancel(answer.carrierPickupNumber!)
    }
    expect(program.log.filter(({ level }) => level === "error")).toEqual([])
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })

  it("shows each event once over the pages of a list, while events arrive and the tenant's shard moves", async () => {
    const { operatorKey, program, schema, url } = await servedByCitus()
    const tenant = await tenantOn(url, operatorKey)
    const carrier = tenant.intakeAt(url)
    for (let round = 1; round <= 4; round++) {
      await carrier.publishTransitEvents(Array.from({ length: 10 }, (_, shipment) => event(`S-${shipment}`, round)))
    }
    const seen: Array<string> = []
    for await (const { eventId } of tenant.customerAt(url).allEvents({ pageSize: 10 })) {
      if (seen.length === 10) {
        await carrier.publishTransitEvents(Array.from({ length: 10 }, (_, shipment) => event(`S-${shipment}`, 5)))
        await moveTenant(schema, "acme")
        await carrier.publishTransitEvents(Array.from({ length: 10 }, (_, shipment) => event(`S-${shipment}`, 6)))
      }
      seen.push(eventId)
    }
    expect(seen).toEqual(Array.from({ length: 10 }, (_, shipment) => [1, 2, 3, 4].map((round) => `S-${shipment}/${round}`)).flat())
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })
})
