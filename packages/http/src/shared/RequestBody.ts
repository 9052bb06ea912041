/** Reads a JSON body. Checks media type, size while it arrives, number of values, and encoding, in this order. */
import { monotonicMillis, type RateExceeded } from "@waybill/core"
import { ByteSize, Effect, Option, Stream } from "effect"
import { HttpIncomingMessage, type HttpServerError, type HttpServerRequest } from "effect/http"
import type { BodySpec, IncomingBody } from "./Contract.ts"
import { ByteBuffer } from "./ByteBuffer.ts"
import { parseBody } from "./ParseBody.ts"
import { bodyBroken, bodyMissing, bodyNotTaken, bodyTooLarge, bodyTooSlow, type Refused, wrongContentCoding, wrongMediaType } from "./Refused.ts"

export const defaultMaxBodyBytes = 256 * 1024

export const jsonMediaTypes = ["application/json"]
export const mergePatchMediaTypes = ["application/merge-patch+json", "application/json"]

/** Counts bytes of a body that are kept in memory, and fails if the caller has too many. */
export type TakeBytes = (bytes: number) => Effect.Effect<void, RateExceeded>

/** `timeoutMillis` limits the time until the whole body has arrived. */
export const readBody = (
  request: HttpServerRequest.HttpServerRequest,
  spec: BodySpec,
  timeoutMillis: number,
  take: TakeBytes = takeNone
): Effect.Effect<unknown, Refused | RateExceeded> => {
  const { headers } = request
  const maxBytes = spec.maxBytes ?? defaultMaxBodyBytes
  const declared = headers["content-length"]
  if (declared !== undefined && Number(declared) > maxBytes) return Effect.fail(bodyTooLarge(maxBytes))
  return Effect.flatMap(inTime(bytesOf(request, maxBytes, take), timeoutMillis), (body) => {
    if (body.length === 0) return spec.optional === true ? Effect.succeed({}) : Effect.fail(bodyMissing)
    return judgeHeaders(headers, spec, request.method) ?? parseBody(body, spec, maxBytes)
  })
}

/**
 * Like Effect's timeout, with one fiber and one timer instead of two fibers and a sleep: every call with a body is read this way. What still reads is not
 * awaited: it may be a body that ends only with its connection.
 */
const inTime = <A, E>(reading: Effect.Effect<A, E>, millis: number): Effect.Effect<A, E | Refused> =>
  Effect.withFiber(({ context, id }) =>
    Effect.callback((resume) => {
      const fiber = Effect.runForkWith(context)(reading)
      const timer = setTimeout(() => {
        resume(Effect.fail(bodyTooSlow))
        fiber.interruptUnsafe(id)
      }, millis)
      fiber.addObserver((exit) => {
        clearTimeout(timer)
        resume(exit)
      })
      return Effect.sync(() => {
        clearTimeout(timer)
        fiber.interruptUnsafe(id)
      })
    }))

/** Larger bodies are assembled while they arrive, because copying megabytes at the end would block the event loop. */
const gatheredBytes = 1024 * 1024

/** A declared length is taken at once, so that a caller cannot hold many connections that each send little. */
const bytesOf = (request: HttpServerRequest.HttpServerRequest, maxBytes: number, take: TakeBytes): Effect.Effect<Uint8Array, Refused | RateExceeded> => {
  const declared = declaredLength(request)
  // HTTP/2 and web requests may have a body without a length and without a transfer coding.
  if (declared === undefined) return isEmpty(request) ? Effect.succeed(new Uint8Array(0)) : gathered(request, maxBytes, take)
  const whole = declared > gatheredBytes ? gathered(request, maxBytes, takeNone) : request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
    // an interruption would close the connection before the caller is answered
    Effect.uninterruptible,
    Effect.mapBoth({ onFailure: (error) => refusalOf(error, maxBytes), onSuccess: (buffer) => new Uint8Array(buffer) })
  )
  return Effect.andThen(take(declared), whole)
}

/** A host's server may pass on what is no number. */
const declaredLength = ({ headers }: HttpServerRequest.HttpServerRequest): number | undefined => {
  const declared = headers["content-length"]
  return declared !== undefined && /^\d+$/.test(declared) ? Number(declared) : undefined
}

const takeNone: TakeBytes = () => Effect.void

/** The buffer begins small and grows with the bytes that are counted. Otherwise a caller could fill memory with bodies that do not arrive. */
const gathered = (request: HttpServerRequest.HttpServerRequest, maxBytes: number, take: TakeBytes): Effect.Effect<Uint8Array, Refused | RateExceeded> =>
  Effect.suspend(() => {
    const bytes = new ByteBuffer()
    return request.stream.pipe(
      Stream.mapError(() => bodyBroken),
      Stream.runForEach((piece): Effect.Effect<void, Refused | RateExceeded> => {
        if (bytes.length + piece.length > maxBytes) return Effect.fail(bodyTooLarge(maxBytes))
        bytes.append(piece, 0, piece.length)
        return take(piece.length)
      }),
      Effect.map(() => bytes.bytes(0))
    )
  })

/** Minimum rate in bytes per second; slower uploads are refused. */
const minBytesPerSecond = 16 * 1024

/** Chunks are split to this size, so that no single one is large. */
const largestPiece = 64 * 1024

/**
 * Like `readBody`, for calls that read their body themselves. `timeoutMillis` limits the wait for each chunk, and with
 * `minBytesPerSecond` the whole upload. The handler limits the size if `maxBytes` does not.
 */
export const streamBody = (request: HttpServerRequest.HttpServerRequest, spec: BodySpec, timeoutMillis: number): Effect.Effect<IncomingBody, Refused> =>
  isEmpty(request) ? Effect.fail(bodyMissing) : judgeHeaders(request.headers, spec, request.method) ?? Effect.flatMap(monotonicMillis, (startedAt) => {
    const { maxBytes = Infinity } = spec
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Effect.fail(bodyTooLarge(maxBytes))
    let received = 0
    return Effect.succeed(request.stream.pipe(
      Stream.mapError(() => bodyBroken),
      Stream.timeoutOrElse({ duration: timeoutMillis, orElse: () => Stream.fail(bodyTooSlow) }),
      Stream.mapEffect(Effect.fnUntraced(function*(piece) {
        received += piece.length
        if (received > maxBytes) return yield* bodyTooLarge(maxBytes)
        const allowed = timeoutMillis + received / minBytesPerSecond * 1000
        return (yield* monotonicMillis) - startedAt > allowed ? yield* bodyTooSlow : piece
      })),
      Stream.flatMap((piece) => piece.length <= largestPiece ? Stream.succeed(piece) : Stream.fromIterable(parted(piece)))
    ))
  })

/** For calls whose options are in the query: one in a body would be lost. A body that does not arrive is one, too. */
export const refuseBody = (request: HttpServerRequest.HttpServerRequest, timeoutMillis: number): Effect.Effect<void, Refused> =>
  isEmpty(request) ? Effect.void : request.stream.pipe(
    Stream.mapError(() => bodyBroken),
    Stream.filter((piece) => piece.length > 0),
    Stream.runHead,
    (reading) => inTime(reading, timeoutMillis),
    Effect.filterOrFail(Option.isNone, () => bodyNotTaken),
    Effect.mapError(() => bodyNotTaken)
  )

/** Web requests know whether they have a body; others only while they are read. */
const isEmpty = ({ source }: HttpServerRequest.HttpServerRequest): boolean => "body" in source && source.body === null

const parted = function*(piece: Uint8Array): Iterable<Uint8Array> {
  for (let from = 0; from < piece.length; from += largestPiece) yield piece.subarray(from, from + largestPiece)
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
  // Only for JSON: another +json type, such as a merge patch, has its own meaning.
  return accepted === jsonMediaTypes && /^application\/[a-z0-9!#$&^_.+-]+\+json$/.test(type!)
}

const refusalOf = (error: HttpServerError.HttpServerError, maxBytes: number): Refused =>
  error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge" ? bodyTooLarge(maxBytes) : bodyBroken
