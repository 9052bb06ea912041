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

/** The request body. The same delivery always has the same bytes. `sentAt`: milliseconds; `events`: the bytes of the entries, joined by commas. */
export const wrap = (envelope: Envelope, deliveryId: string, sentAt: number, events: Uint8Array): RequestBody => {
  const { after, before } = openingOf(envelope.open, sentAt)
  return [after === undefined ? before : before + deliveryId + after, events, envelope.close]
}
