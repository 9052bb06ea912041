/** How entries become one request body. An area sets it when it opens a destination. */
import { formatInstant } from "../../shared/Instant.ts"
import type { RequestBody } from "./RequestBody.ts"

/** Text before and after the entries, which are joined by commas. `open` may have each of the placeholders `{deliveryId}` and `{sentAt}` once. */
export interface Envelope {
  readonly open: string
  readonly close: string
}

/** The text before the entries, split at the delivery's id. */
interface Opening {
  readonly open: string
  readonly sentAt: number
  readonly before: string
  /** Undefined if the envelope has no id. */
  readonly after: string | undefined
}

/** A cache: the deliveries of one take have the same instant, and mostly the same envelope. */
let lastOpening: Opening = { open: "", sentAt: 0, before: "", after: undefined }

const openingOf = (open: string, sentAt: number): Opening => {
  if (lastOpening.open !== open || lastOpening.sentAt !== sentAt) {
    const [before = "", after] = open.replace("{sentAt}", formatInstant(sentAt)).split("{deliveryId}")
    lastOpening = { open, sentAt, before, after }
  }
  return lastOpening
}

/** The request body. The same delivery always has the same bytes. `sentAt`: milliseconds; `payloads`: the bytes of the entries. */
export const wrap = (envelope: Envelope, deliveryId: string, sentAt: number, payloads: ReadonlyArray<Uint8Array>): RequestBody => {
  const { after, before } = openingOf(envelope.open, sentAt)
  const opening = after === undefined ? before : before + deliveryId + after
  // deliveries of a take have one payload, and an array that grows takes five times its memory
  if (payloads.length === 1 && opening !== "" && envelope.close !== "") return [opening, payloads[0]!, envelope.close]
  const body: Array<string | Uint8Array> = []
  if (opening !== "") body.push(opening)
  for (let index = 0; index < payloads.length; index++) {
    if (index > 0) body.push(",")
    body.push(payloads[index]!)
  }
  if (envelope.close !== "") body.push(envelope.close)
  return body
}
