import { describe, expect, it } from "vitest"
import { operatorKey, runningService } from "../TestService.ts"

type Json = { readonly [key: string]: unknown }

const areas = ["shipment-status", "invoices", "pickups", "transit-events", "freight-charges", "intake", "portal", "operator"]
const documents = new Map<string, Json>()

const service = await runningService()
const acme = await service.tenant("acme")
for (const path of ["/openapi.json", ...areas.map((area) => `/openapi/${area}.json`)]) {
  const answer = await service.send("GET", path)
  expect([path, answer.status, answer.headers.get("content-type")]).toEqual([path, 200, "application/json"])
  documents.set(path, answer.json)
}

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
        const parameters = (operation["parameters"] ?? []) as ReadonlyArray<Json>
        const inPath = parameters.filter((parameter) => parameter["in"] === "path")
        expect(inPath.map(({ name }) => `{${String(name)}}`)).toEqual(path.match(/\{[^}]+\}/g) ?? [])
        for (const parameter of parameters) {
          expect(parameter).toMatchObject({ name: expect.any(String), description: expect.stringMatching(/./) })
          expect([parameter["name"], "schema" in parameter, "content" in parameter]).toEqual([parameter["name"], true, false])
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
    expect([schemas["Event"]!["additionalProperties"], schemas["SubscriptionCreate"]!["additionalProperties"]]).toEqual([undefined, false])
  })

  it("declare the defaults of subscriptions, and none in a merge patch", () => {
    const schemas = resolve(documents.get("/openapi.json")!, "#/components/schemas") as Record<string, { readonly properties: Record<string, Json> }>
    const defaultsOf = (name: string) => Object.entries(schemas[name]!.properties).map(([member, schema]) => [member, schema["default"]])
    expect(Object.fromEntries(defaultsOf("DeliveryMetadata"))).toEqual({
      maxAttempts: 12,
      initialBackoffSeconds: 5,
      maxBackoffSeconds: 3600,
      batchMaxSize: 200,
      rateLimitPerMinute: 600
    })
    expect(JSON.stringify(schemas["DeliveryMetadataPatch"])).not.toContain("default")
    expect(Object.fromEntries(defaultsOf("DataOptions"))).toEqual({ shipmentDataType: "revenue_impacts_only", eventType: "revenue_impacts_only" })
    expect(schemas["ChargeFrequency"]).toMatchObject({ default: "real_time" })
    expect(Object.fromEntries(defaultsOf("ChargeSubscriptionCreate"))).toMatchObject({ includeEventLog: true, billScope: "subscribed_accounts" })
  })

  it("describe a subscriber's webhooks", () => {
    for (const [path, name, body] of [
      ["/openapi.json", "shipmentEvents", "EventBatch"],
      ["/openapi/transit-events.json", "shipmentEvents", "EventBatch"],
      ["/openapi/intake.json", "pickupChanges", "PickupBatch"]
    ] as const) {
      const { post } = (documents.get(path)!["webhooks"] as Record<string, Record<string, Json>>)[name]!
      expect(Object.keys(post!["responses"] as Json).sort()).toEqual(["2XX", "410", "default"])
      expect(post!["requestBody"]).toEqual({ required: true, content: { "application/json": { schema: { $ref: `#/components/schemas/${body}` } } } })
      const headers = (post!["parameters"] as ReadonlyArray<Json>).map(({ in: place, name, required }) => [place, name, required])
      expect(headers).toEqual([
        ["header", "webhook-id", true],
        ["header", "webhook-timestamp", true],
        ["header", "webhook-signature", true],
        ["header", "x-signature", false]
      ])
    }
    expect(documents.get("/openapi/invoices.json")!["webhooks"]).toBeUndefined()
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

  it("describe lists that must not be empty as lists", () => {
    for (const document of documents.values()) expect(JSON.stringify(document)).not.toContain("prefixItems")
    const schemas = resolve(documents.get("/openapi.json")!, "#/components/schemas") as Record<string, { properties: Json }>
    expect(schemas["EventBatch"]!.properties["events"]).toMatchObject({ type: "array", minItems: 1, items: { $ref: "#/components/schemas/Event" } })
  })

  it("describe members that the interfaces call integers as integers, enumerations too", () => {
    const stops = { type: "integer", enum: [3, 2, 1] }
    const { properties: shipment } = resolve(documents.get("/openapi.json")!, "#/components/schemas/VerifiedShipment") as { properties: Json }
    const { properties: update } = resolve(documents.get("/openapi.json")!, "#/components/schemas/DeliveryUpdate") as { properties: Json }
    expect([shipment["OFDStopsAway"], update["countsToDelivery"]]).toEqual([{ anyOf: [stops, { type: "null" }] }, stops])
    const { properties: charge } = resolve(documents.get("/openapi.json")!, "#/components/schemas/PreliminaryFreightCharge") as { properties: Json }
    expect(charge).toMatchObject({
      commodities: { properties: { handlingUnits: { items: { properties: { count: { type: "integer" }, weight: { type: "number" } } } } } },
      referenceNumbers: { properties: { po: { items: { properties: { pieces: { type: "integer" } } } } } }
    })
  })

  it("describe ids that exceed 32 bits as wide integers", () => {
    const schemas = resolve(documents.get("/openapi/invoices.json")!, "#/components/schemas") as Record<string, { properties: Json }>
    for (const [name, id] of [["Comment", "id"], ["Attribute", "id"], ["ItemCharge", "itemId"], ["HandlingUnitCharge", "handlingUnitId"]] as const) {
      expect([name, schemas[name]!.properties[id]]).toEqual([name, { type: "integer", format: "int64" }])
    }
  })

  it("describe errors in each area's own format", () => {
    const formats = {
      "shipment-status": ["StatusProblem", "application/json"],
      "invoices": ["ResultStatusCodes", "application/json"],
      "pickups": ["PickupProblem", "application/json"],
      "transit-events": ["ProblemDetails", "application/problem+json"],
      "freight-charges": ["ChargeProblem", "application/json"],
      "intake": ["ProblemDetails", "application/problem+json"],
      "operator": ["ProblemDetails", "application/problem+json"]
    }
    for (const [area, [name, mediaType]] of Object.entries(formats)) {
      const document = documents.get(`/openapi/${area}.json`)!
      for (const { method, operation, path } of operationsOf(document["paths"])) {
        for (const [status, response] of Object.entries(operation["responses"] as Record<string, Json>)) {
          if (Number(status) < 400) continue
          const { content } = (typeof response["$ref"] === "string" ? resolve(document, response["$ref"]) : response) as { readonly content?: Json }
          const bare = area === "pickups" && status === "404"
          expect([method, path, status, content]).toEqual([method, path, status, bare ? undefined : { [mediaType!]: { schema: { $ref: `#/components/schemas/${name}` } } }])
        }
      }
    }
  })

  it("declare every refusal by its status, and none by default", () => {
    each((document) => {
      for (const { method, operation, path } of operationsOf(document["paths"])) {
        const statuses = Object.keys(operation["responses"] as Json)
        const common = ["400", "401", "403", "414", "429", "500", "503", ...(operation["requestBody"] === undefined ? [] : ["408", "413", "415"])]
        expect([method, path, common.filter((status) => !statuses.includes(status)), statuses.includes("default")]).toEqual([method, path, [], false])
      }
    })
    const conflicts = resolve(documents.get("/openapi.json")!, "#/paths/~1pfc~1v1~1subscriptions/post/responses/409/description")
    expect(conflicts).toContain("covers one of the accounts")
  })

  it("name schemas so that generators can write a file for each", () => {
    each((document) => {
      const names = Object.keys((document["components"] as Record<string, Json>)["schemas"] as Json)
      for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/)
      expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
    })
  })

  it("have no bounds of a programming language", () => {
    each((document) => expect(JSON.stringify(document)).not.toContain(String(Number.MAX_SAFE_INTEGER).slice(0, -1)))
  })

  it("list the published values of a pickup lookup", () => {
    const parameters = resolve(documents.get("/openapi.json")!, "#/paths/~1pickup~1v1~1pickups~1/get/parameters") as ReadonlyArray<{ readonly name: string; readonly schema: Json }>
    const values = (name: string) => parameters.find((parameter) => parameter.name === name)!.schema["enum"]
    expect([values("lookupType"), values("isTest")]).toEqual([["PickupConfirmationID", "PRO"], ["true", "false"]])
  })

  it("do not call a date a date-time", () => {
    const { DateOrInstant, Event } = resolve(documents.get("/openapi.json")!, "#/components/schemas") as Record<string, Json>
    expect([DateOrInstant!["type"], DateOrInstant!["format"]]).toEqual(["string", undefined])
    const pattern = new RegExp(DateOrInstant!["pattern"] as string, "u")
    expect(["2026-11-20", "2026-11-20T17:00:00-06:00", "20.11.2026", "2026-11-20T17:00"].map((text) => pattern.test(text))).toEqual([true, true, false, false])
    expect((Event!["properties"] as Record<string, Json>)["occurredAt"]).toMatchObject({ format: "date-time" })
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

  it("contain every path of the published status, invoice, pickup and charge interfaces, each under its own base (SPEC-GAP-E1, SPEC-GAP-X5)", () => {
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
    expect(described.size).toBe(100)
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
