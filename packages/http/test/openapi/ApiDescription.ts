/** An OpenAPI document that calls are checked against: the status, the media type, the headers and the bodies of an exchange. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"

type Json = { readonly [key: string]: any }

export interface Exchange {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  /** JSON that was sent. Left out when it is unknown or not JSON. */
  readonly sent?: unknown
  readonly status: number
  readonly headers: Headers
  /** `undefined` when the body was not read. */
  readonly text: string | undefined
}

/** A webhook as its receiver got it. */
export interface Notification {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
}

interface Operation {
  readonly pattern: RegExp
  /** The path of the document and its methods. */
  readonly path: string
  readonly methods: Json
}

const addFormats = formats as unknown as (ajv: Ajv2020) => void

/** Encoded characters are the same as plain ones, except for slashes, which are part of their segment. */
const decoded = (path: string): string => {
  try {
    return path.split("/").map((segment) => decodeURIComponent(segment).replaceAll("/", "%2F")).join("/")
  } catch {
    return path
  }
}

const token = (text: string): string => encodeURIComponent(text.replaceAll("~", "~0").replaceAll("/", "~1"))

export class ApiDescription {
  readonly #document: Json
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
  readonly #operations: ReadonlyArray<Operation>
  readonly #validators = new Map<string, ValidateFunction>()
  /** Path of the server's URL, which every path follows. */
  readonly #mount: string

  constructor(document: Json) {
    this.#document = document
    addFormats(this.#ajv)
    this.#ajv.addSchema(document, "openapi")
    this.#mount = new URL(document["servers"][0].url, "http://any.test").pathname.replace(/\/$/, "")
    this.#operations = Object.entries(document["paths"] as Json).map(([path, methods]) => ({
      path,
      methods,
      // Both forms of a path with a trailing slash are one path. SPEC-GAP-C32
      pattern: new RegExp(`^${path.replace(/\/$/, "").replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll(/\{[^}]+\}/g, "[^/]+")}/?$`)
    }))
  }

  /** The part of the exchange that the document does not describe; `undefined` if it describes all. */
  faultOf(exchange: Exchange): string | undefined {
    const path = exchange.target.split("?", 1)[0]!
    if (!path.startsWith(this.#mount)) return undefined
    const below = decoded(path.slice(this.#mount.length))
    // A path without placeholders wins, as in the router.
    const found = this.#operations.filter(({ pattern }) => pattern.test(below)).sort((a, b) => a.path.split("{").length - b.path.split("{").length)[0]
    const operation = found?.methods[(exchange.method === "HEAD" ? "GET" : exchange.method).toLowerCase()]
    const fault = operation === undefined
      ? this.#faultOfUndescribed(below, found, exchange)
      : this.#faultOfResponse(operation, ["paths", found!.path, exchange.method === "HEAD" ? "get" : exchange.method.toLowerCase()], exchange)
    return fault === undefined ? undefined : `${exchange.method} ${path} answered ${exchange.status}, and the OpenAPI document disagrees: ${fault}`
  }

  /** The part of a webhook that the document does not describe. */
  faultOfNotification({ body, headers }: Notification): string | undefined {
    const has = (member: string) => typeof body === "object" && body !== null && member in body
    const name = Array.isArray(body) ? "freightCharges" : has("events") ? "shipmentEvents" : has("pickups") ? "pickupChanges" : has("type") ? "webhookTest" : "shipmentStatus"
    const { post } = this.#document["webhooks"][name]
    const lacking = post.parameters.find((parameter: Json) => parameter["required"] === true && headers[parameter["name"]] === undefined)
    if (lacking !== undefined) return `The webhook ${name} has no header ${lacking.name}.`
    const fault = this.#misfit(["webhooks", name, "post", "requestBody", "content", "application/json", "schema"], body)
    return fault === undefined ? undefined : `The webhook ${name} is not what the OpenAPI document says: ${fault}`
  }

  /** Other paths and methods below the areas' bases are refused; paths outside of them are not described. */
  #faultOfUndescribed(path: string, found: Operation | undefined, { method, status }: Exchange): string | undefined {
    if (status >= 400) return undefined
    if (found !== undefined) return method === "OPTIONS" && status === 204 ? undefined : "the path has no such method"
    const base = `/${path.split("/")[1]}/`
    return this.#operations.some((operation) => operation.path.startsWith(base)) ? "it has no such path" : undefined
  }

  #faultOfResponse(operation: Json, at: ReadonlyArray<string>, { headers, method, sent, status, target, text }: Exchange): string | undefined {
    const declared = operation["responses"][status]
    if (declared === undefined) return `declared are ${Object.keys(operation["responses"]).join(", ")}`
    const [response, place] = declared.$ref === undefined
      ? [declared, [...at, "responses", String(status)]]
      : [this.#document["components"].responses[declared.$ref.split("/").at(-1)], ["components", "responses", declared.$ref.split("/").at(-1)]]
    return this.#faultOfHeaders(response, place, headers) ??
      (method === "HEAD" ? undefined : this.#faultOfBody(response, place, headers, text)) ??
      // With `partial`, a call is accepted although some of its items are not.
      (status >= 400 || sent === undefined || /[?&]partial=true/.test(target) ? undefined : this.#faultOfRequest(operation, at, sent))
  }

  #faultOfHeaders(response: Json, place: ReadonlyArray<string>, headers: Headers): string | undefined {
    for (const [name, { schema }] of Object.entries<Json>(response["headers"] ?? {})) {
      const value = headers.get(name)
      if (value === null) continue
      const fault = this.#misfit([...place, "headers", name, "schema"], schema.type === "integer" ? Number(value) : value)
      if (fault !== undefined) return `header ${name}: ${fault}`
    }
    return undefined
  }

  #faultOfBody(response: Json, place: ReadonlyArray<string>, headers: Headers, text: string | undefined): string | undefined {
    const [mediaType] = (headers.get("content-type") ?? "").split(";")
    const content: Json = response["content"] ?? {}
    if (Object.keys(content).length === 0) return text === undefined || text === "" ? undefined : `the document declares no body, but the response has one: ${text.slice(0, 200)}`
    if (content[mediaType!] === undefined) return `the media type is ${mediaType}, not ${Object.keys(content).join(" or ")}`
    if (text === undefined) return undefined
    return this.#misfit([...place, "content", mediaType!, "schema"], mediaType!.endsWith("json") ? JSON.parse(text) : text)
  }

  #faultOfRequest(operation: Json, at: ReadonlyArray<string>, sent: unknown): string | undefined {
    const [mediaType] = Object.keys(operation["requestBody"]?.content ?? {})
    if (mediaType === undefined) return undefined
    const fault = this.#misfit([...at, "requestBody", "content", mediaType, "schema"], sent)
    return fault === undefined ? undefined : `the accepted request: ${fault}`
  }

  #misfit(place: ReadonlyArray<string>, value: unknown): string | undefined {
    const reference = `openapi#/${place.map(token).join("/")}`
    const validate = this.#validators.get(reference) ?? this.#ajv.compile({ $ref: reference })
    this.#validators.set(reference, validate)
    if (validate(value)) return undefined
    return validate.errors!.slice(0, 5).map(({ instancePath, message, params }) => `${instancePath || "it"} ${message} ${JSON.stringify(params)}`).join("; ").slice(0, 2000)
  }
}

const known = new Map<string, ApiDescription>()

/** The description of a served document. Services with the same document share the compiled schemas. */
export const descriptionOf = (document: string): ApiDescription => {
  const found = known.get(document)
  if (found !== undefined) return found
  const made = new ApiDescription(JSON.parse(document))
  if (known.size > 20) known.clear()
  known.set(document, made)
  return made
}
