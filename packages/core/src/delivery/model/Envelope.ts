/** How joined entries become one request body; an area chooses it once, when it opens a destination. */
import { formatInstant } from "../../shared/Instant.ts"

/** `open` may hold the marks `{deliveryId}` and `{sentAt}`; entries are joined by commas between `open` and `close`. */
export interface Envelope {
  readonly open: string
  readonly close: string
}

const encoder = new TextEncoder()
const comma = 0x2c

/** The few envelopes there are, as bytes where they never change. */
const closings = new Map<string, Uint8Array>()

const closingOf = (envelope: Envelope): Uint8Array => {
  let bytes = closings.get(envelope.close)
  if (bytes === undefined) {
    bytes = encoder.encode(envelope.close)
    // areas have one envelope each; a store that made them up would not grow this for ever
    if (closings.size < 100) closings.set(envelope.close, bytes)
  }
  return bytes
}

/** The request body: the same bytes for the same delivery, however often it is put together. */
export const wrap = (envelope: Envelope, deliveryId: string, sentAt: number, payloads: ReadonlyArray<Uint8Array>): Uint8Array => {
  const open = encoder.encode(envelope.open.replace("{deliveryId}", deliveryId).replace("{sentAt}", formatInstant(sentAt)))
  const close = closingOf(envelope)
  let length = open.length + close.length + Math.max(0, payloads.length - 1)
  for (const payload of payloads) length += payload.length
  const body = new Uint8Array(length)
  body.set(open)
  let at = open.length
  for (let index = 0; index < payloads.length; index++) {
    if (index > 0) body[at++] = comma
    const payload = payloads[index]!
    body.set(payload, at)
    at += payload.length
  }
  body.set(close, at)
  return body
}
