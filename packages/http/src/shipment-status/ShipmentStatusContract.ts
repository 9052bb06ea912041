/** Area A over HTTP: shipment lookups, status subscriptions, and notifications. */
import {
  DeliveryInformation,
  DeliveryUpdate,
  PublicShipment,
  SubscribeRequest,
  SubscriptionResult,
  VerifiedShipment
} from "@waybill/core/shipment-status"
import { Schema } from "effect"
import { contract } from "../shared/Contract.ts"
import { messageProblem } from "../shared/MessageProblem.ts"
import { signedWhereRegistered } from "../shared/WebhookHeaders.ts"


const notFound = "No such shipment, or not picked up yet."
const noAccess = "Not logged in, or no access."
const tooMany = "Too many lookups of others' freight, or too many requests. Retry-After says when to send it again."

const verifiedLookup = {
  description: "Of several shipments the caller's own comes first, then the one picked up last.",
  answers: {
    200: { description: "The shipment, every field", schema: VerifiedShipment },
    202: { description: "Found, but not of the caller's accounts: the public fields", schema: PublicShipment }
  },
  refusals: { 401: noAccess, 404: notFound, 429: tooMany }
}

const publicLookup = {
  access: "anonymous",
  description: "Needs no credentials. Credentials that are sent have to be valid.",
  answers: { 200: { description: "The public fields", schema: PublicShipment } },
  refusals: { 401: "Credentials were sent that are not valid.", 404: notFound, 429: tooMany }
} as const

/** Room for a thousand references in any script. */
const maxSubscribeBytes = 1024 * 1024

export const ShipmentStatusContract = contract({
  area: "shipment-status",
  title: "Shipment status",
  description: "Where one shipment is now, by PRO, BOL or PO number, and webhooks for changes of shipments, by their references.",
  // the interface defines no error body; this one has the shape of its other responses. SPEC-GAP-A30
  shape: messageProblem("StatusProblem"),
  // published for callers without access; only a suspended tenant gets 403. SPEC-GAP-A32
  statuses: { NotPermitted: 401 },
  access: "caller",
  params: {
    proNumber: { description: "The carrier's PRO number. Case, blanks and hyphens do not matter." },
    bolNumber: { description: "A BOL number." },
    originPostalCode: { description: "Postal code of the pick-up; of a US one the first five digits count." },
    poNumber: { description: "A PO number." },
    destinationPostalCode: { description: "Postal code of the consignee; of a US one the first five digits count." },
    accountNumber: { description: "One of the caller's own accounts." },
    startDate: { description: "RFC 3339 with an offset, or a date alone, which means its first instant in UTC." },
    endDate: { description: "Like startDate; a date alone means its last instant in UTC." },
    transactionId: { description: "As received from subscribing.", missing: "No such subscription of this caller." }
  },
  endpoints: {
    verifiedByPro: {
      route: "GET /shipment/pro/{proNumber}/verified",
      summary: "Look up a shipment by PRO number",
      ...verifiedLookup
    },
    verifiedByBol: {
      route: "GET /shipment/bol/{bolNumber}/{originPostalCode}/verified",
      summary: "Look up a shipment by BOL number and origin",
      ...verifiedLookup
    },
    verifiedByPo: {
      route: "GET /shipment/po/{poNumber}/{destinationPostalCode}/verified",
      summary: "Look up a shipment by PO number and destination",
      ...verifiedLookup
    },
    pickedUp: {
      route: "GET /shipment/po/{accountNumber}/{startDate}/{endDate}/verified",
      largeAnswer: true,
      summary: "List an account's shipments by pick-up date",
      description: "Both ends belong to the range.",
      answers: {
        200: { description: "The shipments, by pick-up", schema: Schema.Array(VerifiedShipment) },
        204: { description: "None in the range" }
      },
      refusals: { 401: noAccess, 404: "No such account.", 429: tooMany }
    },
    publicByPro: {
      route: "GET /shipment/pro/{proNumber}/public",
      summary: "Look up a shipment's public fields by PRO number",
      ...publicLookup
    },
    publicByBol: {
      route: "GET /shipment/bol/{bolNumber}/{originPostalCode}/public",
      summary: "Look up a shipment's public fields by BOL number and origin",
      ...publicLookup
    },
    publicByPo: {
      route: "GET /shipment/po/{poNumber}/{destinationPostalCode}/public",
      summary: "Look up a shipment's public fields by PO number and destination",
      ...publicLookup
    },
    subscribe: {
      route: "POST /notifications/subscribe",
      summary: "Follow shipments",
      description: "By any of their references, which may belong to no shipment yet. What is sent is limited to what the caller may see then.",
      body: { schema: SubscribeRequest, maxBytes: maxSubscribeBytes },
      answers: { 200: { description: "Subscribed", schema: SubscriptionResult } },
      refusals: { 401: noAccess, 409: "A quota is used up; the message names it." }
    },
    unsubscribe: {
      route: "DELETE /notifications/unsubscribe/{transactionId}",
      summary: "Follow no longer",
      description: "Ends the whole subscription. Nothing more is sent.",
      answers: { 200: { description: "Unsubscribed", schema: SubscriptionResult } },
      refusals: { 401: noAccess }
    }
  },
  webhooks: {
    shipmentStatus: {
      summary: "A notification for a follower",
      description: "Sent to webhookUrl, one notification a call: a delivery update for each movement, a delivery information for everything " +
        "else. The bytes and webhook-id are the same at every attempt. Those of one shipment arrive in order.",
      headers: signedWhereRegistered("follower"),
      body: [DeliveryUpdate, DeliveryInformation],
      answers: {
        "2XX": { description: "Accepted." },
        "410": { description: "The receiver wants no more notifications. Deliveries stop." },
        "default": { description: "Not accepted. The same notification comes again, later and later, until its attempts are used up." }
      }
    }
  }
})
