/** Response schemas of the operator API. */
import { AuditEntry, Count, InstantText, subscriptionsOfArea, subscriptionStates, tenantStates, verdicts, waitReasons } from "@waybill/core"
import { deliveryStates, maxCountedUses } from "@waybill/core/delivery"
import { Schema } from "effect"

export const HttpStatus = Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 }))

const nextCursor = Schema.NullOr(Schema.String)

export const Tenant = Schema.Struct({
  tenantId: Schema.String,
  name: Schema.String,
  hosts: Schema.Array(Schema.String),
  state: Schema.Literals(tenantStates).annotate({ description: "suspended: calls are refused, and nothing is sent." })
}).annotate({ identifier: "Tenant" })

export const TenantsPage = Schema.Struct({ data: Schema.Array(Tenant), nextCursor }).annotate({ identifier: "TenantsPage" })

export const AuditPage = Schema.Struct({ data: Schema.Array(AuditEntry), nextCursor }).annotate({ identifier: "AuditPage" })

const listedKey = {
  id: Schema.String,
  name: Schema.String,
  client: Schema.String.annotate({ description: "key:<name>." }),
  roles: Schema.Array(Schema.String),
  accounts: Schema.Array(Schema.String),
  dot: Schema.NullOr(Schema.String),
  mc: Schema.NullOr(Schema.String),
  createdAt: InstantText,
  expiresAt: Schema.NullOr(InstantText),
  lastUsedAt: Schema.NullOr(InstantText).annotate({ description: "Written about once a minute." })
}

export const ApiKeysPage = Schema.Struct({ data: Schema.Array(Schema.Struct(listedKey).annotate({ identifier: "ListedApiKey" })), nextCursor })
  .annotate({ identifier: "ApiKeysPage" })

const Client = Schema.Struct({
  client: Schema.String.annotate({ description: "key:<name>, or jwt:<issuer>:<sub> of a token." }),
  accounts: Schema.Array(Schema.String),
  roles: Schema.Array(Schema.String),
  keys: Count.annotate({ description: "Keys that are neither revoked nor expired." }),
  subscriptions: Count.annotate({ description: "Of all areas." }),
  lastSeenAt: Schema.NullOr(InstantText).annotate({ description: "Written about once a minute." }),
  state: Schema.Literals(["live", "held"]).annotate({ description: "held: it has no access at present, so nothing is sent, and new entries wait." })
}).annotate({ identifier: "Client" })

export const ClientsPage = Schema.Struct({ data: Schema.Array(Client), nextCursor }).annotate({ identifier: "ClientsPage" })

export const TenantStateShown = Schema.Struct({ tenantId: Schema.String, state: Schema.Literals(tenantStates) }).annotate({ identifier: "TenantState" })

export const ApiKey = Schema.Struct({
  id: Schema.String,
  key: Schema.String.annotate({ description: "Shown once; only its hash is kept." })
}).annotate({ identifier: "ApiKey" })

export const SigningSecret = Schema.Struct({
  hmacSecretId: Schema.String,
  secret: Schema.String.annotate({ description: "Signs new deliveries. Give it to the receiver." })
}).annotate({ identifier: "SigningSecret" })

const Secret = Schema.Struct({
  hmacSecretId: Schema.String,
  client: Schema.NullOr(Schema.String.annotate({ description: "The one client that may use it, qualified: key:<name> or jwt:<issuer>:<sub>." })),
  accounts: Schema.Array(Schema.String).annotate({ description: "Clients with one of these accounts may use it. Empty if it belongs to one client or to all." }),
  anyClient: Schema.Boolean.annotate({ description: "Every client of the tenant may use it." }),
  createdAt: InstantText,
  rotatedAt: Schema.NullOr(InstantText),
  signsUntil: Schema.NullOr(InstantText).annotate({ description: "When the last older version stops signing; null if only the current one signs." }),
  usedBy: Count.annotate({ description: `Subscriptions that are signed with it. ${maxCountedUses} means that many or more.` })
}).annotate({ identifier: "Secret" })

export const SecretsPage = Schema.Struct({ data: Schema.Array(Secret), nextCursor }).annotate({ identifier: "SecretsPage" })

const outcome = Schema.String.annotate({ description: "accepted, gone, interrupted, or the kind of failure, such as timeout or http_5xx." })

const Attempt = Schema.Struct({
  attempt: Count,
  at: InstantText,
  durationMillis: Count,
  outcome,
  status: Schema.NullOr(HttpStatus),
  detail: Schema.NullOr(Schema.String),
  answer: Schema.NullOr(Schema.String.annotate({ description: "The first bytes of the receiver's response." }))
}).annotate({ identifier: "DeliveryAttempt" })

export const deliveryFields = {
  deliveryId: Schema.String,
  subscriptionId: Schema.String,
  state: Schema.Literals(deliveryStates),
  createdAt: InstantText,
  settledAt: Schema.NullOr(InstantText),
  nextAttemptAt: Schema.NullOr(InstantText),
  reason: Schema.NullOr(Schema.String.annotate({ description: "Why it was cancelled, unless its subscription was deleted." })),
  events: Count,
  attempts: Schema.Array(Attempt)
}

const Delivery = Schema.Struct(deliveryFields).annotate({ identifier: "Delivery" })

export const DeliveryInFull = Schema.Struct({
  ...deliveryFields,
  endpointUrl: Schema.String,
  body: Schema.String.annotate({ description: "The exact body of every attempt." })
}).annotate({ identifier: "DeliveryInFull" })

const total = Schema.optionalKey(Count.annotate({ description: "Of all pages, if it was asked for and could be counted fast. 10,000 means that many or more." }))

export const DeliveriesPage = Schema.Struct({ data: Schema.Array(Delivery), nextCursor, total }).annotate({ identifier: "DeliveriesPage" })

const area = Schema.String.annotate({ description: `One of ${Object.keys(subscriptionsOfArea).join(", ")}, notices.` })

const upTo10000 = (what: string) => Count.annotate({ description: `${what} 10,000 means that many or more.` })

const counted = (what: string) => Count.annotate({ description: `${what} 1,000 means that many or more.` })

export const OperatorSubscription = Schema.Struct({
  subscriptionId: Schema.String,
  area,
  client: Schema.String.annotate({ description: "The owner: key:<name> or jwt:<issuer>:<sub>." }),
  endpointUrl: Schema.String,
  hmacSecretId: Schema.String,
  filters: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "Its filters, with the members of its area." }),
  accounts: Schema.NullOr(Schema.Array(Schema.String)).annotate({ description: "Its accounts; null for all accounts of its client." }),
  delivery: Schema.Struct({
    maxAttempts: Count,
    initialBackoffSeconds: Count,
    maxBackoffSeconds: Count,
    batchMaxSize: Count,
    rateLimitPerMinute: Count
  }),
  state: Schema.Literals(subscriptionStates),
  reason: Schema.NullOr(Schema.String.annotate({ description: "Why the service or an operator paused it." })),
  pausedBy: Schema.NullOr(Schema.Literals(["client", "service", "operator"])).annotate({ description: "Its client cannot resume a subscription that an operator paused." }),
  since: InstantText.annotate({ description: "When the state last changed." }),
  held: Schema.Boolean.annotate({ description: "Whether its client or its tenant has no access at present, so that nothing is sent." }),
  waiting: counted("Entries that are not in a delivery yet."),
  oldestWaitingAt: Schema.NullOr(InstantText).annotate({ description: "Oldest of the first 1,000 waiting entries." }),
  inFlight: counted("Deliveries that are being sent or wait for their next attempt."),
  dead: counted("Dead letters."),
  dropped: Count.annotate({ description: "All entries removed without being sent." }),
  dueAt: Schema.NullOr(InstantText).annotate({ description: "When its earliest retry is due." }),
  breaker: Schema.Struct({
    state: Schema.Literals(["closed", "open", "half-open"]).annotate({ description: "open: nothing is sent. half-open: one delivery is sent, the probe." }),
    failures: Count.annotate({ description: "Failed attempts since the last accepted one." }),
    until: Schema.NullOr(InstantText)
  }),
  lastAttempt: Schema.NullOr(Schema.Struct({ at: InstantText, outcome, status: Schema.NullOr(HttpStatus) }))
}).annotate({ identifier: "OperatorSubscription" })

export const OperatorSubscriptionsPage = Schema.Struct({ data: Schema.Array(OperatorSubscription), nextCursor, total }).annotate({ identifier: "OperatorSubscriptionsPage" })

export const Explanation = Schema.Struct({
  verdict: Schema.Literals(verdicts),
  reasons: Schema.Array(Schema.Struct({
    rule: Schema.String.annotate({ description: "The deciding rule: a filter, access, the state, the circuit breaker." }),
    expected: Schema.String,
    actual: Schema.String
  })),
  waitingFor: Schema.NullOr(Schema.Literals(waitReasons)).annotate({ description: "Set if verdict is waiting." }),
  deliveries: Schema.Array(Schema.Struct({
    deliveryId: Schema.String,
    state: Schema.Literals(deliveryStates),
    attempts: Count,
    lastStatus: Schema.NullOr(HttpStatus).annotate({ description: "The receiver's HTTP status at the last attempt, if there was a response." }),
    at: InstantText
  })).annotate({ description: "Newest first, 50 at most, from the subscription's newest 1,000 in each state." })
}).annotate({ identifier: "Explanation" })

export const Health = Schema.Struct({
  tenants: Schema.Array(Schema.Struct({
    tenantId: Schema.String,
    subscriptions: upTo10000("Subscriptions of all areas."),
    inTrouble: upTo10000("Paused by the service or an operator, with a circuit breaker that is not closed, or with a dead letter."),
    waiting: upTo10000("Entries that are not in a delivery yet."),
    oldestWaitingAt: Schema.NullOr(InstantText).annotate({ description: "Oldest of the first 10,000 waiting entries." }),
    dead: upTo10000("Dead letters.")
  }).annotate({ identifier: "TenantHealth" })),
  unread: Schema.Array(Schema.String).annotate({ description: "Ids of tenants whose counts could not be read. The log has the causes." })
}).annotate({ identifier: "Health" })

const StatisticsPoint = Schema.Struct({
  at: InstantText.annotate({ description: "When it begins." }),
  deliveries: Count.annotate({ description: "Accepted attempts." }),
  failures: Count.annotate({ description: "Failed attempts." }),
  meanMillis: Schema.NullOr(Count).annotate({ description: "Mean duration of an attempt; null without attempts." }),
  maxMillis: Schema.NullOr(Count),
  waiting: Schema.NullOr(Count).annotate({ description: "The most entries that waited at one sample; null without a sample. While nothing waits, there is one sample, not one every five minutes." })
}).annotate({ identifier: "StatisticsPoint" })

export const StatisticsShown = Schema.Struct({
  from: InstantText,
  to: InstantText,
  step: Count.annotate({ description: "Seconds of a point." }),
  series: Schema.Array(Schema.Struct({
    subscriptionId: Schema.NullOr(Schema.String.annotate({ description: "Null for a series of the client or the tenant." })),
    points: Schema.Array(StatisticsPoint).annotate({ description: "One for each step, oldest first." })
  }).annotate({ identifier: "StatisticsSeries" }))
}).annotate({ identifier: "Statistics" })

const numbers = { shipmentId: Schema.String, proNumber: Schema.NullOr(Schema.String), bolNumber: Schema.NullOr(Schema.String) }

const NamedShipment = Schema.Struct({
  ...numbers,
  carrier: Schema.NullOr(Schema.String.annotate({ description: "Standard Carrier Alpha Code." })),
  status: Schema.NullOr(Schema.String.annotate({ description: "Its milestone, or else its latest event, with the name used in its area." })),
  lastAt: Schema.NullOr(InstantText)
}).annotate({ identifier: "NamedShipment" })

export const NamedShipments = Schema.Struct({ data: Schema.Array(NamedShipment) }).annotate({ identifier: "NamedShipments" })

const JourneyEntry = Schema.Struct({
  at: InstantText,
  area: Schema.Literals(["shipment-status", "transit-events", "freight-charges", "invoices", "pickups"]),
  kind: Schema.String.annotate({ description: "The area's name for it, such as an event type, a milestone, invoice created, pickup En Route." }),
  title: Schema.String.annotate({ description: "One line for people." }),
  reference: Schema.NullOr(Schema.String.annotate({ description: "Its id or number in its area." })),
  document: Schema.Unknown.annotate({ description: "The entry as JSON." })
}).annotate({ identifier: "JourneyEntry" })

export const ShipmentJourney = Schema.Struct({
  ...numbers,
  accounts: Schema.Array(Schema.String.annotate({ description: "An account that has access." })),
  entries: Schema.Array(JourneyEntry).annotate({ description: "Oldest first." }),
  truncated: Schema.Boolean.annotate({ description: "Whether older entries were left out." }),
  deliveries: Schema.Array(Schema.Struct({ ...deliveryFields, area })).annotate({ description: "Deliveries with data of the shipment, newest first." }),
  deliveriesSince: Schema.NullOr(InstantText).annotate({ description: "Deliveries before this instant were not searched; null if all were searched." })
}).annotate({ identifier: "ShipmentJourney" })

const WrittenTime = Schema.NullOr(Schema.String.annotate({ description: "As the shipper wrote it, in local time of the place." }))

const OperatorPickup = Schema.Struct({
  pickupId: Schema.String,
  confirmationNumber: Schema.NullOr(Schema.String).annotate({ description: "The carrierPickupNumber; null until there is one." }),
  status: Schema.String,
  client: Schema.String.annotate({ description: "The client that ordered it." }),
  isTest: Schema.Boolean,
  orderedAt: InstantText,
  waitingFor: Schema.NullOr(Schema.Literals(["order", "change"])).annotate({ description: "What waits for the carrier's decision; null if nothing does." }),
  waitingSince: Schema.NullOr(InstantText),
  carrier: Schema.Struct({ carrierName: Schema.NullOr(Schema.String), scac: Schema.NullOr(Schema.String) }),
  readyWindow: Schema.Struct({ readyDate: WrittenTime, readyTime: WrittenTime, closeTime: WrittenTime, timeZone: Schema.NullOr(Schema.String) })
    .annotate({ description: "The window of the requested change, if one waits." }),
  origin: Schema.Struct({ name: Schema.String, city: Schema.String, state: Schema.String, zip: Schema.String })
    .annotate({ description: "The first pickup address." })
}).annotate({ identifier: "OperatorPickup" })

export const PickupsPage = Schema.Struct({ data: Schema.Array(OperatorPickup), nextCursor }).annotate({ identifier: "OperatorPickupsPage" })
