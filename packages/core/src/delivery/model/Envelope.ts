/** How joined entries become one request body; an area chooses it once, when it opens a lane. */
import { formatInstant } from "../../shared/Instant.ts"

/** `open` may hold the marks `{deliveryId}` and `{sentAt}`; entries are joined by commas between `open` and `close`. */
export interface Envelope {
  readonly open: string
  readonly close: string
}

const encoder = new TextEncoder()

/** The request body: the same bytes for the same delivery, however often it is put together. */
export const wrap = (envelope: Envelope, deliveryId: string, sentAt: number, payloads: ReadonlyArray<Uint8Array>): Uint8Array => {
  const open = encoder.encode(envelope.open.replace("{deliveryId}", deliveryId).replace("{sentAt}", formatInstant(sentAt)))
  const close = encoder.encode(envelope.close)
  let length = open.length + close.length + Math.max(0, payloads.length - 1)
  for (const payload of payloads) length += payload.length
  const body = new Uint8Array(length)
  body.set(open)
  let at = open.length
  payloads.forEach((payload, index) => {
    if (index > 0) body[at++] = 0x2c
    body.set(payload, at)
    at += payload.length
  })
  body.set(close, at)
  return body
}
