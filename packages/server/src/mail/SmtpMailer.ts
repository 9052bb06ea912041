/** Sends e-mail by SMTP. */
import { MailFailed, Mailer } from "@waybill/core"
import { Effect, Layer, Redacted } from "effect"
import { createTransport } from "nodemailer"
import { withoutSecrets } from "@waybill/http"
import { messageOf } from "../ErrorMessage.ts"

interface SmtpSettings {
  /** `smtps://user:password@host:465`, or `smtp://` with STARTTLS where the server offers it. */
  readonly url: Redacted.Redacted
  /** Sender of every mail. */
  readonly from: string
}

/** For the connection, the greeting, and silence of the mail server. */
const timeoutMillis = 15_000

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
            catch: (error) => new MailFailed({ reason: withoutSecrets(messageOf(error)) })
          }))
      }
    })
  )
