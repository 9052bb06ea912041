/** Evaluates each area's rules: whether a subscription would get a subject, and under which order key. */
import { Effect, Option } from "effect"
import { areaOfSource } from "../Areas.ts"
import { keptDrops, type TraceSubject } from "../delivery/DeliveryControl.ts"
import type { DestinationOverview } from "../delivery/DeliveryQueue.ts"
import { chargeWindowSource } from "../freight-charges/ChargeSubscriptions.ts"
import { ChargeSubscriptionStore } from "../freight-charges/ChargeSubscriptionStore.ts"
import { FreightBillStore } from "../freight-charges/FreightBillStore.ts"
import type { ChargeSubscriptionSettings } from "../freight-charges/model/ChargeSubscription.ts"
import { billFrom, currentOf, type FreightBill } from "../freight-charges/model/FreightBill.ts"
import { billIdOf } from "../freight-charges/model/PreliminaryFreightCharge.ts"
import { statusOf } from "../journey/ShipmentTimeline.ts"
import type { PickupRow } from "../pickups/PickupStore.ts"
import { formatInstant } from "../shared/Instant.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { plainNumber, referencesOf } from "../shipment-status/model/LookupKey.ts"
import { furtherReferences } from "../shipment-status/model/ShipmentState.ts"
import { ShipmentStatusStore } from "../shipment-status/ShipmentStatusStore.ts"
import type { SubscribeRequest } from "../shipment-status/StatusSubscriptions.ts"
import { StatusSubscriptionStore } from "../shipment-status/StatusSubscriptionStore.ts"
import type { TransitEvent } from "../transit-events/model/TransitEvent.ts"
import type { SubscriptionCreate } from "../transit-events/model/TransitSubscription.ts"
import { type StoredEvent, TransitEventStore } from "../transit-events/TransitEventStore.ts"
import { TransitSubscriptionStore } from "../transit-events/TransitSubscriptionStore.ts"
import { makeExplainPickups } from "./ExplainPickups.ts"
import { decided, reason, type Verdict } from "./Verdict.ts"

/** The subject of a question: the events with an id, shipments with their freight bills and pickups, or one pickup. */
export interface Subject {
  readonly events: ReadonlyArray<StoredEvent> | undefined
  readonly shipmentIds: ReadonlyArray<string>
  readonly bills: ReadonlyArray<FreightBill>
  readonly pickups: ReadonlyArray<PickupRow>
}

/** Most events of a shipment whose types are compared with a subscription's filter. */
const comparedEvents = 100

/** Formats at most 10 texts for a reason. */
const named = (texts: ReadonlyArray<string>): string => texts.length === 0 ? "none" : `${texts.slice(0, 10).join(", ")}${texts.length > 10 ? " and more" : ""}`

const parsed = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)) as TransitEvent

export const makeExplainAreas = Effect.gen(function*() {
  const events = yield* TransitEventStore
  const transit = yield* TransitSubscriptionStore
  const statuses = yield* ShipmentStatusStore
  const statusSubscriptions = yield* StatusSubscriptionStore
  const bills = yield* FreightBillStore
  const charges = yield* ChargeSubscriptionStore
  const pickups = yield* makeExplainPickups

  /** The bills with these ids, and the bill whose id is the given number. */
  const billsNamed = (tenantId: string, number: string, billIds: ReadonlyArray<string>) => {
    const ids = [...new Set([billIdOf(number), ...billIds])].filter((id) => id !== "")
    // an id comes first among the ids that start with it
    return ids.length === 0 ? Effect.succeed([]) : Effect.map(bills.beginning(tenantId, ids, 1), (rows) => rows.filter(({ billId }) => ids.includes(billId)).map(billFrom))
  }

  const tracesOf = Effect.fnUntraced(function*(tenantId: string, { destinationId, source }: DestinationOverview, subject: Subject): Effect.fn.Return<ReadonlyArray<TraceSubject>, StorageError> {
    const { events: withId, shipmentIds } = subject
    const billIds = subject.bills.map(({ billId }) => billId)
    switch (areaOfSource(source)) {
      case "transit-events":
        return withId === undefined ? shipmentIds.map((key) => ({ key, orderIds: undefined })) : withId.map(({ eventId, shipmentId }) => ({ key: shipmentId, orderIds: [eventId] }))
      case "shipment-status":
        return shipmentIds.map((key) => ({ key, orderIds: undefined }))
      case "notices":
        return []
      case "pickups":
        return withId === undefined ? subject.pickups.map(({ pickupId }) => ({ key: pickupId, orderIds: undefined })) : []
      default: {
        if (source !== chargeWindowSource) return billIds.map((key) => ({ key, orderIds: undefined }))
        const { orderIds } = yield* charges.windowsWith(tenantId, destinationId, billIds)
        return orderIds.length === 0 ? [] : [{ key: "window", orderIds }]
      }
    }
  })

  const isVisible = Effect.fnUntraced(function*(tenantId: string, { client }: DestinationOverview, shipmentIds: ReadonlyArray<string>) {
    for (const shipmentId of shipmentIds) if (yield* transit.clientSees(tenantId, client, shipmentId)) return undefined
    const { accounts } = yield* events.recent(tenantId, shipmentIds[0]!, 1)
    const actual = accounts.length === 0
      ? "the shipment has no accounts, so only carriers see it: name them in parties of an event, or in accounts of the shipment"
      : `${client} has none of ${named(accounts)}`
    return decided("not_visible", reason("access", "an account of the shipment, or all of the tenant", actual))
  })

  const ofTransit = Effect.fnUntraced(function*(tenantId: string, destination: DestinationOverview, { events: withId, shipmentIds }: Subject) {
    const doc = (yield* transit.documents(tenantId, [destination.destinationId])).get(destination.destinationId)
    const filters = doc === undefined ? undefined : (JSON.parse(doc) as SubscriptionCreate).filters
    const wanted = filters?.shipmentIds ?? []
    if (wanted.length > 0 && !shipmentIds.some((id) => wanted.includes(id))) {
      return decided("not_matched", reason("shipmentIds", named(wanted), named(shipmentIds)))
    }
    const stored = withId ?? (yield* Effect.forEach(shipmentIds, (id) => events.recent(tenantId, id, comparedEvents))).flatMap((each) => each.events)
    if (stored.length === 0) return decided("not_matched", reason("events", "an event of the shipment", "none"))
    const types = new Set(stored.map((each) => parsed(each.body).type))
    const eventTypes = filters?.eventTypes ?? []
    if (eventTypes.length > 0 && !eventTypes.some((type) => types.has(type))) {
      return decided("not_matched", reason("eventTypes", named(eventTypes), named([...types])))
    }
    const hidden = yield* isVisible(tenantId, destination, [...new Set(stored.map((each) => each.shipmentId))])
    if (hidden !== undefined) return hidden
    const storedAt = yield* events.storedAt(tenantId, stored[0]!)
    return before(destination, storedAt) ?? forgotten(destination)
  })

  const ofStatus = Effect.fnUntraced(function*(tenantId: string, destination: DestinationOverview, { shipmentIds }: Subject) {
    const doc = (yield* statusSubscriptions.documents(tenantId, [destination.destinationId])).get(destination.destinationId)
    const wanted = new Set(doc === undefined ? [] : (JSON.parse(doc) as SubscribeRequest).referenceNumbers.map(plainNumber))
    const records = (yield* Effect.forEach(shipmentIds, (id) => statuses.record(tenantId, id, 1))).flatMap((record) => record ?? [])
    if (records.length === 0) return decided("not_matched", reason("status", "a status of the shipment", "none"))
    const matching = records.filter((record) => {
      const { state, view } = statusOf(record)
      return referencesOf({ ...view, shipmentId: record.shipmentId, references: furtherReferences(state) }).some((reference) => wanted.has(reference))
    })
    if (matching.length === 0) return decided("not_matched", reason("referenceNumbers", named([...wanted]), named(shipmentIds)))
    const hidden = yield* isVisible(tenantId, destination, matching.map(({ shipmentId }) => shipmentId))
    if (hidden !== undefined) return hidden
    if (matching.every((record) => statusOf(record).state.notices === 0)) {
      return decided("not_matched", reason("notification", "a status change that causes a notification", "none so far"))
    }
    const last = Math.max(...matching.flatMap((record) => [statusOf(record).state.registeredAt, ...record.history.map(({ occurredAt }) => occurredAt)]))
    return before(destination, last) ?? forgotten(destination)
  })

  const ofCharges = Effect.fnUntraced(function*(tenantId: string, destination: DestinationOverview, { bills: found }: Subject) {
    const stored = Option.getOrUndefined(yield* charges.findAny(tenantId, destination.destinationId))
    if (found.length === 0 || stored === undefined) return decided("not_matched", reason("freight bill", "a freight bill of the subject", "none"))
    const settings = JSON.parse(stored.doc) as ChargeSubscriptionSettings
    const { closesAt } = yield* charges.windowsWith(tenantId, destination.destinationId, found.map(({ billId }) => billId))
    if (closesAt !== undefined) {
      return { verdict: "waiting", waitingFor: "turn", reasons: [reason("frequency", `${settings.frequency}: sent when its window closes`, `the window closes at ${formatInstant(closesAt)}`)] } satisfies Verdict
    }
    const accounts = [...new Set(found.flatMap(({ versions }) => versions.flatMap((each) => each.accounts)))]
    const all = settings.billScope === "all_accounts"
    const covered = all ? accounts : accounts.filter((account) => settings.accounts.includes(account))
    if (covered.length === 0) return decided("not_matched", reason("accounts", named(settings.accounts), named(accounts)))
    const seen = yield* bills.viewers(tenantId, covered)
    if (!seen.some(({ subscriptionId }) => subscriptionId === destination.destinationId)) {
      return decided("not_visible", reason("access", named(covered), `${destination.client} has none of them`))
    }
    const current = found.map(currentOf)
    if (settings.dataOptions.shipmentDataType === "revenue_impacts_only" && current.every(({ impact }) => !impact)) {
      return decided("not_matched", reason("shipmentDataType", "revenue_impacts_only", "the last version has no revenue impact"))
    }
    return before(destination, Math.max(...current.map(({ at = 0 }) => at))) ?? forgotten(destination)
  })

  /** The verdict if the destination does not know the subject. */
  const verdictOf = (tenantId: string, destination: DestinationOverview, subject: Subject): Effect.Effect<Verdict, StorageError> => {
    switch (areaOfSource(destination.source)) {
      case "transit-events":
        return ofTransit(tenantId, destination, subject)
      case "shipment-status":
        return ofStatus(tenantId, destination, subject)
      case "notices":
        return Effect.succeed(decided("not_matched", reason("area", "an area with freight data", "notices of failing endpoints")))
      case "pickups":
        return Effect.map(pickups.verdictOf(tenantId, destination, subject), (found) => typeof found === "number" ? before(destination, found) ?? forgotten(destination) : found)
      default:
        return ofCharges(tenantId, destination, subject)
    }
  }

  return { billsNamed, pickupNamed: pickups.named, tracesOf, verdictOf }
})

/** The creation time from the subscription's id. */
const createdAt = ({ destinationId }: DestinationOverview): number => Number.parseInt(destinationId.replaceAll("-", "").slice(0, 12), 16)

const before = (destination: DestinationOverview, at: number | undefined): Verdict | undefined =>
  at !== undefined && at < createdAt(destination)
    ? decided("before_subscription", reason("createdAt", `after the subscription was created at ${formatInstant(createdAt(destination))}`, formatInstant(at)))
    : undefined

/** The subject matches now, but there is no record that it was queued. It may have been dropped only where not all drops have a record. */
const forgotten = (destination: DestinationOverview): Verdict =>
  destination.dropped > keptDrops
    ? decided("dropped", reason("dropped", "sent", `one of ${destination.dropped} entries that were dropped, or its delivery was deleted by retention`))
    : decided("not_matched", reason(
      "time of the event",
      "the subscription was active and its client had access",
      destination.status.state === "inactive" ? "the subscription is inactive" : "it did not match at that time, or its delivery was deleted by retention"
    ))
