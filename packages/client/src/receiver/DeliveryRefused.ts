/** Why a receiver did not take a delivery. */

/**
 * The signature does not stand:
 * - `header_missing`, `header_repeated`, `header_too_long`: the delivery's headers are not as they must be.
 * - `id_malformed`: the delivery id has a dot, a blank or another character that could shift the signed text's borders.
 * - `timestamp_malformed`, `timestamp_too_old`, `timestamp_in_future`.
 * - `no_known_signature`: no signature of a version this receiver takes.
 * - `signature_mismatch`: none of the signatures fits the id, the time and these bytes under any of the secrets.
 *
 * The delivery cannot be taken:
 * - `batch_malformed`: believed, but no event batch, nor anything else this receiver knows.
 * - `notification_malformed`, `charges_malformed`: it looks like shipment status or freight charges, but is not as it must be.
 * - `no_handler`: of a kind that this receiver was given no handler for.
 * - `body_incomplete`: the connection ended before the body did.
 * - `body_too_large`: more bytes than this receiver takes.
 * - `in_progress`: the same delivery, or one with some of the same events, is being handled right now. Come again.
 * - `method_not_allowed`: deliveries are POSTed.
 */
export type RefusalReason =
  | "header_missing"
  | "header_repeated"
  | "header_too_long"
  | "id_malformed"
  | "timestamp_malformed"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "no_known_signature"
  | "signature_mismatch"
  | "batch_malformed"
  | "notification_malformed"
  | "charges_malformed"
  | "no_handler"
  | "body_incomplete"
  | "body_too_large"
  | "in_progress"
  | "method_not_allowed"

/** The delivery was not taken. `reason` is stable; the message says what to look at. */
export class DeliveryRefused extends Error {
  override readonly name = "DeliveryRefused"
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, sentence: string, options?: ErrorOptions) {
    super(sentence, options)
    this.reason = reason
  }
}

/** The receiver is set up in a way that no signature can be checked. Nothing about the delivery is wrong. */
export class RawBodyNeeded extends Error {
  override readonly name = "RawBodyNeeded"
}
