/** Property tests: every request gets a response in the format of its area, and never a server error. */
import { assert, describe, it } from "@effect/vitest"
import { documentsSample, invoiceSample, pickupRequest } from "@waybill/testkit"
import { Effect, Schema } from "effect"
import { charge } from "../freight-charges/FreightChargeSamples.ts"
import { type FuzzRandom, fuzzRandomOf } from "../hostile/FuzzRandom.ts"
import { movingShipment } from "../shipment-status/ShipmentSamples.ts"
import { type Answer, operatorKey, problemCode, reportedEvent, runningService } from "../TestService.ts"

const service = await runningService()
const acme = await service.tenant("acme")
const customer = await acme.customer("shop", ["A1"])
await acme.publish(reportedEvent("S1", { eventId: "known", accounts: ["A1"] }))
const subscriptionId = (await acme.subscribe(acme.carrier)).json.id
await acme.register(movingShipment("S1", { accounts: ["A1"] }))
await acme.charge(charge("created", "B1"))
await service.send("POST", "/invoicing/invoices", { key: acme.carrier, body: invoiceSample({ accounts: ["A1"] }) })
let pickupNumber = ""
const chargeSubscriptionId = (await acme.subscribeToCharges(customer, ["A1"])).json.subscriptionId

/** Two 16-bit halves, because plain integers are too small to make many different requests. */
const Half = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))

type Choices = Pick<FuzzRandom, "draw" | "pick">

const oddTexts = [
  "", " ", "\u0000", "\ud800", "\udfff", "a\u0000b", "😀", "\u202e", "\u2028", "%", "%00", "..", "/", "'", "\"", "\\", "<script>", "NaN", "null", "undefined",
  "__proto__", "constructor", "toString", "hasOwnProperty", "$ref", "{{7*7}}", "'; DROP TABLE events; --", "x".repeat(5000), "é".repeat(300), "-1", "1e999",
  "2026-11-20T08:15:00-06:00", "2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59", "https://receiver.example/hook",
  "https://[::1]/", "https://user:pw@receiver.example/", "whsec_", "active", "DELAY", "S1", "known", "main"
] as const

const oddValues = [
  null, true, false, 0, -0, -1, 1.5, 1e308, 9_007_199_254_740_992, [], {}, [[]], [null], { a: { b: [] } }, ...oddTexts
] as const

const anyJson = ({ draw, pick }: Choices, depth = 0): unknown => {
  const kind = depth > 4 ? 0 : draw()
  if (kind < 0.5) return pick(oddValues)
  if (kind < 0.75) return Array.from({ length: Math.floor(draw() * 5) }, () => anyJson({ draw, pick }, depth + 1))
  return Object.fromEntries(Array.from({ length: Math.floor(draw() * 5) }, () => [pick(oddTexts), anyJson({ draw, pick }, depth + 1)]))
}

/** A valid value with a few members replaced, removed or added. */
const damaged = (value: unknown, choose: Choices): unknown => {
  if (choose.draw() < 0.04) return anyJson(choose)
  if (Array.isArray(value)) return value.map((item) => damaged(item, choose))
  if (typeof value !== "object" || value === null) return value
  const members = Object.entries(value).flatMap(([key, inner]): Array<[string, unknown]> => choose.draw() < 0.03 ? [] : [[key, damaged(inner, choose)]])
  if (choose.draw() < 0.05) members.push([choose.pick(oddTexts), anyJson(choose)])
  return Object.fromEntries(members)
}

const validBodies = () => ({
  events: { events: [reportedEvent("S1"), reportedEvent("S2", { sequence: 4, accounts: ["A1"], more: { documents: [{ type: "POD", url: "https://a.example" }] } })] },
  subscription: {
    endpointUrl: "https://receiver.example/hook",
    hmacSecretId: "main",
    filters: { eventTypes: ["DELAY"], shipmentIds: ["S1"] },
    delivery: { maxAttempts: 2, initialBackoffSeconds: 1, maxBackoffSeconds: 5, batchMaxSize: 3, rateLimitPerMinute: 7 }
  },
  shipments: { shipments: [movingShipment("S1", { accounts: ["A1"] }), movingShipment("S3", { Commodities: [{ description: "x", hazardous: true }] })] },
  updates: {
    updates: [
      { shipmentId: "S1", shipmentMilestoneStatus: "Out for Delivery", countsToDelivery: 3, terminalStatus: "Departed", occurredAt: "2026-11-20T08:15:00-06:00", updateId: "u" },
      { proNumber: "PRO-S1", deliveryInformation_messages: "Appointment Update", appointmentStatus: "appointment scheduled", appointmentDate: "2026-11-21T10:00:00Z" }
    ]
  },
  charges: { charges: [charge("created", "B1"), charge("updated", "B1", { total: 1, accounts: ["A1", "A2"] }), charge("removed", "B2")] },
  following: { referenceNumbers: ["S1", "PO-S1"], webhookUrl: "https://receiver.example/hook", hmacSecretId: "main" },
  chargeSubscription: {
    webhookUrl: "https://receiver.example/hook",
    accounts: ["A1"],
    dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
    frequency: "hourly",
    includeEventLog: false,
    billScope: "all_accounts",
    hmacSecretId: "main"
  },
  invoice: invoiceSample({ accounts: ["A1"] }),
  documents: documentsSample({ accounts: ["A1"], documents: [{ documentType: "POD", files: ["JVBERi0=", "iVBORw0KGgo="] }, { documentType: "W&I", files: ["SUkqAAAA"] }] }),
  pickup: pickupRequest({ day: "2099-11-20", orgAccountNumber: "A1" }),
  pickupChange: pickupRequest({ day: "2099-11-20", orgAccountNumber: "A1", number: pickupNumber }),
  pickupReport: { status: "En Route", stopEta: "2027-11-20T10:00:00", stopEtaTimeZone: "UTC-5", equipmentInformation: { driverName: "Kim", stopsAway: 3 } },
  webhookTest: { webhookUrl: "https://receiver.example/hook" },
  patch: { status: "paused", filters: { eventTypes: null }, delivery: null },
  apiKey: { name: "shop", roles: ["customer"], accounts: ["A1"], dot: "123", mc: "456" },
  tenant: { name: "Acme", hosts: ["acme.example"] },
  secret: { secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", accounts: ["A1"], overlapSeconds: 60, bodySignature: true },
  recover: { since: "2026-11-20T08:15:00-06:00" },
  replay: { from: "2026-11-20T08:15:00-06:00", to: "2026-11-21T08:15:00-06:00", shipmentIds: ["S1"] }
})

await service.send("POST", "/invoicing/documents", { key: acme.carrier, body: validBodies().documents })
pickupNumber = (await service.send("POST", "/pickup/v1/pickups", { key: customer, body: validBodies().pickup })).json[0].carrierPickupNumber

const parameters = [
  "shipmentId", "eventTypes", "occurredFrom", "occurredTo", "page", "pageSize", "order", "status", "state", "subscriptionId", "since", "cursor", "limit",
  "partial", "uniqueID", "DOT", "MC", "invoiceNumber", "documentType", "fileIds", "fileIds[]", "comments", "comments[0][commentText]", "id", "commentText",
  "lookupValue", "lookupType", "requestType", "isTest"
] as const

const requestOf = (seed: number): { readonly request: Request; readonly path: string; readonly shown: string } => {
  const choose = fuzzRandomOf(seed)
  const { draw, pick } = choose
  const segment = () => draw() < 0.8 ? pick(["acme", "acme", "acme", "main", subscriptionId, acme.carrierKeyId, "0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77"]) : encodeText(pick(oddTexts))
  const text = () => draw() < 0.5 ? encodeText(pick(oddTexts)) : pick(["PRO-S1", "PO-S1", "60608", "02108", "A1", "2026-11-01", "2026-11-20T08:15:00+02:00", chargeSubscriptionId])
  const known = () => draw() < 0.3 ? encodeText(pick(oddTexts)) : pick(["INV-1", "4711", pickupNumber])
  const form = () => pick(["verified", "public"])
  const ofTenant = () => `/operator/v1/tenants/${segment()}`
  const ofSubscription = () => `${ofTenant()}/subscriptions/${segment()}`
  const [usual, path, bodyOf] = pick([
    () => ["GET", "/visibility/v1/events"],
    () => ["GET", "/visibility/v1/subscriptions"],
    () => ["POST", "/visibility/v1/subscriptions", "subscription"],
    () => ["GET", `/visibility/v1/subscriptions/${segment()}`],
    () => ["PATCH", `/visibility/v1/subscriptions/${segment()}`, "patch"],
    () => ["PATCH", `/visibility/v1/subscriptions/${subscriptionId}`, "patch"],
    () => ["DELETE", `/visibility/v1/subscriptions/${encodeText(pick(oddTexts))}`],
    () => ["POST", "/intake/v1/transit-events", "events"],
    () => ["POST", "/intake/v1/shipments", "shipments"],
    () => ["GET", `/intake/v1/shipments/${text()}`],
    () => ["POST", "/intake/v1/status-updates", "updates"],
    () => ["POST", "/intake/v1/freight-charges", "charges"],
    () => ["GET", `/in-transit/v1/shipment/pro/${text()}/${form()}`],
    () => ["GET", `/in-transit/v1/shipment/bol/${text()}/${text()}/${form()}`],
    () => ["GET", `/in-transit/v1/shipment/po/${text()}/${text()}/${form()}`],
    () => ["GET", `/in-transit/v1/shipment/po/${text()}/${text()}/${text()}/verified`],
    () => ["POST", "/in-transit/v1/notifications/subscribe", "following"],
    () => ["DELETE", `/in-transit/v1/notifications/unsubscribe/${text()}`],
    () => ["POST", "/invoicing/invoices", "invoice"],
    () => ["GET", "/invoicing/invoices"],
    () => ["GET", `/invoicing/invoices/${known()}`],
    () => ["PUT", `/invoicing/invoices/${known()}`, "invoice"],
    () => ["DELETE", `/invoicing/invoices/${known()}`],
    () => ["POST", "/invoicing/documents", "documents"],
    () => ["POST", "/invoicing/documents", "documents"],
    () => ["GET", "/invoicing/documents"],
    () => ["GET", `/invoicing/documents/${known()}`],
    () => ["DELETE", `/invoicing/documents/${known()}`],
    () => ["POST", "/pickup/v1/pickups/", "pickup"],
    () => ["GET", `/pickup/v1/pickups${pick(["", "/"])}`],
    () => ["PUT", `/pickup/v1/pickups/${known()}`, "pickupChange"],
    () => ["DELETE", `/pickup/v1/pickups/${encodeText(pick(oddTexts))}`],
    () => ["POST", `/intake/v1/pickups/${known()}/status`, "pickupReport"],
    () => ["GET", `/intake/v1/pickups/${known()}`],
    () => ["POST", "/pfc/v1/subscriptions", "chargeSubscription"],
    () => ["GET", `/pfc/v1/subscriptions/${text()}`],
    () => ["DELETE", `/pfc/v1/subscriptions/${encodeText(pick(oddTexts))}`],
    () => ["GET", `/pfc/v1/subscriptions/${text()}/inflight`],
    () => ["POST", "/pfc/webhooks/test", "webhookTest"],
    () => ["POST", `${ofTenant()}/subscriptions/${text()}/resume`],
    () => ["PUT", ofTenant(), "tenant"],
    () => ["POST", `${ofTenant()}/api-keys`, "apiKey"],
    () => ["DELETE", `${ofTenant()}/api-keys/${encodeText(pick(oddTexts))}`],
    () => ["PUT", `${ofTenant()}/secrets/${segment()}`, "secret"],
    () => ["GET", `${ofTenant()}/deliveries`],
    () => ["GET", `${ofTenant()}/deliveries/${segment()}`],
    () => ["POST", `${ofTenant()}/deliveries/${segment()}/retry`],
    () => ["GET", ofSubscription()],
    () => ["POST", `${ofSubscription()}/recover`, "recover"],
    () => ["POST", `${ofSubscription()}/replay`, "replay"],
    () => ["GET", `/openapi/${segment()}`],
    () => ["GET", `/${segment()}/${segment()}`],
    () => ["GET", `/visibility${"/".repeat(Math.floor(draw() * 4))}${segment()}`]
  ])() as unknown as readonly [string, string, keyof ReturnType<typeof validBodies> | undefined]
  const query = Array.from({ length: Math.floor(draw() * 4) }, () => `${pick(parameters)}=${draw() < 0.5 ? encodeText(pick(oddTexts)) : pick(oddRawQueries)}`).join("&")
  const method = draw() < 0.9 ? usual : pick(["GET", "POST", "PUT", "PATCH", "HEAD", "OPTIONS", "PROPFIND", "QUERY", "get", "X"])
  const headers = new Headers()
  if (draw() < 0.9) headers.set("x-api-key", draw() < 0.9 ? (path.startsWith("/operator") ? operatorKey : path.startsWith("/pfc") ? customer : acme.carrier) : pick([customer, customer, acme.carrier, operatorKey, "wb.x", "wb.YWNtZQ.------------------------------------.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", ""]))
  if (draw() < 0.1) headers.set("authorization", pick(["Bearer", "Bearer a.b.c", "Basic YTpi", `Bearer ${acme.carrier}`, `bearer  ${operatorKey}`, "\t"]))
  if (draw() < 0.9) headers.set("content-type", draw() < 0.9 ? "application/json" : pick(["application/merge-patch+json", "text/plain", ";", "application/json;charset"]))
  if (draw() < 0.1) headers.set(pick(["x-request-id", "accept", "host", "content-encoding", "if-none-match", "range", "expect", "x-forwarded-host"]), pick(["x", "*/*;q=0", "gzip", "bytes=0-1", "\u00ff", "a".repeat(500)]))
  const bodies = validBodies()
  const valid = bodyOf !== undefined && draw() < 0.9 ? bodies[bodyOf] : pick(Object.values(bodies))
  const body = pick([
    () => JSON.stringify(damaged(valid, choose)),
    () => JSON.stringify(damaged(valid, choose)),
    () => JSON.stringify(valid),
    () => JSON.stringify(valid),
    () => JSON.stringify(anyJson(choose)),
    () => JSON.stringify(valid).slice(0, Math.floor(draw() * 60)),
    () => Uint8Array.from({ length: Math.floor(draw() * 40) }, () => Math.floor(draw() * 256)),
    () => ""
  ])()
  const hasBody = !["GET", "HEAD", "get"].includes(method)
  const target = `${path}${query === "" ? "" : `?${query}`}`
  const request = new Request("http://waybill.test/", { method, headers, ...(hasBody ? { body } : {}) })
  // `URL` would normalize the target.
  Object.defineProperty(request, "url", { value: `http://waybill.test${target}` })
  return { request, path, shown: `${method} ${target} ${hasBody ? String(body).slice(0, 300) : ""}` }
}

const oddRawQueries = ["%", "%zz", "%ff%fe", "+", "a+b", "a,b,,", "==", "1&1", "%F0%9F%98%80", "DELAY", "asc", "1", "500", "true", "eyJ9"] as const

const encodeText = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd"))

const refusalIsWhole = (path: string, answer: Answer): boolean => {
  const { code, details, message, ...more } = answer.json ?? {}
  const isText = typeof message === "string" && message.length > 0 && message.length <= 4096
  const nothingMore = answer.headers.get("content-type") === "application/json" && Object.keys(more).length === 0
  if (/^\/invoicing(\/|$)/.test(path)) return codesAreWhole(answer)
  if (/^\/pickup(\/|$)/.test(path) && answer.status === 404) return answer.text === "" && answer.headers.get("content-type") === null
  if (/^\/(in-transit\/v1|pickup)(\/|$)/.test(path)) return isText && nothingMore && code === undefined && details === undefined
  if (/^\/pfc(\/|$)/.test(path)) return isText && nothingMore && /^[A-Z_]{1,50}$/.test(code)
  return problemIsWhole(answer)
}

const codesAreWhole = (answer: Answer): boolean =>
  answer.headers.get("content-type") === "application/json" && Array.isArray(answer.json) && answer.json.length > 0 &&
  answer.json.every((code: unknown) => typeof code === "string" && /^[3-7]00$/.test(code)) && /^[\x20-\x7e]{1,1000}$/.test(answer.headers.get("x-waybill-detail") ?? "")

const problemIsWhole = (answer: Answer): boolean =>
  problemCode(answer) !== undefined && answer.json.title.length <= 1024 && (answer.json.detail?.length ?? 0) <= 4096 &&
  answer.json.code.length <= 50 && (answer.json.errors ?? []).every((error: { readonly detail: string; readonly pointer?: string }) =>
    typeof error.detail === "string" && (error.pointer?.length ?? 0) <= 1024)

describe("any request", () => {
  it.effect.prop(
    "gets a response in the format of its area, below 500",
    [Half, Half],
    ([high, low]) =>
      Effect.gen(function*() {
        const { path, request, shown } = requestOf(high * 65_536 + low)
        const answer = yield* Effect.promise(() => service.fetch(request))
        assert.isBelow(answer.status, 500, `${shown}\n${answer.text}`)
        assert.isAtLeast(answer.status, 200)
        assert.isNotNull(answer.headers.get("x-request-id"))
        assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
        if (request.method === "HEAD" || answer.status === 204) return assert.strictEqual(answer.text, "")
        if (answer.status >= 400) return assert.isTrue(refusalIsWhole(path, answer), `${shown}\n${answer.text}`)
        // A cancelled pickup gets a response without a body.
        if (!(request.method === "DELETE" && path.startsWith("/pickup/"))) assert.notStrictEqual(answer.json, undefined, shown)
      }),
    { timeout: 60_000, arbitrary: { runs: 1500 } }
  )

  it.effect("leaves the service working as before", Effect.fnUntraced(function*() {
    const answer = yield* Effect.promise(() => service.send("GET", "/visibility/v1/events?shipmentId=S1", { key: acme.carrier }))
    assert.strictEqual(answer.status, 200)
    const defects = service.log.filter(({ level }) => level === "ERROR")
    assert.deepStrictEqual(defects, [])
  }))
})
