/** Tells customers by e-mail when their endpoint has failed for long, and when the service has paused its subscription. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import * as Clock from "effect/Clock"
import type { Principal } from "../access/model/Principal.ts"
import { Deliveries } from "../delivery/Deliveries.ts"
import { DeliveryControl, type TroubledDestination } from "../delivery/DeliveryControl.ts"
import { Subscriptions, type SubscriptionView } from "../operator/Subscriptions.ts"
import { parseInstant } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { sweepEvery } from "../shared/Sweeps.ts"
import { Mailer } from "./Mailer.ts"
import { type NoticeKey, type NoticeKind, NoticeStore } from "./NoticeStore.ts"

const sweepMillis = 300_000
const dayMillis = 86_400_000

export class NoticeOptions extends Context.Reference<{
  /**
   * An endpoint has failed for long when its oldest entry, or its oldest delivery that waits for a retry, has waited for this time, or when
   * a delivery has used up its attempts.
   */
  readonly failingAfterMillis: number
}>("@waybill/core/notices/NoticeOptions", { defaultValue: () => ({ failingAfterMillis: 4 * 3_600_000 }) }) {}

/** Body of `PUT …/contact`: `null` ends notices. */
export const NoticeContact = Schema.Struct({
  email: Schema.NullOr(
    Schema.String.check(
      Schema.isMaxLength(254, { message: "email has at most 254 characters." }),
      Schema.isPattern(/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)+$/u, { message: "email is one address, such as edi@shipper.example." })
    )
  )
}).annotate({ identifier: "NoticeContact" })

export interface NoticeContactView {
  readonly email: string | null
  /** Whether this service sends e-mail at all. */
  readonly sendsMail: boolean
}

export class EndpointNotices extends Context.Service<EndpointNotices, {
  readonly contact: (principal: Principal) => Effect.Effect<NoticeContactView, StorageError>
  readonly setContact: (principal: Principal, input: typeof NoticeContact.Encoded) => Effect.Effect<NoticeContactView, InvalidInput | StorageError>
  /** Tells the customers of the subscriptions with the most trouble, each at most once a day for each trouble. Returns how many mails were sent. */
  readonly sweep: Effect.Effect<number, StorageError>
  /** Sweeps every five minutes until interrupted. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/notices/EndpointNotices") {
  static readonly layer = Layer.effect(
    EndpointNotices,
    Effect.gen(function*() {
      const store = yield* NoticeStore
      const control = yield* DeliveryControl
      const subscriptions = yield* Subscriptions
      const deliveries = yield* Deliveries
      const mailer = yield* Mailer
      const { failingAfterMillis } = yield* NoticeOptions

      const contact = Effect.fn("EndpointNotices.contact")(function*({ client, tenantId }: Principal) {
        return { email: Option.getOrNull(yield* store.contact(tenantId, client)), sendsMail: mailer.sends }
      })

      const setContact = Effect.fn("EndpointNotices.setContact")(function*(principal: Principal, input: unknown) {
        const { email } = yield* decode(input)
        yield* store.setContact(principal.tenantId, principal.client, email ?? undefined)
        return { email, sendsMail: mailer.sends }
      })

      /** When the oldest delivery that waits for a retry was created, if one does. */
      const oldestRetry = Effect.fnUntraced(function*(tenantId: string, subscriptionId: string) {
        const { data: [oldest] } = yield* Effect.orDie(deliveries.list(tenantId, { subscriptionId, state: "waiting", order: "oldest", limit: 1 }))
        return oldest === undefined ? undefined : parseInstant(oldest.createdAt)
      })

      const kindOf = Effect.fnUntraced(function*({ breakerOpen, dead, destinationId, paused, tenantId, waitingMillis = 0 }: TroubledDestination, now: number) {
        if (paused) return "paused"
        // a dead letter has used up its attempts
        if (dead > 0 || waitingMillis >= failingAfterMillis) return "failing"
        const oldest = breakerOpen ? yield* oldestRetry(tenantId, destinationId) : undefined
        return oldest !== undefined && now - oldest >= failingAfterMillis ? "failing" : undefined
      })

      /** Claims the notice before the mail is sent, so that no other process sends it, also after a restart. */
      const tell = Effect.fnUntraced(function*({ destinationId, tenantId }: TroubledDestination, kind: NoticeKind) {
        const found = yield* Effect.option(subscriptions.get(tenantId, destinationId))
        // the endpoint may accept deliveries again: entries also wait for a rate limit, and a dead letter may be an old one
        if (Option.isNone(found) || (kind === "failing" && found.value.breaker.failures === 0)) return 0
        const email = yield* store.contact(tenantId, found.value.client)
        if (Option.isNone(email)) return 0
        const now = yield* Clock.currentTimeMillis
        const key: NoticeKey = { subscriptionId: destinationId, kind, day: Math.floor(now / dayMillis) }
        if (!(yield* store.claim(tenantId, key))) return 0
        return yield* mailer.send({ id: `${kind}.${destinationId}.${key.day}`, to: email.value, ...textOf(found.value, kind) }).pipe(
          Effect.as(1),
          Effect.catchTag("MailFailed", (error) =>
            store.release(tenantId, key).pipe(
              Effect.andThen(Effect.annotateLogs(Effect.logWarning("Notice of a failing endpoint was not sent. The next sweep tries again.", error.message), { tenantId, subscriptionId: destinationId })),
              Effect.as(0)
            ))
        )
      })

      const sweep = Effect.gen(function*() {
        if (!mailer.sends) return 0
        const { destinations } = yield* control.troubles
        const now = yield* Clock.currentTimeMillis
        const day = Math.floor(now / dayMillis)
        for (const tenantId of new Set(destinations.map(({ tenantId }) => tenantId))) yield* store.prune(tenantId, day - 1)
        const counts = yield* Effect.forEach(destinations, (troubled) =>
          Effect.flatMap(kindOf(troubled, now), (kind) => kind === undefined ? Effect.succeed(0) : tell(troubled, kind)))
        return counts.reduce((sum, count) => sum + count, 0)
      }).pipe(Effect.withSpan("EndpointNotices.sweep"))

      return EndpointNotices.of({ contact, setContact, sweep, run: sweepEvery(sweepMillis, sweep, "Notices of failing endpoints failed. The next sweep tries again.") })
    })
  )
}

const decode = decodeInput(NoticeContact, { closed: true })

/** No freight data: mail is not encrypted end to end. */
const textOf = ({ dead, endpointUrl, oldestWaitingAt, reason, since, subscriptionId, waiting }: SubscriptionView, kind: NoticeKind) => {
  const waits = `${waiting >= 1000 ? "1,000 or more" : waiting} ${waiting === 1 ? "entry waits" : "entries wait"}${oldestWaitingAt === null ? "" : `, the oldest since ${oldestWaitingAt}`}.`
  const deadLetters = dead === 0 ? "" : `\n${dead >= 1000 ? "1,000 or more dead letters" : dead === 1 ? "1 dead letter" : `${dead} dead letters`}: all attempts failed.`
  const endpoint = `Subscription ${subscriptionId}\nEndpoint ${endpointUrl}\n`
  return kind === "paused"
    ? { subject: "Your webhook is paused", text: `${endpoint}\nThe subscription is paused since ${since}.${reason === null ? "" : ` ${reason}`}\n${waits}${deadLetters}\n\nCorrect the endpoint, send a test event and resume the subscription. Ask the sender for a link to your portal.\n` }
    : { subject: "Your webhook has failed for long", text: `${endpoint}\nThe endpoint does not accept deliveries.\n${waits}${deadLetters}\n\nAttempts go on, and the subscription may be paused. Correct the endpoint, send a test event from your portal, and send dead letters again.\n` }
}
