/** Limits the memory of responses that their readers have not taken yet, in this process. */
import { RateExceeded } from "@waybill/core"
import { Effect, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import { heldBytes } from "../shared/HeldBytes.ts"
import { KeyedCounts } from "../shared/KeyedCounts.ts"

/** Bytes of one client's responses: four of the largest pages. */
export const maxResponseBytesPerClient = 128 * 1024 ** 2

/** A read begins only if a page of this size would still fit, so that few pages are read and then refused. */
const largestPageBytes = maxResponseBytesPerClient / 4

/** Bytes of all responses beyond which a client gets one at a time. */
export const maxResponseBytesPerProcess = 2 * maxResponseBytesPerClient

/** Larger responses are counted, and sent in pieces of this size: the buffers of a connection hold one. */
const pieceBytes = 64 * 1024

/** A fixed hint, because it depends on how fast the client reads. */
const retrySeconds = 5

export interface ResponseBytes {
  /** Refuses a request, before it has an effect, while the caller has not taken the responses that it may have at once. */
  readonly admit: (caller: string) => Effect.Effect<void, RateExceeded>
  /** Refuses a call for a large answer, before it reads anything, while the caller has not taken so much that the largest page would be refused. */
  readonly admitLarge: (caller: string) => Effect.Effect<void, RateExceeded>
  /** A response that counts for this caller while it is sent. */
  readonly counted: (caller: string, response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse
  /**
   * The same for what can be asked for again: fails if the response is too much now. A caller that receives no other large response is never
   * refused, whatever others do.
   */
  readonly countedOrRefused: (caller: string, response: HttpServerResponse.HttpServerResponse) => Effect.Effect<HttpServerResponse.HttpServerResponse, RateExceeded>
}

export const makeResponseBytes = (): ResponseBytes => {
  const held = new KeyedCounts()

  const counted: ResponseBytes["counted"] = (caller, response) => {
    const { body } = response
    const bytes = heldBytes(response)
    if (bytes <= pieceBytes || body._tag !== "Stream" && body._tag !== "Uint8Array") return response
    const sent = body._tag === "Stream" ? body.stream : Stream.fromIterable(piecesOf(body.body), { chunkSize: 1 })
    // from its first piece on: a response that is never sent counts for nobody
    const stream = Stream.suspend(() => {
      held.add(caller, bytes)
      return Stream.ensuring(sent, Effect.sync(() => held.add(caller, -bytes)))
    })
    return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType, body.contentLength))
  }

  const below = (bytes: number) => (caller: string) => Effect.suspend(() => held.of(caller) < bytes ? Effect.void : Effect.fail(perClientExceeded))

  return {
    admit: below(maxResponseBytesPerClient),
    admitLarge: below(maxResponseBytesPerClient - largestPageBytes),
    counted,
    countedOrRefused: (caller, response) => Effect.suspend(() => {
      const own = held.of(caller)
      const bytes = heldBytes(response)
      if (own > 0 && bytes > pieceBytes) {
        if (own + bytes > maxResponseBytesPerClient) return Effect.fail(perClientExceeded)
        if (held.total + bytes > maxResponseBytesPerProcess) return Effect.fail(perProcessExceeded)
      }
      return Effect.succeed(counted(caller, response))
    })
  }
}

const piecesOf = function*(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes)
}

const perClientExceeded = new RateExceeded({ quota: "responseBytesPerClient", limit: maxResponseBytesPerClient, retryAfterSeconds: retrySeconds })

const perProcessExceeded = new RateExceeded({ quota: "responseBytesPerProcess", limit: maxResponseBytesPerProcess, retryAfterSeconds: retrySeconds })
