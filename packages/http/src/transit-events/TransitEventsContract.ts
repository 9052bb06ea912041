/** Area D over HTTP: event lists, subscriptions, and deliveries. */
import { Count, PageNumber } from "@waybill/core"
import {
  defaultEventPageSize,
  defaultSubscriptionPageSize,
  EventBatch,
  EventQuery,
  SubscriptionCreate,
  SubscriptionPatch,
  TransitEvent,
  TransitSubscription,
  TransitSubscriptionQuery
} from "@waybill/core/transit-events"
import { Schema } from "effect"
import { contract } from "../shared/Contract.ts"
import { pageHeaders } from "../shared/Paging.ts"
import { mergePatchMediaTypes } from "../shared/RequestBody.ts"
import { createConflict, createdHeaders, deleteDescription, ownSubscriptionId, patchConflict, patchDescription } from "../shared/SubscriptionTexts.ts"
import { answersOfReceivers, signedHeaders } from "../shared/WebhookHeaders.ts"

const page = {
  page: PageNumber,
  pageSize: Count,
  totalPages: Schema.optionalKey(Schema.NullOr(Count)),
  totalCount: Schema.optionalKey(Schema.NullOr(Count))
}

const EventsPage = Schema.Struct({ data: Schema.Array(TransitEvent), ...page }).annotate({ identifier: "EventsPage" })
const SubscriptionsPage = Schema.Struct({ data: Schema.Array(TransitSubscription), ...page }).annotate({ identifier: "SubscriptionsPage" })

const generatedAt = { description: "When this answer was put together.", schema: Schema.String }

/** Room for a thousand shipment ids in any script. */
const maxSubscriptionBytes = 1024 * 1024

export const TransitEventsContract = contract({
  area: "transit-events",
  title: "In-transit events",
  description: "Lists transit events of shipments, and manages webhook subscriptions to them.",
  access: "caller",
  params: ownSubscriptionId,
  endpoints: {
    listEvents: {
      route: "GET /v1/events",
      largeAnswer: true,
      summary: "List shipment events",
      description: "A page of the events that the caller has access to, by shipmentId, sequence and eventId. " +
        "Pages reached by the Link header show one snapshot; new events do not move their content.",
      query: {
        shipmentId: { kind: "text", schema: EventQuery.fields.shipmentId.schema, description: "Only events of this shipment." },
        eventTypes: { kind: "list", schema: EventQuery.fields.eventTypes.schema, description: "Only events of these types; repeated or separated by commas." },
        occurredFrom: { kind: "instant", schema: EventQuery.fields.occurredFrom.schema, description: "occurredAt at or after this instant." },
        occurredTo: { kind: "instant", schema: EventQuery.fields.occurredTo.schema, description: "occurredAt before this instant." },
        page: { kind: "integer", schema: EventQuery.fields.page.schema, description: "Page number, from 1.", default: 1 },
        pageSize: { kind: "integer", schema: EventQuery.fields.pageSize.schema, description: "Most results on a page.", default: defaultEventPageSize },
        order: { kind: "text", schema: EventQuery.fields.order.schema, description: "Direction of the whole order: shipmentId, sequence, eventId.", default: "asc" },
        cursor: {
          kind: "text",
          schema: EventQuery.fields.cursor.schema,
          description: "Part of the addresses in the Link header; keeps the pages of one list consistent. Never construct it yourself."
        }
      },
      answers: { 200: { description: "A page of events", schema: EventsPage, headers: { ...pageHeaders, "Date": generatedAt, "Last-Modified": generatedAt } } }
    },
    listSubscriptions: {
      route: "GET /v1/subscriptions",
      largeAnswer: true,
      summary: "List subscriptions",
      description: "The caller's own subscriptions in one status, by id.",
      query: {
        status: { kind: "text", schema: TransitSubscriptionQuery.fields.status.schema, description: "Only subscriptions in this status.", default: "active" },
        page: { kind: "integer", schema: TransitSubscriptionQuery.fields.page.schema, description: "Page number, from 1.", default: 1 },
        pageSize: { kind: "integer", schema: TransitSubscriptionQuery.fields.pageSize.schema, description: "Most results on a page.", default: defaultSubscriptionPageSize }
      },
      answers: { 200: { description: "A page of subscriptions", schema: SubscriptionsPage, closed: true, headers: pageHeaders } }
    },
    createSubscription: {
      route: "POST /v1/subscriptions",
      summary: "Create a subscription",
      description: "With filters.shipmentIds, every earlier event of those shipments is delivered first.",
      body: { schema: SubscriptionCreate, closed: true, maxBytes: maxSubscriptionBytes },
      answers: { 201: { description: "Created", schema: TransitSubscription, closed: true, headers: createdHeaders } },
      refusals: { 409: createConflict }
    },
    getSubscription: {
      route: "GET /v1/subscriptions/{subscriptionId}",
      summary: "Get a subscription",
      description: "With its filters, its delivery settings and its status.",
      answers: { 200: { description: "The subscription", schema: TransitSubscription, closed: true } }
    },
    updateSubscription: {
      route: "PATCH /v1/subscriptions/{subscriptionId}",
      summary: "Change a subscription",
      description: patchDescription("filters, delivery or one of their members"),
      body: { schema: SubscriptionPatch, contentTypes: mergePatchMediaTypes, closed: true, maxBytes: maxSubscriptionBytes },
      answers: { 200: { description: "The changed subscription", schema: TransitSubscription, closed: true } },
      refusals: { 409: patchConflict }
    },
    deleteSubscription: {
      route: "DELETE /v1/subscriptions/{subscriptionId}",
      summary: "Delete a subscription",
      description: deleteDescription,
      answers: { 204: { description: "Deleted" } }
    }
  },
  webhooks: {
    shipmentEvents: {
      summary: "Events for a subscriber",
      description: "Sent to the subscription's endpointUrl. The bytes and webhook-id of a delivery are the same at every attempt; " +
        "verify the signature over the raw body, and drop events whose shipmentId and eventId are known. Events of one shipment arrive in sequence.",
      headers: signedHeaders,
      body: EventBatch,
      answers: answersOfReceivers("The receiver wants no more events. The subscription is paused; PATCH it to active to resume it.")
    }
  }
})

