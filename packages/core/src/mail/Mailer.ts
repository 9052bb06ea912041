/** Port for e-mail. Without an adapter, nothing is sent, and callers can see that. */
import { Context, Effect, Schema } from "effect"
import type { Mail } from "./model/Mail.ts"
import { taggedFailure } from "../shared/TaggedFailure.ts"

/** A mail server did not accept the mail. It is sent again later. */
export class MailFailed extends taggedFailure<MailFailed>()("MailFailed", { reason: Schema.String }, ({ reason }) =>
  `E-mail could not be sent: ${reason}`) {}

/** Port: sends one e-mail. By default none is sent. */
export class Mailer extends Context.Reference<{
  /** Whether mail is sent at all. */
  readonly sends: boolean
  /** Succeeds when a mail server has accepted it. */
  readonly send: (mail: Mail) => Effect.Effect<void, MailFailed>
}>("@waybill/core/mail/Mailer", {
  defaultValue: () => ({ sends: false, send: () => Effect.fail(new MailFailed({ reason: "no mail server is configured." })) })
}) {}
