/** What operators do: tenants, keys, secrets, and deliveries that did not arrive. */
import { ApiKeyRequest, ChargeSubscription, DeliveryListQuery, deliveryStates, InstantText, RecoverCall, ReplayCall, SecretSettings, TenantSettings } from "@waybill/core"
import { Schema } from "effect"
import { contract } from "../shared/Contract.ts"

const Tenant = Schema.Struct({ tenantId: Schema.String, name: Schema.String, hosts: Schema.Array(Schema.String) }).annotate({ identifier: "Tenant" })

const ApiKey = Schema.Struct({
  id: Schema.String,
  key: Schema.String.annotate({ description: "Shown once; only its hash is kept." })
}).annotate({ identifier: "ApiKey" })

const SigningSecret = Schema.Struct({
  hmacSecretId: Schema.String,
  secret: Schema.String.annotate({ description: "Signs from now on. Hand it to the receiver." })
}).annotate({ identifier: "SigningSecret" })

const Attempt = Schema.Struct({
  attempt: Schema.Int,
  at: InstantText,
  durationMillis: Schema.Int,
  outcome: Schema.String.annotate({ description: "accepted, gone, interrupted, or why there was no usable answer, such as timeout or http_5xx." }),
  status: Schema.NullOr(Schema.Int),
  detail: Schema.NullOr(Schema.String),
  answer: Schema.NullOr(Schema.String.annotate({ description: "The first bytes of the receiver's answer." }))
}).annotate({ identifier: "DeliveryAttempt" })

const delivery = {
  deliveryId: Schema.String,
  subscriptionId: Schema.String,
  state: Schema.Literals(deliveryStates),
  createdAt: InstantText,
  settledAt: Schema.NullOr(InstantText),
  nextAttemptAt: Schema.NullOr(InstantText),
  events: Schema.Int,
  attempts: Schema.Array(Attempt)
}

const Delivery = Schema.Struct(delivery).annotate({ identifier: "Delivery" })
const DeliveryInFull = Schema.Struct({
  ...delivery,
  endpointUrl: Schema.String,
  body: Schema.String.annotate({ description: "The exact text of every attempt." })
}).annotate({ identifier: "DeliveryInFull" })

const DeliveriesPage = Schema.Struct({ data: Schema.Array(Delivery), nextCursor: Schema.NullOr(Schema.String) }).annotate({ identifier: "DeliveriesPage" })

const LaneStatus = Schema.Struct({
  subscriptionId: Schema.String,
  state: Schema.Literals(["active", "paused", "inactive"]),
  reason: Schema.NullOr(Schema.String.annotate({ description: "Why the service changed the state itself." })),
  since: InstantText
}).annotate({ identifier: "SubscriptionDeliveryStatus" })

const tenantId = "The operator's own id of the tenant."
const tenant = { tenantId }
const ofDelivery = { tenantId, deliveryId: "The deliveryId, which receivers also know as webhook-id." }
const ofSubscription = { tenantId, subscriptionId: "Id of a subscription of the tenant." }

const subscriptionPath = "/v1/tenants/{tenantId}/subscriptions/{subscriptionId}"

/** Keys and secrets name up to ten thousand accounts, replays up to a thousand shipments. */
const maxSettingsBytes = 2 * 1024 * 1024

export const OperatorContract = contract({
  area: "operator",
  title: "Operator",
  description: "For whoever runs the service. Needs the operator key.",
  endpoints: {
    putTenant: {
      method: "PUT",
      path: "/v1/tenants/{tenantId}",
      access: "operator",
      summary: "Create or change a tenant",
      params: tenant,
      body: { schema: TenantSettings, closed: true },
      answers: { 200: { description: "The tenant", schema: Tenant } }
    },
    createApiKey: {
      method: "POST",
      path: "/v1/tenants/{tenantId}/api-keys",
      access: "operator",
      summary: "Create an API key",
      description: "Keys of the same name are the same client, so a replaced key keeps its subscriptions.",
      params: tenant,
      body: { schema: ApiKeyRequest, closed: true, maxBytes: maxSettingsBytes },
      answers: { 201: { description: "The key, shown once", schema: ApiKey } }
    },
    revokeApiKey: {
      method: "DELETE",
      path: "/v1/tenants/{tenantId}/api-keys/{id}",
      access: "operator",
      summary: "Revoke an API key",
      description: "Works at once on every node.",
      params: { tenantId, id: "The key's id." },
      answers: { 204: { description: "Revoked" } }
    },
    putSecret: {
      method: "PUT",
      path: "/v1/tenants/{tenantId}/secrets/{hmacSecretId}",
      access: "operator",
      summary: "Register or rotate a signing secret",
      description: "Without `secret` one is generated. A rotated secret goes on signing beside the new one for overlapSeconds, a day by default.",
      params: { tenantId, hmacSecretId: "The name that subscriptions refer to." },
      body: { schema: SecretSettings, closed: true, optional: true, maxBytes: maxSettingsBytes },
      answers: { 200: { description: "The secret that signs from now on", schema: SigningSecret } }
    },
    listDeliveries: {
      method: "GET",
      path: "/v1/tenants/{tenantId}/deliveries",
      access: "operator",
      summary: "List deliveries",
      description: "Oldest first, each with its attempts.",
      params: tenant,
      query: {
        state: { kind: "text", schema: DeliveryListQuery.fields.state.schema, description: "Only deliveries in this state; `dead` are dead letters." },
        subscriptionId: { kind: "text", schema: DeliveryListQuery.fields.subscriptionId.schema, description: "Only deliveries of this subscription." },
        since: { kind: "instant", schema: DeliveryListQuery.fields.since.schema, description: "Created at or after this instant." },
        cursor: { kind: "text", schema: DeliveryListQuery.fields.cursor.schema, description: "nextCursor of the page before." },
        limit: { kind: "integer", schema: DeliveryListQuery.fields.limit.schema, description: "Most results.", default: 100 }
      },
      answers: { 200: { description: "Deliveries", schema: DeliveriesPage } }
    },
    getDelivery: {
      method: "GET",
      path: "/v1/tenants/{tenantId}/deliveries/{deliveryId}",
      access: "operator",
      summary: "Get a delivery",
      description: "With its exact body and every attempt.",
      params: ofDelivery,
      answers: { 200: { description: "The delivery", schema: DeliveryInFull } }
    },
    retryDelivery: {
      method: "POST",
      path: "/v1/tenants/{tenantId}/deliveries/{deliveryId}/retry",
      access: "operator",
      summary: "Send a delivery again",
      description: "The same bytes under the same id, with a full series of attempts.",
      params: ofDelivery,
      answers: { 202: { description: "It goes out again" } }
    },
    getSubscriptionStatus: {
      method: "GET",
      path: subscriptionPath,
      access: "operator",
      summary: "Tell whether a subscription delivers, and why not",
      params: ofSubscription,
      answers: { 200: { description: "State of its deliveries", schema: LaneStatus } }
    },
    recoverSubscription: {
      method: "POST",
      path: `${subscriptionPath}/recover`,
      access: "operator",
      summary: "Send dead letters again",
      description: "Every dead letter that died since then goes out again, under the same id.",
      params: ofSubscription,
      body: { schema: RecoverCall, closed: true },
      answers: { 202: { description: "They go out again", schema: Schema.Struct({ recovered: Schema.Int }) } }
    },
    resumeSubscription: {
      method: "POST",
      path: `${subscriptionPath}/resume`,
      access: "operator",
      summary: "Let a suspended subscription to freight charges go on",
      description: "Dead letters since the suspension go out again, then what waited, in order. Resuming an active one changes nothing.",
      params: ofSubscription,
      answers: { 202: { description: "It goes on", schema: ChargeSubscription } }
    },
    replaySubscription: {
      method: "POST",
      path: `${subscriptionPath}/replay`,
      access: "operator",
      summary: "Send history again",
      description: "As new deliveries of the same events, limited to what the subscription's filters and client admit now.",
      params: ofSubscription,
      body: { schema: ReplayCall, closed: true, maxBytes: maxSettingsBytes },
      answers: { 202: { description: "History is queued", schema: Schema.Struct({ queued: Schema.Int }) } }
    }
  }
})
