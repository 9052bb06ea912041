/** Requests to one operation, generated from a seed: valid, damaged, and garbage. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { operatorKey } from "../TestService.ts"
import { callOf, contentTypeOf, targetOf } from "./Calls.ts"
import { damagedJson, garbageFor, oddTexts } from "./HostileJson.ts"
import { type Operation, operations } from "./Operations.ts"
import { specimenOf } from "./Specimens.ts"
import type { Subject } from "./Subject.ts"

export type Intent = "valid" | "almost" | "garbage"

interface FuzzRequest {
  readonly intent: Intent
  readonly request: Request
  readonly method: string
  /** For failure messages. */
  readonly shown: string
}

export interface Keys {
  readonly right: Readonly<Record<string, string>>
  readonly others: ReadonlyArray<string>
}

/** New ids per seed, because the same ids cannot be created twice. */
const renamed = (subject: Subject, seed: number, isNew: boolean): Subject => isNew
  ? {
    ...subject,
    eventId: `${subject.eventId}-${seed}`,
    billId: `${subject.billId}${seed}`,
    uniqueID: `${subject.uniqueID}-${seed}`,
    invoiceNumber: `${subject.invoiceNumber}-${seed}`,
    accounts: [`F${seed % 2000}`, ...subject.accounts]
  }
  : subject

const intentBy = (random: SeededRandom): Intent => random.share(0.35) ? "valid" : random.share(0.7) ? "almost" : "garbage"

/** Each operation has its own sequence of random numbers. */
const chanceFor = ({ id }: Operation, seed: number): SeededRandom => {
  let mixed = seed
  for (const letter of id) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193)
  return new SeededRandom(mixed)
}

export const intentOf = (operation: Operation, seed: number): Intent => intentBy(chanceFor(operation, seed))

export const requestOf = (operation: Operation, subject: Subject, keys: Keys, seed: number): FuzzRequest =>
  requestWith(operation, renamed(subject, seed, operation.endpoint.method === "POST"), keys, chanceFor(operation, seed))

/** A request about exactly this subject. */
export const requestWith = (operation: Operation, subject: Subject, keys: Keys, random: SeededRandom, intent: Intent = intentBy(random)): FuzzRequest => {
  const { endpoint } = operation
  const call = callOf(operation, subject, random)
  const parts: Parts = {
    method: endpoint.method,
    target: targetOf(operation, { ...call, query: { ...call.query, ...(intent === "valid" ? optionalQuery(operation, call.query, subject, random) : {}) } }),
    headers: { ...keys.right, ...(call.body === undefined ? {} : { "content-type": contentTypeOf(operation) }) },
    body: call.body === undefined ? undefined : JSON.stringify(call.body)
  }
  const made = intent === "valid" ? parts : intent === "almost" ? almost(operation, parts, call.body, random) : garbage(operation, parts, call.body, keys, random)
  return { intent, method: made.method, request: toRequest(made), shown: shownAs(made) }
}

interface Parts {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

/** Some of the optional parameters, with values from their schemas. */
const optionalQuery = ({ endpoint }: Operation, given: Readonly<Record<string, string>>, subject: Subject, random: SeededRandom): Readonly<Record<string, string>> => {
  const optional = Object.entries(endpoint.query ?? {}).filter(([name, { kind }]) => given[name] === undefined && kind !== "pairs" && name !== "cursor")
  return Object.fromEntries(optional.flatMap(([name, { kind, schema }]) => {
    if (random.share(0.8)) return []
    const named = ({ DOT: subject.dot, MC: subject.mc } as Readonly<Record<string, string>>)[name]
    if (named !== undefined) return [[name, named]]
    const value = specimenOf(schema)(random)
    const text = Array.isArray(value) ? value.join(",") : String(value)
    // The schema alone does not define the bounds of pages.
    return kind === "integer" ? [[name, String(1 + random.below(50))]] : text === "" ? [] : [[name, text]]
  }))
}

type Change = (operation: Operation, parts: Parts, body: unknown, random: SeededRandom) => Parts

const encoded = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd"))

const damagedBody: Change = (_, parts, body, random) => ({ ...parts, body: damagedJson(body, random) })

/** Replaces one placeholder by another value. */
const oddPath: Change = ({ template }, parts, _, random) => {
  const [path = "", search] = parts.target.split("?")
  const segments = path.split("/")
  const places = template.split("/").flatMap((segment, at) => segment.startsWith("{") ? [at] : [])
  if (places.length === 0) return { ...parts, target: `${path}${random.pick(["/", "//", "/x", "%2f", ";a=b", "%00", "."])}` }
  segments[random.pick(places)] = random.share(0.8) ? encoded(random.pick(oddTexts)) : random.pick(["%", "%zz", "%ff%fe", "%2e%2e", "%2F..%2F", "%C0%AF", "a;b=c", "%ed%a0%80", "x".repeat(9000)])
  return { ...parts, target: segments.join("/") + (search === undefined ? "" : `?${search}`) }
}

const strayParameters = ["__proto__", "constructor[prototype]", "page", "limit", "tenantId", "accounts", "comments", "comments[0][commentText]", "fileIds[]", "access_token", "x-api-key", ""] as const
const rawValues = ["%", "%zz", "%ff%fe", "+", "a+b", "a,b,,", "==", "1&1", "%F0%9F%98%80", "1e3", "0x1", "-1", "99999999999999999999", "true", "eyJ9", "%00", "[]", "{}"] as const

const oddQuery: Change = ({ endpoint }, parts, _, random) => {
  const names = Object.keys(endpoint.query ?? {})
  const name = names.length > 0 && random.share(0.8) ? random.pick(names) : random.pick(strayParameters)
  const value = random.share(0.5) ? encoded(random.pick(oddTexts)) : random.pick(rawValues)
  const one = `${random.share(0.5) ? name : encoded(name)}=${value}`
  const more = random.pick([one, one, one, `${one}&${one}`, name, Array.from({ length: 300 }, () => one).join("&").slice(0, 7000)])
  return { ...parts, target: `${parts.target}${parts.target.includes("?") ? "&" : "?"}${more}` }
}

const oddHeaders: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
  ["content-type", ["", "text/plain", "application/xml", "application/json; charset=utf-16", "application/json;charset", "application/json, text/plain", ";", "application/merge-patch+json", "multipart/form-data; boundary=x", "application/" + "x".repeat(5000)]],
  ["content-encoding", ["gzip", "br", "identity, gzip", "", "deflate"]],
  ["content-length", ["999999999", "-1", "abc", "1e9", "0"]],
  ["accept", ["*/*;q=0", "text/html", "application/xml", "x"]],
  ["accept-encoding", ["gzip;q=nope", "*"]],
  ["if-none-match", ["*", "\"x\""]],
  ["range", ["bytes=0-1", "bytes=-"]],
  ["expect", ["100-continue", "202-accepted"]],
  ["x-request-id", ["\u00ff", "a b", "<script>", "x".repeat(4000), "ok-1"]],
  ["host", ["evil.example", "acme.example:99999", "[::1]", "%", "a".repeat(3000)]],
  ["x-forwarded-for", ["1.2.3.4, ,", "::1", "x".repeat(3000)]],
  ["x-forwarded-host", ["evil.example", "\u00e4"]],
  ["x-http-method-override", ["DELETE"]],
  ["idempotency-key", ["", " ", "x".repeat(300), "\u00e4", "key-1"]],
  ["traceparent", ["00-zz", "00-00000000000000000000000000000000-0000000000000000-00", "x".repeat(3000)]],
  ["authorization", ["Bearer", "Bearer a.b.c", "Basic YTpi", "\t", `Bearer ${"x".repeat(9000)}`, "Bearer eyJhbGciOiJub25lIn0.e30."]],
  ["cookie", ["a=b", "=".repeat(3000)]]
]

const oddHeader: Change = (_, parts, __, random) => {
  const [name, values] = random.pick(oddHeaders)
  return { ...parts, headers: { ...parts.headers, [name]: random.pick(values) } }
}

const almost: Change = (operation, parts, body, random) => {
  const { endpoint, template } = operation
  const changes: Array<Change> = [oddQuery, oddHeader]
  if (template.includes("{")) changes.push(oddPath, oddPath)
  if (endpoint.query !== undefined) changes.push(oddQuery, oddQuery)
  if (body !== undefined) changes.push(damagedBody, damagedBody, damagedBody, damagedBody, damagedBody, damagedBody)
  return random.pick(changes)(operation, parts, body, random)
}

/** Another method of the same path would be a valid call. */
const otherMethods = ({ template }: Operation): ReadonlyArray<string> => {
  const taken = operations.filter((other) => other.template === template).map(({ endpoint }) => endpoint.method as string)
  return ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PROPFIND", "QUERY", "get", "X"].filter((method) => !taken.includes(method))
}

const garbage = (operation: Operation, parts: Parts, body: unknown, keys: Keys, random: SeededRandom): Parts =>
  random.pick([
    () => ({ ...parts, body: garbageFor(body ?? { a: "1" }, random), headers: { "content-type": "application/json", ...parts.headers } }),
    () => ({ ...parts, body: garbageFor(body ?? { a: "1" }, random), headers: { "content-type": "application/json", ...parts.headers } }),
    () => ({ ...parts, headers: { ...parts.headers, "x-api-key": random.pick(keys.others) } }),
    () => ({ ...parts, headers: { ...parts.headers, authorization: `Bearer ${random.pick(keys.others)}` } }),
    () => ({ ...parts, method: random.pick(otherMethods(operation)) }),
    () => oddPath(operation, parts, body, random),
    () => oddHeader(operation, oddQuery(operation, oddPath(operation, { ...parts, body: garbageFor(body ?? {}, random) }, body, random), body, random), body, random)
  ])()

const bodiless = ["GET", "HEAD", "get"]

const toRequest = ({ body, headers, method, target }: Parts): Request => {
  const sent = new Headers()
  for (const [name, value] of Object.entries(headers)) sent.set(name, value)
  const request = new Request("http://waybill.test/", { method, headers: sent, ...(body === undefined || bodiless.includes(method) ? {} : { body: body as BodyInit }) })
  // `URL` would normalize the target.
  Object.defineProperty(request, "url", { value: `http://waybill.test${target}` })
  return request
}

const shownAs = ({ body, headers, method, target }: Parts): string => {
  const { "x-api-key": _, ...others } = headers
  const text = typeof body === "string" ? body : body === undefined ? "" : Buffer.from(body).toString("latin1")
  return `${method} ${target.slice(0, 400)} ${JSON.stringify(others).slice(0, 300)}\n${text.slice(0, 2000)}`
}

export interface KnownKeys {
  readonly carrier: string
  readonly customer: string
  /** Keys of further customers. */
  readonly others: ReadonlyArray<string>
}

/** Valid credentials for the operation, and invalid ones. */
export const keysOf = ({ contract, endpoint, name }: Operation, { carrier, customer, others }: KnownKeys, seed = 0): Keys => {
  const customers = name === "testWebhook" ? others[seed % others.length]! : customer
  const key = endpoint.access === "operator" ? operatorKey : ["intake", "invoices"].includes(contract.area) ? carrier : customers
  return {
    right: endpoint.access === "public" ? {} : { "x-api-key": key },
    others: [carrier, customer, operatorKey, "", "wb.x", `${carrier}x`, "wb.YWNtZQ.------------------------------------.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "x".repeat(9000)]
  }
}
