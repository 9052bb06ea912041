/** Contacts of a customer for notices: an e-mail address, and a webhook with a destination of its own. */
import { Clock, Effect, Schema } from "effect"
import type { QuotaExceeded } from "../access/AccessErrors.ts"
import { makeRememberAccess } from "../access/ClientAccess.ts"
import type { Principal } from "../access/model/Principal.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { DeliveryQueue, type DestinationSettings } from "../delivery/DeliveryQueue.ts"
import { defaultPolicy } from "../delivery/model/DeliveryPolicy.ts"
import { EndpointUrl } from "../delivery/model/WebhookSettings.ts"
import { findDestination, openDestinationWithin } from "../subscriptions/Destinations.ts"
import { SigningSecrets } from "../delivery/secrets/SigningSecrets.ts"
import { makeWebhookChecks } from "../subscriptions/WebhookChecks.ts"
import { MailOutbox } from "../mail/MailOutbox.ts"
import { longestMailAddress, mailAddress } from "../mail/model/Mail.ts"
import { HmacSecretId } from "../shared/Identifier.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { nullish } from "../shared/Members.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { UniqueIds } from "../shared/UniqueIds.ts"
import { type NoticeKind, noticeKinds, noticeSource, NoticeStore } from "./NoticeStore.ts"

const NoticeWebhook = Schema.Struct({ endpointUrl: EndpointUrl, hmacSecretId: HmacSecretId }).annotate({ identifier: "NoticeWebhook" })

const NoticeKinds = Schema.NullOr(
  Schema.Array(Schema.Literals(noticeKinds)).check(
    Schema.isMinLength(1, { message: "Name at least one kind. To end notices, set the address to null." }),
    Schema.isMaxLength(noticeKinds.length, { message: "Name each kind once." }),
    Schema.isUnique({ message: "Name each kind once." })
  )
).annotate({
  description: "The kinds of notices that are sent there; null: all. ending: before the last attempt; failing: after hours; dead_letter: attempts are used up; paused: the service paused the subscription."
})

/** Body of `PUT …/contact`: `null` in place of an address ends notices there. What is left out, other than `email`, stays as it is. */
export const NoticeContact = Schema.Struct({
  email: Schema.NullOr(
    Schema.String.check(
      Schema.isMaxLength(longestMailAddress, { message: `email has at most ${longestMailAddress} characters.` }),
      Schema.isPattern(mailAddress, { message: "email is one address, such as edi@shipper.example." })
    )
  ),
  /** `null`: all kinds. */
  emailKinds: Schema.optionalKey(NoticeKinds),
  webhook: nullish(NoticeWebhook),
  /** `null`: all kinds. */
  webhookKinds: Schema.optionalKey(NoticeKinds)
}).annotate({ identifier: "NoticeContact" })

const ChosenKinds = Schema.NullOr(Schema.Array(Schema.Literals(noticeKinds))).annotate({ description: "The kinds of notices that are sent there; null: all." })

/** Where a client gets its notices, as it reads it. */
export const NoticeContactView = Schema.Struct({
  email: Schema.NullOr(Schema.String),
  emailKinds: ChosenKinds,
  sendsMail: Schema.Boolean.annotate({ description: "Whether this service sends e-mail at all." }),
  webhook: Schema.NullOr(Schema.Struct({
    subscriptionId: Schema.String.annotate({ description: "Of the webhook's deliveries." }),
    endpointUrl: Schema.String,
    hmacSecretId: Schema.String
  })),
  webhookKinds: ChosenKinds
}).annotate({ identifier: "PortalContact" })
export type NoticeContactView = typeof NoticeContactView.Type

/** Makes the calls that read and change a client's contacts. A webhook contact has a destination of its own. */
export const makeNoticeContacts = Effect.gen(function*() {
  const store = yield* NoticeStore
  const queue = yield* DeliveryQueue
  const outbox = yield* MailOutbox
  const limits = yield* TenantLimits
  const transaction = yield* Transaction
  const secrets = yield* SigningSecrets
  const ids = yield* UniqueIds
  const rememberAccess = yield* makeRememberAccess
  const { checkSettings, ownEditor } = yield* makeWebhookChecks

  const destinationOf = (tenantId: string, destinationId: string) =>
    findDestination(queue, tenantId, destinationId).pipe(Effect.map(({ destination }) => destination), Effect.catchTag("DestinationNotFound", () => Effect.undefined))

  const contactsOf = Effect.fnUntraced(function*(tenantId: string, client: string, forUpdate = false) {
    const { webhookId, ...contacts } = yield* store.contacts(tenantId, client, forUpdate)
    return { ...contacts, webhook: webhookId === undefined ? undefined : yield* destinationOf(tenantId, webhookId) }
  })

  const contact = Effect.fn("EndpointNotices.contact")(function*({ client, tenantId }: Principal): Effect.fn.Return<NoticeContactView, StorageError> {
    const { email, emailKinds, webhook, webhookKinds } = yield* contactsOf(tenantId, client)
    return {
      email: email ?? null,
      emailKinds: emailKinds ?? null,
      sendsMail: outbox.sends,
      webhook: webhook === undefined ? null : { subscriptionId: webhook.destinationId, endpointUrl: webhook.endpointUrl, hmacSecretId: webhook.hmacSecretId },
      webhookKinds: webhookKinds ?? null
    }
  })

  const setContact = Effect.fn("EndpointNotices.setContact")(function*(principal: Principal, input: unknown): Effect.fn.Return<NoticeContactView, InvalidInput | QuotaExceeded | StorageError> {
    const { client, tenantId } = principal
    const { email, webhook, ...given } = yield* decode(input)
    if (webhook) yield* checkSettings(ownEditor(principal, Effect.void), webhook, { endpointUrl: true, hmacSecretId: true }).pipe(Effect.catchTag("InvalidInput", inWebhook))
    const now = yield* Clock.currentTimeMillis
    const quotas = yield* limits.of(tenantId)
    yield* transaction.run(Effect.gen(function*() {
      if (webhook) {
        yield* Effect.catchTag(secrets.use(principal, webhook.hmacSecretId), "InvalidInput", inWebhook)
        yield* rememberAccess(principal)
      }
      const { webhook: before, ...stored } = yield* contactsOf(tenantId, client, true)
      const contacts = {
        email: email ?? undefined,
        emailKinds: chosen(given.emailKinds, stored.emailKinds),
        webhookKinds: chosen(given.webhookKinds, stored.webhookKinds)
      }
      const stays = webhook === undefined || (webhook !== null && before?.endpointUrl === webhook.endpointUrl && before.hmacSecretId === webhook.hmacSecretId)
      if (stays) return yield* store.setContacts(tenantId, client, { ...contacts, webhookId: before?.destinationId })
      // what waits for the old address is not for the new one
      if (before !== undefined) yield* queue.closeDestination(tenantId, before.destinationId)
      const webhookId = webhook === null ? undefined : ids.nextAt(now)
      if (webhookId !== undefined) yield* openDestinationWithin(queue, quotas, "eventSubscriptionsPerClient", tenantId, destinationFor(webhookId, client, webhook!))
      yield* store.setContacts(tenantId, client, { ...contacts, webhookId })
    }))
    return yield* contact(principal)
  })

  return { contact, contactsOf, setContact, destinationOf }
})

const decode = decodeInput(NoticeContact, { closed: true })

const chosen = (given: ReadonlyArray<NoticeKind> | null | undefined, stored: ReadonlyArray<NoticeKind> | undefined): ReadonlyArray<NoticeKind> | undefined =>
  given === undefined ? stored : given ?? undefined

/** Faults of the webhook's members, by their place in the body. */
const inWebhook = ({ faults }: InvalidInput) => Effect.fail(new InvalidInput({ faults: faults.map((each) => ({ ...each, pointer: `/webhook${each.pointer}` })) }))

const destinationFor = (destinationId: string, client: string, { endpointUrl, hmacSecretId }: typeof NoticeWebhook.Type): DestinationSettings => ({
  destinationId,
  client,
  source: noticeSource,
  endpointUrl,
  hmacSecretId,
  policy: { ...defaultPolicy, batchMaxSize: 1 },
  envelope: { open: "", close: "" },
  signing: "required",
  whenDead: "continue",
  state: "active"
})
