import {
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
import { billChange, invoiceSample, pickupRequest, postedShipment } from "@waybill/testkit"
import { describe, expect, inject, it } from "vitest"
import { eventually, receiver, sharedSettings, startProgram } from "./Program.ts"
import { account, event, tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

const proNumber = "0418367745"

const placed = {
  WAYBILL_BASE_PATH_SHIPMENT_STATUS: "/freight/status",
  WAYBILL_BASE_PATH_INVOICES: "/freight/invoicing",
  WAYBILL_BASE_PATH_PICKUPS: "/freight/trucks",
  WAYBILL_BASE_PATH_TRANSIT_EVENTS: "/freight/events",
  WAYBILL_BASE_PATH_FREIGHT_CHARGES: "/freight/charges"
}

const change = (...given: Parameters<typeof billChange>) => billChange(...given) as unknown as FreightBillChange

/** A program with a shipment from its carrier, and clients. */
const servedTenant = async (more: Readonly<Record<string, string>> = {}) => {
  const { env, operatorKey } = sharedSettings(pgUrl, more)
  const { program, url } = await startProgram({ env })
  const tenant = await tenantOn(url, operatorKey)
  const carrier = tenant.intakeAt(url)
  await carrier.registerShipments([postedShipment("S-1", { ProNumber: proNumber, accounts: [account] }) as ReportedShipment])
  return {
    program,
    url,
    tenant,
    carrier,
    invoices: (apiKey: string) => new InvoicesClient({ baseUrl: url, apiKey, basePath: env["WAYBILL_BASE_PATH_INVOICES"] }),
    pickups: new PickupsClient({ baseUrl: url, apiKey: tenant.customerKey, basePath: env["WAYBILL_BASE_PATH_PICKUPS"] }),
    statuses: new ShipmentStatusClient({ baseUrl: url, apiKey: tenant.customerKey, basePath: env["WAYBILL_BASE_PATH_SHIPMENT_STATUS"] }),
    charges: new FreightChargesClient({ baseUrl: url, apiKey: tenant.customerKey, basePath: env["WAYBILL_BASE_PATH_FREIGHT_CHARGES"] })
  }
}

describe("shipment status and freight charges, served", { timeout: 60_000 }, () => {
  it("sends both for one carrier's writes, unsigned until the operator registers a secret for the client", async () => {
    const { carrier, charges, statuses, tenant } = await servedTenant(placed)
    const hook = await receiver()
    await statuses.subscribe({ referenceNumbers: [proNumber], webhookUrl: `${hook.url}/status` })
    await charges.create({ webhookUrl: `${hook.url}/charges`, accounts: [account], dataOptions: { shipmentDataType: "all_monitored_events" } })
    const arrived = (path: string, count = 1) => eventually(() => hook.receptions.filter((reception) => reception.path === path)[count - 1])

    await carrier.publishTransitEvents([event("S-1", 1)])
    const unsigned = await arrived("/status")
    expect(unsigned.headers["webhook-signature"]).toBeUndefined()
    expect(unsigned.headers["webhook-timestamp"]).toMatch(/^\d+$/)
    expect(JSON.parse(unsigned.body)).toMatchObject({ proNumber, shipmentMilestoneStatus: "In Transit" })
    expect(await statuses.verified({ proNumber })).toMatchObject({ view: "verified", shipment: { ShipmentMilestoneStatus: "In Transit" } })

    // The client has the name of its key.
    const { secret } = await tenant.operator.putSecret("acme", "client:shipper")
    await carrier.publishFreightCharges([change("created", `${proNumber}WAYB20261120`, { account })])
    const signed = await arrived("/charges")
    expect(JSON.parse(signed.body)).toMatchObject([{ pfc: { header: { function: "PFC1" } } }])
    const { deliveryId } = await verifyDelivery({ secrets: secret, headers: signed.headers, body: Buffer.from(signed.body) })
    expect(deliveryId).toBe(signed.id)
  })

  it("suspends charges that the receiver refuses, keeps new ones, and resumes when the receiver passes a test", async () => {
    const { carrier, charges } = await servedTenant()
    let wanted = false
    const hook = await receiver((_, response) => void response.writeHead(wanted ? 200 : 410).end())
    const webhookUrl = `${hook.url}/charges`
    const { subscriptionId } = await charges.create({ webhookUrl, accounts: [account], dataOptions: { shipmentDataType: "all_monitored_events" } })
    const bill = `${proNumber}WAYB20261120`
    await carrier.publishFreightCharges([change("created", bill, { account })])
    await eventually(async () => (await charges.get(subscriptionId)).status === "suspended" ? true : undefined)
    await carrier.publishFreightCharges([change("updated", bill, { account, total: 300 })])
    await expect(charges.testWebhook({ webhookUrl })).rejects.toMatchObject({ status: 400, code: "INVALID_REQUEST" })

    wanted = true
    const before = hook.receptions.length
    expect(await charges.testWebhook({ webhookUrl })).toMatchObject({ resumed: 1 })
    const versions = await eventually(() => {
      const functions = hook.receptions.slice(before).flatMap(({ body }) => JSON.parse(body)).filter(({ pfc }) => !pfc.isTest).map(({ pfc }) => pfc.header.function)
      return functions.length < 2 ? undefined : functions
    })
    expect(versions).toEqual(["PFC1", "PFC2"])
    expect((await charges.get(subscriptionId)).status).toBe("active")
  })

  it("shows anonymous callers four fields of the public tenant's freight, with a rate limit", async () => {
    const { carrier, program, statuses, tenant, url } = await servedTenant({ WAYBILL_PUBLIC_TENANT: "acme", WAYBILL_OTHERS_LOOKUPS_PER_MINUTE: "1" })
    const warning = await eventually(() => program.log.find(({ message }) => String(message).includes("WAYBILL_PUBLIC_TENANT")))
    expect(warning).toMatchObject({ level: "warn", message: expect.stringContaining("PUT /operator/v1/tenants/acme") })
    await tenant.operator.putTenant("other", { name: "Not the public one" })
    await carrier.publishTransitEvents([event("S-1", 1)])
    const anybody = new ShipmentStatusClient({ baseUrl: url })
    expect(Object.keys(await anybody.public({ proNumber })).sort()).toEqual(["EstimatedStandardDay", "ProNumber", "ShipmentMilestoneStatus", "UpdatedETA"])
    const { headers, status } = await fetch(`${url}/in-transit/v1/shipment/pro/1000/public`)
    expect(status).toBe(429)
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0)
    // The caller's own freight is not counted.
    for (let call = 0; call < 3; call++) expect((await statuses.verified({ proNumber })).view).toBe("verified")
  })
})

/** For a client, which adds the rest itself. */
const order = (overrides: Parameters<typeof pickupRequest>[0]) => {
  const { carrierPickupNumber: _, requestFunction: __, ...asked } = pickupRequest(overrides)
  return { ...asked, isTest: overrides?.isTest === true } as unknown as PickupOrder
}

const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)

describe("pickups and invoices, served", { timeout: 60_000 }, () => {
  it("sends one truck for a repeated order, and tracks it at the configured base path", async () => {
    const { carrier, pickups, url } = await servedTenant(placed)
    const wanted = order({ day: tomorrow, pro: proNumber, orgAccountNumber: account })
    const [answer] = await pickups.create(wanted, { idempotencyKey: "order-1" })
    expect(answer).toMatchObject({ pickupStatus: "Accept", carrierPickupNumber: "100000001" })
    expect(await pickups.create(wanted, { idempotencyKey: "order-1" })).toEqual([answer])
    const [test] = await pickups.create(order({ day: tomorrow, pro: proNumber, isTest: true }))
    expect(test.carrierPickupNumber).toMatch(/^9999\d{8}$/)
    await carrier.reportPickupStatus("100000001", { status: "En Route", stopEta: `${tomorrow}T09:40:00` })
    expect(await pickups.visibility({ proNumber })).toMatchObject({ pickupConfirmationId: "100000001", status: "En Route", stopEta: `${tomorrow}T09:40:00` })
    await pickups.cancel("100000001")
    await expect(carrier.reportPickupStatus("100000001", { status: "Arrived" })).rejects.toMatchObject({ status: 400 })
    expect((await fetch(`${url}/pickup/v1/pickups/`)).status).toBe(404)
  })

  it("shows invoices to their addressees, and accepts them from carriers only", async () => {
    const { invoices, tenant } = await servedTenant(placed)
    const [carrier, payer] = [invoices(tenant.carrierKey), invoices(tenant.customerKey)]
    const own = invoiceSample({ uniqueID: "INV-1", accounts: [account], costs: ["0.10", "0.20"], total: "0.30" }) as Invoice
    expect(await carrier.create(own)).not.toHaveProperty("warning")
    expect(await carrier.create(invoiceSample({ uniqueID: "INV-2", accounts: ["A-2"], total: "1.00" }) as Invoice)).toMatchObject({
      warning: expect.stringContaining("263.78")
    })
    const { data } = await payer.list()
    expect(data).toEqual([own])
    await expect(payer.get("INV-2")).rejects.toMatchObject({ status: 404 })
    await expect(payer.create(own)).rejects.toMatchObject({ status: 403 })
  })
})
