/** How joined entries become one request body; an area chooses it once, when it opens a destination. */
import { formatInstant } from "../../shared/Instant.ts"
import type { RequestBody } from "./RequestBody.ts"

/** `open` may hold each of the marks `{deliveryId}` and `{sentAt}` once; entries are joined by commas between `open` and `close`. */
export interface Envelope {
  readonly open: string
  readonly close: string
}

/** What an envelope puts before its entries, cut where the delivery's id belongs. */
interface Opening {
  readonly open: string
  readonly sentAt: number
  readonly before: string
  /** Undefined where the id is not named. */
  readonly after: string | undefined
}

/** The deliveries of one take have the same instant, and mostly the same envelope. */
let lastOpening: Opening = { open: "", sentAt: 0, before: "", after: undefined }

const openingOf = (open: string, sentAt: number): Opening => {
  if (lastOpening.open !== open || lastOpening.sentAt !== sentAt) {
    const [before = "", after] = open.replace("{sentAt}", formatInstant(sentAt)).split("{deliveryId}")
    lastOpening = { open, sentAt, before, after }
  }
  return lastOpening
}

/** The request body: the same bytes for the same delivery, however often it is put together. */
export const wrap = (envelope: Envelope, deliveryId: string, sentAt: number, payloads: ReadonlyArray<Uint8Array>): RequestBody => {
  const { after, before } = openingOf(envelope.open, sentAt)
  const opening = after === undefined ? before : before + deliveryId + after
  // what is sent has one payload; an array that grows takes five times its memory
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
