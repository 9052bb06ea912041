/** Storage port: where customers want to be told of failing endpoints, and what they were told. */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"

/**
 * - `ending`: attempts fail, and the last one of a delivery is near.
 * - `failing`: attempts have failed for long, or a delivery has used them up.
 * - `paused`: the service has paused the subscription.
 */
export type NoticeKind = "ending" | "failing" | "paused"

/** One notice: a client is told of a trouble of a subscription once a day. */
export interface NoticeKey {
  readonly subscriptionId: string
  readonly kind: NoticeKind
  /** Days since 1970, in UTC. */
  readonly day: number
}

/** Rows that one call of `prune` removes, at most. */
export const noticesPerPrune = 1000

export class NoticeStore extends Context.Service<NoticeStore, {
  /** The e-mail address of a client. */
  readonly contact: (tenantId: string, client: string) => Effect.Effect<Option.Option<string>, StorageError>
  /** `undefined` removes it. */
  readonly setContact: (tenantId: string, client: string, email: string | undefined) => Effect.Effect<void, StorageError>
  /** Whether the caller is the one that sends this notice: true once, for one of all processes. Undone with the caller's transaction. */
  readonly claim: (tenantId: string, key: NoticeKey) => Effect.Effect<boolean, StorageError>
  /** Removes claims of a tenant from days before this one. Returns their number: `noticesPerPrune` at most. */
  readonly prune: (tenantId: string, beforeDay: number) => Effect.Effect<number, StorageError>
}>()("@waybill/core/notices/NoticeStore") {}
