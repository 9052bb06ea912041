/** Area E over HTTP: subscriptions to freight charges, bills in flight, and notifications. */
import { ChargeSubscription, ChargeSubscriptionCreate, PreliminaryFreightCharge, WebhookTest } from "@waybill/core"
import { Schema } from "effect"
import { type AnswerSpec, contract } from "../shared/Contract.ts"
import { signedWhereRegistered } from "../shared/WebhookHeaders.ts"
import { ChargeProblem, chargeProblem } from "./ChargeProblem.ts"

const subscriptionId = { subscriptionId: "Id of one of the caller's own subscriptions. Any other id answers 404." }

const refused = (description: string): AnswerSpec => ({ description, schema: ChargeProblem })

const invalid = refused("The body cannot be used; details name the field")
const unauthorized = refused("Credentials missing or invalid")
const forbidden = refused("Not the debtor's own account")
const notFound = refused("No such subscription of this caller")

/** Room for ten thousand account numbers. */
const maxSubscriptionBytes = 2 * 1024 * 1024

export const FreightChargesContract = contract({
  area: "freight-charges",
  title: "Preliminary freight charges",
  description: "Tells debtors and their agents of freight bills of their accounts: when one is made, changed, removed or final.",
  shape: chargeProblem,
  endpoints: {
    createChargeSubscription: {
      method: "POST",
      path: "/v1/subscriptions",
      access: "caller",
      summary: "Subscribe to freight charges",
      description: "For accounts of the caller. What is in flight for them now is kept for the in-flight list.",
      body: { schema: ChargeSubscriptionCreate, maxBytes: maxSubscriptionBytes },
      answers: {
        201: { description: "Subscribed", schema: ChargeSubscription },
        400: invalid,
        401: unauthorized,
        403: forbidden,
        409: refused("A subscription of the caller covers one of the accounts; details name it")
      }
    },
    getChargeSubscription: {
      method: "GET",
      path: "/v1/subscriptions/{subscriptionId}",
      access: "caller",
      summary: "Get a subscription",
      params: subscriptionId,
      answers: { 200: { description: "The subscription", schema: ChargeSubscription }, 401: unauthorized, 404: notFound }
    },
    cancelChargeSubscription: {
      method: "DELETE",
      path: "/v1/subscriptions/{subscriptionId}",
      access: "caller",
      summary: "Cancel a subscription",
      description: "Nothing is sent any more. Cancelling one's own subscription again succeeds as well.",
      params: subscriptionId,
      answers: { 204: { description: "Cancelled" }, 401: unauthorized, 403: forbidden, 404: notFound }
    },
    listInFlight: {
      method: "GET",
      path: "/v1/subscriptions/{subscriptionId}/inflight",
      access: "caller",
      summary: "List what was in flight",
      description: "Bills of the subscribed accounts that were open when the subscription was made; an empty array when there were none.",
      params: subscriptionId,
      answers: {
        200: { description: "Freight charges", schema: Schema.Array(PreliminaryFreightCharge) },
        401: unauthorized,
        403: forbidden,
        404: notFound
      }
    },
    testWebhook: {
      method: "POST",
      path: "/webhooks/test",
      access: "caller",
      summary: "Try a receiver",
      description: "Sends a sample, marked as a test. Suspended subscriptions of the caller that deliver to this address go on when it is accepted, " +
        "but for those that the operator paused.",
      body: { schema: WebhookTest },
      answers: {
        200: { description: "The receiver accepted it", schema: Schema.Struct({ message: Schema.String, resumed: Schema.optionalKey(Schema.Int) }) },
        400: refused("It did not, and why"),
        401: unauthorized,
        409: refused("It did, and what delivers there stays suspended: the operator paused it, and message gives the reason")
      }
    }
  },
  webhooks: {
    freightCharges: {
      summary: "Freight charges for a subscriber",
      description: "Sent to webhookUrl at once, or once an hour or a day, as the subscription asks. pfc.header.function counts the versions of " +
        "a bill. The bytes and webhook-id are the same at every attempt. Versions of one bill arrive in order.",
      headers: signedWhereRegistered("subscriber"),
      body: Schema.NonEmptyArray(PreliminaryFreightCharge),
      answers: {
        "2XX": { description: "Accepted." },
        "410": { description: "Nothing more is wanted. The subscription is suspended." },
        "default": {
          description: "Not accepted. The same delivery comes again, later and later; when its attempts are used up, the subscription is suspended."
        }
      }
    }
  }
})
