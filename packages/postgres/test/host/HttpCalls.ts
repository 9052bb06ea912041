/** HTTP requests of every area, with the objects that they need. */
import type { HostOperator, HostPrincipal } from "@waybill/http"
import { bill, carrier, customer, event, invoice, shipment, tenantId } from "./Service.ts"
import { documentsSample, fileSample } from "@waybill/testkit"
import { pickup, type Scene } from "./EveryCall.ts"

const operator: HostOperator = { client: "staff", roles: ["operator"] }

const callers: Readonly<Record<string, HostPrincipal | HostOperator>> = { carrier, customer, operator }

/** The principal of the header `x-as`: a role, and a client if it needs one of its own. */
export const authenticate = async (request: Request): Promise<HostPrincipal | HostOperator | undefined> => {
  const [role = "", client] = (request.headers.get("x-as") ?? "").split(" ")
  const caller = callers[role]
  return caller && { ...caller, ...(client === undefined ? {} : { client }) }
}

interface Sent {
  readonly as: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

const send = async ({ waybill }: Scene, { as, body, method, path }: Sent): Promise<any> => {
  const response = await waybill.handler(new Request(`http://x${path}`, {
    method,
    headers: { "x-as": as, ...(body === undefined ? {} : { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  }))
  const text = await response.text()
  if (response.status >= 300) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`)
  return text === "" || !text.startsWith("{") && !text.startsWith("[") ? undefined : JSON.parse(text)
}

/** Requests that depend on each other, in each area. */
export const httpCalls: Readonly<Record<string, (scene: Scene, id: string) => Promise<void>>> = {
  "shipment status": async (scene, id) => {
    await send(scene, { as: "carrier", method: "POST", path: "/intake/v1/shipments", body: { shipments: [shipment(id)] } })
    await send(scene, { as: "carrier", method: "POST", path: "/intake/v1/transit-events", body: { events: [event(id, `${id}-1`)] } })
    await send(scene, { as: "customer", method: "GET", path: `/in-transit/v1/shipment/pro/${id}/verified` })
    await send(scene, { as: "carrier", method: "POST", path: "/intake/v1/status-updates", body: { updates: [{ shipmentId: id, shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-21T09:00:00Z" }] } })
    const path = "/in-transit/v1/notifications"
    const { transactionId } = await send(scene, { as: "customer", method: "POST", path: `${path}/subscribe`, body: { referenceNumbers: [id], webhookUrl: scene.hook("/status") } })
    await send(scene, { as: "customer", method: "DELETE", path: `${path}/unsubscribe/${transactionId}` })
  },
  invoices: async (scene, id) => {
    await send(scene, { as: "carrier", method: "POST", path: "/invoicing/invoices", body: invoice(id) })
    await send(scene, { as: "customer", method: "GET", path: "/invoicing/invoices" })
    await send(scene, { as: "carrier", method: "DELETE", path: `/invoicing/invoices/${id}` })
    const file = Buffer.from(fileSample("PDF", 70_000)).toString("base64")
    const documents = documentsSample({ shipmentID: id, invoiceNumber: id, accounts: ["A"], documents: [{ documentType: "POD", files: [file] }], more: { uniqueID: id } })
    await send(scene, { as: "carrier", method: "POST", path: "/invoicing/documents", body: documents })
    await send(scene, { as: "customer", method: "GET", path: `/invoicing/documents/${id}` })
    await send(scene, { as: "carrier", method: "DELETE", path: `/invoicing/documents/${id}` })
  },
  pickups: async (scene) => {
    const [answer] = await send(scene, { as: "customer", method: "POST", path: "/pickup/v1/pickups/", body: pickup() })
    const number = answer.carrierPickupNumber
    await send(scene, { as: "customer", method: "PUT", path: `/pickup/v1/pickups/${number}`, body: pickup(number, "10:00:00") })
    await send(scene, { as: "carrier", method: "POST", path: `/intake/v1/pickups/${number}/status`, body: { status: "En Route" } })
    await send(scene, { as: "customer", method: "GET", path: `/pickup/v1/pickups/?lookupValue=${number}&lookupType=PickupConfirmationID&requestType=Status&isTest=false` })
    await send(scene, { as: "customer", method: "DELETE", path: `/pickup/v1/pickups/${number}` })
  },
  "transit events": async (scene, id) => {
    const path = "/visibility/v1/subscriptions"
    const { id: subscriptionId } = await send(scene, { as: "customer", method: "POST", path, body: { endpointUrl: scene.hook("/events"), hmacSecretId: "main" } })
    await send(scene, { as: "carrier", method: "POST", path: "/intake/v1/transit-events", body: { events: [event(id, `${id}-1`)] } })
    await send(scene, { as: "customer", method: "GET", path: "/visibility/v1/events" })
    await send(scene, { as: "customer", method: "PATCH", path: `${path}/${subscriptionId}`, body: { status: "paused" } })
    await send(scene, { as: "operator", method: "POST", path: `/operator/v1/tenants/${tenantId}/subscriptions/${subscriptionId}/pause`, body: { reason: "The receiver moves." } })
    await send(scene, { as: "customer", method: "DELETE", path: `${path}/${subscriptionId}` })
  },
  "freight charges": async (scene, id) => {
    const path = "/pfc/v1/subscriptions"
    const charges = { webhookUrl: scene.hook("/charges"), accounts: ["A"], dataOptions: { shipmentDataType: "all_monitored_events" }, hmacSecretId: "main" }
    const as = `customer ${id}`
    const { subscriptionId } = await send(scene, { as, method: "POST", path, body: charges })
    await send(scene, { as: "carrier", method: "POST", path: "/intake/v1/freight-charges", body: { charges: [bill(id)] } })
    await send(scene, { as, method: "GET", path: `${path}/${subscriptionId}/inflight` })
    await send(scene, { as, method: "DELETE", path: `${path}/${subscriptionId}` })
  },
  operator: async (scene, id) => {
    const path = `/operator/v1/tenants/${tenantId}`
    await send(scene, { as: "operator", method: "PUT", path: `${path}/secrets/secret-${id}`, body: { anyClient: true } })
    await send(scene, { as: "operator", method: "DELETE", path: `${path}/secrets/secret-${id}` })
    const { id: keyId } = await send(scene, { as: "operator", method: "POST", path: `${path}/api-keys`, body: { name: `key-${id}`, roles: ["customer"], accounts: ["A"] } })
    await send(scene, { as: "operator", method: "DELETE", path: `${path}/api-keys/${keyId}` })
    for (const list of ["deliveries", "subscriptions", "secrets", "clients", "api-keys", "limits"]) await send(scene, { as: "operator", method: "GET", path: `${path}/${list}` })
    for (const read of ["/operator/v1/health", "/operator/v1/audit", "/readyz", "/metrics"]) await send(scene, { as: "operator", method: "GET", path: read })
  }
}

