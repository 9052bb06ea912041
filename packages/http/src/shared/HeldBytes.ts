/** How much memory a response holds until its reader has taken it. */
import type { HttpBody, HttpServerResponse } from "effect/http"

// By body, because responses are copied when a header is added.
const declared = new WeakMap<HttpBody.HttpBody, number>()

/** A response whose streamed body holds about so many bytes until it was sent. */
export const holding = (bytes: number, response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  declared.set(response.body, bytes)
  return response
}

/** The bytes of a body that is in memory; of a stream those that it was declared to hold. */
export const heldBytes = ({ body }: HttpServerResponse.HttpServerResponse): number =>
  declared.get(body) ?? (body._tag === "Uint8Array" ? body.contentLength : 0)
