/**
 * Sends e-mails after the transaction that caused them, at least once: a process that ends while it sends leaves the mail to another one. A mail
 * that no mail server accepted for a day is removed.
 */
import { Context, Effect, Layer, Metric } from "effect"
import { LineLimiter } from "../shared/LineLimiter.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { TenantSweep } from "../shared/TenantSweep.ts"
import type { Mail } from "./model/Mail.ts"
import { Mailer, MailFailed } from "./Mailer.ts"
import { MailStore, type WaitingMail } from "./MailStore.ts"

const sweepMillis = 5_000

/** Mails that are taken at once. They are sent one by one, within their lease. */
const mailLimit = 5

/** How long an attempt may take. */
const attemptMillis = 60_000

const leaseMillis = 2 * mailLimit * attemptMillis

const firstPauseMillis = 60_000

const longestPauseMillis = 3_600_000

/** Time after which an unsent mail is removed. */
const keepMillis = 86_400_000

const attemptsTotal = Metric.counter("waybill_mail_attempts_total", {
  description: "Attempts of this process to give an e-mail to the mail server, by outcome: accepted or failed.",
  incremental: true
})

const counted = (outcome: "accepted" | "failed") => Metric.update(Metric.withAttributes(attemptsTotal, { outcome }), 1)

/** Stores mails in the caller's transaction and sends them afterwards, at least once. */
export class MailOutbox extends Context.Service<MailOutbox, {
  /** Whether this service sends e-mail at all. */
  readonly sends: boolean
  /** Keeps a mail that a client causes until it is sent, in the caller's transaction. False when it will not be sent: there is no mail server, or too many mails wait. */
  readonly put: (tenantId: string, client: string, mail: Mail) => Effect.Effect<boolean, StorageError>
  /** Sends the mails that are due. Returns how many a mail server accepted. */
  readonly sweep: Effect.Effect<number, StorageError>
  /** Sweeps every few seconds until interrupted. Several processes may run it. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/mail/MailOutbox") {
  static readonly layer = Layer.effect(MailOutbox, Effect.gen(function*() {
    const store = yield* MailStore
    const mailer = yield* Mailer
    if (!mailer.sends) return MailOutbox.of({ sends: false, put: () => Effect.succeed(false), sweep: Effect.succeed(0), run: Effect.never })

    // a mail server that is down fails every mail that waits, again and again
    const lines = new LineLimiter()

    const failed = (tenantId: string, { attempt, id, waitedMillis }: WaitingMail, error: MailFailed) =>
      Effect.annotateLogs(
        waitedMillis >= keepMillis
          ? Effect.andThen(store.remove(tenantId, id), lines.log("E-mail removed", Effect.logError("E-mail was not sent for a day and is removed.", error.message)))
          : Effect.andThen(store.postpone(tenantId, id, pauseAfter(attempt)), lines.log("E-mail not sent", Effect.logWarning("E-mail was not sent. It is tried again.", error.message))),
        { tenant: tenantId, mail: id }
      )

    const send = (tenantId: string, mail: WaitingMail) =>
      mailer.send({ id: mail.id, to: mail.to, subject: mail.subject, text: mail.text }).pipe(
        Effect.timeoutOrElse({ duration: attemptMillis, orElse: () => Effect.fail(new MailFailed({ reason: `no answer within ${attemptMillis / 1000} seconds.` })) }),
        Effect.andThen(counted("accepted")),
        Effect.andThen(store.remove(tenantId, mail.id)),
        Effect.as(1),
        Effect.catchTag("MailFailed", (error) => counted("failed").pipe(Effect.andThen(failed(tenantId, mail, error)), Effect.as(0)))
      )

    const sweep = new TenantSweep("E-mails not sent", {
      tenants: store.tenants,
      stepMillis: leaseMillis,
      step: Effect.fnUntraced(function*(tenantId: string) {
        const mails = yield* store.take(tenantId, mailLimit, leaseMillis)
        let sent = 0
        for (const mail of mails) sent += yield* send(tenantId, mail)
        return { done: sent, more: mails.length === mailLimit }
      })
    })

    return MailOutbox.of({ sends: true, put: store.put, sweep: sweep.sweep, run: sweep.run(Effect.succeed(sweepMillis)) })
  }))
}

/** Doubles with every attempt, up to an hour. */
const pauseAfter = (attempt: number): number => Math.min(firstPauseMillis * 2 ** Math.min(attempt - 1, 10), longestPauseMillis)
