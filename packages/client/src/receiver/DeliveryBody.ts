/** Body of a request as received, before any parser. */
import type { Bytes } from "../shared/Bytes.ts"
import { RawBodyNeeded } from "./DeliveryRefused.ts"

/** Text is encoded as UTF-8. Text that was decoded in another way than from valid UTF-8 does not match its signature. */
export type DeliveryBody = string | Uint8Array | ArrayBuffer

/** Copies the bytes of the body, so that a later write to the buffer cannot change verified content. Refuses parsed objects. */
export const copyOfBytes = (body: DeliveryBody, prefix: Uint8Array = new Uint8Array()): Bytes => {
  const bytes = viewOf(body)
  const copy = new Uint8Array(prefix.length + bytes.length)
  copy.set(prefix)
  copy.set(bytes, prefix.length)
  return copy
}

const viewOf = (body: unknown): Uint8Array => {
  if (typeof body === "string") return new TextEncoder().encode(body)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  // Not `instanceof`: the buffer may come from another realm.
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]") return new Uint8Array(body as ArrayBuffer)
  throw new RawBodyNeeded(
    "The body must be the text or the bytes of the request as received; a parsed body cannot be verified. With a Request pass await request.text(). "
      + "In Express use express.raw({ type: \"*/*\", limit: \"5mb\" }) on this route, before any express.json(); in Fastify add a content type parser with parseAs: \"buffer\"."
  )
}
