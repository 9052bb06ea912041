/** How joined entries become one request body; an area chooses it once, when it opens a destination. */
import { formatInstant } from "../../shared/Instant.ts"
import type { RequestBody } from "./RequestBody.ts"

/** `open` may hold the marks `{deliveryId}` and `{sentAt}`; entries are joined by commas between `open` and `close`. */
export interface Envelope {
  readonly open: string
  readonly close: string
}

/** The request body: the same bytes for the same delivery, however often it is put together. */
export const wrap = (envelope: Envelope, deliveryId: string, sentAt: number, payloads: ReadonlyArray<Uint8Array>): RequestBody => {
  const body: Array<string | Uint8Array> = []
  if (envelope.open !== "") body.push(envelope.open.replace("{deliveryId}", deliveryId).replace("{sentAt}", formatInstant(sentAt)))
  payloads.forEach((payload, index) => {
    if (index > 0) body.push(",")
    body.push(payload)
  })
  if (envelope.close !== "") body.push(envelope.close)
  return body
}
