/** Serves the page with a fake operator API: failures, delays, and responses that a real server would not send. */
import type { Delivery, DeliveryInFull, Explanation, NamedShipment, OperatorPickup, OperatorSubscription, ShipmentJourney, Statistics, Tenant } from "@waybill/client"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { isInTrouble } from "../../dashboard/model/trouble.ts"
import { openDashboard } from "../../src/dashboard/Dashboard.ts"
import { listening, urlOf } from "../program/Program.ts"

interface ApiRequest {
  readonly method: string
  /** Below `/operator/v1/tenants`. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: any
}

export type Answer = { readonly status: number; readonly json: unknown }

export interface Freight {
  tenants: Array<Tenant>
  subscriptions: Array<OperatorSubscription>
  deliveries: Array<DeliveryInFull>
  shipments: Array<NamedShipment>
  pickups: Array<OperatorPickup>
  journey: ShipmentJourney
  explanation: Explanation
}

export interface FakeOperatorApi {
  readonly url: string
  /** Data of the page's tables; may be changed at any time. */
  readonly freight: Freight
  readonly requests: Array<ApiRequest>
  /** Replaces every response while it is set; `lost` breaks the connection. */
  override: ((received: ApiRequest) => Promise<Answer | "lost" | undefined> | Answer | "lost" | undefined) | undefined
  /** Path prefix of the page, as behind a proxy. */
  readonly prefix: string
}

export const key = "the-operators-key"

export const startFakeApi = async (freight: Freight = sampleFreight(), prefix = ""): Promise<FakeOperatorApi> => {
  const dashboard = (await Effect.runPromise(openDashboard()))!
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url!, "http://api-in")
    const path = url.pathname.startsWith(prefix) ? url.pathname.slice(prefix.length) : "/elsewhere"
    const page = dashboard({ method: request.method!, path, headers: request.headers as Record<string, string> })
    if (page !== undefined) {
      const web = HttpServerResponse.toWeb(page, { withoutBody: request.method === "HEAD" })
      response.writeHead(web.status, Object.fromEntries(web.headers))
      return response.end(Buffer.from(await web.arrayBuffer()))
    }
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const received = { method: request.method!, path: path.replace("/operator/v1/tenants", ""), query: url.searchParams, body: text === "" ? undefined : JSON.parse(text) }
    api.requests.push(received)
    const answer = request.headers["x-api-key"] !== key
      ? { status: 401, json: { status: 401, title: "Unauthorized", detail: "These credentials are not valid." } }
      : await api.override?.(received) ?? answerFrom(api.freight, received)
    if (answer === "lost") return response.destroy()
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.json))
  }
  const server = await listening((request, response) => void handle(request, response).catch((error) => response.destroy(error)))
  const api: FakeOperatorApi = { url: urlOf(server), freight, requests: [], override: undefined, prefix }
  return api
}

const notFound: Answer = { status: 404, json: { status: 404, title: "Not found", detail: "There is no such thing." } }

const answerFrom = (freight: Freight, { body, method, path, query }: ApiRequest): Answer => {
  const ok = (json: unknown, status = 200): Answer => ({ status, json })
  const paged = <A>(rows: ReadonlyArray<A>, idOf: (row: A) => string, newest = false) => {
    const limit = Number(query.get("limit") ?? 100)
    const cursor = query.get("cursor")
    const sorted = rows.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1) * (newest ? -1 : 1))
    const after = sorted.filter((row) => cursor === null || (newest ? idOf(row) < cursor : idOf(row) > cursor))
    return ok({ data: after.slice(0, limit), nextCursor: after.length > limit ? idOf(after[limit - 1]!) : null, ...query.get("total") === "true" ? { total: rows.length } : {} })
  }
  if (path === "/operator/v1/health") {
    return ok({ tenants: freight.tenants.map(({ tenantId }, n) => ({ tenantId, subscriptions: 5, inTrouble: n, waiting: n * 14, oldestWaitingAt: n === 0 ? null : instantOf(n), dead: n })), unread: [] })
  }
  const [tenantId, kind, id, act] = path.split("/").slice(1).map(decodeURIComponent)
  if (tenantId === undefined) return paged(freight.tenants, (tenant) => tenant.tenantId)
  if (kind === "subscriptions" && id === undefined) {
    const found = freight.subscriptions.filter((each) => {
      const { client, endpointUrl, lastAttempt, state, subscriptionId } = each
      return (!query.has("subscriptionId") || query.getAll("subscriptionId").includes(subscriptionId)) && (query.get("state") ?? state) === state && (query.get("client") ?? client) === client && (query.get("inTrouble") !== "true" || isInTrouble(each)) &&
        (query.get("endpoint") ?? new URL(endpointUrl).host) === new URL(endpointUrl).host && (query.get("error") ?? lastAttempt?.outcome) === lastAttempt?.outcome
    })
    return paged(found, (subscription) => subscription.subscriptionId)
  }
  if (kind === "subscriptions" && method === "GET") {
    const subscription = freight.subscriptions.find(({ subscriptionId }) => subscriptionId === id)
    return subscription === undefined ? notFound : ok(subscription)
  }
  if (kind === "subscriptions" && method === "PATCH") {
    const subscription = freight.subscriptions.find(({ subscriptionId }) => subscriptionId === id)!
    Object.assign(subscription, { ...body, delivery: { ...subscription.delivery, ...body.delivery }, filters: { ...subscription.filters, ...body.filters } })
    return ok(subscription)
  }
  if (kind === "subscriptions" && method === "DELETE") return ok({}, 204)
  if (kind === "subscriptions" && method === "POST") {
    const counted: Readonly<Record<string, unknown>> = { recover: { recovered: 3 }, replay: { queued: 12 }, purge: { dropped: 7 } }
    return act! in counted ? ok(counted[act!], 202) : ok({ ...subscriptionSample(1), state: act === "pause" ? "paused" : "active" })
  }
  if (kind === "deliveries" && id === undefined) {
    const found = matching(freight, Object.fromEntries(query))
    return paged(found.map(({ body: _, endpointUrl: __, ...delivery }): Delivery => delivery), (delivery) => delivery.deliveryId, query.get("order") === "newest")
  }
  if (kind === "deliveries") {
    const delivery = freight.deliveries.find(({ deliveryId }) => deliveryId === id)
    if (delivery === undefined) return notFound
    if (act === undefined) return ok(delivery)
    if (act === "dismiss") Object.assign(delivery, { state: "dismissed" })
    else Object.assign(delivery, { state: "waiting", settledAt: null, nextAttemptAt: delivery.createdAt })
    return ok({}, 202)
  }
  if (kind === "purge") {
    const { cursor = "", ...filter } = body
    const found = freight.subscriptions.filter(({ endpointUrl, state, subscriptionId }) =>
      subscriptionId > cursor && (filter.state ?? state) === state && (filter.endpoint ?? new URL(endpointUrl).host) === new URL(endpointUrl).host)
    const [first, ...others] = found.toSorted((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1))
    return ok({ subscriptions: 1, dropped: 7, nextCursor: others.length === 0 ? null : first!.subscriptionId }, 202)
  }
  if (kind === "dead-letters") {
    const { cursor = "", ...filter } = body
    const dead = matching(freight, { ...filter, state: "dead" }).filter(({ deliveryId }) => deliveryId > cursor).toSorted((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1))
    const step = dead.slice(0, 20)
    for (const each of step) Object.assign(each, { state: id === "retry" ? "waiting" : "dismissed" })
    return ok({ [id === "retry" ? "retried" : "dismissed"]: step.length, nextCursor: dead.length > 20 ? step.at(-1)!.deliveryId : null }, 202)
  }
  if (kind === "pickups" && id === undefined) {
    const waits = query.get("state") === "waiting"
    return paged(freight.pickups.filter(({ waitingFor }) => !waits || waitingFor !== null), (pickup) => pickup.pickupId, !waits)
  }
  if (kind === "pickups") {
    const pickup = freight.pickups.find(({ pickupId }) => pickupId === id)
    if (pickup === undefined) return notFound
    Object.assign(pickup, { waitingFor: null, waitingSince: null, status: "Accepted", confirmationNumber: body.confirmationNumber ?? "100000009" })
    return ok({ result: "accepted", pickupId: id, carrierPickupNumber: pickup.confirmationNumber, status: pickup.status })
  }
  if (kind === "explain") return query.get("eventId") === "nothing" ? notFound : ok(freight.explanation)
  if (kind === "statistics") return ok(statisticsSample(query))
  if (kind === "shipments" && act === "journey") return id === freight.journey.shipmentId ? ok(freight.journey) : notFound
  if (kind === "shipments") return ok({ data: freight.shipments.filter(({ shipmentId }) => query.get("reference") !== "nothing" || shipmentId === "nothing") })
  return notFound
}

const matching = (freight: Freight, { client, endpoint, error, since = "", state, subscriptionId, until = "~" }: Readonly<Record<string, string>>) =>
  freight.deliveries.filter((each) =>
    (state ?? each.state) === each.state && (subscriptionId ?? each.subscriptionId) === each.subscriptionId && (client ?? clientOf(freight, each)) === clientOf(freight, each) &&
    (endpoint ?? new URL(each.endpointUrl).host) === new URL(each.endpointUrl).host && (error ?? each.attempts.at(-1)?.outcome) === each.attempts.at(-1)?.outcome &&
    each.createdAt >= since && each.createdAt < until)

const clientOf = (freight: Freight, { subscriptionId }: Pick<Delivery, "subscriptionId">) => freight.subscriptions.find((each) => each.subscriptionId === subscriptionId)?.client ?? ""

/** In every sixth step an attempt fails and in every fifth entries are counted. */
const statisticsSample = (query: URLSearchParams): Statistics => {
  const [from, to, step] = [Date.parse(query.get("from")!), Date.parse(query.get("to")!), Number(query.get("step"))]
  const points = Array.from({ length: (to - from) / step / 1000 }, (_, n) =>
    ({ at: new Date(from + n * step * 1000).toISOString(), deliveries: n % 3, failures: n % 6 === 0 ? 1 : 0, meanMillis: n % 3 === 0 && n % 6 !== 0 ? null : 40, maxMillis: n % 3 === 0 && n % 6 !== 0 ? null : 1200, waiting: n % 5 === 0 ? n : null }))
  const ids = query.getAll("subscriptionId")
  return { from: query.get("from")!, to: query.get("to")!, step, series: (ids.length === 0 ? [null] : ids).map((subscriptionId) => ({ subscriptionId, points })) }
}

/** A UUID that sorts by `n`. */
export const idOf = (n: number): string => `0199f3a0-0000-7000-8000-${n.toString(16).padStart(12, "0")}`

export const instantOf = (minute: number): string => new Date(Date.parse("2026-11-20T07:00:00.000Z") + minute * 60_000).toISOString()

export const subscriptionSample = (n: number, changes: Partial<OperatorSubscription> = {}): OperatorSubscription => ({
  subscriptionId: idOf(n),
  area: "transit-events",
  client: `shipper-${n}`,
  endpointUrl: `https://shipper-${n}.example/hook`,
  state: "active",
  reason: null,
  since: instantOf(0),
  breaker: { state: "closed", failures: 0, until: null },
  pausedBy: null,
  held: false,
  hmacSecretId: "main",
  filters: {},
  accounts: null,
  delivery: { maxAttempts: 12, initialBackoffSeconds: 5, maxBackoffSeconds: 3600, batchMaxSize: 200, rateLimitPerMinute: 600 },
  waiting: 0,
  oldestWaitingAt: null,
  inFlight: 0,
  dead: 0,
  dropped: 0,
  dueAt: null,
  lastAttempt: { at: instantOf(n), outcome: "accepted", status: 200 },
  ...changes
})

export const pickupSample = (n: number, changes: Partial<OperatorPickup> = {}): OperatorPickup => ({
  pickupId: idOf(0x2000 + n),
  confirmationNumber: null,
  status: "Call us",
  client: "key:shipper",
  isTest: false,
  orderedAt: instantOf(n),
  waitingFor: "order",
  waitingSince: instantOf(n),
  carrier: { carrierName: null, scac: null },
  readyWindow: { readyDate: "2026-11-21", readyTime: "08:00", closeTime: "16:00", timeZone: "America/Chicago" },
  origin: { name: "Closets", city: "Chicago", state: "IL", zip: "60601" },
  ...changes
})

export const deliverySample = (n: number, changes: Partial<DeliveryInFull> = {}): DeliveryInFull => ({
  deliveryId: idOf(0x1000 + n),
  subscriptionId: idOf(1),
  state: "delivered",
  createdAt: instantOf(n),
  settledAt: instantOf(n + 1),
  reason: null,
  nextAttemptAt: null,
  events: 1,
  attempts: [{ attempt: 1, at: instantOf(n), durationMillis: 120, outcome: "accepted", status: 200, detail: null, answer: "thanks" }],
  endpointUrl: "https://shipper-1.example/hook",
  body: `{"deliveryId":"${idOf(0x1000 + n)}","total": 12.50,"note":"caf\u00e9"}`,
  ...changes
})

export const deadLetter = (n: number, changes: Partial<DeliveryInFull> = {}): DeliveryInFull =>
  deliverySample(n, {
    state: "dead",
    attempts: [1, 2, 3].map((attempt) => ({
      attempt,
      at: instantOf(n + attempt),
      durationMillis: 950 * attempt,
      outcome: "http_5xx",
      status: 503,
      detail: "The receiver answered 503.",
      answer: "upstream is down"
    })),
    ...changes
  })

export const sampleFreight = (): Freight => ({
  tenants: [{ tenantId: "acme", name: "Acme Freight", hosts: ["freight.acme.example"], state: "active" }, { tenantId: "beta", name: "Beta Lines", hosts: [], state: "active" }],
  subscriptions: [
    subscriptionSample(1),
    subscriptionSample(2, { area: "shipment-status", state: "paused", pausedBy: "service", reason: "The receiver answered 410 Gone.", waiting: 14, lastAttempt: { at: instantOf(9), outcome: "gone", status: 410 } }),
    subscriptionSample(3, { area: "freight-charges", state: "paused", pausedBy: "service", reason: "A delivery used up its attempts.", dead: 1, waiting: 1000 }),
    subscriptionSample(4, { dead: 2, breaker: { state: "open", failures: 7, until: instantOf(99) }, inFlight: 3, lastAttempt: { at: instantOf(8), outcome: "http_5xx", status: 503 } }),
    subscriptionSample(5, { state: "inactive" })
  ],
  deliveries: [
    deadLetter(1, { subscriptionId: idOf(4) }),
    deadLetter(2, { subscriptionId: idOf(4) }),
    deadLetter(3, { subscriptionId: idOf(3) }),
    deliverySample(4),
    deliverySample(5, { state: "cancelled" }),
    deliverySample(6, { state: "waiting", settledAt: null, nextAttemptAt: instantOf(50) }),
    ...Array.from({ length: 60 }, (_, n) => deliverySample(10 + n))
  ],
  shipments: [{ shipmentId: "S-1", proNumber: "0418367745", bolNumber: "BOL0418367745", carrier: "WAYB", status: "In Transit", lastAt: instantOf(30) }],
  pickups: [
    pickupSample(1),
    pickupSample(2, { confirmationNumber: "100000002", status: "Accepted", waitingFor: null, waitingSince: null, carrier: { carrierName: "ABC Lines", scac: "ABCD" } }),
    pickupSample(3, { confirmationNumber: "100000003", status: "Accepted", waitingFor: "change" })
  ],
  journey: {
    shipmentId: "S-1",
    proNumber: "0418367745",
    bolNumber: "BOL0418367745",
    accounts: ["A-1"],
    entries: [
      { at: instantOf(0), area: "pickups", kind: "pickup requested", title: "A truck was ordered", reference: "100000001", document: { pickup: true } },
      { at: instantOf(5), area: "transit-events", kind: "PICKED_UP", title: "Picked up in Chicago, IL", reference: "E-1", document: { type: "PICKED_UP", location: { city: "Chicago", state: "IL", latitude: 41.88, longitude: -87.63 } } },
      { at: instantOf(6), area: "shipment-status", kind: "Picked-up", title: "Status: Picked-up", reference: null, document: {} },
      { at: instantOf(7), area: "transit-events", kind: "IN_TRANSIT", title: "In transit, Omaha, NE", reference: "E-2", document: { location: { city: "Omaha", state: "NE" } } },
      { at: instantOf(8), area: "transit-events", kind: "ARRIVED_AT_TERMINAL", title: "Arrived at terminal, Denver, CO", reference: "E-3", document: { location: { city: "Denver", state: "CO", latitude: 39.74, longitude: -104.99 } } },
      { at: instantOf(10), area: "freight-charges", kind: "created", title: "Bill made: USD 412.50", reference: "0418367745WAYB20261120", document: { total: 412.5 } },
      { at: instantOf(30), area: "invoices", kind: "invoice created", title: "Invoice INV-1 over USD 412.50", reference: "INV-1", document: { value: "412.50" } }
    ],
    truncated: false,
    deliveries: [{ ...deliverySample(4), area: "transit-events" }],
    deliveriesSince: null
  },
  explanation: {
    verdict: "waiting",
    waitingFor: "paused",
    reasons: [{ rule: "state", expected: "active", actual: "paused by the service: The receiver answered 410 Gone." }],
    deliveries: [{ deliveryId: idOf(0x1001), state: "dead", attempts: 3, lastStatus: 503, at: instantOf(1) }]
  }
})
