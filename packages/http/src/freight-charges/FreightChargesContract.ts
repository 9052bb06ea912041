/** Area E over HTTP: subscriptions to freight charges, bills in flight, and notifications. */
import { Count } from "@waybill/core"
import { ChargeSubscription, ChargeSubscriptionCreate, PreliminaryFreightCharge, WebhookTest } from "@waybill/core/freight-charges"
import { Schema } from "effect"
import { contract } from "../shared/Contract.ts"
import { ownSubscriptionId } from "../shared/SubscriptionTexts.ts"
import { signedWhereRegistered } from "../shared/WebhookHeaders.ts"
import { chargeProblem } from "./ChargeProblem.ts"

/** Room for ten thousand account numbers. */
const maxSubscriptionBytes = 2 * 1024 * 1024

export const FreightChargesContract = contract({
  area: "freight-charges",
  title: "Preliminary freight charges",
  description: "Notifies debtors and their agents of freight bills on their accounts: when one is created, changed, removed or final.",
  shape: chargeProblem,
  access: "caller",
  params: ownSubscriptionId,
  endpoints: {
    createChargeSubscription: {
      route: "POST /v1/subscriptions",
      summary: "Subscribe to freight charges",
      description: "For accounts of the caller. Bills in flight now are kept for the in-flight list.",
      body: { schema: ChargeSubscriptionCreate, maxBytes: maxSubscriptionBytes },
      answers: { 201: { description: "Subscribed", schema: ChargeSubscription } },
      refusals: {
        400: "The body is invalid; details name the field.",
        403: "Not an account of the caller.",
        409: "A subscription of the caller covers one of the accounts, or a quota is used up; details name it."
      }
    },
    getChargeSubscription: {
      route: "GET /v1/subscriptions/{subscriptionId}",
      summary: "Get a subscription",
      description: "As it was created, with its status.",
      answers: { 200: { description: "The subscription", schema: ChargeSubscription } }
    },
    cancelChargeSubscription: {
      route: "DELETE /v1/subscriptions/{subscriptionId}",
      summary: "Cancel a subscription",
      description: "Ends the subscription; nothing more is sent. Can be repeated.",
      answers: { 204: { description: "Cancelled" } }
    },
    listInFlight: {
      route: "GET /v1/subscriptions/{subscriptionId}/inflight",
      summary: "List bills that were in flight",
      description: "Bills of the subscribed accounts that were open when the subscription was created; an empty array when there were none.",
      answers: { 200: { description: "Freight charges", schema: Schema.Array(PreliminaryFreightCharge) } }
    },
    testWebhook: {
      route: "POST /webhooks/test",
      summary: "Test a receiver",
      description: "Sends a sample, marked as a test. If it is accepted, suspended subscriptions of the caller with this address are resumed, " +
        "except those that an operator paused.",
      body: { schema: WebhookTest },
      answers: { 200: { description: "The receiver accepted it", schema: Schema.Struct({ message: Schema.String, resumed: Schema.optionalKey(Count) }) } },
      refusals: {
        400: "The receiver did not accept it; message gives the reason.",
        409: "The receiver accepted it, but its subscription stays suspended: an operator paused it, and message gives the reason."
      }
    }
  },
  webhooks: {
    freightCharges: {
      summary: "Freight charges for a subscriber",
      description: "Sent to webhookUrl in real time, hourly or daily, by the subscription's frequency. pfc.header.function counts the versions of " +
        "a bill. The bytes and webhook-id are the same at every attempt. Versions of one bill arrive in order.",
      headers: signedWhereRegistered("subscriber"),
      body: Schema.NonEmptyArray(PreliminaryFreightCharge),
      answers: {
        "2XX": { description: "Accepted." },
        "410": { description: "The receiver wants no more notifications. The subscription is suspended." },
        "default": { description: "Not accepted. The delivery is retried with backoff; when its attempts are used up, the subscription is suspended." }
      }
    }
  }
})
