/* oxlint-disable max-lines -- one table of calls */
/** The operator API: tenants, keys, secrets, deliveries, subscriptions, and shipments across areas. */
import {
  ApiKeyListQuery,
  ApiKeyRequest,
  AuditQuery,
  ClientListQuery,
  Count,
  Explanation,
  ExplainQuery,
  HealthView,
  LimitsChange,
  LimitsShown,
  PauseCall,
  PickupListQuery,
  PortalLinkRequest,
  PurgeCall,
  PurgeResult,
  ReplayCall,
  ShipmentJourney,
  StatisticsQuery,
  StatisticsView,
  SubscriptionListQuery,
  SubscriptionView,
  TenantListQuery,
  TenantSettings
} from "@waybill/core"
import { DeadLettersCall, DeliveryBodyView, DeliveryListQuery, RecoverCall, SecretListQuery, SecretSettings } from "@waybill/core/delivery"
import { CarrierDecision, PickupReportResult } from "@waybill/core/pickups"
import { SubscriptionEdit } from "@waybill/core/transit-events"
import { Schema } from "effect"
import { PortalLink } from "../portal/PortalViews.ts"
import { contract } from "../shared/Contract.ts"
import { pageOf } from "../shared/PageQuery.ts"
import { mergePatchMediaTypes } from "../shared/RequestBody.ts"
import {
  ApiKey,
  ApiKeysPage,
  AuditPage,
  ClientsPage,
  DeliveriesPage,
  FoundShipments,
  PickupsPage,
  SecretsPage,
  SigningSecret,
  SubscriptionsPage,
  Tenant,
  TenantsPage,
  TenantStateShown
} from "./OperatorViews.ts"

const ofEndpoint = "Only of subscriptions whose endpoint has this host, with its port if the address names one, or is this whole address."

const withTotal = { kind: "boolean", schema: DeliveryListQuery.fields.total.schema, description: "Whether to count all pages, up to 10,000, in `total`. It is left out where counting would take too long." } as const

const inSteps = "Names at least one filter, with the meaning that it has in the list of deliveries. A call changes the oldest 500 at most; call again with nextCursor until it is null. " +
  "A call that was cut short can be repeated, and so can the whole action."

const { nextCursor } = PurgeResult.fields

const noClient = "No such tenant, or no such client of it."
const noSubscription = "No such tenant, or no such subscription of it."

const subscriptionPath = "/v1/tenants/{tenantId}/subscriptions/{subscriptionId}"

/** Keys and secrets may have ten thousand accounts, replays a thousand shipments. */
const maxSettingsBytes = 2 * 1024 * 1024

/** Calls of operators: paths, schemas and statuses. */
export const OperatorContract = contract({
  area: "operator",
  title: "Operator",
  description: "For operators. Needs an operator key; a read-only key may read everything except delivery bodies.",
  access: "operator",
  params: {
    tenantId: { description: "The operator's own id of the tenant.", missing: "No such tenant." },
    client: { description: "Percent-encoded. A bare name means key:<name>.", missing: noClient },
    id: { description: "The key's id.", missing: "No such tenant, or no such key of it." },
    hmacSecretId: { description: "The name that subscriptions refer to.", missing: "No such tenant, or no such secret of it." },
    deliveryId: { description: "The deliveryId, which receivers also know as webhook-id.", missing: "No such tenant, or no such delivery of it." },
    subscriptionId: { description: "Id of a subscription of the tenant.", missing: noSubscription },
    shipmentId: { description: "The shipment's id, or its PRO if it has no id.", missing: "No such tenant, or no such shipment of it." },
    pickupId: { description: "The carrierPickupNumber; while there is none, the service's own id.", missing: "No such tenant, or no such pickup of it." }
  },
  endpoints: {
    putTenant: {
      route: "PUT /v1/tenants/{tenantId}",
      creates: true,
      audit: { action: "tenant.put", object: "tenant", id: "tenantId" },
      summary: "Create or change a tenant",
      description: "Its name, and the hosts whose public lookups are about it.",
      body: { schema: TenantSettings, closed: true },
      answers: { 200: { description: "The tenant", schema: Tenant } },
      refusals: { 409: "A deleted tenant of this id is still being removed, or another tenant has one of the hosts." }
    },
    listTenants: {
      route: "GET /v1/tenants",
      summary: "List tenants",
      description: "By tenantId.",
      query: pageOf(TenantListQuery.fields),
      answers: { 200: { description: "Tenants", schema: TenantsPage } }
    },
    suspendTenant: {
      route: "POST /v1/tenants/{tenantId}/suspend",
      audit: { action: "tenant.suspend", object: "tenant", id: "tenantId" },
      summary: "Suspend a tenant",
      description: "Its carriers, customers and public lookups are refused with 403, and nothing is sent. Takes effect on every node immediately. Operators' calls still work.",
      answers: { 200: { description: "The tenant's state", schema: TenantStateShown } }
    },
    resumeTenant: {
      route: "POST /v1/tenants/{tenantId}/resume",
      audit: { action: "tenant.resume", object: "tenant", id: "tenantId" },
      summary: "Resume a suspended tenant",
      description: "Sends the waiting entries.",
      answers: { 200: { description: "The tenant's state", schema: TenantStateShown } }
    },
    deleteTenant: {
      route: "DELETE /v1/tenants/{tenantId}",
      audit: { action: "tenant.delete", object: "tenant", id: "tenantId" },
      summary: "Delete a tenant with all its data",
      description: "Calls are refused immediately, as for an unknown tenant. Its data is removed in the background; until then its id cannot be used again (409).",
      query: { confirm: { kind: "text", schema: Schema.String, description: "The tenantId again." } },
      answers: { 204: { description: "Deleted" } }
    },
    getLimits: {
      route: "GET /v1/tenants/{tenantId}/limits",
      summary: "Get the quotas of a tenant",
      description: "All quotas, defaults included.",
      answers: { 200: { description: "The quotas", schema: LimitsShown } }
    },
    putLimits: {
      route: "PUT /v1/tenants/{tenantId}/limits",
      audit: { action: "limits.put", object: "tenant", id: "tenantId" },
      summary: "Change quotas of a tenant",
      description: "Any of them; null resets one to its default. Data above a lowered quota stays. Other processes use the new quotas within seconds.",
      body: { schema: LimitsChange, closed: true },
      answers: { 200: { description: "All quotas", schema: LimitsShown } }
    },
    listAudit: {
      route: "GET /v1/audit",
      summary: "List the audit log",
      description: "Newest first: every write of operators and of intake, refused ones too, and every read of a delivery's body.",
      query: {
        tenant: { kind: "text", schema: AuditQuery.fields.tenant.schema, description: "Only calls about this tenant." },
        actor: { kind: "text", schema: AuditQuery.fields.actor.schema, description: "Only calls of this operator or client; a bare name is also the client `key:<name>`." },
        since: { kind: "instant", schema: AuditQuery.fields.since.schema, description: "At or after this instant." },
        ...pageOf(AuditQuery.fields)
      },
      answers: { 200: { description: "Entries", schema: AuditPage } }
    },
    createApiKey: {
      route: "POST /v1/tenants/{tenantId}/api-keys",
      audit: { action: "api-key.create", object: "api-key", id: "id" },
      summary: "Create an API key",
      description: "Keys of the same name are the same client, so a replaced key keeps its subscriptions.",
      body: { schema: ApiKeyRequest, closed: true, maxBytes: maxSettingsBytes },
      answers: { 201: { description: "The key, shown once", schema: ApiKey } }
    },
    listApiKeys: {
      route: "GET /v1/tenants/{tenantId}/api-keys",
      summary: "List API keys",
      description: "Keys that are not revoked, expired ones included, in order of creation. Never returns a key's value.",
      query: pageOf(ApiKeyListQuery.fields),
      answers: { 200: { description: "Keys", schema: ApiKeysPage } }
    },
    listClients: {
      route: "GET /v1/tenants/{tenantId}/clients",
      summary: "List clients",
      description: "Clients of API keys, and clients that have used a token, by client.",
      query: pageOf(ClientListQuery.fields),
      answers: { 200: { description: "Clients", schema: ClientsPage } }
    },
    removeClient: {
      route: "DELETE /v1/tenants/{tenantId}/clients/{client}",
      audit: { action: "client.delete", object: "client", id: "client" },
      summary: "Remove a client",
      description: "Revokes its keys, closes its subscriptions of all areas, drops waiting entries, and removes its access.",
      answers: { 204: { description: "Removed" } }
    },
    createPortalLink: {
      route: "POST /v1/tenants/{tenantId}/portal-links",
      audit: { action: "portal-link.create", object: "client", id: "client" },
      summary: "Create a link to a client's portal",
      description: "It opens the client's own subscriptions, deliveries and secrets to everyone who has it, until it expires: after an hour by " +
        "default, a day at most. It is refused while the client has no access, and after the client was removed.",
      body: { schema: PortalLinkRequest, closed: true },
      answers: { 201: { description: "The link, shown once", schema: PortalLink } },
      refusals: { 404: noClient }
    },
    revokeApiKey: {
      route: "DELETE /v1/tenants/{tenantId}/api-keys/{id}",
      audit: { action: "api-key.revoke", object: "api-key", id: "id" },
      summary: "Revoke an API key",
      description: "Takes effect on every node immediately.",
      answers: { 204: { description: "Revoked" } }
    },
    putSecret: {
      route: "PUT /v1/tenants/{tenantId}/secrets/{hmacSecretId}",
      creates: true,
      audit: { action: "secret.put", object: "secret", id: "hmacSecretId" },
      summary: "Register or rotate a signing secret",
      description: "Without `secret` one is generated. After a rotation the old and the new secret both sign for overlapSeconds, a day by default. " +
        "A new secret names its owner: exactly one of client, accounts and anyClient. A later call may leave the owner out or replace it; " +
        "with rotate: false it changes only the owner and bodySignature.",
      body: { schema: SecretSettings, closed: true, optional: true, maxBytes: maxSettingsBytes },
      answers: { 200: { description: "The secret, which signs new deliveries", schema: SigningSecret } }
    },
    listSecrets: {
      route: "GET /v1/tenants/{tenantId}/secrets",
      summary: "List signing secrets with their owners",
      description: "By hmacSecretId. Never returns the secret's value.",
      query: pageOf(SecretListQuery.fields),
      answers: { 200: { description: "Secrets", schema: SecretsPage } }
    },
    deleteSecret: {
      route: "DELETE /v1/tenants/{tenantId}/secrets/{hmacSecretId}",
      audit: { action: "secret.delete", object: "secret", id: "hmacSecretId" },
      summary: "Delete a signing secret",
      description: "409 while a subscription is signed with it.",
      answers: { 204: { description: "Deleted" } },
      refusals: { 409: "A subscription names the secret." }
    },
    listDeliveries: {
      route: "GET /v1/tenants/{tenantId}/deliveries",
      summary: "List deliveries",
      description: "Each with its attempts, newest first by default. A cursor keeps the order of its first page. " +
        "A page passes over 2,500 others at most, so for a client or an endpoint with many subscriptions, or for an error, it may be short, or empty, with a nextCursor.",
      query: {
        state: { kind: "text", schema: DeliveryListQuery.fields.state.schema, description: "Only deliveries in this state; `dead` are dead letters." },
        subscriptionId: { kind: "text", schema: DeliveryListQuery.fields.subscriptionId.schema, description: "Only deliveries of this subscription." },
        client: { kind: "text", schema: DeliveryListQuery.fields.client.schema, description: "Only deliveries of this client's subscriptions, except deleted ones. A bare name means key:<name>." },
        endpoint: { kind: "text", schema: DeliveryListQuery.fields.endpoint.schema, description: `${ofEndpoint} Deliveries of deleted subscriptions are left out.` },
        error: { kind: "text", schema: DeliveryListQuery.fields.error.schema, description: "Only deliveries whose last attempt had this outcome, and that wait for a retry or are dead letters." },
        since: { kind: "instant", schema: DeliveryListQuery.fields.since.schema, description: "Created at or after this instant." },
        until: { kind: "instant", schema: DeliveryListQuery.fields.until.schema, description: "Created before this instant." },
        total: withTotal,
        order: { kind: "text", schema: DeliveryListQuery.fields.order.schema, description: "By time of creation.", default: "newest" },
        ...pageOf(DeliveryListQuery.fields)
      },
      answers: { 200: { description: "Deliveries", schema: DeliveriesPage } }
    },
    getDelivery: {
      route: "GET /v1/tenants/{tenantId}/deliveries/{deliveryId}",
      audit: { action: "delivery.read-body", object: "delivery", id: "deliveryId" },
      showsBodies: true,
      summary: "Get a delivery",
      description: "With its exact body and every attempt. A read-only operator key is refused.",
      answers: { 200: { description: "The delivery", schema: DeliveryBodyView } }
    },
    retryDelivery: {
      route: "POST /v1/tenants/{tenantId}/deliveries/{deliveryId}/retry",
      audit: { action: "delivery.retry", object: "delivery", id: "deliveryId" },
      summary: "Send a delivery again",
      description: "The same bytes under the same id, with a full series of attempts.",
      answers: { 202: { description: "Queued for sending" } },
      refusals: { 409: "The delivery is being sent, or its subscription does not exist any more." }
    },
    dismissDelivery: {
      route: "POST /v1/tenants/{tenantId}/deliveries/{deliveryId}/dismiss",
      audit: { action: "delivery.dismiss", object: "delivery", id: "deliveryId" },
      summary: "Dismiss a dead letter",
      description: "It no longer counts as dead and is not recovered. It can still be retried.",
      answers: { 202: { description: "Dismissed" } },
      refusals: { 409: "The delivery is not a dead letter." }
    },
    retryDeadLetters: {
      route: "POST /v1/tenants/{tenantId}/dead-letters/retry",
      audit: { action: "dead-letters.retry", object: "tenant", id: "tenantId" },
      summary: "Send all dead letters that match again",
      description: `${inSteps} They are sent like single ones: the same bytes under the same id, with a full series of attempts.`,
      body: { schema: DeadLettersCall, closed: true },
      answers: { 202: { description: "Queued for sending", schema: Schema.Struct({ retried: Count, nextCursor }).annotate({ identifier: "RetriedDeadLetters" }) } }
    },
    dismissDeadLetters: {
      route: "POST /v1/tenants/{tenantId}/dead-letters/dismiss",
      audit: { action: "dead-letters.dismiss", object: "tenant", id: "tenantId" },
      summary: "Dismiss all dead letters that match",
      description: `${inSteps} Each can still be retried.`,
      body: { schema: DeadLettersCall, closed: true },
      answers: { 202: { description: "Dismissed", schema: Schema.Struct({ dismissed: Count, nextCursor }).annotate({ identifier: "DismissedDeadLetters" }) } }
    },
    purgeSubscriptions: {
      route: "POST /v1/tenants/{tenantId}/purge",
      audit: { action: "subscriptions.purge", object: "tenant", id: "tenantId" },
      summary: "Drop the waiting entries of several subscriptions",
      description: "Of the subscriptions with these ids, or of those that match at least one of client, endpoint and state, in order of their ids. A call looks at 100 " +
        "subscriptions at most, and stops after the one that brings it to 20,000 dropped entries. Call again with nextCursor until it is null; a call that was cut short can be repeated.",
      body: { schema: PurgeCall, closed: true },
      answers: { 202: { description: "How many subscriptions had something to drop, and how many entries were dropped", schema: PurgeResult } },
      refusals: { 404: noSubscription }
    },
    listAllSubscriptions: {
      route: "GET /v1/tenants/{tenantId}/subscriptions",
      summary: "List subscriptions of every client and area",
      description: "By subscriptionId, each with its delivery state and the reason for it, waiting entries, dead letters, and last attempt.",
      query: {
        subscriptionId: { kind: "list", schema: SubscriptionListQuery.fields.subscriptionId.schema, description: "Only these subscriptions, 100 at most. Unknown ids are left out." },
        client: { kind: "text", schema: SubscriptionListQuery.fields.client.schema, description: "Only subscriptions of this client. A bare name means key:<name>." },
        state: { kind: "text", schema: SubscriptionListQuery.fields.state.schema, description: "Only subscriptions in this state." },
        endpoint: { kind: "text", schema: SubscriptionListQuery.fields.endpoint.schema, description: ofEndpoint },
        error: {
          kind: "text",
          schema: SubscriptionListQuery.fields.error.schema,
          description: "Only subscriptions whose last attempt had this outcome. A page looks at 1,000 subscriptions at most, so it may be short, or empty, with a nextCursor; there is no total."
        },
        inTrouble: {
          kind: "boolean",
          schema: SubscriptionListQuery.fields.inTrouble.schema,
          description: "true: only subscriptions in trouble, as `GET /v1/health` counts them.",
          default: false
        },
        total: withTotal,
        ...pageOf(SubscriptionListQuery.fields)
      },
      answers: { 200: { description: "Subscriptions", schema: SubscriptionsPage } }
    },
    getSubscriptionStatus: {
      route: `GET ${subscriptionPath}`,
      summary: "Get a subscription with its delivery state",
      description: "Of any area, with the reason for its state, its waiting entries and its last attempt.",
      answers: { 200: { description: "The subscription", schema: SubscriptionView } }
    },
    editSubscription: {
      route: `PATCH ${subscriptionPath}`,
      audit: { action: "subscription.edit", object: "subscription", id: "subscriptionId" },
      summary: "Change the settings of a subscription",
      description: "JSON merge patch (RFC 7396) of endpointUrl, hmacSecretId, delivery and, for transit events, filters: members that are not named stay as they are; null takes filters, delivery " +
        "or one of their members back to the default. The rules are those of its client's own patch; the secret is one that this client may use. " +
        "Only for transit events and pickups: the interfaces of the other areas cannot change a subscription (400).",
      body: { schema: SubscriptionEdit, contentTypes: mergePatchMediaTypes, closed: true, maxBytes: 256 * 1024 },
      answers: { 200: { description: "The changed subscription", schema: SubscriptionView } },
      refusals: { 409: "The secret does not exist, or its client may not use it." }
    },
    pauseSubscription: {
      route: `POST ${subscriptionPath}/pause`,
      audit: { action: "subscription.pause", object: "subscription", id: "subscriptionId" },
      summary: "Pause a subscription of any area",
      description: "Nothing more is sent and new entries wait, until an operator resumes it. Its client can read the reason, and cannot resume it. " +
        "Attempts in flight are completed.",
      body: { schema: PauseCall, closed: true },
      answers: { 200: { description: "The paused subscription", schema: SubscriptionView } }
    },
    recoverSubscription: {
      route: `POST ${subscriptionPath}/recover`,
      audit: { action: "subscription.recover", object: "subscription", id: "subscriptionId" },
      summary: "Send dead letters again",
      description: "Queues every dead letter since the given instant again, under the same id.",
      body: { schema: RecoverCall, closed: true },
      answers: { 202: { description: "Queued for sending", schema: Schema.Struct({ recovered: Count }) } }
    },
    resumeSubscription: {
      route: `POST ${subscriptionPath}/resume`,
      audit: { action: "subscription.resume", object: "subscription", id: "subscriptionId" },
      summary: "Resume a subscription of any area",
      description: "Works for every pause, by its client, the service or an operator. For freight charges, dead letters since the pause are sent again, before later versions of their bills. " +
        "A subscription that its client had made inactive becomes inactive again; resuming an active one has no effect.",
      answers: { 200: { description: "The subscription", schema: SubscriptionView } }
    },
    purgeSubscription: {
      route: `POST ${subscriptionPath}/purge`,
      audit: { action: "subscription.purge", object: "subscription", id: "subscriptionId" },
      summary: "Drop the waiting entries of a subscription",
      description: "Waiting entries are removed, and deliveries that wait for a retry are cancelled. Attempts in flight are completed.",
      answers: { 202: { description: "The number of dropped entries", schema: Schema.Struct({ dropped: Count }) } }
    },
    removeSubscription: {
      route: `DELETE ${subscriptionPath}`,
      audit: { action: "subscription.delete", object: "subscription", id: "subscriptionId" },
      summary: "Delete a subscription of any area",
      description: "Has the same effect as a deletion by its client: nothing more is sent, and waiting entries are dropped.",
      answers: { 204: { description: "Deleted" } }
    },
    explainDelivery: {
      route: "GET /v1/tenants/{tenantId}/explain",
      summary: "Explain why a subscription did or did not receive an event",
      description: "Name one of eventId, shipmentId, pro and pickupId. A freight bill is found by its PRO, its id or its shipment, a pickup also by a PRO or shipment of its request.",
      query: {
        subscriptionId: { kind: "text", schema: ExplainQuery.fields.subscriptionId, description: "The subscription, of any area.", required: true },
        eventId: { kind: "text", schema: ExplainQuery.fields.eventId.schema, description: "A transit event." },
        shipmentId: { kind: "text", schema: ExplainQuery.fields.shipmentId.schema, description: "A shipment, or the id of a freight bill." },
        pro: { kind: "text", schema: ExplainQuery.fields.pro.schema, description: "A PRO number." },
        pickupId: { kind: "text", schema: ExplainQuery.fields.pickupId.schema, description: "A carrierPickupNumber, or the service's own id of a pickup." }
      },
      answers: { 200: { description: "The result, and the rules that decided it", schema: Explanation } },
      refusals: { 404: noSubscription }
    },
    getHealth: {
      route: "GET /v1/health",
      summary: "Get the delivery health of all tenants",
      description: "Tenants with the most failing or paused subscriptions first; covers the first 1,000 tenants by tenantId.",
      answers: { 200: { description: "Tenants", schema: HealthView } }
    },
    getStatistics: {
      route: "GET /v1/tenants/{tenantId}/statistics",
      summary: "Get deliveries, failures, latency and waiting entries over time",
      description: "One series for each subscriptionId; otherwise one for the client or the whole tenant. Counts of a minute appear within two minutes, waiting entries are sampled about every five. " +
        "Minutes are kept for a day, hours for 90 days by default. At most 1,500 points for each series, and 10,000 in all.",
      query: {
        subscriptionId: { kind: "list", schema: StatisticsQuery.fields.subscriptionId.schema, description: "Only these subscriptions, 100 at most." },
        client: { kind: "text", schema: StatisticsQuery.fields.client.schema, description: "Only this client's subscriptions, also those deleted since. A bare name means key:<name>." },
        from: { kind: "instant", schema: StatisticsQuery.fields.from.schema, description: "The first point contains this instant. Default: an hour before `to`." },
        to: { kind: "instant", schema: StatisticsQuery.fields.to.schema, description: "The end. Default: now." },
        step: { kind: "integer", schema: StatisticsQuery.fields.step.schema, description: "Seconds of one point: a multiple of 60 up to 3600, or of 3600. Default: by the range." }
      },
      answers: { 200: { description: "Series", schema: StatisticsView } }
    },
    replaySubscription: {
      route: `POST ${subscriptionPath}/replay`,
      audit: { action: "subscription.replay", object: "subscription", id: "subscriptionId" },
      summary: "Send history again",
      description: "As new deliveries of the same events, limited to events that match the filters and that the client has access to now. For a subscription to pickups, " +
        "the entries of the work list again, by time only. Other areas have no history to replay.",
      body: { schema: ReplayCall, closed: true, maxBytes: maxSettingsBytes },
      answers: { 202: { description: "History is queued", schema: Schema.Struct({ queued: Count }) } }
    },
    findShipments: {
      route: "GET /v1/tenants/{tenantId}/shipments",
      summary: "Find shipments by any of their numbers",
      description: "From all areas, 20 at most. Without a match the list is empty.",
      query: {
        reference: { kind: "text", schema: Schema.String, description: "A shipmentId, a PRO, a bill of lading or a purchase order.", required: true }
      },
      answers: { 200: { description: "Shipments", schema: FoundShipments } }
    },
    getShipmentJourney: {
      route: "GET /v1/tenants/{tenantId}/shipments/{shipmentId}/journey",
      summary: "Get the journey of a shipment",
      description: "The newest 500 entries of all areas, and the deliveries with data of the shipment. " +
        "A shipment without a shipmentId is found by its PRO. Deliveries of hourly and daily charges are not included.",
      answers: { 200: { description: "The journey", schema: ShipmentJourney } }
    },
    listPickups: {
      route: "GET /v1/tenants/{tenantId}/pickups",
      summary: "List the pickups of a tenant",
      description: "Of all clients, test pickups included, the latest order first; with state=waiting those that wait for the carrier's decision, the oldest order first.",
      query: {
        state: { kind: "text", schema: PickupListQuery.fields.state.schema, description: "waiting: an order, or a change of it, waits for a decision.", default: "all" },
        ...pageOf(PickupListQuery.fields)
      },
      answers: { 200: { description: "Pickups", schema: PickupsPage } }
    },
    decidePickupForCarrier: {
      route: "POST /v1/tenants/{tenantId}/pickups/{pickupId}/decision",
      audit: { action: "pickup.decide-for-carrier", object: "pickup", id: "pickupId" },
      summary: "Decide on a pickup for the carrier",
      description: "The same as the carrier's decision over intake: on an order, or on a change of it, that waits for a decision; 409 if there is none. " +
        "The shipper's call is answered with it.",
      body: { schema: CarrierDecision, closed: true, maxBytes: 1024 * 1024 },
      answers: { 200: { description: "Decided", schema: PickupReportResult } },
      refusals: { 409: "The pickup is decided already." }
    }
  }
})
