import { documentsSample, invoiceSample, pickupRequest } from "@waybill/testkit"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { charge } from "../freight-charges/FreightChargeSamples.ts"
import { movingShipment } from "../shipment-status/ShipmentSamples.ts"
import { operatorKey, startService, type TestService, type TestTenant } from "../TestService.ts"

type Json = { readonly [key: string]: unknown }

let service: TestService
let acme: TestTenant
const areas = ["shipment-status", "invoices", "pickups", "transit-events", "freight-charges", "intake", "operator"]
const documents = new Map<string, Json>()

beforeAll(async () => {
  service = await startService()
  acme = await service.tenant("acme")
  for (const path of ["/openapi.json", ...areas.map((area) => `/openapi/${area}.json`)]) {
    const answer = await service.send("GET", path)
    expect([path, answer.status, answer.headers.get("content-type")]).toEqual([path, 200, "application/json"])
    documents.set(path, answer.json)
  }
})
afterAll(() => service.stop())

const each = (check: (document: Json, path: string) => void) => documents.forEach(check)

/** Every object in a document with its path. */
const objectsIn = (value: unknown, at = "#"): ReadonlyArray<readonly [string, Json]> => {
  if (typeof value !== "object" || value === null) return []
  const own = Array.isArray(value) ? [] : [[at, value as Json] as const]
  return [...own, ...Object.entries(value).flatMap(([key, inner]) => objectsIn(inner, `${at}/${key.replaceAll("/", "~1")}`))]
}

const resolve = (document: Json, ref: string): unknown =>
  ref.replace(/^#\//, "").split("/").reduce<unknown>((value, key) => (value as Json | undefined)?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], document)

const operationsOf = (places: unknown) =>
  Object.entries(places as Record<string, Record<string, Json>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })))

describe("the OpenAPI documents", () => {
  it("are 3.1.0 with all required members", () => {
    each((document) => {
      expect(document["openapi"]).toBe("3.1.0")
      expect(document["info"]).toMatchObject({ title: expect.any(String), version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
      for (const { method, operation, path } of operationsOf(document["paths"])) {
        expect(path).toMatch(/^\//)
        expect(["GET", "POST", "PUT", "PATCH", "DELETE"]).toContain(method)
        expect(operation["operationId"]).toMatch(/^[a-zA-Z]+$/)
        expect(Object.keys(operation["responses"] as Json)).toContain("default")
        const parameters = (operation["parameters"] ?? []) as ReadonlyArray<Json>
        const inPath = parameters.filter((parameter) => parameter["in"] === "path")
        expect(inPath.map(({ name }) => `{${String(name)}}`)).toEqual(path.match(/\{[^}]+\}/g) ?? [])
        for (const parameter of parameters) {
          expect(parameter).toMatchObject({ name: expect.any(String), description: expect.stringMatching(/./) })
          expect(["schema", "content"].filter((member) => member in parameter).length).toBe(1)
          if (parameter["in"] === "path") expect(parameter["required"]).toBe(true)
        }
        for (const response of Object.values(operation["responses"] as Record<string, Json>)) {
          expect(response["$ref"] ?? response["description"]).toEqual(expect.any(String))
        }
      }
      const ids = [...operationsOf(document["paths"]), ...operationsOf(document["webhooks"] ?? {})].map(({ operation }) => operation["operationId"])
      expect(new Set(ids).size).toBe(ids.length)
    })
  })

  it("have no dangling reference, and no unused component", () => {
    each((document, path) => {
      const references = objectsIn(document).flatMap(([, object]) => typeof object["$ref"] === "string" ? [object["$ref"]] : [])
      expect(references.length).toBeGreaterThan(0)
      for (const reference of references) expect([path, reference, typeof resolve(document, reference)]).toEqual([path, reference, "object"])
      const components = Object.keys((document["components"] as Record<string, Json>)["schemas"] as Json)
      for (const name of components) expect(references).toContain(`#/components/schemas/${name}`)
    })
  })

  it("use valid JSON Schema 2020-12: known types, regular expressions that compile, sensible bounds", () => {
    each((document) => {
      for (const [at, schema] of objectsIn(document)) {
        if (at.endsWith("/properties")) continue
        if (typeof schema["type"] === "string" && at.includes("schema")) {
          expect([at, schema["type"]]).toEqual([at, expect.stringMatching(/^(string|number|integer|boolean|object|array|null|apiKey|http)$/)])
        }
        if (typeof schema["pattern"] === "string") new RegExp(schema["pattern"], "u")
        expect([at, schema["nullable"]]).toEqual([at, undefined])
      }
    })
    const schemas = resolve(documents.get("/openapi.json")!, "#/components/schemas") as Record<string, Json>
    expect(schemas["Location"]!["properties"]).toMatchObject({ latitude: { type: "number", minimum: -90, maximum: 90 } })
    expect((schemas["Event"]!["properties"] as Record<string, Json>)["occurredAt"]).toEqual({ type: "string", format: "date-time" })
    expect((schemas["Event"]!["properties"] as Record<string, Json>)["eventId"]).toMatchObject({ type: "string", maxLength: 200 })
    expect([schemas["Event"]!["additionalProperties"], schemas["SubscriptionCreate"]!["additionalProperties"]]).toEqual([true, false])
  })

  it("describe a subscriber's webhooks", () => {
    for (const path of ["/openapi.json", "/openapi/transit-events.json"]) {
      const { post } = (documents.get(path)!["webhooks"] as Record<string, Record<string, Json>>)["shipmentEvents"]!
      expect(Object.keys(post!["responses"] as Json).sort()).toEqual(["2XX", "410", "default"])
      expect(post!["requestBody"]).toEqual({ required: true, content: { "application/json": { schema: { $ref: "#/components/schemas/EventBatch" } } } })
      const headers = (post!["parameters"] as ReadonlyArray<Json>).map(({ in: place, name, required }) => [place, name, required])
      expect(headers).toEqual([
        ["header", "webhook-id", true],
        ["header", "webhook-timestamp", true],
        ["header", "webhook-signature", true],
        ["header", "x-signature", false]
      ])
    }
    expect(documents.get("/openapi/intake.json")!["webhooks"]).toBeUndefined()
  })

  it("describe notifications of statuses and charges: one of two shapes, an array, optionally signed", () => {
    const bodyOf = (path: string, webhook: string) => {
      const { post } = (documents.get(path)!["webhooks"] as Record<string, Record<string, Json>>)[webhook]!
      expect((post!["parameters"] as ReadonlyArray<Json>).map(({ name, required }) => [name, required])).toEqual([
        ["webhook-id", true],
        ["webhook-timestamp", true],
        ["webhook-signature", false],
        ["x-signature", false]
      ])
      return resolve(post!, "#/requestBody/content/application~1json/schema")
    }
    for (const path of ["/openapi.json", "/openapi/shipment-status.json"]) {
      expect(bodyOf(path, "shipmentStatus")).toEqual({ oneOf: [{ $ref: "#/components/schemas/DeliveryUpdate" }, { $ref: "#/components/schemas/DeliveryInformation" }] })
    }
    for (const path of ["/openapi.json", "/openapi/freight-charges.json"]) {
      expect(bodyOf(path, "freightCharges")).toMatchObject({ type: "array", minItems: 1 })
      expect(JSON.stringify(bodyOf(path, "freightCharges"))).toContain("#/components/schemas/PreliminaryFreightCharge")
    }
  })

  it("describe errors in each area's own format", () => {
    const shapeOf = (area: string) => Object.entries((documents.get(`/openapi/${area}.json`)!["components"] as Record<string, Json>)["responses"] as Json)
    expect(areas.map((area) => shapeOf(area).map(([name, { content }]: any) => [name, Object.keys(content)]))).toEqual([
      [["StatusProblem", ["application/json"]]],
      [["ResultStatusCodes", ["application/json"]]],
      [["PickupProblem", ["application/json"]]],
      [["ProblemDetails", ["application/problem+json"]]],
      [["ChargeProblem", ["application/json"]]],
      [["ProblemDetails", ["application/problem+json"]]],
      [["ProblemDetails", ["application/problem+json"]]]
    ])
  })

  it("require a key or a token everywhere", () => {
    each((document) => {
      expect(document["security"]).toEqual([{ ApiKey: [] }, { Bearer: [] }])
      const schemes = (document["components"] as Record<string, Json>)["securitySchemes"]
      expect(schemes).toMatchObject({ ApiKey: { type: "apiKey", in: "header", name: "X-API-Key" }, Bearer: { type: "http", scheme: "bearer" } })
      for (const { operation, path } of operationsOf(document["paths"])) {
        // Calls without credentials also accept credentials.
        expect([path, operation["security"]]).toEqual([path, path.endsWith("/public") ? [{}, { ApiKey: [] }, { Bearer: [] }] : undefined])
      }
    })
  })

  it("contain every path of the published status, invoice, pickup and charge interfaces, each under its own base (SPEC-GAP-E1)", () => {
    const pathsOf = (area: string) => Object.entries(documents.get(`/openapi/${area}.json`)!["paths"] as Record<string, Json>).map(([path, methods]) => [path, ...Object.keys(methods)])
    expect(pathsOf("shipment-status")).toEqual([
      ["/in-transit/v1/shipment/pro/{proNumber}/verified", "get"],
      ["/in-transit/v1/shipment/bol/{bolNumber}/{originPostalCode}/verified", "get"],
      ["/in-transit/v1/shipment/po/{poNumber}/{destinationPostalCode}/verified", "get"],
      ["/in-transit/v1/shipment/po/{accountNumber}/{startDate}/{endDate}/verified", "get"],
      ["/in-transit/v1/shipment/pro/{proNumber}/public", "get"],
      ["/in-transit/v1/shipment/bol/{bolNumber}/{originPostalCode}/public", "get"],
      ["/in-transit/v1/shipment/po/{poNumber}/{destinationPostalCode}/public", "get"],
      ["/in-transit/v1/notifications/subscribe", "post"],
      ["/in-transit/v1/notifications/unsubscribe/{transactionId}", "delete"]
    ])
    expect(pathsOf("invoices")).toEqual([
      ["/invoicing/invoices", "post", "get"],
      ["/invoicing/invoices/{uniqueID}", "get", "put", "delete"],
      ["/invoicing/documents", "post", "get"],
      ["/invoicing/documents/{invoiceNumber}", "get", "delete"]
    ])
    expect(pathsOf("pickups")).toEqual([
      ["/pickup/v1/pickups/", "post", "get"],
      ["/pickup/v1/pickups/{pickupId}", "put", "delete"]
    ])
    expect(pathsOf("freight-charges")).toEqual([
      ["/pfc/v1/subscriptions", "post"],
      ["/pfc/v1/subscriptions/{subscriptionId}", "get", "delete"],
      ["/pfc/v1/subscriptions/{subscriptionId}/inflight", "get"],
      ["/pfc/webhooks/test", "post"]
    ])
  })

  it("contain every path of the published in-transit interface", () => {
    const paths = documents.get("/openapi/transit-events.json")!["paths"] as Record<string, Json>
    expect(Object.entries(paths).map(([path, methods]) => [path, Object.keys(methods)])).toEqual([
      ["/visibility/v1/events", ["get"]],
      ["/visibility/v1/subscriptions", ["get", "post"]],
      ["/visibility/v1/subscriptions/{subscriptionId}", ["get", "patch", "delete"]]
    ])
    expect(Object.keys(resolve(documents.get("/openapi.json")!, "#/paths/~1visibility~1v1~1subscriptions~1{subscriptionId}/patch/requestBody/content") as Json)[0])
      .toBe("application/merge-patch+json")
  })

  it("are the sum of their areas", () => {
    const paths = areas.flatMap((area) => Object.keys(documents.get(`/openapi/${area}.json`)!["paths"] as Json))
    expect(Object.keys(documents.get("/openapi.json")!["paths"] as Json)).toEqual(paths)
  })

  it("describe exactly the existing calls", async () => {
    const described = new Set<string>()
    for (const { method, path } of operationsOf(documents.get("/openapi.json")!["paths"])) {
      described.add(`${method} ${path}`)
      const key = path.startsWith("/operator") ? operatorKey : acme.carrier
      const real = path.replace("{tenantId}", "acme").replaceAll(/\{[^}]+\}/g, "0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77")
      const answer = await service.send(method, real, { key, ...(method === "GET" || method === "DELETE" ? {} : { body: {} }) })
      expect([method, path, answer.text]).not.toEqual([method, path, expect.stringContaining("There is no call at this path")])
      expect([method, path, answer.status]).not.toEqual([method, path, 405])
      const allowed = (await service.send("OPTIONS", real)).headers.get("allow")!.split(", ").filter((each) => each !== "HEAD" && each !== "OPTIONS")
      for (const other of allowed) expect(Object.keys((documents.get("/openapi.json")!["paths"] as Record<string, Json>)[path]!)).toContain(other.toLowerCase())
    }
    expect(described.size).toBe(72)
  })
})

describe("responses", () => {
  /** A JSON Schema validator, as far as these documents need it. */
  const conforms = (document: Json, schema: Json, value: unknown): boolean => {
    if (typeof schema["$ref"] === "string") return conforms(document, resolve(document, schema["$ref"]) as Json, value)
    if (Array.isArray(schema["anyOf"])) return schema["anyOf"].some((option: Json) => conforms(document, option, value))
    if (Array.isArray(schema["oneOf"])) return schema["oneOf"].filter((option: Json) => conforms(document, option, value)).length === 1
    if (Array.isArray(schema["enum"]) && !schema["enum"].includes(value)) return false
    switch (schema["type"]) {
      case "object": {
        if (typeof value !== "object" || value === null || Array.isArray(value)) return false
        const properties = (schema["properties"] ?? {}) as Record<string, Json>
        return ((schema["required"] ?? []) as ReadonlyArray<string>).every((name) => name in value) &&
          Object.entries(value).every(([name, inner]) =>
            properties[name] === undefined ? schema["additionalProperties"] !== false : conforms(document, properties[name], inner))
      }
      case "array":
        return Array.isArray(value) && value.every((item) => conforms(document, schema["items"] as Json ?? {}, item))
      case "integer":
        return Number.isInteger(value)
      case undefined:
        return true
      default:
        return value === null ? schema["type"] === "null" : typeof value === schema["type"]
    }
  }

  const schemaOf = (document: Json, method: string, template: string, status: number) =>
    resolve(document, `#/paths/${template.replaceAll("/", "~1")}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`) as Json | undefined

  /** Responses, errors and notifications of the two areas with their own formats. */
  const expectStatusAndCharges = async (document: Json) => {
    const shop = await acme.customer("shop", ["A1"])
    const stranger = await acme.customer("stranger", ["A9"])
    const status = "/in-transit/v1"
    const pro = `${status}/shipment/pro/{proNumber}`
    const range = `${status}/shipment/po/{accountNumber}/{startDate}/{endDate}/verified`
    const { json: { subscriptionId } } = await acme.subscribeToCharges(shop, ["A1"])
    const { json: { transactionId } } = await acme.follow(shop, "nothing")
    await acme.follow(shop, "S9")
    const ofSubscription = "/pfc/v1/subscriptions/{subscriptionId}"
    const calls: ReadonlyArray<readonly [number, string, string, string, string, unknown?]> = [
      [200, "POST", "/intake/v1/shipments", "/intake/v1/shipments?partial=true", acme.carrier, { shipments: [{}, movingShipment("S9", { accounts: ["A1"] })] }],
      [200, "POST", "/intake/v1/status-updates", "/intake/v1/status-updates?partial=true", acme.carrier, { updates: [
        {},
        { shipmentId: "S9", shipmentMilestoneStatus: "Out for Delivery", countsToDelivery: 3, occurredAt: "2026-11-20T09:00:00Z" },
        { shipmentId: "S9", deliveryInformation_messages: "Accessorial added", occurredAt: "2026-11-20T09:30:00Z" }
      ] }],
      [200, "GET", "/intake/v1/shipments/{shipmentId}", "/intake/v1/shipments/S9", acme.carrier],
      [200, "POST", "/intake/v1/freight-charges", "/intake/v1/freight-charges?partial=true", acme.carrier, { charges: [{}, charge("created", "B9")] }],
      [200, "GET", `${pro}/verified`, `${status}/shipment/pro/PRO-S9/verified`, shop],
      [202, "GET", `${pro}/verified`, `${status}/shipment/pro/PRO-S9/verified`, stranger],
      [404, "GET", `${pro}/verified`, `${status}/shipment/pro/PRO-S0/verified`, shop],
      [401, "GET", `${pro}/verified`, `${status}/shipment/pro/PRO-S9/verified`, "wrong"],
      [200, "GET", `${pro}/public`, `${status}/shipment/pro/PRO-S9/public`, shop],
      [200, "GET", range, `${status}/shipment/po/A1/2026-11-01/2026-11-30/verified`, shop],
      [401, "GET", range, `${status}/shipment/po/A1/2026-11-01/2026-11-30/verified`, stranger],
      [200, "DELETE", `${status}/notifications/unsubscribe/{transactionId}`, `${status}/notifications/unsubscribe/${transactionId}`, shop],
      [200, "POST", `${status}/notifications/subscribe`, `${status}/notifications/subscribe`, shop, { referenceNumbers: ["S9"], webhookUrl: "https://receiver.example/" }],
      [200, "GET", ofSubscription, `/pfc/v1/subscriptions/${subscriptionId}`, shop],
      [404, "GET", ofSubscription, `/pfc/v1/subscriptions/${subscriptionId}`, stranger],
      [409, "POST", "/pfc/v1/subscriptions", "/pfc/v1/subscriptions", shop, { webhookUrl: "https://receiver.example/", accounts: ["A1"], dataOptions: {} }],
      [403, "POST", "/pfc/v1/subscriptions", "/pfc/v1/subscriptions", stranger, { webhookUrl: "https://receiver.example/", accounts: ["A1"], dataOptions: {} }],
      [400, "POST", "/pfc/v1/subscriptions", "/pfc/v1/subscriptions", shop, {}],
      [200, "GET", `${ofSubscription}/inflight`, `/pfc/v1/subscriptions/${subscriptionId}/inflight`, shop],
      [200, "POST", "/pfc/webhooks/test", "/pfc/webhooks/test", shop, { webhookUrl: "https://receiver.example/" }],
      [200, "POST", "/operator/v1/tenants/{tenantId}/subscriptions/{subscriptionId}/resume", `/operator/v1/tenants/acme/subscriptions/${subscriptionId}/resume`, operatorKey]
    ]
    for (const [expected, method, template, path, key, body] of calls) {
      const answer = await service.send(method, path, { key, ...(body === undefined ? {} : { body }) })
      const schema = schemaOf(document, method, template, answer.status)
      expect([template, answer.status, answer.text, schema !== undefined && conforms(document, schema, answer.json)]).toEqual([template, expected, answer.text, true])
    }
    await service.deliver()
    for (const [webhook, url, count] of [["shipmentStatus", "https://acme.example/status", 3], ["freightCharges", "https://acme.example/charges", 1]] as const) {
      const schema = resolve(document, `#/webhooks/${webhook}/post/requestBody/content/application~1json/schema`) as Json
      const received = await service.received(url)
      expect(received.length).toBeGreaterThanOrEqual(count)
      for (const { json, text } of received) expect([text, conforms(document, schema, json)]).toEqual([text, true])
    }
  }

  /** The same for invoices, documents and pickups. */
  const expectInvoicesAndPickups = async (document: Json) => {
    const shop = await acme.customer("buyer", ["A1"])
    const invoice = invoiceSample({ accounts: ["A1"], total: "1" })
    const upload = documentsSample({ accounts: ["A1"], documents: [{ documentType: "POD", files: ["JVBERi0="] }] })
    const asked = pickupRequest({ day: "2099-11-20" })
    const number = (await service.send("POST", "/pickup/v1/pickups/", { key: shop, body: asked })).json[0].carrierPickupNumber
    const look = (value: string) => `/pickup/v1/pickups/?lookupValue=${value}&lookupType=PickupConfirmationID&requestType=Status&isTest=false`
    const calls: ReadonlyArray<readonly [number, string, string, string, string, unknown?]> = [
      [200, "POST", "/invoicing/invoices", "/invoicing/invoices", acme.carrier, invoice],
      [400, "POST", "/invoicing/invoices", "/invoicing/invoices", acme.carrier, {}],
      [401, "POST", "/invoicing/invoices", "/invoicing/invoices", "wrong", {}],
      [403, "POST", "/invoicing/invoices", "/invoicing/invoices", shop, invoice],
      [200, "GET", "/invoicing/invoices", "/invoicing/invoices", shop],
      [200, "GET", "/invoicing/invoices/{uniqueID}", "/invoicing/invoices/INV-1", shop],
      [404, "GET", "/invoicing/invoices/{uniqueID}", "/invoicing/invoices/INV-0", shop],
      [200, "PUT", "/invoicing/invoices/{uniqueID}", "/invoicing/invoices/INV-1", acme.carrier, invoice],
      [201, "POST", "/invoicing/documents", "/invoicing/documents", acme.carrier, upload],
      [413, "POST", "/invoicing/documents", "/invoicing/documents", acme.carrier, { ...upload, note: "x".repeat(2 ** 20) }],
      [200, "GET", "/invoicing/documents", "/invoicing/documents", shop],
      [200, "GET", "/invoicing/documents/{invoiceNumber}", "/invoicing/documents/4711", shop],
      [200, "DELETE", "/invoicing/documents/{invoiceNumber}", "/invoicing/documents/4711", acme.carrier],
      [404, "DELETE", "/invoicing/documents/{invoiceNumber}", "/invoicing/documents/4711", acme.carrier],
      [200, "DELETE", "/invoicing/invoices/{uniqueID}", "/invoicing/invoices/INV-1", acme.carrier],
      [200, "POST", "/pickup/v1/pickups/", "/pickup/v1/pickups/", shop, asked],
      [400, "POST", "/pickup/v1/pickups/", "/pickup/v1/pickups/", shop, {}],
      [200, "PUT", "/pickup/v1/pickups/{pickupId}", `/pickup/v1/pickups/${number}`, shop, pickupRequest({ day: "2099-11-21", number })],
      [200, "GET", "/pickup/v1/pickups/", look(number), shop],
      [401, "GET", "/pickup/v1/pickups/", look(number), "wrong"],
      [200, "POST", "/intake/v1/pickups/{pickupId}/status", `/intake/v1/pickups/${number}/status`, acme.carrier, { status: "En Route", equipmentInformation: { gpsCoordinates: { latitude: 1, longitude: 2 } } }],
      [200, "GET", "/pickup/v1/pickups/", look(number), shop],
      [200, "GET", "/intake/v1/pickups/{pickupId}", `/intake/v1/pickups/${number}`, acme.carrier]
    ]
    for (const [expected, method, template, path, key, body] of calls) {
      const answer = await service.send(method, path, { key, ...(body === undefined ? {} : { body }) })
      const schema = schemaOf(document, method, template, answer.status)
      expect([template, answer.status, answer.text, schema !== undefined && conforms(document, schema, answer.json)]).toEqual([template, expected, answer.text, true])
    }
  }

  it("match the document", async () => {
    const document = documents.get("/openapi.json")!
    const created = await acme.subscribe(acme.carrier, { filters: { eventTypes: ["DELAY"] } })
    await service.deliver()
    const calls: ReadonlyArray<readonly [string, string, string, unknown?]> = [
      ["POST", "/intake/v1/transit-events", "/intake/v1/transit-events?partial=true", { events: [{ type: "DELAY" }, { type: "DELAY", occurredAt: "2026-11-20T08:15:00Z", shipment: { shipmentId: "S1", origin: {}, destination: {} } }] }],
      ["GET", "/visibility/v1/events", "/visibility/v1/events"],
      ["GET", "/visibility/v1/subscriptions", "/visibility/v1/subscriptions"],
      ["GET", "/visibility/v1/subscriptions/{subscriptionId}", `/visibility/v1/subscriptions/${created.json.id}`],
      ["PUT", "/operator/v1/tenants/{tenantId}", "/operator/v1/tenants/acme", { name: "acme" }],
      ["POST", "/operator/v1/tenants/{tenantId}/api-keys", "/operator/v1/tenants/acme/api-keys", { name: "x", roles: ["customer"] }],
      ["PUT", "/operator/v1/tenants/{tenantId}/secrets/{hmacSecretId}", "/operator/v1/tenants/acme/secrets/x", { client: "x" }],
      ["GET", "/operator/v1/tenants/{tenantId}/secrets", "/operator/v1/tenants/acme/secrets"],
      ["GET", "/operator/v1/tenants/{tenantId}/deliveries", "/operator/v1/tenants/acme/deliveries"],
      ["GET", "/operator/v1/tenants/{tenantId}/subscriptions/{subscriptionId}", `/operator/v1/tenants/acme/subscriptions/${created.json.id}`],
      ["POST", "/operator/v1/tenants/{tenantId}/subscriptions/{subscriptionId}/replay", `/operator/v1/tenants/acme/subscriptions/${created.json.id}/replay`, { from: "2020-01-01T00:00:00Z" }]
    ]
    for (const [method, template, path, body] of calls) {
      const answer = await service.send(method, path, { key: path.startsWith("/operator") ? operatorKey : acme.carrier, ...(body === undefined ? {} : { body }) })
      const pointer = `#/paths/${template.replaceAll("/", "~1")}/${method.toLowerCase()}/responses/${answer.status}/content/application~1json/schema`
      const schema = resolve(document, pointer) as Json | undefined
      expect([template, answer.status, schema === undefined]).toEqual([template, answer.status, false])
      expect([template, answer.text, conforms(document, schema!, answer.json)]).toEqual([template, answer.text, true])
      await service.deliver()
    }
    await expectStatusAndCharges(document)
    await expectInvoicesAndPickups(document)
    const refusal = await service.send("GET", "/visibility/v1/events?page=0", { key: acme.carrier })
    expect(conforms(document, { $ref: "#/components/schemas/ProblemDetails" }, refusal.json)).toBe(true)
  })
})

describe("/docs", () => {
  it("is one self-contained page, under a policy that allows nothing else", async () => {
    const answer = await service.send("GET", "/docs")
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    const policy = answer.headers.get("content-security-policy")!
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/)
    const [, style] = /<style>([\s\S]*?)<\/style>/.exec(answer.text)!
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style))).toString("base64")
    expect(policy).toContain(`'sha256-${digest}'`)
    expect(answer.text).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|\sstyle=|@import|url\(/i)
    for (const target of answer.text.matchAll(/(?:src|href)="([^"]*)"/g)) expect(target[1]).toMatch(/^#[\w-]+$|^openapi\.json$/)
    for (const { path } of operationsOf(documents.get("/openapi.json")!["paths"])) expect(answer.text).toContain(`<code>${path}</code>`)
    for (const anchor of answer.text.matchAll(/href="#([^"]+)"/g)) expect(answer.text).toContain(`id="${anchor[1]}"`)
  })
})
