/** The client's hand-written types must match core's schemas. */
import { forRandom } from "@waybill/conformance/fixtures"
import type * as core from "@waybill/core"
import * as delivery from "@waybill/core/delivery"
import * as coreCharges from "@waybill/core/freight-charges"
import * as coreInvoices from "@waybill/core/invoices"
import * as corePickups from "@waybill/core/pickups"
import * as coreStatus from "@waybill/core/shipment-status"
import * as coreEvents from "@waybill/core/transit-events"
import { Schema } from "effect"
import { createHmac } from "node:crypto"
import { describe, expect, expectTypeOf, it } from "vitest"
import {
  type ChargeEventCode,
  chargeEventCodes,
  type ChargeSubscription,
  type ChargeSubscriptionCreate,
  parseFreightCharges,
  type PreliminaryFreightCharge,
  type WebhookTest,
  type WebhookTested
} from "../src/freight-charges/index.ts"
import type {
  ChargePublication,
  EventPublication,
  FreightBillRemoval,
  FreightBillVersion,
  ItemResult,
  PickupBatch,
  PickupChange,
  PickupSubscription,
  PickupSubscriptionCreate,
  PickupSubscriptionPatch,
  PickupDecision,
  PickupHistory,
  PickupRecord,
  PickupReported,
  ReportedEvent,
  ReportedInformation,
  ReportedMovement,
  ReportedPickup,
  ReportedShipment,
  ShipmentRecord,
  ShipmentRegistration,
  StatusHistory,
  StatusPublication
} from "../src/intake/index.ts"
import {
  type BaseCharge,
  type DocumentQuery,
  documentTypes,
  type DocumentUpload,
  type HandlingUnitCharge,
  type Invoice,
  type InvoiceComment,
  type InvoiceQuery,
  type ItemCharge,
  type SupportingDocuments
} from "../src/invoices/index.ts"
import type { NoticeEvent, WebhookTestEvent } from "../src/portal/index.ts"
import { base64Decoder, base64Encoder } from "../src/invoices/Base64.ts"
import type {
  Area,
  BreakerState,
  Delivery,
  DeliveryInFull,
  DeliveryState,
  Explanation,
  Health,
  Statistics,
  JourneyEntry,
  NamedShipment,
  OperatorSubscription,
  PausedBy,
  ShipmentJourney,
  SubscriptionState,
  Tenant,
  Verdict,
  WaitReason
} from "../src/operator/index.ts"
import { type PickupAnswer, type PickupRequest, pickupStatuses, type PickupVisibility } from "../src/pickups/index.ts"
import { pickupBody } from "../src/pickups/PickupRequest.ts"
import { verifyDelivery, verifyXSignature } from "../src/receiver/index.ts"
import {
  type DeliveryInformation,
  deliveryMessages,
  type DeliveryUpdate,
  milestones,
  parseStatusNotification,
  type PublicShipment,
  type ShipmentLookup,
  type StatusSubscribed,
  type StatusSubscriptionCreate,
  type VerifiedShipment
} from "../src/shipment-status/index.ts"
import { type EventBatch, eventTypes, parseEventBatch, type TransitEvent, type TransitSubscription } from "../src/transit-events/index.ts"
import { invoice, storedDocuments, uploadOf, wireOf } from "./invoice-samples.ts"
import { fullOrder, fullReport, leastOrder, pickupAnswer, pickupVisibility } from "./pickup-samples.ts"
import { bytesOf, chargeOf, deliveryInformation, deliveryUpdate, eventOf, publicShipment, secret, verifiedShipment } from "./samples.ts"

const hmac: delivery.HmacSha256 = (key, pieces) => pieces.reduce((hash, piece) => hash.update(piece), createHmac("sha256", key)).digest("base64")

const fullEvent: ReportedEvent = {
  eventId: "01JD",
  sequence: 4,
  type: "PROOF_OF_DELIVERY",
  status: "D1",
  occurredAt: "2026-11-20T08:15:00-06:00",
  reportedAt: "2026-11-20T14:16:00Z",
  location: {
    locationId: "L1", name: "Dock 4", type: "FACILITY", latitude: 41.25, longitude: -95.99, city: "Omaha", state: "NE",
    postalCode: "68102", country: "USA", address1: "1 Main St", address2: "Rear"
  },
  notes: "left with reception",
  attributes: { terminalCode: "OMA" },
  documents: [{ type: "POD", url: "https://docs.test/1", mimeType: "application/pdf" }],
  shipment: {
    shipmentId: "S1", mode: "LTL", scac: "ABCD", references: [{ type: "PRO", value: "123" }], requestedPickupDate: "2026-11-19T08:00:00Z",
    startDate: "2026-11-19T09:00:00Z", endDate: "2026-11-20T09:00:00Z", origin: { city: "Tulsa" }, destination: {}
  },
  parties: { accounts: ["4711"] }
}

const { ShipmentMilestoneStatus: _milestone, ...described } = verifiedShipment

const fullShipment: Required<ReportedShipment> = {
  ...described,
  ShipmentMilestoneStatus: "Out for Delivery",
  shipmentId: "S1",
  accounts: ["4711"],
  carrier: { dot: "123456", mc: "654321", scac: "ABCD" },
  references: [{ type: "PO", value: "P3" }],
  pickupDate: "2026-11-18",
  occurredAt: "2026-11-20T08:15:00-06:00"
}

const { shipmentReferenceNumbers: _ofUpdate, ...movement } = deliveryUpdate
const fullMovement: Required<ReportedMovement> = {
  ...movement, shipmentMilestoneStatus: "Out for Delivery", terminalStatus: "Departed", terminaltype: "delivery",
  shipmentId: "S1", occurredAt: "2026-11-20T08:15:00-06:00", updateId: "u-1"
}

const { shipmentReferenceNumbers: _ofInformation, ...information } = deliveryInformation
const fullInformation: Required<ReportedInformation> = {
  ...information, deliveryInformation_messages: "Noted late", terminalStatus: "Damaged",
  shipmentId: "S1", occurredAt: "2026-11-20T08:15:00-06:00", updateId: "u-1", notificationMessage: "Late."
}

const fullVersion: Required<FreightBillVersion> = { change: "updated", accounts: ["4711"], pfc: chargeOf("B1", 2) }
const fullRemoval: Required<FreightBillRemoval> = { change: "removed", accounts: [], pfc: { pfc: { uniqueID: "B1", header: { function: "PFC3" } }, charges: { changeLog: [{ eventCode: "Cancel" }], changeLogMessages: [] } } }

const fullSubscription: Required<ChargeSubscription> = {
  subscriptionId: "0199-s",
  webhookUrl: "https://me.test/hook",
  accounts: ["4711"],
  dataOptions: { shipmentDataType: "all_monitored_events", eventType: "no_events" },
  frequency: "hourly",
  includeEventLog: true,
  billScope: "all_accounts",
  hmacSecretId: "main",
  status: "suspended",
  createdAt: "2026-11-20T08:15:00.000Z",
  updatedAt: "2026-11-20T08:15:00.000Z"
}

/** Decodes every field, and refuses fields that core does not know. */
const reads = (schema: Schema.ConstraintDecoder<unknown>, value: unknown) =>
  expect(Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(value)).toEqual(value)

/** Every field name of a struct, at any depth. A value and a list of it are equal. */
type Names<A> = [A] extends [object] ? { readonly [Member in Members<A>]: Names<Item<NonNullable<A[Member & keyof A]>>> } : "value"
type Members<A> = A extends unknown ? keyof A : never
type Item<A> = A extends ReadonlyArray<infer Each> ? Each : A

describe("Client and core agree", () => {
  it("on the event types", () => expect(eventTypes).toEqual(coreEvents.eventTypes))

  it("on the milestones, the messages and the charge codes", () => {
    expect(milestones).toEqual(coreStatus.milestones)
    expect(deliveryMessages).toEqual(coreStatus.deliveryMessages)
    expect(chargeEventCodes).toEqual(coreCharges.eventCodes)
    expectTypeOf<ChargeEventCode>().toEqualTypeOf<coreCharges.EventCode>()
  })

  it("on the types of responses", () => {
    expectTypeOf<coreEvents.TransitEvent>().toExtend<TransitEvent>()
    expectTypeOf<coreEvents.EventBatch>().toExtend<EventBatch>()
    expectTypeOf<coreEvents.TransitSubscription>().toExtend<TransitSubscription>()
    expectTypeOf<delivery.DeliveryView>().toExtend<Delivery>()
    expectTypeOf<delivery.DeliveryBodyView>().toExtend<DeliveryInFull>()
    // The HTTP handler maps refusals to `error` and `errors`.
    expectTypeOf<Exclude<coreEvents.Publication, core.RefusedItem>>().toExtend<EventPublication>()
    expectTypeOf<DeliveryState>().toEqualTypeOf<delivery.DeliveryState>()
  })

  it("on the field names of the operator API", () => {
    expectTypeOf<core.Tenant>().toEqualTypeOf<Tenant>()
    expectTypeOf<core.SubscriptionView>().toExtend<OperatorSubscription>()
    expectTypeOf<Names<OperatorSubscription>>().toEqualTypeOf<Names<core.SubscriptionView>>()
    expectTypeOf<SubscriptionState>().toEqualTypeOf<delivery.DestinationState>()
    expectTypeOf<PausedBy>().toEqualTypeOf<delivery.PausedBy>()
    expectTypeOf<core.HealthView>().toEqualTypeOf<Health>()
    expectTypeOf<core.StatisticsView>().toEqualTypeOf<Statistics>()
    expectTypeOf<core.Explanation>().toExtend<Explanation>()
    expectTypeOf<Verdict>().toEqualTypeOf<core.VerdictName>()
    expectTypeOf<WaitReason>().toEqualTypeOf<core.WaitReason>()
    expectTypeOf<BreakerState>().toEqualTypeOf<delivery.BreakerState>()
    expectTypeOf<core.FoundShipment>().toEqualTypeOf<NamedShipment>()
    expectTypeOf<core.ShipmentJourney>().toExtend<ShipmentJourney>()
    expectTypeOf<keyof ShipmentJourney>().toEqualTypeOf<keyof core.ShipmentJourney>()
    expectTypeOf<keyof JourneyEntry>().toEqualTypeOf<keyof core.JourneyEntry>()
    expectTypeOf<Area>().toEqualTypeOf<core.AreaName>()
  })

  it("on the field names of shipment status", () => {
    expectTypeOf<coreStatus.VerifiedShipment>().toExtend<VerifiedShipment>()
    expectTypeOf<coreStatus.PublicShipment>().toExtend<PublicShipment>()
    expectTypeOf<coreStatus.DeliveryUpdate>().toExtend<DeliveryUpdate>()
    expectTypeOf<coreStatus.DeliveryInformation>().toExtend<DeliveryInformation>()
    expectTypeOf<coreStatus.SubscriptionResult>().toExtend<StatusSubscribed>()
    expectTypeOf<StatusSubscriptionCreate>().toExtend<Omit<coreStatus.SubscribeRequest, "referenceNumbers">>()
    expectTypeOf<keyof StatusSubscriptionCreate>().toEqualTypeOf<keyof coreStatus.SubscribeRequest>()
    expectTypeOf<Names<VerifiedShipment>>().toEqualTypeOf<Names<coreStatus.VerifiedShipment>>()
    expectTypeOf<Names<PublicShipment>>().toEqualTypeOf<Names<coreStatus.PublicShipment>>()
    expectTypeOf<Names<DeliveryUpdate>>().toEqualTypeOf<Names<coreStatus.DeliveryUpdate>>()
    expectTypeOf<Names<DeliveryInformation>>().toEqualTypeOf<Names<coreStatus.DeliveryInformation>>()
    type Named<By> = By extends { readonly kind: string } ? Omit<By, "kind"> : never
    expectTypeOf<ShipmentLookup>().toEqualTypeOf<Named<coreStatus.LookupBy>>()
  })

  it("on the field names of freight charges", () => {
    expectTypeOf<coreCharges.PreliminaryFreightCharge>().toExtend<PreliminaryFreightCharge>()
    expectTypeOf<Names<PreliminaryFreightCharge>>().toEqualTypeOf<Names<coreCharges.PreliminaryFreightCharge>>()
    expectTypeOf<coreCharges.ChargeSubscription>().toExtend<ChargeSubscription>()
    expectTypeOf<Names<ChargeSubscription>>().toEqualTypeOf<Names<coreCharges.ChargeSubscription>>()
    expectTypeOf<ChargeSubscriptionCreate>().toEqualTypeOf<coreCharges.ChargeSubscriptionCreate>()
    expectTypeOf<WebhookTest>().toEqualTypeOf<typeof coreCharges.WebhookTest.Type>()
    expectTypeOf<coreCharges.WebhookTestResult>().toExtend<WebhookTested>()
  })

  it("on the types of intake requests and responses", () => {
    // The HTTP handler maps refusals to `error` and `errors`.
    type Taken<Result> = Exclude<Result, core.RefusedItem>
    expectTypeOf<Taken<core.ItemResult<core.ShipmentKey>>>().toExtend<ShipmentRegistration>()
    expectTypeOf<Taken<core.ItemResult<core.StatusUpdateKey>>>().toExtend<StatusPublication>()
    expectTypeOf<Taken<core.ItemResult<core.FreightChargeKey>>>().toExtend<ChargePublication>()
    expectTypeOf<Exclude<ItemResult<core.FreightChargeKey>["result"], "error">>().toEqualTypeOf<Taken<core.ItemResult<core.FreightChargeKey>>["result"]>()
    expectTypeOf<Names<ReportedShipment>>().toEqualTypeOf<Names<coreStatus.PostedShipment>>()
    expectTypeOf<keyof ReportedMovement | keyof ReportedInformation>().toEqualTypeOf<keyof coreStatus.StatusUpdate>()
    expectTypeOf<FreightBillVersion>().toExtend<coreCharges.BillChangeReport>()
    expectTypeOf<FreightBillRemoval>().toExtend<coreCharges.BillRemovalReport>()
    expectTypeOf<FreightBillVersion["change"] | FreightBillRemoval["change"]>().toEqualTypeOf<coreCharges.BillChange>()
    expectTypeOf<Omit<coreStatus.ShipmentRecord, "shipment">>().toExtend<Omit<ShipmentRecord, "shipment">>()
    expectTypeOf<coreStatus.ShipmentView>().toExtend<ShipmentRecord["shipment"]>()
    expectTypeOf<coreStatus.StatusHistory>().toExtend<StatusHistory>()
  })

  it("on every field of shipment status that the client declares", () => {
    reads(coreStatus.VerifiedShipment, verifiedShipment)
    reads(coreStatus.PublicShipment, publicShipment)
    reads(coreStatus.DeliveryUpdate, deliveryUpdate)
    reads(coreStatus.DeliveryInformation, deliveryInformation)
    reads(coreStatus.PostedShipment, fullShipment)
    reads(coreStatus.StatusUpdate, fullMovement)
    reads(coreStatus.StatusUpdate, fullInformation)
    const wanted: Required<StatusSubscriptionCreate> = { referenceNumbers: ["1"], webhookUrl: "https://me.test/hook", hmacSecretId: "main" }
    reads(coreStatus.SubscribeRequest, wanted)
  })

  it("on every field of freight charges that the client declares", () => {
    reads(coreCharges.PreliminaryFreightCharge, chargeOf("B1", 1))
    reads(coreCharges.BillChangeReport, fullVersion)
    reads(coreCharges.BillRemovalReport, fullRemoval)
    reads(coreCharges.ChargeSubscription, fullSubscription)
    const { createdAt: _createdAt, status: _status, subscriptionId: _id, updatedAt: _updatedAt, ...wanted } = fullSubscription
    reads(coreCharges.ChargeSubscriptionCreate, wanted)
  })

  it("on notification bodies with the fewest possible fields", () => {
    const leastUpdate: coreStatus.DeliveryUpdate = {
      proNumber: "1", shipmentReferenceNumbers: fullShipment.ReferenceNumbers as coreStatus.ReferenceNumbers, shipmentMilestoneStatus: "Delivered",
      TimeZoneOfShipment: null, UpdatedETA: "2026-11-20", notificationMessage: ""
    }
    const leastInformation: coreStatus.DeliveryInformation = {
      proNumber: "1", shipmentReferenceNumbers: leastUpdate.shipmentReferenceNumbers, deliveryInformation_messages: "POD available"
    }
    for (const notification of [leastUpdate, leastInformation]) {
      expect(parseStatusNotification(delivery.bytesOfBody(delivery.wrap({ open: "", close: "" }, "0199-d", 0, bytesOf(notification))))).toEqual(notification)
    }
    const charges = [coreCharges.sampleCharge("2026-11-20T08:15:00.000"), chargeOf("B2", 7)]
    expect(parseFreightCharges(delivery.bytesOfBody(delivery.wrap({ open: "[", close: "]" }, "0199-d", 0, bytesOf(charges.map((charge) => JSON.stringify(charge)).join()))))).toEqual(charges)
  })

  it("on the document types and the pickup states", () => {
    expect(documentTypes).toEqual(coreInvoices.documentTypes)
    expect(pickupStatuses).toEqual(corePickups.pickupStatusWords)
  })

  it("on the field names of invoices and documents", () => {
    expectTypeOf<coreInvoices.Invoice>().toExtend<Invoice>()
    expectTypeOf<Invoice>().toExtend<coreInvoices.Invoice>()
    expectTypeOf<Names<Invoice>>().toEqualTypeOf<Names<coreInvoices.Invoice>>()
    type Charge<Type> = Names<Extract<coreInvoices.Invoice["invoiceCharges"][number], { readonly chargeType: Type }>>
    expectTypeOf<Names<BaseCharge>>().toEqualTypeOf<Charge<"BASE_CHARGE">>()
    expectTypeOf<Names<ItemCharge>>().toEqualTypeOf<Charge<"ITEM_CHARGE">>()
    expectTypeOf<Names<HandlingUnitCharge>>().toEqualTypeOf<Charge<"HANDLING_UNIT_CHARGE">>()
    expectTypeOf<InvoiceComment>().toEqualTypeOf<coreInvoices.InvoiceComment>()
    expectTypeOf<keyof DocumentUpload>().toEqualTypeOf<keyof coreInvoices.DocumentRequest>()
    expectTypeOf<keyof DocumentUpload["documents"][number]>().toEqualTypeOf<keyof coreInvoices.DocumentRequest["documents"][number]>()
    expectTypeOf<Names<SupportingDocuments["attributes"]>>().toEqualTypeOf<Names<coreInvoices.DocumentRequest["attributes"]>>()
    expectTypeOf<keyof InvoiceQuery>().toEqualTypeOf<"uniqueID" | "shipmentID" | "DOT" | "MC" | "invoiceNumber" | "limit" | "cursor">()
    expectTypeOf<keyof DocumentQuery>().toEqualTypeOf<"invoiceNumber" | "DOT" | "MC" | "documentType" | "limit" | "cursor">()
  })

  it("on the field names of pickups", () => {
    expectTypeOf<corePickups.PickupAnswer>().toExtend<PickupAnswer>()
    expectTypeOf<Names<PickupAnswer>>().toEqualTypeOf<Names<corePickups.PickupAnswer>>()
    expectTypeOf<corePickups.PickupVisibility>().toExtend<PickupVisibility>()
    expectTypeOf<Names<PickupVisibility>>().toEqualTypeOf<Names<corePickups.PickupVisibility>>()
    expectTypeOf<corePickups.ShownPickupRequest>().toExtend<PickupRequest>()
    expectTypeOf<Names<PickupRequest>>().toEqualTypeOf<Names<corePickups.PickupRequest>>()
    expectTypeOf<Names<ReportedPickup>>().toEqualTypeOf<Names<corePickups.PickupReport>>()
    expectTypeOf<ReportedPickup>().toExtend<corePickups.PickupReport>()
    expectTypeOf<corePickups.PickupReportResult>().toExtend<PickupReported>()
    expectTypeOf<keyof PickupReported>().toEqualTypeOf<keyof corePickups.PickupReportResult>()
    expectTypeOf<corePickups.PickupRecord>().toExtend<PickupRecord>()
    expectTypeOf<keyof PickupRecord>().toEqualTypeOf<keyof corePickups.PickupRecord>()
    expectTypeOf<Names<PickupDecision>>().toEqualTypeOf<Names<corePickups.CarrierDecision>>()
    expectTypeOf<PickupDecision>().toExtend<corePickups.CarrierDecisionInput>()
    expectTypeOf<corePickups.PickupSubscription>().toExtend<PickupSubscription>()
    expectTypeOf<keyof PickupSubscription>().toEqualTypeOf<keyof corePickups.PickupSubscription>()
    expectTypeOf<PickupSubscriptionCreate>().toExtend<typeof corePickups.PickupSubscriptionCreate.Encoded>()
    expectTypeOf<Names<PickupSubscriptionPatch>>().toEqualTypeOf<Names<typeof corePickups.PickupSubscriptionPatch.Type>>()
    expectTypeOf<typeof core.NoticeEvent.Type>().toExtend<NoticeEvent>()
    expectTypeOf<keyof NoticeEvent>().toEqualTypeOf<keyof typeof core.NoticeEvent.Type>()
    expectTypeOf<WebhookTestEvent>().toEqualTypeOf<typeof core.WebhookTestEvent.Type>()
    expectTypeOf<keyof PickupBatch>().toEqualTypeOf<keyof typeof corePickups.PickupBatch.Type>()
    expectTypeOf<corePickups.PickupChangeEntry>().toExtend<PickupChange>()
    expectTypeOf<keyof PickupChange>().toEqualTypeOf<keyof corePickups.PickupChangeEntry>()
    expectTypeOf<keyof PickupHistory>().toEqualTypeOf<keyof corePickups.PickupRecord["history"][number]>()
  })

  it("on every field of invoices and documents that the client declares", () => {
    reads(coreInvoices.Invoice, invoice)
    const { documents, ...described } = uploadOf([{ documentType: "POD", files: ["JVBERi0="] }])
    reads(coreInvoices.DocumentRequest, { ...described, documents })
    reads(coreInvoices.DocumentResponse, wireOf(storedDocuments))
  })

  it("on every field of pickups, in both directions", () => {
    const decode = Schema.decodeUnknownSync(corePickups.PickupRequest, { onExcessProperty: "error" })
    for (const order of [fullOrder, leastOrder]) {
      for (const [number, requestFunction] of [[null, "NewPickup"], ["100000001", "ModifyExisting"]] as const) {
        for (const isTest of [true, false]) {
          const kept = decode(pickupBody({ ...order, isTest }, number))
          expect(corePickups.pickupRequestFaults(kept)).toEqual([])
          const shown: PickupRequest = corePickups.shownRequest(kept)
          expect(shown).toMatchObject({ ...order, isTest: isTest ? "True" : "False", requestFunction, carrierPickupNumber: number })
        }
      }
    }
    reads(corePickups.PickupAnswer, pickupAnswer)
    reads(corePickups.PickupVisibility, pickupVisibility)
    reads(corePickups.PickupReport, fullReport)
  })

  it("on base64, wherever the input is split", () => forRandom(100, (random) => {
    const bytes = random.bytes(random.below(200))
    const cut = (whole: Uint8Array) => {
      const pieces: Array<Uint8Array> = []
      for (let at = 0; at < whole.length;) pieces.push(whole.subarray(at, at += 1 + random.below(20)))
      return pieces
    }
    const encoded = (encoder: coreInvoices.Base64Encoder) => Buffer.concat([...cut(bytes).map(encoder.push), encoder.end()]).toString()
    const text = encoded(base64Encoder())
    expect(text).toBe(encoded(coreInvoices.base64Encoder()))
    const decoded = ({ end, push }: coreInvoices.Base64Decoder) => Buffer.concat([...cut(Buffer.from(text)).map((piece) => push(piece)!), end()!])
    for (const decoder of [base64Decoder(), coreInvoices.base64Decoder()]) expect(decoded(decoder)).toEqual(Buffer.from(bytes))
  }))

  it("on every field of an event that the client declares", () => {
    const read = Schema.decodeUnknownSync(coreEvents.ReportedEvent, { onExcessProperty: "error" })
    expect(read(fullEvent)).toEqual(fullEvent)
  })

  it("on delivery bodies and their signatures", () => forRandom(50, async (random) => {
    const events = Array.from({ length: 1 + random.below(4) }, (_, index) => eventOf("S1", index, { notes: random.pick(["", "é", "\"", "\u2028"]) }))
    const pieces = delivery.wrap(coreEvents.eventBatchEnvelope, "0199-d", Date.parse("2026-11-20T08:00:00Z"), bytesOf(events.map((event) => JSON.stringify(event)).join()))
    const body = delivery.bytesOfBody(pieces)
    expect(parseEventBatch(body)).toEqual({ deliveryId: "0199-d", sentAt: "2026-11-20T08:00:00.000Z", events })
    const newest = delivery.formatSecret(random.bytes(24 + random.below(41)))
    const keys = [newest, secret].map((text) => delivery.parseSecret(text)!)
    const now = new Date(1_700_000_000_000)
    const headers = delivery.requestHeaders(hmac, keys, { deliveryId: "0199-d", timestampSeconds: 1_700_000_000, body: pieces }, true)
    for (const secrets of [newest, secret, [secret, newest]]) expect((await verifyDelivery({ secrets, headers, body, now })).deliveryId).toBe("0199-d")
    expect(await verifyXSignature({ secrets: [secret, newest], headers, body })).toEqual({ secretIndex: 1 })
  }))
})
