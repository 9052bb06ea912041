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

export interface EventListQuery {
  readonly shipmentId?: string
  readonly eventTypes?: ReadonlyArray<string>
  /** RFC 3339 with an offset, or a `Date`. */
  readonly occurredFrom?: string | Date
  readonly occurredTo?: string | Date
  readonly page?: number
  readonly pageSize?: number
  readonly order?: "asc" | "desc"
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

export interface SubscriptionMethods {
  readonly create: (principal: HostPrincipal, subscription: SubscriptionCreate) => Promise<TransitSubscription>
  readonly list: (principal: HostPrincipal, query?: SubscriptionListQuery) => Promise<Page<TransitSubscription>>
  readonly get: (principal: HostPrincipal, subscriptionId: string) => Promise<TransitSubscription>
  /** JSON merge patch: absent members stay, `null` resets a member to its default. */
  readonly patch: (principal: HostPrincipal, subscriptionId: string, patch: SubscriptionPatch) => Promise<TransitSubscription>
  readonly remove: (principal: HostPrincipal, subscriptionId: string) => Promise<void>
}
