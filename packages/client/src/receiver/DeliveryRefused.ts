/** Reasons why a receiver refuses a delivery. */

/**
 * Invalid signature:
 * - `header_missing`, `header_repeated`, `header_too_long`: a required header is invalid.
 * - `id_malformed`: the delivery id has a dot, a blank or another character that could shift the parts of the signed
 * text.
 * - `timestamp_malformed`, `timestamp_too_old`, `timestamp_in_future`.
 * - `no_known_signature`: no signature of a supported version.
 * - `signature_mismatch`: no signature matches the id, the time and these bytes with any of the secrets.
 *
 * Delivery not accepted:
 * - `batch_malformed`: signed, but neither an event batch nor another kind of delivery that this receiver knows.
 * - `notification_malformed`, `charges_malformed`, `pickups_malformed`, `notice_malformed`: recognized as shipment status, freight
 * charges, pickups, or a notice or test event, but invalid.
 * - `no_handler`: this receiver has no handler for this kind.
 * - `body_incomplete`: the connection ended before the body did.
 * - `body_too_large`: larger than the receiver's limit.
 * - `in_progress`: the same delivery, or one with some of the same events, is being handled. Retry later.
 * - `method_not_allowed`: deliveries are POSTed.
 */
export type RefusalReason = keyof typeof statusOf

/** The delivery was not accepted. `reason` is stable; the message says what to check. */
export class DeliveryRefused extends Error {
  override readonly name = "DeliveryRefused"
  readonly reason: RefusalReason
  /** HTTP status of the response, such as 401. */
  readonly status: number

  constructor(reason: RefusalReason, sentence: string, options?: ErrorOptions) {
    super(sentence, options)
    this.reason = reason
    this.status = statusOf[reason]
  }
}

const statusOf = {
  header_missing: 401,
  header_repeated: 401,
  header_too_long: 401,
  id_malformed: 401,
  timestamp_malformed: 401,
  timestamp_too_old: 401,
  timestamp_in_future: 401,
  no_known_signature: 401,
  signature_mismatch: 401,
  batch_malformed: 400,
  notification_malformed: 400,
  charges_malformed: 400,
  pickups_malformed: 400,
  notice_malformed: 400,
  no_handler: 400,
  body_incomplete: 400,
  body_too_large: 413,
  in_progress: 503,
  method_not_allowed: 405
} as const

/** The receiver is set up so that no signature can be checked. The delivery itself may be valid. */
export class RawBodyNeeded extends Error {
  override readonly name = "RawBodyNeeded"
}
