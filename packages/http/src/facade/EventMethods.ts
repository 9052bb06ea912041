/** Transit events as promises. */
import type { IntakeOptions, Page } from "@waybill/core"
import type { Publication, ReportedEvent, SubscriptionCreate, SubscriptionPatch, TransitEvent, TransitSubscription, TransitSubscriptionQuery } from "@waybill/core/transit-events"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"

export type {
  EventType,
  Publication,
  ReportedEvent,
  SubscriptionCreate,
  SubscriptionPatch,
  TransitEvent,
  TransitSubscription
} from "@waybill/core/transit-events"

export interface EventsPage extends Page<TransitEvent> {
  /** Pass it as `cursor` with the number of the next page, so that new events do not shift the pages. */
  readonly nextCursor: string | undefined
}

/** All given conditions must match. */
export interface EventListQuery {
  readonly shipmentId?: string
  readonly eventTypes?: ReadonlyArray<string>
  /** Inclusive start of `occurredAt`: RFC 3339 with an offset, or a `Date`. */
  readonly occurredFrom?: string | Date
  /** Exclusive end of `occurredAt`. */
  readonly occurredTo?: string | Date
  /** From 1, the default. */
  readonly page?: number
  /** 1 to 500; 100 by default. */
  readonly pageSize?: number
  /** Of shipmentId, sequence and eventId together; `asc` by default. */
  readonly order?: "asc" | "desc"
  /** `nextCursor` of the previous page. */
  readonly cursor?: string
}

export type SubscriptionListQuery = typeof TransitSubscriptionQuery.Encoded

export interface PublishMethods {
  /**
   * Stores events and queues them for every matching subscription, in one transaction. One invalid event refuses the
   * whole call unless `partial`. The same content with the same `eventId` is a `duplicate` and changes nothing.
   */
  readonly publish: (
    principal: HostPrincipal,
    events: ReadonlyArray<ReportedEvent>,
    options?: IntakeOptions
  ) => Promise<ReadonlyArray<Publication>>
}

export interface EventReadMethods {
  /** Events that the principal has access to, by shipmentId, sequence and eventId. */
  readonly list: (principal: HostPrincipal, query?: EventListQuery) => Promise<EventsPage>
}

/** Subscriptions to transit events. A caller has its own ones only: another client's id rejects with `subscription_not_found`. */
export interface SubscriptionMethods {
  /** With `filters.shipmentIds`, the stored events of these shipments are sent first; without, it begins with the next event. */
  readonly create: (principal: HostPrincipal, subscription: SubscriptionCreate) => Promise<TransitSubscription>
  /** By id, 50 on a page by default, 200 at most; only `active` ones without `status`. */
  readonly list: (principal: HostPrincipal, query?: SubscriptionListQuery) => Promise<Page<TransitSubscription>>
  readonly get: (principal: HostPrincipal, subscriptionId: string) => Promise<TransitSubscription>
  /** JSON merge patch: absent members stay, `null` resets a member to its default. */
  readonly patch: (principal: HostPrincipal, subscriptionId: string, patch: SubscriptionPatch) => Promise<TransitSubscription>
  /** Ends the subscription; nothing more is sent. */
  readonly remove: (principal: HostPrincipal, subscriptionId: string) => Promise<void>
}
