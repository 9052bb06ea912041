/** Shapes and calls of area D. */
import { compareText } from "@waybill/core"
import { SubscriptionStatus } from "@waybill/core/delivery"
import { EventType, SubscriptionFilters, TransitSubscription } from "@waybill/core/transit-events"
import { Schema } from "effect"
import type { Inbox, Post } from "../Callback.ts"
import type { CallerName, Exchange } from "../ApiCaller.ts"
import { callText, jsonAnswer, jsonOf, optional, orNull, read } from "../Expectations.ts"
import { making, type RuleContext, Violation } from "../Rule.ts"

/** An implementation may show the secret's name and the delivery settings, or not. */
export const Subscription = Schema.Struct({
  id: Schema.String.check(Schema.isMinLength(1)),
  endpointUrl: TransitSubscription.fields.endpointUrl,
  hmacSecretId: optional(Schema.String),
  filters: optional(SubscriptionFilters),
  delivery: optional(Schema.Record(Schema.String, Schema.Unknown)),
  createdAt: TransitSubscription.fields.createdAt,
  updatedAt: TransitSubscription.fields.updatedAt,
  status: SubscriptionStatus
})

const pageOf = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ data: Schema.Array(item), page: Schema.Int, pageSize: Schema.Int, totalPages: optional(orNull(Schema.Int)), totalCount: optional(orNull(Schema.Int)) })

const instant = Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/u, { message: "a date-time" }))
const Location = Schema.Struct({ type: optional(Schema.String), latitude: optional(orNull(Schema.Finite)), longitude: optional(orNull(Schema.Finite)) })

/** The interface does not say which members are required, beside what the rules look at. A rule of its own holds the published list. */
const Event = Schema.Struct({
  eventId: Schema.String,
  type: EventType,
  status: optional(Schema.String),
  occurredAt: instant,
  reportedAt: optional(instant),
  sequence: Schema.Int,
  location: optional(Location),
  notes: optional(Schema.String),
  attributes: optional(Schema.Record(Schema.String, Schema.Unknown)),
  shipment: Schema.Struct({ shipmentId: Schema.String, mode: optional(Schema.String), scac: optional(Schema.String), origin: optional(Location), destination: optional(Location) })
})
export type ListedEvent = typeof Event.Type

const EventBatch = Schema.Struct({ deliveryId: Schema.String.check(Schema.isMinLength(1)), sentAt: instant, events: Schema.NonEmptyArray(Event) })

export const EventsPage = pageOf(Event)
export const SubscriptionsPage = pageOf(Subscription)

const text = optional(Schema.String)

const Problem = Schema.Struct({
  status: Schema.Int,
  title: Schema.String,
  detail: text,
  instance: text,
  code: text,
  errors: optional(Schema.Array(Schema.Struct({ detail: text, pointer: text, parameter: text, header: text, code: text })))
})

/** Expects the error body of the area. */
export const expectProblem = (exchange: Exchange): void => {
  const { status } = read(Problem, exchange.json, `The error body of ${callText(exchange)}`, exchange)
  if (status !== exchange.status) throw new Violation(`${callText(exchange)} answered ${exchange.status}, and its body says ${status}.`, exchange)
}

/** Expects paging information in headers, whose names the interface does not show. */
export const expectPageHeaders = (exchange: Exchange): string => {
  const found = [...exchange.headers].map(([name]) => name).filter((name) => name === "link" || /page|total|count/u.test(name))
  if (found.length === 0) throw new Violation(`${callText(exchange)} has no header with paging information, such as Link or X-Total-Count.`, exchange)
  return found.join(", ")
}

export const compareEvents = (one: ListedEvent, other: ListedEvent): number =>
  compareText(one.shipment.shipmentId, other.shipment.shipmentId) || one.sequence - other.sequence || compareText(one.eventId, other.eventId)

export const batchOf = (post: Post): typeof EventBatch.Type => read(EventBatch, jsonOf(post), "The body of a delivery", post)
export const eventsOf = (posts: ReadonlyArray<Post>): ReadonlyArray<ListedEvent> => posts.flatMap((post) => batchOf(post).events)

export const subscriptionPath = (id: string): string => `/v1/subscriptions/${encodeURIComponent(id)}`

export interface Subscribed {
  readonly id: string
  readonly inbox: Inbox
  readonly exchange: Exchange
}

interface Settings {
  readonly filters?: object
  readonly delivery?: object
}

/** Short backoff, because the check waits for the retry. */
const promptly = { initialBackoffSeconds: 1, maxBackoffSeconds: 2 }

/** The body of a valid create call. */
export const subscriptionBody = (context: RuleContext, endpointUrl = context.endpointUrl) => ({ endpointUrl, hmacSecretId: context.fixtures.webhook!.hmacSecretId })

/** Creates a subscription with its own inbox. It is removed at the end. */
export const subscribe = (context: RuleContext, settings: Settings = {}, as: CallerName = "customer"): Promise<Subscribed> => {
  const inbox = context.inbox()
  return created(context, { ...subscriptionBody(context, inbox.url), ...settings, delivery: { ...promptly, ...settings.delivery } }, inbox, as)
}

/** The same without the need of deliveries. */
export const subscribeOnly = (context: RuleContext, settings: Settings = {}): Promise<Subscribed> =>
  created(context, { ...subscriptionBody(context), ...settings }, context.inbox(), "customer")

export const onSubscription = making(subscribeOnly)

const created = async (context: RuleContext, body: object, inbox: Inbox, as: CallerName): Promise<Subscribed> => {
  const exchange = await context.call("d", "POST", "/v1/subscriptions", { as, body })
  const { id } = (exchange.json ?? {}) as { readonly id?: unknown }
  if (exchange.status < 200 || exchange.status > 299 || typeof id !== "string") throw new Violation(`No subscription was created: ${callText(exchange)} answered ${exchange.status}.`, exchange)
  context.afterwards(() => context.call("d", "DELETE", subscriptionPath(id), { as }))
  return { id, inbox, exchange }
}

/** A call that patches a subscription. */
export const patched = (context: RuleContext, id: string, body: unknown, as: CallerName = "customer"): Promise<Exchange> =>
  context.call("d", "PATCH", subscriptionPath(id), { as, body, contentType: "application/merge-patch+json" })

export const eventsPage = (context: RuleContext, query: Readonly<Record<string, string | ReadonlyArray<string>>>) =>
  jsonAnswer(context.call("d", "GET", "/v1/events", { as: "customer", query }), EventsPage, 200)

/** The listed events of the shipments of the fixtures, in the order of the list. */
export const knownEvents = async (context: RuleContext): Promise<ReadonlyArray<ListedEvent>> => {
  const found: Array<ListedEvent> = []
  for (const shipmentId of context.fixtures.events!.shipmentIds) found.push(...(await eventsPage(context, { shipmentId, pageSize: "500" }))[0].data)
  return found
}
