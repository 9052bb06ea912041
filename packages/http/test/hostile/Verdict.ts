/** Checks a response against its contract, for any request. */
import { Exit, Schema } from "effect"
import { shapeOf } from "../../src/shared/Contract.ts"
import { refusalsOf } from "../../src/shared/Refusals.ts"
import type { Answer } from "../TestService.ts"
import type { Operation } from "./Operations.ts"

/** Expected refusal of a request that is not the described call: another method, or a changed path. */
const ofOtherCalls = [400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 429]

const decoders = new WeakMap<Schema.Top, (value: unknown) => Exit.Exit<unknown, unknown>>()

const fits = (schema: Schema.Top, closed: boolean, value: unknown): string | undefined => {
  const decode = decoders.get(schema) ??
    Schema.decodeUnknownExit(schema as Schema.Codec<unknown>, { errors: "all", onExcessProperty: closed ? "error" : "ignore" })
  decoders.set(schema, decode)
  const exit = decode(value)
  return Exit.isSuccess(exit) ? undefined : String(exit.cause).slice(0, 1000)
}

/** The fault of the response, or `undefined`. */
export const faultOf = ({ contract, endpoint, template }: Operation, method: string, path: string, answer: Answer): string | undefined => {
  const { headers, json, status, text } = answer
  if (status >= 500) return `blames the service with ${status}`
  if (headers.get("x-request-id") === null || headers.get("x-content-type-options") !== "nosniff") return "lacks the headers that every answer has"
  if (method === "HEAD" || status === 204) return text === "" ? undefined : "has a body where there may be none"
  // Another method or a changed path is another call.
  const isCall = method === endpoint.method && isPathOf(template, path)
  if (status >= 400) return refusalFault(contract, isCall ? Object.keys(refusalsOf(endpoint)).map(Number) : ofOtherCalls, answer)
  if (!isCall) return undefined
  const declared = endpoint.answers[status]
  if (declared === undefined) return `has the status ${status}, which the contract does not declare`
  if (declared.schema === undefined || declared.contentType !== undefined) return undefined
  const misfit = fits(declared.schema, declared.closed === true, json)
  return misfit === undefined ? undefined : `is not what the contract declares for ${status}: ${misfit}`
}

const isPathOf = (template: string, path: string): boolean => {
  const [segments, pattern] = [path.replace(/\/$/, "").split("/"), template.replace(/\/$/, "").split("/")]
  return segments.length === pattern.length && pattern.every((part, at) => part.startsWith("{") || part === segments[at])
}

/** The error has a declared status and the format of the area. */
const refusalFault = (
  contract: Operation["contract"],
  declared: ReadonlyArray<number>,
  { headers, json, status, text }: Answer
): string | undefined => {
  if (!declared.includes(status)) return `refuses with ${status}, which the contract does not declare`
  const shape = shapeOf(contract)
  if (shape.bodiless?.includes(status) === true) return text === "" ? undefined : "has a body where the interface shows none"
  if (headers.get("content-type") !== shape.contentType) return `is ${headers.get("content-type")}, not ${shape.contentType}`
  const lacking = Object.keys(shape.headers?.specs ?? {}).find((name) => !/^[\x20-\x7e]{1,1000}$/.test(headers.get(name) ?? ""))
  if (lacking !== undefined) return `has no ${lacking} that could be read`
  if (text.length > 64 * 1024) return `is ${text.length} characters long`
  const misfit = fits(shape.schema, true, json)
  return misfit === undefined ? undefined : `is not refused in the area's shape: ${misfit}`
}
