/** Calls with large responses. One record of each kind is created over HTTP and copied by SQL. */
import { billChange, documentsSample, invoiceSample, pickupRequest, postedShipment, requestedShipment } from "@waybill/testkit"
import { query } from "../machine/PostgresServer.ts"
import { sampleEvent } from "./SampleEvent.ts"
import { storeShipments } from "./SampleShipment.ts"
import { accountOf, tenantId } from "./Tenant.ts"
import { later, many, type RequestCall } from "./CostlyBodies.ts"

/** Numbers of records. Bills, shipments and versions have no quota; the others are at their limit. */
interface Amounts {
  readonly shipments: number
  readonly bills: number
  readonly records: number
  readonly largeEvents: number
  readonly versions: number
  readonly largeKeys: number
}

const amounts = (quick: boolean): Amounts =>
  quick
    ? { shipments: 2000, bills: 3000, records: 10, largeEvents: 50, versions: 200, largeKeys: 50 }
    : { shipments: 3900, bills: 20_000, records: 100, largeEvents: 500, versions: 2000, largeKeys: 500 }

/** Sends a call with the credentials of its role. */
export type Send = (call: Omit<RequestCall, "endpoint" | "label" | "accepted">) => Promise<{ readonly status: number; readonly text: string }>

const operator = `/operator/v1/tenants/${tenantId}`

/** Copies a row `count` times. `numbered` has SQL expressions for the ids of a copy, over the row `t` and the number `n`. */
const multiply = (database: string, table: string, where: string, count: number, numbered: Readonly<Record<string, string>>) =>
  query(
    database,
    `INSERT INTO waybill.${table} OVERRIDING SYSTEM VALUE
     SELECT copy.*
     FROM waybill.${table} AS t
     CROSS JOIN generate_series(1, ${count}) AS n
     CROSS JOIN LATERAL jsonb_populate_record(t, jsonb_build_object(${Object.entries(numbered).map(([column, id]) => `'${column}', ${id}`).join(", ")})) AS copy
     WHERE t.ctid = (SELECT ctid FROM waybill.${table} WHERE ${where} LIMIT 1)`
  )

/** A time-ordered id that sorts before every new id. */
const uuid = (n: string) => `('018f0000-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))`

export const storeLargeRecords = async (database: string, quick: boolean, send: Send): Promise<ReadonlyArray<RequestCall>> => {
  const most = amounts(quick)
  const post = async (as: RequestCall["as"], path: string, body: unknown, method = "POST"): Promise<Created> => {
    const { status, text } = await send({ as, method, path, contentType: "application/json", body: () => JSON.stringify(body) })
    if (status >= 300) throw new Error(`${method} ${path} was refused: ${status} ${text.slice(0, 300)}`)
    const answer: unknown = JSON.parse(text)
    return { ...answer as Created, pickups: answer as Created["pickups"] }
  }
  const get = (endpoint: string, label: string, as: RequestCall["as"], path: string): RequestCall =>
    ({ endpoint, label, as, path, method: "GET", contentType: undefined, body: () => undefined, accepted: true })
  return [
    ...await shipments(database, most, post, get),
    ...await charges(database, most, post, get),
    ...await invoices(database, most, post, get),
    ...await pickups(database, most, post, get),
    ...await events(database, most, post, get),
    ...await operators(database, most, post, get),
    ...["/openapi.json", "/docs", "/metrics"].map((path) => get(`system ${path}`, "whole", "operator", path))
  ]
}

/** Members of responses that later calls use. */
interface Created {
  readonly subscriptionId: string
  readonly pickups: ReadonlyArray<{ readonly carrierPickupNumber: string }>
}

type Post = (as: RequestCall["as"], path: string, body: unknown, method?: string) => Promise<Created>
type Get = (endpoint: string, label: string, as: RequestCall["as"], path: string) => RequestCall

const shipments = async (database: string, most: Amounts, post: Post, get: Get) => {
  await storeShipments(database, { from: 0, to: most.shipments })
  await post("carrier", "/intake/v1/shipments", { shipments: [postedShipment("HISTORY", { ProNumber: "7700001", accounts: [accountOf(0)] })] })
  await post("carrier", "/intake/v1/status-updates", { updates: [{ shipmentId: "HISTORY", shipmentMilestoneStatus: "In Transit", shipmentStatus: "Enroute", occurredAt: "2026-11-20T08:15:00-06:00" }] })
  await multiply(database, "shipment_status_history", "shipment_id = 'HISTORY'", 10 * most.versions, { position: "1000 + n" })
  const days = [new Date(Date.now() - 86_400_000 * 2), new Date(Date.now() + 86_400_000)].map((day) => day.toISOString().slice(0, 10)).join("/")
  return [
    get("shipment-status.pickedUp", `${most.shipments} shipments and more`, "customer", `/in-transit/v1/shipment/po/${accountOf(0)}/${days}/verified`),
    get("intake.getShipmentRecord", `${10 * most.versions} updates`, "carrier", "/intake/v1/shipments/HISTORY")
  ]
}

const charges = async (database: string, most: Amounts, post: Post, get: Get): Promise<ReadonlyArray<RequestCall>> => {
  const account = accountOf(9000)
  await post("carrier", "/intake/v1/freight-charges", { charges: [billChange("created", "MANY", { account })] })
  await multiply(database, "freight_bills", "bill_id LIKE 'MANY%'", most.bills, { bill_id: "t.bill_id || lpad(n::text, 8, '0')" })
  await multiply(database, "freight_bill_accounts", "bill_id LIKE 'MANY%'", most.bills, { bill_id: "t.bill_id || lpad(n::text, 8, '0')" })
  const subscription = {
    webhookUrl: "https://example.com/hook",
    accounts: [account],
    dataOptions: { shipmentDataType: "all_monitored_events" },
    billScope: "subscribed_accounts",
    frequency: "real_time"
  }
  const { subscriptionId } = await post("customer", "/pfc/v1/subscriptions", subscription)
  const make = async (): Promise<string> => {
    const [live] = await query(database, "SELECT id FROM waybill.freight_charge_subscriptions WHERE $1 = ANY (accounts) AND cancelled_at IS NULL", [account])
    if (live !== undefined) await query(database, "UPDATE waybill.freight_charge_subscriptions SET cancelled_at = now() WHERE id = $1", [live["id"]])
    return JSON.stringify(subscription)
  }
  return [
    get("freight-charges.listInFlight", `${most.bills} bills`, "customer", `/pfc/v1/subscriptions/${subscriptionId}/inflight`),
    {
      endpoint: "freight-charges.createChargeSubscription", label: `with ${most.bills} bills`, as: "customer", method: "POST",
      path: "/pfc/v1/subscriptions", contentType: "application/json", body: make, accepted: true
    }
  ]
}

const invoices = async (database: string, most: Amounts, post: Post, get: Get) => {
  const sample = invoiceSample({ uniqueID: "MANY", accounts: [accountOf(1)], shipmentID: "BILLED" })
  await post("carrier", "/invoicing/invoices", sample)
  await multiply(database, "invoices", "unique_id = 'MANY'", 1000, { unique_id: "'MANY' || n" })
  const large = invoiceSample({ uniqueID: "WIDE", invoiceNumber: "WIDE", accounts: [accountOf(2)], shipmentID: "WIDE" })
  await post("carrier", "/invoicing/invoices", { ...large, invoiceCharges: many(5000, () => large.invoiceCharges[0]) })
  await multiply(database, "invoices", "unique_id = 'WIDE'", 20, { unique_id: "'WIDE' || n", invoice_number: "'WIDE' || n" })
  await post("carrier", "/invoicing/documents", documentsJson("BIG", Buffer.alloc(8 << 20, 7)))
  await post("carrier", "/invoicing/documents", documentsJson("MANY", Buffer.alloc(100, 7)))
  const numbers = `t.invoice_number || lpad((1 + n % ${most.records - 1})::text, 4, '0')`
  await multiply(database, "document_records", "invoice_number = 'MANY'", most.records - 1, { invoice_number: numbers })
  await multiply(database, "document_files", "invoice_number = 'MANY'", 100 * (most.records - 1), { invoice_number: numbers, file_id: "'F' || n", file_no: "1000 + n" })
  return [
    get("invoices.listInvoices", "1,000 invoices", "carrier", "/invoicing/invoices?shipmentID=BILLED"),
    get("invoices.listInvoices", "large invoices", "carrier", "/invoicing/invoices?shipmentID=WIDE"),
    get("invoices.getInvoice", "5,000 charges", "carrier", "/invoicing/invoices/WIDE"),
    get("invoices.getDocument", "8 MB file", "carrier", "/invoicing/documents/BIG"),
    get("invoices.listDocuments", `${100 * most.records} files`, "carrier", "/invoicing/documents?documentType=POD")
  ]
}

const documentsJson = (invoiceNumber: string, content: Buffer) => ({
  ...documentsSample({ invoiceNumber, documents: [{ documentType: invoiceNumber === "BIG" ? "BOL" : "POD", files: [Buffer.concat([Buffer.from("%PDF-1.7\n"), content]).toString("base64")] }] })
})

const pickups = async (database: string, most: Amounts, post: Post, get: Get) => {
  const sample = pickupRequest({ day: later })
  const { pickups: [ordered] } = await post("customer", "/pickup/v1/pickups/", { ...sample, shipmentDetails: many(400, (n) => requestedShipment({ proNumber: `K${n}` })) })
  const id = "pickup_id = (SELECT pickup_id FROM waybill.pickup_pros WHERE pro = 'K0')"
  await multiply(database, "pickup_history", id, most.versions / 10, { position: "1000 + n" })
  return [
    get("intake.getPickupRecord", `${most.versions / 10} changes of 0.4 MB`, "carrier", `/intake/v1/pickups/${ordered!.carrierPickupNumber}`),
    get("pickups.getPickup", "400 shipments", "customer", `/pickup/v1/pickups/?lookupType=PickupConfirmationID&lookupValue=${ordered!.carrierPickupNumber}&requestType=PickupStatus&isTest=false`)
  ]
}

const events = async (database: string, most: Amounts, post: Post, get: Get) => {
  const account = accountOf(3)
  await post("carrier", "/intake/v1/transit-events", { events: [{ ...sampleEvent("LARGE", [account]), attributes: { text: "x".repeat(8000) } }, sampleEvent("SMALL", [account])] })
  const copies = { event_id: "'copy-' || t.shipment_id || n", sequence: "1000 + n", event_no: "1000000 + n + length(t.shipment_id) * (t.shipment_id = 'LARGE')::int * 100000" }
  await multiply(database, "transit_events", "shipment_id = 'SMALL'", 500, copies)
  await multiply(database, "transit_events", "shipment_id = 'LARGE'", most.largeEvents, copies)
  await query(database, "UPDATE waybill.transit_events SET body = convert_to(replace(convert_from(body, 'UTF8'), 'xxxxxxxx', repeat('xxxxxxxx', 30)), 'UTF8') WHERE shipment_id = 'LARGE' AND sequence > 1000")
  const filters = { shipmentIds: many(1000, (n) => `SHIPMENT-OF-A-LONG-NAME-${n}`) }
  await post("customer", "/visibility/v1/subscriptions", { endpointUrl: "https://example.com/hook", hmacSecretId: "secret", filters })
  const wide = "id = (SELECT id FROM waybill.transit_subscriptions WHERE doc LIKE '%LONG-NAME%' LIMIT 1)"
  await multiply(database, "transit_subscriptions", wide, 500, { id: uuid("n") })
  await multiply(database, "delivery_destinations", `destination_${wide}`, 500, { destination_id: uuid("n") })
  return [
    get("transit-events.listEvents", "500 events", "carrier", "/visibility/v1/events?shipmentId=SMALL&pageSize=500"),
    get("transit-events.listEvents", `${most.largeEvents} events of 240 KB`, "carrier", "/visibility/v1/events?shipmentId=LARGE&pageSize=500"),
    get("transit-events.listSubscriptions", "100 with 1,000 shipment ids", "customer", "/visibility/v1/subscriptions?pageSize=100"),
    get("operator.listAllSubscriptions", "500", "operator", `${operator}/subscriptions?limit=500`),
    get("operator.getShipmentJourney", `${most.largeEvents} events of 240 KB`, "operator", `${operator}/shipments/LARGE/journey`),
    get("operator.getShipmentJourney", "500 events", "operator", `${operator}/shipments/SMALL/journey`),
    get("operator.explainDelivery", "large events", "operator", `${operator}/explain?subscriptionId=018f0000-0000-7000-8000-000000000001&shipmentId=LARGE`)
  ]
}

const operators = async (database: string, most: Amounts, post: Post, get: Get) => {
  const accounts = many(10_000, accountOf)
  await post("operator", `${operator}/api-keys`, { name: "wide", roles: ["customer"], accounts })
  await multiply(database, "api_keys", "name = 'wide'", most.largeKeys, { id: uuid("n") })
  await post("operator", `${operator}/secrets/wide`, { accounts }, "PUT")
  await multiply(database, "secrets", "hmac_secret_id = 'wide'", most.largeKeys, { hmac_secret_id: "'wide' || n" })
  await multiply(database, "tenants", "true", 1000, { tenant_id: "'tenant-' || n" })
  await query(database, `INSERT INTO waybill.deliveries (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at, settled_at, attempts)
    SELECT '${tenantId}', ${uuid("n")}::uuid, ${uuid("1")}::uuid, 'dead', 25, 25,
           (SELECT array_agg(event_no) FROM (SELECT event_no FROM waybill.transit_events WHERE shipment_id = 'LARGE' AND sequence > 1000 LIMIT 4) AS e),
           ARRAY['LARGE'], now(), now(),
           (SELECT array_agg(json_build_object('attempt', a, 'at', 1790000000000, 'durationMillis', 3, 'outcome', 'http', 'status', 500, 'excerpt', repeat('x', 1000))::text) FROM generate_series(1, 25) AS a)
    FROM generate_series(1, 500) AS n`)
  await multiply(database, "audit_entries", "true", 500, { entry_id: uuid("n") })
  return [
    get("operator.listApiKeys", `${most.largeKeys} with 10,000 accounts`, "operator", `${operator}/api-keys?limit=500`),
    get("operator.listSecrets", `${most.largeKeys} with 10,000 accounts`, "operator", `${operator}/secrets?limit=500`),
    get("operator.listTenants", "500", "operator", "/operator/v1/tenants?limit=500"),
    get("operator.getHealth", "1,000 tenants", "operator", "/operator/v1/health"),
    get("operator.listClients", "500", "operator", `${operator}/clients?limit=500`),
    get("operator.listDeliveries", "500 of 25 attempts", "operator", `${operator}/deliveries?limit=500`),
    get("operator.getDelivery", "1 MB", "operator", `${operator}/deliveries/018f0000-0000-7000-8000-000000000001`),
    get("operator.listAudit", "500", "operator", "/operator/v1/audit?limit=500")
  ]
}
