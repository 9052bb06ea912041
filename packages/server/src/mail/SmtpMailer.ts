/** Sends e-mail by SMTP. */
import { MailFailed, Mailer } from "@waybill/core"
import { Effect, Layer, Redacted } from "effect"
import { createTransport } from "nodemailer"
import { withoutSecrets } from "@waybill/http"
import { messageOf } from "../ErrorMessage.ts"

interface SmtpSettings {
  /** `smtps://user:password@host:465`, or `smtp://` with STARTTLS where the server offers it, and with `?requireTLS=true` nowhere else. */
  readonly url: Redacted.Redacted
  /** Sender of every mail. */
  readonly from: string
}

/** For the connection, the greeting, and silence of the mail server. */
const timeoutMillis = 15_000

/** In one line: OpenSSL's messages end with a line end. */
const failureOf = (error: unknown) => new MailFailed({ reason: withoutSecrets(messageOf(error)).trim() })

/** Connects and logs in, and sends nothing. */
export const checkMailServer = ({ url }: Pick<SmtpSettings, "url">, withinMillis: number): Effect.Effect<void, MailFailed> =>
  Effect.acquireUseRelease(
    Effect.sync(() => createTransport({ url: Redacted.value(url), connectionTimeout: withinMillis, greetingTimeout: withinMillis, socketTimeout: withinMillis })),
    (transport) =>
      Effect.tryPromise({ try: () => transport.verify(), catch: failureOf }).pipe(
        // a server that never ends its answer is never silent
        Effect.timeoutOrElse({ duration: 2 * withinMillis, orElse: () => Effect.fail(new MailFailed({ reason: `no answer within ${2 * withinMillis / 1000} seconds` })) }),
        Effect.asVoid
      ),
    (transport) => Effect.sync(() => transport.close())
  )

/** Mails that are sent at the same time share a connection. */
export const smtpMailerLayer = ({ from, url }: SmtpSettings) =>
  Layer.effect(
    Mailer,
    Effect.gen(function*() {
      const transport = yield* Effect.acquireRelease(
        Effect.sync(() => createTransport({ url: Redacted.value(url), pool: true, maxConnections: 1, connectionTimeout: timeoutMillis, greetingTimeout: timeoutMillis, socketTimeout: timeoutMillis, socketCloseTimeout: 0 })),
        (transport) => Effect.sync(() => transport.close())
      )
      const domain = /@([^>\s]+)>?$/.exec(from)?.[1] ?? "localhost"
      return {
        sends: true,
        send: ({ id, subject, text, to }) =>
          Effect.asVoid(Effect.tryPromise({
            // ends the connection of a server that never ends its answer, which would hold up all mails until this process ends
            try: (signal) => transport.sendMail({ signal, from, to, subject, text, messageId: `<${id}@${domain}>`, headers: { "Auto-Submitted": "auto-generated" }, disableFileAccess: true, disableUrlAccess: true }),
            catch: failureOf
          }))
      }
    })
  )
