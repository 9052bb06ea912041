/** Intake over HTTP: the carrier's system publishes events, shipments, status, bills and pickup reports. */
import { Count, InstantText, maxHistoryBytes, maxItemsPerCall } from "@waybill/core"
import { BillChangeReport, BillRemovalReport } from "@waybill/core/freight-charges"
import {
  CarrierDecision,
  PickupChangeEntry,
  PickupBatch,
  PickupChangeQuery,
  PickupRecord,
  PickupReport,
  PickupReportResult,
  PickupSubscription,
  PickupSubscriptionCreate,
  PickupSubscriptionPatch,
  PickupSubscriptionQuery
} from "@waybill/core/pickups"
import { PostedShipment, StatusUpdate, VerifiedShipment } from "@waybill/core/shipment-status"
import { ReportedEvent } from "@waybill/core/transit-events"
import { Schema } from "effect"
import { contract } from "../shared/Contract.ts"
import { mergePatchMediaTypes } from "../shared/RequestBody.ts"
import { pageOf } from "../shared/PageQuery.ts"
import { createConflict, createdHeaders, deleteDescription, ownSubscriptionId, patchConflict, patchDescription } from "../shared/SubscriptionTexts.ts"
import { answersOfReceivers, signedHeaders } from "../shared/WebhookHeaders.ts"
import { ProblemFault } from "../shared/ProblemDetails.ts"

/** Room for a thousand items with their JSON overhead. */
const maxIntakeBytes = 16 * 1024 * 1024

const some = <S extends Schema.Top>(item: S) =>
  Schema.NonEmptyArray(item).check(Schema.isMaxLength(maxItemsPerCall, { message: `At most ${maxItemsPerCall} items in one call. Send several calls.` }))

const Events = Schema.Struct({ events: some(ReportedEvent) }).annotate({ identifier: "ReportedEvents" })
const Shipments = Schema.Struct({ shipments: some(PostedShipment) }).annotate({ identifier: "PostedShipments" })
const Updates = Schema.Struct({ updates: some(StatusUpdate) }).annotate({ identifier: "StatusUpdates" })
const FreightBillReport = Schema.Union([BillChangeReport, BillRemovalReport]).annotate({ identifier: "FreightBillReport" })
const Charges = Schema.Struct({ charges: some(FreightBillReport) }).annotate({ identifier: "FreightBillChanges" })

/** One result per item, in order; members besides the result identify the item. */
const reportOf = <Key extends Schema.Struct.Fields>(name: string, key: Key) =>
  Schema.Struct({
    results: Schema.Array(
      Schema.Struct({
        index: Count.annotate({ description: "Position in the call, from 0." }),
        result: Schema.Literals(["accepted", "duplicate", "error"]),
        ...key,
        errors: Schema.optionalKey(Schema.Array(ProblemFault))
      }).annotate({ identifier: `${name}Result` })
    )
  }).annotate({ identifier: `${name}Report` })

const outcome = Schema.Literals(["applied", "unchanged", "late", "refused"]).annotate({
  description: "applied: something changed. unchanged: it changed nothing. late: it happened before what was known. refused: no permitted move."
})

const text = Schema.optionalKey(Schema.String)

const notified = Schema.optionalKey(Schema.Array(Schema.String).annotate({
  description: "What the subscriptions that follow the shipment are sent: messages, or milestones with a terminal status. If nothing, notNotified says why."
}))

const { ShipmentMilestoneStatus, ...fields } = VerifiedShipment.fields

const ShipmentRecord = Schema.Struct({
  shipmentId: Schema.String,
  accounts: Schema.Array(Schema.String).annotate({ description: "Accounts that have access." }),
  carrier: Schema.NullOr(Schema.Struct({ dot: text, mc: text, scac: text })).annotate({
    description: "The carrier, if it was given: numbers without prefix, separators and leading zeros."
  }),
  covered: Schema.Boolean.annotate({ description: "Whether lookups find it: true once it has a milestone." }),
  shipment: Schema.Struct({ ...fields, ShipmentMilestoneStatus: Schema.optionalKey(ShipmentMilestoneStatus) }).annotate({ identifier: "KnownShipment" }),
  history: Schema.Array(Schema.Struct({
    position: Count,
    occurredAt: InstantText,
    outcome,
    report: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "The report as the service read it." })
  }))
}).annotate({ identifier: "ShipmentRecord" })

const integer = Schema.optionalKey(Count)

const partial = {
  partial: {
    kind: "boolean",
    schema: Schema.Boolean,
    description: "Accept the valid items when others are refused. Otherwise one invalid item refuses the whole call.",
    default: false
  }
} as const

const PickupChanges = Schema.Struct({
  data: Schema.Array(PickupChangeEntry),
  nextCursor: Schema.String.annotate({ description: "Always there. Ask again with it for what has happened since." })
}).annotate({ identifier: "PickupChanges" })

const PickupSubscriptions = Schema.Struct({
  data: Schema.Array(PickupSubscription),
  nextCursor: Schema.NullOr(Schema.String)
}).annotate({ identifier: "PickupSubscriptionsPage" })

/** Calls of intake: paths, schemas and statuses. */
export const IntakeContract = contract({
  area: "intake",
  title: "Intake",
  description: "Where the carrier's own system writes. Calls take one item or up to 1,000, are idempotent by natural keys and are one " +
    "transaction each. Needs the role carrier.",
  access: "caller",
  params: {
    ...ownSubscriptionId,
    pickupId: { description: "The carrierPickupNumber; while there is none, the service's own id.", missing: "No such pickup, or not visible to the caller." },
    shipmentId: { description: "The id it was registered under.", missing: "No such shipment, or not visible to the caller." }
  },
  endpoints: {
    reportTransitEvents: {
      route: "POST /v1/transit-events",
      audit: { action: "transit-events.publish", object: "transit-events" },
      summary: "Report transit events",
      description: "eventId and sequence may be left out; the service assigns them, gap-free per shipment. The same content under the same " +
        "eventId of a shipment again is a duplicate and changes nothing. The shipment's status follows.",
      query: partial,
      body: { schema: Events, maxBytes: maxIntakeBytes, items: "events" },
      answers: { 200: { description: "Result of each event", schema: reportOf("Intake", { eventId: text, shipmentId: text, sequence: integer }) } }
    },
    registerShipments: {
      route: "POST /v1/shipments",
      audit: { action: "shipments.register", object: "shipments" },
      summary: "Register shipments",
      description: "By shipmentId: the first call makes it known, later ones replace its fields. What reports have established is changed only where " +
        "the posted value differs from the one posted before.",
      query: partial,
      body: { schema: Shipments, maxBytes: maxIntakeBytes, items: "shipments" },
      answers: { 200: { description: "Result of each shipment", schema: reportOf("Shipment", { shipmentId: text }) } }
    },
    getShipmentRecord: {
      route: "GET /v1/shipments/{shipmentId}",
      largeAnswer: true,
      summary: "Get the record of a shipment",
      description: `Its fields, the accounts that have access, and the outcome of every report: the newest ${maxHistoryBytes / 1_000_000} MB of them, if they are longer.`,
      answers: { 200: { description: "The shipment", schema: ShipmentRecord } }
    },
    reportStatusUpdates: {
      route: "POST /v1/status-updates",
      audit: { action: "status-updates.report", object: "status-updates" },
      summary: "Report movements and information",
      description: "Fields of a delivery update or a delivery information, with shipmentId or proNumber. A move that is not permitted is refused with " +
        "the reason. The same updateId again is a duplicate.",
      query: partial,
      body: { schema: Updates, maxBytes: maxIntakeBytes, items: "updates" },
      answers: { 200: { description: "Result of each update", schema: reportOf("StatusUpdate", { shipmentId: text, eventId: text, outcome: Schema.optionalKey(outcome), notified, notNotified: text }) } }
    },
    reportFreightCharges: {
      route: "POST /v1/freight-charges",
      audit: { action: "freight-charges.publish", object: "freight-charges" },
      summary: "Report freight bills",
      description: "By pfc.uniqueID. header.function may be left out; the service counts. Without accounts, the debtor is the account it bills to.",
      query: partial,
      body: { schema: Charges, maxBytes: maxIntakeBytes, items: "charges", nullIsMissing: true },
      answers: { 200: { description: "Result of each bill", schema: reportOf("FreightCharge", { uniqueID: text, version: integer }) } }
    },
    reportPickupStatus: {
      route: "POST /v1/pickups/{pickupId}/status",
      audit: { action: "pickup.report-status", object: "pickup", id: "pickupId" },
      summary: "Report the progress of a pickup",
      description: "A transition that is not permitted is refused with the reason. Repeating the last report is a duplicate.",
      body: { schema: PickupReport, maxBytes: 1024 * 1024 },
      answers: { 200: { description: "Taken", schema: PickupReportResult } }
    },
    listPickupChanges: {
      route: "GET /v1/pickups",
      largeAnswer: true,
      summary: "List the changes of pickups",
      description: "The carrier's work list: every order, change, cancellation, decision and report once, in commit order, without test pickups. " +
        "A carrier with a dot or mc number is shown what it or no carrier has decided.",
      query: {
        since: { kind: "instant", schema: PickupChangeQuery.fields.since.schema, description: "Where a list without cursor starts." },
        status: { kind: "text", schema: PickupChangeQuery.fields.status.schema, description: "The present status of the pickup, in any case." },
        ...pageOf(PickupChangeQuery.fields)
      },
      answers: { 200: { description: "A page of changes, oldest first", schema: PickupChanges } }
    },
    decidePickup: {
      route: "POST /v1/pickups/{pickupId}/decision",
      audit: { action: "pickup.decide", object: "pickup", id: "pickupId" },
      summary: "Decide on a pickup",
      description: "On an order, or on a change of it, that waits for a decision; 409 if there is none. The shipper's call is answered with it. After " +
        "call, report the result as a status.",
      body: { schema: CarrierDecision, closed: true, maxBytes: 1024 * 1024 },
      answers: { 200: { description: "Decided", schema: PickupReportResult } },
      refusals: { 409: "The pickup is decided already." }
    },
    getPickupRecord: {
      route: "GET /v1/pickups/{pickupId}",
      largeAnswer: true,
      summary: "Get the record of a pickup",
      description: `The request, its visibility, and its history: the newest ${maxHistoryBytes / 1_000_000} MB of it, if it is longer.`,
      answers: { 200: { description: "The pickup", schema: PickupRecord } }
    },
    createPickupSubscription: {
      route: "POST /v1/subscriptions",
      audit: { action: "pickup-subscription.create", object: "subscription", id: "id" },
      summary: "Subscribe to pickups",
      description: "The entries of the work list are sent to endpointUrl from now on, those of one pickup in order.",
      body: { schema: PickupSubscriptionCreate, closed: true, maxBytes: 1024 * 1024 },
      answers: { 201: { description: "Created", schema: PickupSubscription, closed: true, headers: createdHeaders } },
      refusals: { 409: createConflict }
    },
    listPickupSubscriptions: {
      route: "GET /v1/subscriptions",
      largeAnswer: true,
      summary: "List subscriptions to pickups",
      description: "The caller's own, by id.",
      query: pageOf(PickupSubscriptionQuery.fields),
      answers: { 200: { description: "A page of subscriptions", schema: PickupSubscriptions, closed: true } }
    },
    getPickupSubscription: {
      route: "GET /v1/subscriptions/{subscriptionId}",
      summary: "Get a subscription to pickups",
      description: "With its delivery settings and its status.",
      answers: { 200: { description: "The subscription", schema: PickupSubscription, closed: true } }
    },
    updatePickupSubscription: {
      route: "PATCH /v1/subscriptions/{subscriptionId}",
      audit: { action: "pickup-subscription.change", object: "subscription", id: "subscriptionId" },
      summary: "Change a subscription to pickups",
      description: patchDescription("delivery or one of its members"),
      body: { schema: PickupSubscriptionPatch, contentTypes: mergePatchMediaTypes, closed: true, maxBytes: 1024 * 1024 },
      answers: { 200: { description: "The changed subscription", schema: PickupSubscription, closed: true } },
      refusals: { 409: patchConflict }
    },
    deletePickupSubscription: {
      route: "DELETE /v1/subscriptions/{subscriptionId}",
      audit: { action: "pickup-subscription.delete", object: "subscription", id: "subscriptionId" },
      summary: "Delete a subscription to pickups",
      description: deleteDescription,
      answers: { 204: { description: "Deleted" } }
    }
  },
  webhooks: {
    pickupChanges: {
      summary: "Changes of pickups for a carrier",
      description: "Sent to the subscription's endpointUrl. The bytes and webhook-id of a delivery are the same at every attempt; verify the signature over " +
        "the raw body. Entries of one pickup arrive in the order of the work list.",
      headers: signedHeaders,
      body: PickupBatch,
      answers: answersOfReceivers("The receiver wants no more changes. The subscription is paused; PATCH it to active to resume it.")
    }
  }
})
