/** One rule for members that an input does not have: docs/spec-gaps.md. SPEC-GAP-X7 */
import { billChange, documentsSample, fileSample, invoiceSample, pickupRequest, postedShipment, reportedEvent, startTestWaybill, type StartedTestWaybill } from "@waybill/testkit"
import { expect, it, onTestFinished } from "vitest"
import type { WaybillError } from "../../src/index.ts"

type Call = (service: any, unknown: object) => Promise<unknown>

const address = "https://r.example/x"

/** Queries, options, and bodies of calls that are Waybill's own or that their interface closes. */
const closed: Readonly<Record<string, Call>> = {
  "subscriptions.create": ({ hmacSecretId, shipper, subscriptions }, more) => subscriptions.create(shipper, { endpointUrl: address, hmacSecretId, ...more }),
  "subscriptions.create filters": ({ hmacSecretId, shipper, subscriptions }, filters) => subscriptions.create(shipper, { endpointUrl: address, hmacSecretId, filters }),
  "subscriptions.create delivery": ({ hmacSecretId, shipper, subscriptions }, delivery) => subscriptions.create(shipper, { endpointUrl: address, hmacSecretId, delivery }),
  "subscriptions.list": ({ shipper, subscriptions }, more) => subscriptions.list(shipper, more),
  "pickupSubscriptions.create": ({ carrier, hmacSecretId, pickupSubscriptions }, more) => pickupSubscriptions.create(carrier, { topics: ["pickups"], endpointUrl: address, hmacSecretId, ...more }),
  "events.list": ({ events, shipper }, more) => events.list(shipper, more),
  "events.publish options": ({ carrier, events }, more) => events.publish(carrier, [reportedEvent("S-1")], more),
  "shipments.register options": ({ carrier, shipments }, more) => shipments.register(carrier, [postedShipment("S-1")], more),
  "shipments.report options": ({ carrier, shipments }, more) => shipments.report(carrier, [{ shipmentId: "S-1", shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-21T09:00:00Z" }], more),
  "freightCharges.publish change": ({ carrier, freightCharges }, more) => freightCharges.publish(carrier, [{ ...billChange("created", "S-1"), ...more }]),
  "freightCharges.publish removal": ({ carrier, freightCharges }, more) => freightCharges.publish(carrier, [{ ...billChange("removed", "S-1"), ...more }]),
  "freightCharges.publish options": ({ carrier, freightCharges }, more) => freightCharges.publish(carrier, [billChange("created", "S-1")], more),
  "pickups.create options": ({ pickups, shipper }, more) => pickups.create(shipper, pickupRequest(), more),
  "pickups.decide": ({ carrier, pickups }, more) => pickups.decide(carrier, "1", { decision: "accept", ...more }),
  "pickups.changes": ({ carrier, pickups }, more) => pickups.changes(carrier, more),
  "tenants.put": ({ tenants }, more) => tenants.put("other", { name: "Other", ...more }),
  "tenants.list": ({ tenants }, more) => tenants.list(more),
  "limits.put": ({ limits, tenantId }, more) => limits.put(tenantId, more),
  "apiKeys.create": ({ apiKeys, tenantId }, more) => apiKeys.create(tenantId, { name: "shop", roles: ["customer"], accounts: ["A-1"], ...more }),
  "apiKeys.list": ({ apiKeys, tenantId }, more) => apiKeys.list(tenantId, more),
  "clients.list": ({ clients, tenantId }, more) => clients.list(tenantId, more),
  "secrets.put": ({ secrets, tenantId }, more) => secrets.put(tenantId, "other", { anyClient: true, ...more }),
  "secrets.list": ({ secrets, tenantId }, more) => secrets.list(tenantId, more),
  "deliveries.list": ({ deliveries, tenantId }, more) => deliveries.list(tenantId, more),
  "allPickups.list": ({ allPickups, tenantId }, more) => allPickups.list(tenantId, more),
  "allSubscriptions.list": ({ allSubscriptions, tenantId }, more) => allSubscriptions.list(tenantId, more),
  "statistics.get": ({ statistics, tenantId }, more) => statistics.get(tenantId, more),
  "audit.list": ({ audit }, more) => audit.list(more),
  "invoices.remove options": ({ carrier, invoices }, more) => invoices.remove(carrier, "INV-1", more),
  "documents.remove options": ({ carrier, documents }, more) => documents.remove(carrier, "4711", more),
  "portal.createLink": ({ portal, tenantId }, more) => portal.createLink(tenantId, { client: "shop", ...more }),
  "runOnce": ({ runOnce }, more) => runOnce(more)
}

/** Freight data of a carrier, and requests whose interface does not close them. */
const open: Readonly<Record<string, Call>> = {
  "events.publish": ({ carrier, events }, more) => events.publish(carrier, [{ ...reportedEvent("S-1"), ...more }]),
  "shipments.register": ({ carrier, shipments }, more) => shipments.register(carrier, [{ ...postedShipment("S-1"), ...more }]),
  "freightCharges.publish": ({ carrier, freightCharges }, more) => {
    const change: any = billChange("created", "S-1")
    return freightCharges.publish(carrier, [{ ...change, pfc: { ...change.pfc, ...more } }])
  },
  "invoices.create": ({ carrier, invoices }, more) => invoices.create(carrier, { ...invoiceSample({ accounts: ["A-1"] }) as object, ...more }),
  "documents.upload": ({ carrier, documents }, more) =>
    documents.upload(carrier, { ...documentsSample({ accounts: ["A-1"], documents: [{ documentType: "POD", files: [fileSample("PDF", 1000)] }] }) as object, ...more }),
  "statusSubscriptions.subscribe": ({ shipper, statusSubscriptions }, more) => statusSubscriptions.subscribe(shipper, { referenceNumbers: ["1234567890"], webhookUrl: address, ...more }),
  "chargeSubscriptions.create": ({ chargeSubscriptions, shipper }, more) => chargeSubscriptions.create(shipper, { webhookUrl: address, accounts: ["A-1"], dataOptions: {}, ...more }),
  "shipments.report": async ({ carrier, shipments }, more) => {
    await shipments.register(carrier, [postedShipment("S-1")])
    await shipments.report(carrier, [{ shipmentId: "S-1", shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-19T13:00:00Z", ...more }])
  },
  "pickups.create": ({ pickups, shipper }, more) => pickups.create(shipper, { ...pickupRequest() as object, ...more }),
  "pickups.report": async ({ carrier, pickups, shipper }, more) => {
    const [{ carrierPickupNumber }] = await pickups.create(shipper, pickupRequest())
    await pickups.report(carrier, carrierPickupNumber, { status: "En Route", ...more })
  }
}

const started = async (): Promise<StartedTestWaybill> => {
  const service = await startTestWaybill({ now: "2026-11-19T14:00:00Z" })
  onTestFinished(() => service.stop())
  return service
}

it.each(Object.entries(closed))("%s refuses a member that it does not have", async (_, call) => {
  const error: WaybillError = await call(await started(), { zzzz: 1 }).then(() => expect.fail("It was accepted."), (refused) => refused)
  expect([error.code, error.faults.map(({ code }) => code)]).toEqual(["invalid_input", ["unknown_field"]])
})

it.each(Object.entries(open))("%s accepts a member that its interface does not have", async (_, call) => {
  await call(await started(), { zzzz: 1 })
})
