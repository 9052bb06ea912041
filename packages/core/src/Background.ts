/** All background work: deliveries, freight charge windows, deferred statuses, notices, e-mails, retention and cleanup. */
import { Effect, Exit } from "effect"
import { DeliveryWorker } from "./delivery/worker/DeliveryWorker.ts"
import { ChargeWindows } from "./freight-charges/ChargeWindows.ts"
import { DeferredStatuses } from "./intake/DeferredStatuses.ts"
import { MailOutbox } from "./mail/MailOutbox.ts"
import { EndpointNotices } from "./notices/EndpointNotices.ts"
import { Backlogs } from "./operator/Backlogs.ts"
import { Clients } from "./operator/Clients.ts"
import { TenantRemoval } from "./operator/TenantRemoval.ts"
import { Retention } from "./retention/Retention.ts"
import { monotonicMillis } from "./shared/MonotonicTime.ts"
import type { StorageError } from "./shared/StoragePort.ts"

/** Restarts work that ended with a defect, so that background work never stops unnoticed. */
const restarted = <R>(name: string, work: Effect.Effect<void, never, R>): Effect.Effect<never, never, R> =>
  work.pipe(
    Effect.catchDefect((defect) => Effect.andThen(Effect.logError(`${name} failed with a defect, restarting in 1 s.`, defect), Effect.sleep(1_000))),
    Effect.forever
  )

/** Sends e-mails until interrupted. A process that keeps e-mails sends them too, also one without other background work. */
export const runMails: Effect.Effect<never, never, MailOutbox> = restarted("E-mail outbox", MailOutbox.use(({ run }) => run))

/** Runs until interrupted. */
export const runBackground: Effect.Effect<void, never, Backlogs | ChargeWindows | Clients | DeferredStatuses | DeliveryWorker | EndpointNotices | MailOutbox | Retention | TenantRemoval> = Effect.all([
  restarted("Delivery worker", DeliveryWorker.use(({ run }) => run)),
  restarted("Freight charge windows", ChargeWindows.use(({ run }) => run)),
  restarted("Statuses of events published from SQL", DeferredStatuses.use(({ run }) => run)),
  restarted("Retention", Retention.use(({ run }) => run)),
  restarted("Backlog sweep", Backlogs.use(({ run }) => run)),
  restarted("Client access review", Clients.use(({ run }) => run)),
  restarted("Tenant removal", TenantRemoval.use(({ run }) => run)),
  restarted("Notices of failing endpoints", EndpointNotices.use(({ run }) => run)),
  runMails
], { concurrency: "unbounded", discard: true })

/**
 * Closes charge windows and updates deferred statuses, so that their notifications are sent in the same call; then sends what is due, and e-mails beside it. Returns the
 * number of attempts. A part that fails does not keep the others from running. After `forMillis` nothing begins: the first parts have half of it, so that
 * they leave time to send, and each commits in small steps. For processes that do not run for long.
 */
export const deliverOnce: (forMillis: number) => Effect.Effect<number, StorageError, ChargeWindows | DeferredStatuses | DeliveryWorker | MailOutbox> = Effect.fnUntraced(function*(forMillis) {
  const windows = yield* ChargeWindows
  const statuses = yield* DeferredStatuses
  const worker = yield* DeliveryWorker
  const outbox = yield* MailOutbox
  const startedAt = yield* monotonicMillis
  const prepared = yield* Effect.forEach([windows.closeDue, statuses.applyDue], (part) => Effect.exit(Effect.timeoutOption(part, forMillis / 2)), { concurrency: "unbounded" })
  const left = Math.max(1, startedAt + forMillis - (yield* monotonicMillis))
  const [sent, mailed] = yield* Effect.all([Effect.exit(worker.drainFor(left)), Effect.exit(Effect.timeoutOption(outbox.sweep, left))], { concurrency: "unbounded" })
  yield* Exit.asVoidAll([...prepared, mailed])
  return yield* sent
})

/**
 * What `runBackground` does beside sending, once: backlog quotas, expired access, notices, deleted tenants, retention. For processes that
 * do not run for long. Each part commits in small steps and may be cut short; one that fails does not keep the others from running.
 */
export const maintainOnce: Effect.Effect<void, StorageError, Backlogs | Clients | EndpointNotices | Retention | TenantRemoval> = Effect.gen(function*() {
  const backlogs = yield* Backlogs
  const clients = yield* Clients
  const notices = yield* EndpointNotices
  const removal = yield* TenantRemoval
  const retention = yield* Retention
  const parts = [backlogs.sweep, clients.sweep, notices.sweep, removal.sweep, retention.sweep]
  yield* Exit.asVoidAll(yield* Effect.forEach(parts, (part) => Effect.exit(part)))
})
