import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { operatorKey, startService, type TestService, type TestTenant } from "../TestService.ts"

type Json = { readonly [key: string]: unknown }

let service: TestService
let acme: TestTenant
const documents = new Map<string, Json>()

beforeAll(async () => {
  service = await startService()
  acme = await service.tenant("acme")
  for (const path of ["/openapi.json", "/openapi/transit-events.json", "/openapi/intake.json", "/openapi/operator.json"]) {
    const answer = await service.send("GET", path)
    expect([path, answer.status, answer.headers.get("content-type")]).toEqual([path, 200, "application/json"])
    documents.set(path, answer.json)
  }
})
afterAll(() => service.stop())

const each = (check: (document: Json, path: string) => void) => documents.forEach(check)

/** Every object in a document, with where it stands. */
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
  it("are 3.1.0 with everything the format asks for", () => {
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
          expect(parameter).toMatchObject({ name: expect.any(String), schema: expect.any(Object), description: expect.stringMatching(/./) })
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

  it("hold no reference that leads nowhere, and no component that nothing leads to", () => {
    each((document, path) => {
      const references = objectsIn(document).flatMap(([, object]) => typeof object["$ref"] === "string" ? [object["$ref"]] : [])
      expect(references.length).toBeGreaterThan(0)
      for (const reference of references) expect([path, reference, typeof resolve(document, reference)]).toEqual([path, reference, "object"])
      const components = Object.keys((document["components"] as Record<string, Json>)["schemas"] as Json)
      for (const name of components) expect(references).toContain(`#/components/schemas/${name}`)
    })
  })

  it("use JSON Schema 2020-12 as it is written: known types, regular expressions that compile, bounds that were meant", () => {
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

  it("say what a subscriber receives", () => {
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

  it("ask for a key or a token everywhere", () => {
    each((document) => {
      expect(document["security"]).toEqual([{ ApiKey: [] }, { Bearer: [] }])
      const schemes = (document["components"] as Record<string, Json>)["securitySchemes"]
      expect(schemes).toMatchObject({ ApiKey: { type: "apiKey", in: "header", name: "X-API-Key" }, Bearer: { type: "http", scheme: "bearer" } })
      for (const { operation } of operationsOf(document["paths"])) expect(operation["security"]).toBeUndefined()
    })
  })

  it("name every path of the published in-transit interface", () => {
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
    const areas = ["transit-events", "intake", "operator"].flatMap((area) => Object.keys(documents.get(`/openapi/${area}.json`)!["paths"] as Json))
    expect(Object.keys(documents.get("/openapi.json")!["paths"] as Json)).toEqual(areas)
  })

  it("describe calls that answer: none is unknown, and none is more than is described", async () => {
    const described = new Set<string>()
    for (const { method, path } of operationsOf(documents.get("/openapi.json")!["paths"])) {
      described.add(`${method} ${path}`)
      const key = path.startsWith("/operator") ? operatorKey : acme.carrier
      const real = path.replace("{tenantId}", "acme").replaceAll(/\{[^}]+\}/g, "0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77")
      const answer = await service.send(method, real, { key, ...(method === "GET" || method === "DELETE" ? {} : { body: {} }) })
      expect([method, path, answer.json?.code]).not.toEqual([method, path, "path_not_found"])
      expect([method, path, answer.status]).not.toEqual([method, path, 405])
      const allowed = (await service.send("OPTIONS", real)).headers.get("allow")!.split(", ").filter((each) => each !== "HEAD" && each !== "OPTIONS")
      for (const other of allowed) expect(Object.keys((documents.get("/openapi.json")!["paths"] as Record<string, Json>)[path]!)).toContain(other.toLowerCase())
    }
    expect(described.size).toBe(17)
  })
})

describe("answers", () => {
  /** Enough of JSON Schema to hold answers against their description. */
  const conforms = (document: Json, schema: Json, value: unknown): boolean => {
    if (typeof schema["$ref"] === "string") return conforms(document, resolve(document, schema["$ref"]) as Json, value)
    if (Array.isArray(schema["anyOf"])) return schema["anyOf"].some((option: Json) => conforms(document, option, value))
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

  it("are what the document says", async () => {
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
      ["PUT", "/operator/v1/tenants/{tenantId}/secrets/{hmacSecretId}", "/operator/v1/tenants/acme/secrets/x", {}],
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
    const refusal = await service.send("GET", "/visibility/v1/events?page=0", { key: acme.carrier })
    expect(conforms(document, { $ref: "#/components/schemas/ProblemDetails" }, refusal.json)).toBe(true)
  })
})

describe("/docs", () => {
  it("is one page that needs nothing else, under a policy that lets nothing else in", async () => {
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
