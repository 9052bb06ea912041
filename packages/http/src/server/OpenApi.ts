/** Builds the OpenAPI 3.1 document of mounted contracts, webhooks included. */
import { Count } from "@waybill/core"
import { Schema, type JsonSchema } from "effect"
import { memoize } from "effect/Function"
import { hasChallenge, type SecuritySchemesByName } from "../access/SecuritySchemes.ts"
import { type AnswerSpec, type BodySpec, type ContractSpec, type EndpointSpec, type HeaderSpec, pathParamsOf, type PlacedContract, shapeOf, type WebhookSpec } from "../shared/Contract.ts"
import { maxRecordBytes } from "../invoices/UploadReader.ts"
import { maxItemBytes, maxValuesOf } from "../shared/ParseBody.ts"
import { refusalsOf } from "../shared/Refusals.ts"
import { defaultMaxBodyBytes, jsonMediaTypes } from "../shared/RequestBody.ts"

type Json = { readonly [key: string]: unknown }

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument extends Json {
  readonly openapi: "3.1.0"
  readonly info: { readonly title: string; readonly version: string; readonly description: string; readonly contact: Json; readonly license: Json }
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
}

export interface OpenApiOperation extends Json {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: ReadonlyArray<string>
  readonly parameters?: ReadonlyArray<Json>
  readonly requestBody?: Json
  readonly responses: Readonly<Record<string, Json>>
}

interface OpenApiOptions {
  readonly version: string
  /** The URL that every path follows. */
  readonly server: string
  /** How callers present credentials; empty when that is unknown. */
  readonly securitySchemes: SecuritySchemesByName
}

export const openApiOf = (mounted: ReadonlyArray<PlacedContract>, options: OpenApiOptions): OpenApiDocument => {
  const schemas = new Components(options.securitySchemes)
  const { security } = schemas
  const contracts = mounted.map(({ contract }) => contract)
  const webhooks = contracts.flatMap((contract) =>
    Object.entries(contract.webhooks ?? {}).map(([name, webhook]) => [name, { post: webhookOf(name, contract, webhook, schemas) }] as const)
  )
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const { base, contract } of mounted) {
    for (const [name, endpoint] of Object.entries(contract.endpoints)) {
      const path = paths[`${base}${endpoint.path}`] ??= {}
      path[endpoint.method.toLowerCase()] = operationOf(name, contract, endpoint, schemas)
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: contracts.length === 1 ? `Waybill: ${contracts[0]!.title}` : "Waybill",
      version: options.version,
      description: `${contracts.length === 1 ? contracts[0]!.description : "Freight visibility over the industry's open interfaces."}${
        security.length === 0 ? " The application that serves these calls authenticates their callers." : ""
      }`,
      contact: { name: "The operator of this service" },
      license: { name: "MIT", identifier: "MIT" }
    },
    servers: [{ url: options.server }],
    ...(security.length === 0 ? {} : { security }),
    tags: contracts.map(({ area, description }) => ({ name: area, description })),
    paths,
    ...(webhooks.length === 0 ? {} : { webhooks: Object.fromEntries(webhooks) }),
    components: {
      schemas: schemas.definitions,
      responses: schemas.refusals,
      ...(security.length === 0 ? {} : { securitySchemes: options.securitySchemes })
    }
  }
}

/** Schemas as components, each with its identifier. */
class Components {
  readonly definitions: Record<string, JsonSchema.JsonSchema> = {}
  readonly refusals: Record<string, Json> = {}
  /** The alternatives of a call with credentials. */
  readonly security: ReadonlyArray<Json>
  readonly challenged: boolean

  constructor(schemes: SecuritySchemesByName) {
    this.security = Object.keys(schemes).map((name) => ({ [name]: [] }))
    this.challenged = hasChallenge(schemes)
  }

  /** A refusal in the format of the area. Those that mean the same for every call are components, named by schema and status. */
  refusal(contract: ContractSpec, endpoint: EndpointSpec, status: number, description: string): Json {
    const { bodiless, contentType, headers, schema } = shapeOf(contract)
    const body = this.of(schema, false)
    const specs = { ...headers?.specs, ...(status === 401 && this.challenged ? challenge : {}), ...(status === 429 || status === 503 ? retryAfter : {}) }
    const response = {
      description,
      ...(Object.keys(specs).length === 0 ? {} : { headers: headersOf(specs, this) }),
      ...(bodiless?.includes(status) === true ? {} : { content: { [contentType]: { schema: body } } })
    }
    if (endpoint.refusals?.[status] !== undefined) return response
    const name = `${nameOf(body)}${status}`
    this.refusals[name] = response
    return { $ref: `#/components/responses/${name}` }
  }

  /** `closed`: unknown members are refused, or never sent. */
  of(schema: Schema.Top, closed: boolean, nullIsMissing = false): JsonSchema.JsonSchema {
    const converted = conversions[closed ? "closed" : "open"](schema)
    for (const [name, definition] of converted.definitions) {
      const added = nullIsMissing ? withNulls(definition) : definition
      const before = this.definitions[name]
      if (before !== undefined && before !== added) throw new Error(`Two different schemas are called ${name}.`)
      this.definitions[name] = added
    }
    return converted.schema
  }
}

const converter = (onExcessProperty: "error" | "ignore") => memoize((schema: Schema.Top) => {
  const document = Schema.toJsonSchemaDocument(schema, { onExcessProperty })
  return {
    schema: inComponents(document.schema),
    definitions: Object.entries(document.definitions).map(([name, definition]) => [name, inComponents(definition)] as const)
  }
})

/** Contracts are constants, and a service makes a dozen documents of them at its start: each schema is converted once. */
const conversions = { open: converter("ignore"), closed: converter("error") }

const challenge = { "WWW-Authenticate": { description: "The schemes of credentials that the service accepts.", schema: Schema.String } }

const retryAfter = { "Retry-After": { description: "Seconds to wait.", schema: Count } }

/** The component that a schema refers to. */
const nameOf = (schema: JsonSchema.JsonSchema): string => String(schema["$ref"]).split("/").at(-1)!

const inComponents = (schema: JsonSchema.JsonSchema): JsonSchema.JsonSchema => {
  const text = JSON.stringify(schema).replaceAll("\"$ref\":\"#/$defs/", "\"$ref\":\"#/components/schemas/")
  const before = placed.get(text)
  if (before !== undefined) return before
  const parsed = JSON.parse(text, forGenerators) as JsonSchema.JsonSchema
  placed.set(text, parsed)
  return parsed
}

/** Shared parts of schemas are one object, so that they are compared by identity. */
const placed = new Map<string, JsonSchema.JsonSchema>()

/**
 * Unknown members are admitted by default. An explicit `additionalProperties` makes generators declare a map instead of an object. The only value of a boolean is
 * a constant, because generators make a class with a text of an enumeration. An enumeration of whole numbers has integers, as the interfaces say. A list that
 * must not be empty is a list, and not a tuple, which most generators do not know.
 */
const forGenerators = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if ("type" in value && value.type === "boolean" && "enum" in value && Array.isArray(value.enum) && value.enum.length === 1) {
    const { enum: [only], ...rest } = value
    return { ...rest, const: only }
  }
  if ("type" in value && value.type === "number" && "enum" in value && Array.isArray(value.enum) && value.enum.every(Number.isInteger)) return { ...value, type: "integer" }
  if ("prefixItems" in value && "items" in value && Array.isArray(value.prefixItems) && value.prefixItems.every((item) => JSON.stringify(item) === JSON.stringify(value.items))) {
    const { prefixItems: _first, ...rest } = value
    return rest
  }
  if (!("properties" in value) || !("additionalProperties" in value) || value.additionalProperties !== true) return value
  const { additionalProperties: _default, ...rest } = value
  return rest
}

/** Optional members may be `null`. */
const withNulls = memoize((schema: JsonSchema.JsonSchema): JsonSchema.JsonSchema => {
  const text = JSON.stringify(schema)
  const added = JSON.parse(text, (_, value: Json | undefined) => {
    if (typeof value !== "object" || value === null || typeof value["properties"] !== "object") return value
    const required = (value["required"] ?? []) as ReadonlyArray<string>
    const properties = Object.entries(value["properties"] as Readonly<Record<string, Json>>)
    return { ...value, properties: Object.fromEntries(properties.map(([name, each]) => [name, required.includes(name) ? each : { anyOf: [each, { type: "null" }] }])) }
  })
  return JSON.stringify(added) === text ? schema : added
})

const operationOf = (name: string, contract: ContractSpec, endpoint: EndpointSpec, schemas: Components): OpenApiOperation => {
  const parameters = parametersOf(contract, endpoint, schemas)
  return {
    operationId: name,
    tags: [contract.area],
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    ...(endpoint.access === "public" ? { security: [] } : endpoint.access === "anonymous" ? { security: [{}, ...schemas.security] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(endpoint.body === undefined ? {} : { requestBody: bodyOf(endpoint.body, schemas) }),
    responses: {
      ...Object.fromEntries(Object.entries(endpoint.answers).map(([status, answer]) => [status, answerOf(answer, schemas)])),
      ...Object.fromEntries(Object.entries(refusalsOf(endpoint)).map(([status, description]) => [status, schemas.refusal(contract, endpoint, Number(status), description)]))
    }
  }
}

const parametersOf = (contract: ContractSpec, endpoint: EndpointSpec, schemas: Components): ReadonlyArray<Json> => [
  ...pathParamsOf(endpoint.path).map((name) => ({ name, in: "path", required: true, description: contract.params?.[name]?.description ?? "", schema: { type: "string" } })),
  ...Object.entries(endpoint.headers ?? {}).map(([name, header]) => headerParameterOf(name, header, false, schemas)),
  ...Object.entries(endpoint.query ?? {}).map(([name, { default: value, description, kind, required = false, schema }]) => ({
    name,
    in: "query",
    required,
    description,
    schema: { ...schemas.of(schema, true), ...(value === undefined ? {} : { default: value }) },
    ...(kind === "list" || kind === "pairs" ? { style: "form", explode: true } : {})
  }))
]

const headerParameterOf = (name: string, { description, schema }: HeaderSpec, required: boolean, schemas: Components): Json =>
  ({ name, in: "header", required, description, schema: schemas.of(schema, true) })

const bodyOf = (body: BodySpec, schemas: Components): Json => {
  const whole = schemas.of(body.schema, body.closed === true, body.nullIsMissing)
  const schema = body.items === undefined ? whole : itemsOf(whole, body.items, schemas)
  const contentTypes = body.contentTypes ?? jsonMediaTypes
  return { description: bodyLimitsOf(body), required: body.optional !== true, content: Object.fromEntries(contentTypes.map((type) => [type, { schema }])) }
}

/** The object with the list, the list alone, one item, or the object with one item: a component, because generators cannot name it otherwise. */
const itemsOf = (whole: JsonSchema.JsonSchema, member: string, schemas: Components): JsonSchema.JsonSchema => {
  const { properties } = schemas.definitions[nameOf(whole)] as { readonly properties: Readonly<Record<string, JsonSchema.JsonSchema>> }
  const list = properties[member]!
  const item = list["items"] as JsonSchema.JsonSchema
  const name = `${nameOf(whole)}Body`
  schemas.definitions[name] = { anyOf: [whole, list, item, { type: "object", properties: { [member]: item }, required: [member] }] }
  return { $ref: `#/components/schemas/${name}` }
}

/** Limits that `maxItems` cannot express. */
const bodyLimitsOf = ({ items, maxBytes, streamed }: BodySpec): string =>
  streamed === true
    ? `At most ${maxBytes === undefined ? `${inKiB(maxRecordBytes)} without the files` : inKiB(maxBytes)}.`
    : valueLimitsOf(maxBytes ?? defaultMaxBodyBytes, items)

const valueLimitsOf = (maxBytes: number, items: string | undefined): string =>
  `At most ${inKiB(maxBytes)}${items === undefined ? "" : `, each item ${inKiB(maxItemBytes)}`}, and ${maxValuesOf(maxBytes)} values.`

const inKiB = (bytes: number): string => `${bytes / 1024} KiB`

const answerOf = (answer: AnswerSpec, schemas: Components): Json => ({
  description: answer.description,
  ...(answer.headers === undefined ? {} : { headers: headersOf(answer.headers, schemas) }),
  ...(answer.schema === undefined ? {} : { content: { [answer.contentType ?? "application/json"]: { schema: schemas.of(answer.schema, answer.closed === true) } } })
})

const headersOf = (headers: Readonly<Record<string, HeaderSpec>>, schemas: Components): Json =>
  Object.fromEntries(Object.entries(headers).map(([name, { description, schema }]) => [name, { description, schema: schemas.of(schema, true) }]))

const webhookOf = (name: string, contract: ContractSpec, webhook: WebhookSpec, schemas: Components): OpenApiOperation => ({
  operationId: name,
  tags: [contract.area],
  summary: webhook.summary,
  description: webhook.description,
  security: [],
  parameters: Object.entries(webhook.headers).map(([header, spec]) => headerParameterOf(header, spec, spec.required, schemas)),
  requestBody: { required: true, content: { "application/json": { schema: webhookBodyOf(webhook.body, schemas) } } },
  responses: Object.fromEntries(Object.entries(webhook.answers).map(([status, answer]) => [status, answerOf(answer, schemas)]))
})

const webhookBodyOf = (body: WebhookSpec["body"], schemas: Components): JsonSchema.JsonSchema =>
  Schema.isSchema(body) ? schemas.of(body, false) : { oneOf: body.map((each) => schemas.of(each, false)) }
