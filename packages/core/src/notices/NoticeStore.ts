/** Storage port: contacts for notices about failing endpoints, and the notices that were sent. */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"

/** Source of the destinations of notices by webhook, which belong to no area. */
export const noticeSource = "notices"

/**
 * - `ending`: attempts fail, and the last one of a delivery is near.
 * - `failing`: attempts have failed for long.
 * - `dead_letter`: a delivery has used up its attempts.
 * - `paused`: the service has paused the subscription.
 */
export const noticeKinds = ["ending", "failing", "dead_letter", "paused"] as const

/** One of `noticeKinds`. */
export type NoticeKind = typeof noticeKinds[number]

/** Identifies a notice: a client gets one a day for each kind and subscription. */
export interface NoticeKey {
  readonly subscriptionId: string
  readonly kind: NoticeKind
  /** Days since 1970, in UTC. */
  readonly day: number
}

/** Where a client wants its notices, and which ones. Without a list of kinds, all of them. */
export interface NoticeContacts {
  readonly email: string | undefined
  readonly emailKinds: ReadonlyArray<NoticeKind> | undefined
  /** The destination of its webhook. */
  readonly webhookId: string | undefined
  readonly webhookKinds: ReadonlyArray<NoticeKind> | undefined
}

/** The contacts of a client that has set none. */
export const noNoticeContacts: NoticeContacts = { email: undefined, emailKinds: undefined, webhookId: undefined, webhookKinds: undefined }

/** A notice that is sent as a webhook, in the order of the subscription that it is about. */
export interface WebhookNotice {
  readonly webhookId: string
  readonly subscriptionId: string
  readonly noticeId: string
  readonly body: Uint8Array
  readonly traceparent: string | undefined
}

/** Rows that one call of `prune` or `pruneBodies` removes, at most. */
export const noticesPerPrune = 1000

/** Storage port: contacts of clients, and which notices were sent. */
export class NoticeStore extends Context.Service<NoticeStore, {
  /** With `forUpdate`, locks them until the transaction ends, also when there are none. */
  readonly contacts: (tenantId: string, client: string, forUpdate?: boolean) => Effect.Effect<NoticeContacts, StorageError>
  readonly setContacts: (tenantId: string, client: string, contacts: NoticeContacts) => Effect.Effect<void, StorageError>
  /** Removes the webhook from the client's contacts, if it is still this one. The caller closes its destination. */
  readonly endWebhook: (tenantId: string, client: string, webhookId: string) => Effect.Effect<void, StorageError>
  /** Whether the caller is the one that sends this notice: true once, for one of all processes. Undone with the caller's transaction. */
  readonly claim: (tenantId: string, key: NoticeKey) => Effect.Effect<boolean, StorageError>
  /** Queues a notice for its webhook. Does nothing if the destination is closed. */
  readonly queue: (tenantId: string, notice: WebhookNotice) => Effect.Effect<void, StorageError>
  /** Removes claims of a tenant from days before this one. Returns their number: `noticesPerPrune` at most. */
  readonly prune: (tenantId: string, beforeDay: number) => Effect.Effect<number, StorageError>
  /** Removes bodies of webhooks that were queued before this instant and are no longer needed. Returns their number. */
  readonly pruneBodies: (tenantId: string, before: number) => Effect.Effect<number, StorageError>
}>()("@waybill/core/notices/NoticeStore") {}
