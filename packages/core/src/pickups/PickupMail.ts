/** Sends the answer to a pickup request to its `confirmationEmail` as well, after the transaction that decides. SPEC-GAP-C33 */
import { Effect } from "effect"
import type { MailOutbox } from "../mail/MailOutbox.ts"
import { isMailAddress, type MailText } from "../mail/model/Mail.ts"
import { ClientLimiter } from "../shared/ClientLimiter.ts"
import { monotonicMillis } from "../shared/MonotonicTime.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { given } from "./model/KeptText.ts"
import { answerMail, cancellationMail } from "./model/PickupMail.ts"
import type { PickupAnswer } from "./model/PickupAnswer.ts"
import type { PickupRequest } from "./model/PickupRequest.ts"

/** Mails per client and minute, in one process: a request may name any address. */
export const pickupMailsPerMinute = 60

/** The client of a request, and the id of its mail: the same for each attempt. */
interface PickupMailKey {
  readonly tenantId: string
  readonly client: string
  readonly pickupId: string
  /** Position of the history entry. */
  readonly entry: number
}

const notSent = "No e-mail is sent to confirmationEmail. This answer is the confirmation."
const notAddress = "No e-mail is sent: confirmationEmail is not one e-mail address. This answer is the confirmation."
const alsoSent = "This answer is also sent to confirmationEmail."
const decisionIsSent = "The decision is also sent to confirmationEmail."

export const makePickupMail = (outbox: (typeof MailOutbox)["Service"]) => {
  const limiter = new ClientLimiter(pickupMailsPerMinute)

  const put = Effect.fnUntraced(function*(key: PickupMailKey, to: string, what: "answer" | "cancelled", mail: MailText) {
    if (!outbox.sends || limiter.admit(key, yield* monotonicMillis) > 0) return false
    return yield* outbox.put(key.tenantId, key.client, { id: `pickup.${key.pickupId}.${key.entry}.${what}`, to, ...mail })
  })

  /** Sends an answer to the address of its request. Returns it with a message that says whether it is sent. */
  const confirm = Effect.fnUntraced(function*(key: PickupMailKey, request: PickupRequest, answer: PickupAnswer): Effect.fn.Return<PickupAnswer, StorageError> {
    const to = given(request.confirmationEmail)
    if (to === undefined) return answer
    if (!isMailAddress(to)) return withMessage(answer, notAddress)
    return withMessage(answer, (yield* put(key, to, "answer", answerMail(request, answer))) ? alsoSent : notSent)
  })

  const cancelled = Effect.fnUntraced(function*(key: PickupMailKey, request: PickupRequest, number: string | null) {
    const to = given(request.confirmationEmail)
    if (to !== undefined && isMailAddress(to)) yield* put(key, to, "cancelled", cancellationMail(request, number))
  })

  /** The answer to a request that is not decided yet, or that changes nothing: says what is sent to `confirmationEmail`. */
  const announced = (request: PickupRequest, answer: PickupAnswer, isDecided: boolean): PickupAnswer => {
    const to = given(request.confirmationEmail)
    if (to === undefined) return answer
    if (!isMailAddress(to)) return withMessage(answer, notAddress)
    if (!outbox.sends) return withMessage(answer, notSent)
    return isDecided ? answer : withMessage(answer, decisionIsSent)
  }

  return { confirm, cancelled, announced }
}

export type PickupMail = ReturnType<typeof makePickupMail>

const withMessage = (answer: PickupAnswer, message: string): PickupAnswer => ({ ...answer, pickupMessage: [...answer.pickupMessage, message] })
