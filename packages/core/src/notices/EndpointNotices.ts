/**
 * Notifies customers by e-mail and webhook when their endpoint has failed for long, before attempts end, and when the service has paused their subscription.
 * The engine pauses a subscription at once after 410, and one to freight charges after a dead letter.
 */
import { Context, Effect, Layer } from "effect"
import type { QuotaExceeded } from "../access/AccessErrors.ts"
import type { Principal } from "../access/model/Principal.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { DeliveryControl, type TroubledDestination } from "../delivery/DeliveryControl.ts"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { lastAttemptAt } from "../delivery/model/DeliveryPolicy.ts"
import { MailOutbox } from "../mail/MailOutbox.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { completeAll } from "../shared/CompleteAll.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { ListRange } from "../shared/ListPage.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { TenantSweep } from "../shared/TenantSweep.ts"
import { currentTraceparent } from "../shared/TraceContext.ts"
import { mailOf, type Notice, webhookBodyOf } from "./Notice.ts"
import { makeNoticeContacts, type NoticeContact, type NoticeContactView } from "./NoticeContacts.ts"
import { type NoticeKind, NoticeStore } from "./NoticeStore.ts"

const sweepMillis = 300_000
const dayMillis = 86_400_000

/** When customers get notices about an endpoint that fails, in milliseconds. */
export class NoticeOptions extends Context.Reference<{
  /** An endpoint has failed for long when its oldest entry, or its oldest delivery that waits for a retry, has waited for this time. */
  readonly failingAfterMillis: number
  /** How long before the last attempt of the oldest delivery of a failing endpoint the customer is notified, so that it can still act. */
  readonly endingBeforeMillis: number
}>("@waybill/core/notices/NoticeOptions", { defaultValue: () => ({ failingAfterMillis: 4 * 3_600_000, endingBeforeMillis: 2 * 3_600_000 }) }) {}

/** Notifies customers by e-mail or webhook that one of their endpoints fails or was paused. */
export class EndpointNotices extends Context.Service<EndpointNotices, {
  readonly contact: (principal: Principal) => Effect.Effect<NoticeContactView, StorageError>
  readonly setContact: (principal: Principal, input: typeof NoticeContact.Encoded) => Effect.Effect<NoticeContactView, InvalidInput | QuotaExceeded | StorageError>
  /** Notifies the customers of the subscriptions with the most failures, each at most once a day for each kind of notice. Returns how many notices there are. */
  readonly sweep: Effect.Effect<number, StorageError>
  /** Sweeps every five minutes until interrupted. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/notices/EndpointNotices") {
  static readonly layer = Layer.effect(EndpointNotices, Effect.gen(function*() {
    const store = yield* NoticeStore
    const control = yield* DeliveryControl
    const queue = yield* DeliveryQueue
    const outbox = yield* MailOutbox
    const wakeups = yield* Wakeups
    const limits = yield* TenantLimits
    const transaction = yield* Transaction
    const { endingBeforeMillis, failingAfterMillis } = yield* NoticeOptions

    const { contact, contactsOf, destinationOf, setContact } = yield* makeNoticeContacts

    const oldestRetry = Effect.fnUntraced(function*(tenantId: string, destinationId: string) {
      for (let after: string | undefined;;) {
        const { deliveries: [oldest], lookedTo } = yield* queue.list(tenantId, { destinationId, state: "waiting", order: "oldest", after, limit: 1 })
        if (oldest !== undefined || lookedTo === undefined) return oldest
        after = lookedTo
      }
    })

    /** The notice that fits a destination now, if one does. */
    const noticeOf = Effect.fnUntraced(function*({ breakerOpen, dead, destinationId, paused, tenantId, waitingMillis = 0 }: TroubledDestination, now: number) {
      const destination = yield* destinationOf(tenantId, destinationId)
      // the endpoint may accept deliveries again: entries also wait for a rate limit, and a dead letter may be an old one
      if (destination === undefined || (!paused && destination.breaker.failures === 0)) return undefined
      const { waitingDays } = yield* limits.of(tenantId)
      const of = (kind: NoticeKind, lastAttemptAt?: number) => ({ kind, destination, lastAttemptAt, waitingDays })
      if (paused) return of("paused")
      const retry = breakerOpen ? yield* oldestRetry(tenantId, destinationId) : undefined
      const endsAt = retry && lastAttemptAt(destination.policy, retry.tries, Math.max(retry.dueAt ?? now, now))
      // a dead letter has used up its attempts, so its customer is too late for this one
      if (dead > 0) return of("dead_letter", endsAt)
      if (endsAt !== undefined && endsAt - now <= endingBeforeMillis) return of("ending", endsAt)
      const isLong = waitingMillis >= failingAfterMillis || (retry !== undefined && now - retry.createdAt >= failingAfterMillis)
      return isLong ? of("failing", endsAt) : undefined
    })

    /**
     * The claim, the mail and the entry of the webhook are one transaction, so a notice is neither lost nor sent by two processes. A webhook whose
     * own endpoint fails does not report on it.
     */
    const notify = Effect.fnUntraced(function*(tenantId: string, notice: Notice, now: number) {
      const { client, destinationId, endpointUrl } = notice.destination
      const { email, emailKinds, webhook, webhookKinds } = yield* contactsOf(tenantId, client)
      const day = Math.floor(now / dayMillis)
      const noticeId = `${notice.kind}.${destinationId}.${day}`
      const sendsMail = outbox.sends && email !== undefined && isWanted(emailKinds, notice)
      const webhookId = webhook !== undefined && webhook.endpointUrl !== endpointUrl && isWanted(webhookKinds, notice) ? webhook.destinationId : undefined
      if (!sendsMail && webhookId === undefined) return false
      const traceparent = yield* currentTraceparent
      return yield* transaction.run(Effect.gen(function*() {
        if (!(yield* store.claim(tenantId, { subscriptionId: destinationId, kind: notice.kind, day }))) return false
        if (webhookId !== undefined) {
          yield* store.queue(tenantId, { webhookId, subscriptionId: destinationId, noticeId, body: webhookBodyOf(notice, noticeId, now), traceparent })
          yield* wakeups.wake(tenantId)
        }
        const isKept = sendsMail && (yield* outbox.put(tenantId, client, { id: noticeId, to: email, ...mailOf(notice) }))
        // without the claim, a later sweep tries again
        return isKept || webhookId !== undefined ? true : yield* Effect.fail(outboxFull)
      })).pipe(Effect.catch((error) => error === outboxFull ? Effect.succeed(false) : Effect.fail(error)))
    })

    /** Unhealthy destinations by tenant, as of the last sweep. */
    let unhealthy: ReadonlyMap<string, ReadonlyArray<TroubledDestination>> = new Map()
    /** By the clock of the store, because that of this process may be wrong. */
    let sweptAt = 0

    /** One read for all tenants: there are at most as many as unhealthy destinations. */
    const tenants = ({ after }: ListRange) =>
      after === undefined
        ? Effect.map(control.troubles, ({ destinations, now }) => {
          sweptAt = now
          unhealthy = Map.groupBy(destinations, ({ tenantId }) => tenantId)
          return [...unhealthy.keys()].sort()
        })
        : Effect.succeed([])

    const step = Effect.fnUntraced(function*(tenantId: string) {
      const now = sweptAt
      yield* store.prune(tenantId, Math.floor(now / dayMillis) - 1)
      const notified = yield* completeAll((unhealthy.get(tenantId) ?? []).map((each) =>
        Effect.flatMap(noticeOf(each, now), (notice) => notice === undefined ? Effect.succeed(false) : notify(tenantId, notice, now))))
      return { done: notified.filter(Boolean).length, more: false }
    })

    const sweep = new TenantSweep("Notices of failing endpoints not sent", { tenants, step })

    return EndpointNotices.of({ contact, setContact, sweep: Effect.withSpan(sweep.sweep, "EndpointNotices.sweep"), run: sweep.run(Effect.succeed(sweepMillis)) })
  }))
}

const outboxFull = "outbox full" as const

const isWanted = (kinds: ReadonlyArray<NoticeKind> | undefined, { kind }: Notice): boolean => kinds === undefined || kinds.includes(kind)
