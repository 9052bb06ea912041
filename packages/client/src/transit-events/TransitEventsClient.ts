/** Client for transit events and their subscriptions (area D). */
import { type CallOptions, Connection, type ConnectionOptions, type Query } from "../connection/Connection.ts"
import { itemsOf, type NumberedPage, pageOf } from "../connection/NumberedPages.ts"
import type { OpenList } from "../shared/OpenList.ts"
import type { EventType, TransitEvent } from "./TransitEvent.ts"
import type { SubscriptionStatus, TransitSubscription, TransitSubscriptionCreate, TransitSubscriptionPatch } from "./TransitSubscription.ts"

/** All given conditions must match. */
export interface EventQuery {
  readonly shipmentId?: string | undefined
  readonly eventTypes?: ReadonlyArray<OpenList<EventType>> | undefined
  /** Inclusive start of `occurredAt`: RFC 3339 with an offset, or a `Date`. */
  readonly occurredFrom?: string | Date | undefined
  /** Exclusive end of `occurredAt`. */
  readonly occurredTo?: string | Date | undefined
  /** Sort direction of shipment, sequence and event id together. */
  readonly order?: "asc" | "desc" | undefined
  /** Page number, from 1. */
  readonly page?: number | undefined
  /** 1 to 500; the server's default is 100. */
  readonly pageSize?: number | undefined
}

/** Which of the caller's subscriptions to list. */
export interface SubscriptionQuery {
  /** The server's default is `active`. */
  readonly status?: SubscriptionStatus | undefined
  readonly page?: number | undefined
  /** 1 to 200; the server's default is 50. */
  readonly pageSize?: number | undefined
}

/** A page of events by (shipmentId, sequence, eventId). */
export type EventsPage = NumberedPage<TransitEvent>

/** A page of the caller's subscriptions, by id. */
export type SubscriptionsPage = NumberedPage<TransitSubscription>

const events = ["v1", "events"]
const subscriptions = ["v1", "subscriptions"]

/** Transit events and subscriptions to them (area D). Calls reject with `WaybillProblem` when the server refuses, and with `WaybillCallFailed` when there is no usable answer. */
export class TransitEventsClient {
  readonly #connection: Connection

  /** `basePath` is `/visibility` by default. */
  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options, "/visibility")
  }

  /** One page of events, sorted by shipment, sequence and event id. */
  listEvents(query: EventQuery = {}, options?: CallOptions): Promise<EventsPage> {
    return pageOf(this.#connection, events, query as Query, options)
  }

  /** Iterates over every matching event, page by page. New events do not shift the pages. */
  allEvents(query: Omit<EventQuery, "page"> = {}, options?: CallOptions): AsyncGenerator<TransitEvent, void, undefined> {
    return itemsOf(this.#connection, events, query as Query, options)
  }

  /** One page of this client's own subscriptions, sorted by id. */
  listSubscriptions(query: SubscriptionQuery = {}, options?: CallOptions): Promise<SubscriptionsPage> {
    return pageOf(this.#connection, subscriptions, query as Query, options)
  }

  /** Iterates over every subscription of this client with the given status, page by page. */
  allSubscriptions(
    query: Omit<SubscriptionQuery, "page"> = {},
    options?: CallOptions
  ): AsyncGenerator<TransitSubscription, void, undefined> {
    return itemsOf(this.#connection, subscriptions, query as Query, options)
  }

  /** Never retried: after a lost response, list the subscriptions before you create another. */
  createSubscription(subscription: TransitSubscriptionCreate, options?: CallOptions): Promise<TransitSubscription> {
    return this.#connection.ask({ method: "POST", path: subscriptions, body: subscription, repeatable: false }, options)
  }

  getSubscription(subscriptionId: string, options?: CallOptions): Promise<TransitSubscription> {
    return this.#connection.ask({ method: "GET", path: [...subscriptions, subscriptionId], repeatable: true }, options)
  }

  /** Changes only the fields of the patch. Never retried, because another client may have changed it meanwhile. */
  updateSubscription(
    subscriptionId: string,
    patch: TransitSubscriptionPatch,
    options?: CallOptions
  ): Promise<TransitSubscription> {
    return this.#connection.ask({
      method: "PATCH",
      path: [...subscriptions, subscriptionId],
      body: patch,
      contentType: "application/merge-patch+json",
      repeatable: false
    }, options)
  }

  /** Deletes the subscription and stops its deliveries. */
  async deleteSubscription(subscriptionId: string, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: [...subscriptions, subscriptionId], repeatable: true }, options)
  }
}
