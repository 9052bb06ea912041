/** A request's body as JSON: its media type, its size while it arrives, its encoding and its depth, in this order. */
import { maxDepth, nestsDeeperThan } from "@waybill/core"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerError, type HttpServerRequest } from "effect/http"
import type { BodySpec } from "./Contract.ts"
import {
  bodyBroken,
  bodyMissing,
  bodyNotJson,
  bodyNotUtf8,
  bodyTooDeep,
  bodyTooLarge,
  bodyTooSlow,
  type Refused,
  wrongContentCoding,
  wrongMediaType
} from "./Refused.ts"

export const defaultMaxBodyBytes = 256 * 1024

/** Nothing that a call takes nests this deep; what does would overflow the stack of whoever describes what is wrong with it. */
const deepestBody = maxDepth

export const jsonMediaTypes = ["application/json"]
export const mergePatchMediaTypes = ["application/merge-patch+json", "application/json"]

const decoder = new TextDecoder("utf-8", { fatal: true })

/** `timeoutMillis` bounds how long the whole body may take to arrive. */
export const readBody = (
  request: HttpServerRequest.HttpServerRequest,
  spec: BodySpec,
  timeoutMillis: number
): Effect.Effect<unknown, Refused> => {
  const { headers } = request
  const maxBytes = spec.maxBytes ?? defaultMaxBodyBytes
  const declared = headers["content-length"]
  if (declared !== undefined && Number(declared) > maxBytes) return Effect.fail(bodyTooLarge(maxBytes))
  return request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
    Effect.mapError((error) => refusalOf(error, maxBytes)),
    Effect.timeoutOrElse({ duration: timeoutMillis, orElse: () => Effect.fail(bodyTooSlow) }),
    Effect.flatMap((buffer) => {
      if (buffer.byteLength === 0) return spec.optional === true ? Effect.succeed({}) : Effect.fail(bodyMissing)
      return judgeHeaders(headers, spec, request.method) ?? parse(buffer, spec)
    })
  )
}

const judgeHeaders = (headers: Readonly<Record<string, string | undefined>>, spec: BodySpec, method: string): Effect.Effect<never, Refused> | undefined => {
  const coding = headers["content-encoding"]
  if (coding !== undefined && coding.trim().toLowerCase() !== "identity") return Effect.fail(wrongContentCoding)
  const accepted = spec.contentTypes ?? jsonMediaTypes
  return admits(accepted, headers["content-type"]) ? undefined : Effect.fail(wrongMediaType(accepted, method))
}

const admits = (accepted: ReadonlyArray<string>, contentType: string | undefined): boolean => {
  if (contentType === undefined) return false
  const [type, ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice(8).replaceAll("\"", "")
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii") return false
  if (accepted.includes(type!)) return true
  // a merge patch names its own meaning; another +json would have another one
  return accepted === jsonMediaTypes && /^application\/[a-z0-9!#$&^_.+-]+\+json$/.test(type!)
}

const parse = (buffer: ArrayBuffer, spec: BodySpec): Effect.Effect<unknown, Refused> => {
  let text: string
  try {
    text = decoder.decode(buffer)
  } catch {
    return Effect.fail(bodyNotUtf8)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return Effect.fail(bodyNotJson(/position (\d+)/.exec(String(error))?.[1]))
  }
  return spec.itemByItem === true || !nestsDeeperThan(value, deepestBody) ? Effect.succeed(value) : Effect.fail(bodyTooDeep(deepestBody))
}

const refusalOf = (error: HttpServerError.HttpServerError, maxBytes: number): Refused =>
  error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge" ? bodyTooLarge(maxBytes) : bodyBroken
