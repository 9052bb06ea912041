/** The customer's portal over HTTP. */
import { NoticeContact, NoticeContactView, NoticeEvent, PortalDelivery, PortalDeliveryQuery, PortalSubscriptionQuery, PortalTestResult, SubscriptionView, WebhookTestEvent } from "@waybill/core"
import { SecretListQuery, SecretRotation } from "@waybill/core/delivery"
import { DeliveriesPage, SecretsPage, SigningSecret, SubscriptionsPage } from "../operator/OperatorViews.ts"
import { contract } from "../shared/Contract.ts"
import { pageOf } from "../shared/PageQuery.ts"
import { answersOfReceivers, signedHeaders, signedWhereRegistered } from "../shared/WebhookHeaders.ts"
import { PortalSession } from "./PortalViews.ts"

const answered = { 200: { description: "The subscription", schema: SubscriptionView } }

/** Calls of a customer's portal: paths, schemas and statuses. */
export const PortalContract = contract({
  area: "portal",
  title: "Portal",
  description: "For customers: their own subscriptions, deliveries and secrets. Accepts the token of a portal link, and the customer's other credentials.",
  access: "portal",
  params: {
    subscriptionId: { description: "Id of one of the caller's own subscriptions, of any area.", missing: "No such subscription of this caller." },
    deliveryId: { description: "The deliveryId, which receivers also know as webhook-id.", missing: "No such delivery of this caller." },
    hmacSecretId: { description: "A secret that belongs to the caller alone.", missing: "No such secret of this caller." }
  },
  endpoints: {
    getPortalSession: {
      route: "GET /v1/session",
      summary: "Get the caller and the theme of its link",
      description: "Whom the link or the API key stands for, and until when. The theme is what the operator gave with the link.",
      answers: { 200: { description: "The session", schema: PortalSession, closed: true } }
    },
    listPortalSubscriptions: {
      route: "GET /v1/subscriptions",
      largeAnswer: true,
      summary: "List the caller's subscriptions of every area",
      description: "By subscriptionId, each with its delivery state and the reason for it, waiting entries, dead letters, and last attempt.",
      query: {
        subscriptionId: { kind: "list", schema: PortalSubscriptionQuery.fields.subscriptionId.schema, description: "Only these subscriptions, 100 at most. Unknown ids are left out." },
        state: { kind: "text", schema: PortalSubscriptionQuery.fields.state.schema, description: "Only subscriptions in this state." },
        ...pageOf(PortalSubscriptionQuery.fields)
      },
      answers: { 200: { description: "Subscriptions", schema: SubscriptionsPage } }
    },
    getPortalSubscription: {
      route: "GET /v1/subscriptions/{subscriptionId}",
      summary: "Get a subscription with its delivery state",
      description: "Of the caller only; another client's subscription is unknown.",
      answers: answered
    },
    pausePortalSubscription: {
      route: "POST /v1/subscriptions/{subscriptionId}/pause",
      audit: { action: "portal-subscription.pause", object: "subscription", id: "subscriptionId" },
      summary: "Pause an active subscription",
      description: "Nothing more is sent until it is resumed; new entries wait. A subscription that is not active does not change.",
      answers: answered
    },
    resumePortalSubscription: {
      route: "POST /v1/subscriptions/{subscriptionId}/resume",
      audit: { action: "portal-subscription.resume", object: "subscription", id: "subscriptionId" },
      summary: "Resume a paused subscription",
      description: "Sends the waiting entries. For freight charges, deliveries that were not accepted since the pause are sent again first.",
      answers: answered,
      refusals: { 409: "An operator paused it, or its secret does not belong to the caller any more." }
    },
    testPortalSubscription: {
      route: "POST /v1/subscriptions/{subscriptionId}/test",
      audit: { action: "portal-subscription.test", object: "subscription", id: "subscriptionId" },
      summary: "Send a test event to the endpoint of a subscription",
      description: "A signed POST whose JSON has the type webhook.test and no freight data. It is not retried and changes no delivery state.",
      answers: { 200: { description: "Whether the endpoint accepted it", schema: PortalTestResult } },
      refusals: { 409: "The subscription's secret does not belong to the caller any more." }
    },
    listPortalDeliveries: {
      route: "GET /v1/deliveries",
      largeAnswer: true,
      summary: "List the caller's deliveries",
      description: "Each with its attempts, newest first by default. Excludes deliveries of deleted subscriptions. With many subscriptions a page may be short, or empty, with a nextCursor.",
      query: {
        state: { kind: "text", schema: PortalDeliveryQuery.fields.state.schema, description: "Only deliveries in this state; `dead` are dead letters." },
        subscriptionId: { kind: "text", schema: PortalDeliveryQuery.fields.subscriptionId.schema, description: "Only deliveries of this subscription." },
        since: { kind: "instant", schema: PortalDeliveryQuery.fields.since.schema, description: "Created at or after this instant." },
        order: { kind: "text", schema: PortalDeliveryQuery.fields.order.schema, description: "By time of creation.", default: "newest" },
        ...pageOf(PortalDeliveryQuery.fields)
      },
      answers: { 200: { description: "Deliveries", schema: DeliveriesPage } }
    },
    getPortalDelivery: {
      route: "GET /v1/deliveries/{deliveryId}",
      summary: "Get a delivery",
      description: "With every attempt, and its exact body once there was an attempt.",
      answers: { 200: { description: "The delivery", schema: PortalDelivery } }
    },
    retryPortalDelivery: {
      route: "POST /v1/deliveries/{deliveryId}/retry",
      audit: { action: "portal-delivery.retry", object: "delivery", id: "deliveryId" },
      summary: "Send a delivery again",
      description: "The same bytes under the same id, with a full series of attempts.",
      answers: { 202: { description: "Queued for sending" } },
      refusals: { 409: "The delivery is being sent, or was cancelled." }
    },
    getPortalContact: {
      route: "GET /v1/contact",
      summary: "Get where notices are sent",
      description: "Notices say that an endpoint of the caller fails and its attempts end soon, that it has failed for long, that a delivery has used up its attempts, or that the service paused a subscription.",
      answers: { 200: { description: "The e-mail address, whether this service sends e-mail, the webhook, and the chosen kinds", schema: NoticeContactView } }
    },
    putPortalContact: {
      route: "PUT /v1/contact",
      audit: { action: "portal-contact.put", object: "client" },
      summary: "Set where notices are sent",
      description: "A notice is sent once a day for each subscription and kind of trouble. `null` in place of an address ends notices there; what is left out, other than `email`, stays as it is. `emailKinds` and `webhookKinds` choose kinds of notices; `null` is all of them. Another webhook replaces " +
        "the previous one with what waits for it. A webhook gets no notices of its own endpoint.",
      body: { schema: NoticeContact, closed: true },
      answers: { 200: { description: "The e-mail address, whether this service sends e-mail, the webhook, and the chosen kinds", schema: NoticeContactView } },
      refusals: { 409: "The quota of subscriptions is used up." }
    },
    listPortalSecrets: {
      route: "GET /v1/secrets",
      summary: "List the caller's signing secrets",
      description: "Secrets that belong to the caller alone, by hmacSecretId. Never returns the secret's value.",
      query: pageOf(SecretListQuery.fields),
      answers: { 200: { description: "Secrets", schema: SecretsPage } }
    },
    rotatePortalSecret: {
      route: "POST /v1/secrets/{hmacSecretId}/rotate",
      audit: { action: "portal-secret.rotate", object: "secret", id: "hmacSecretId" },
      summary: "Rotate a signing secret of the caller",
      description: "Generates a new secret. The old and the new secret both sign for overlapSeconds, a day by default.",
      body: { schema: SecretRotation, closed: true, optional: true },
      answers: { 200: { description: "The new secret, shown once", schema: SigningSecret } }
    }
  },
  webhooks: {
    notice: {
      summary: "A notice of a failing endpoint",
      description: "Sent to the webhook of the client's contact. The bytes and webhook-id of a delivery are the same at every attempt. It has no freight data. Notices of one subscription arrive in order.",
      headers: signedHeaders,
      body: NoticeEvent,
      answers: answersOfReceivers("The receiver wants no more notices. The webhook is paused; resume its subscription.")
    },
    webhookTest: {
      summary: "A test event",
      description: "Sent to the endpoint of a subscription of any area when its client asks for it. It has no freight data and no area's format: check the type before anything else.",
      headers: signedWhereRegistered("client"),
      body: WebhookTestEvent,
      answers: {
        "2XX": { description: "Accepted." },
        "default": { description: "Not accepted. It is not sent again." }
      }
    }
  }
})
