/** Explains why a subscription did or did not receive a subject. */
import { Context, Effect, Layer, Schema } from "effect"
import { DeliveryControl, type DestinationTrace } from "../delivery/DeliveryControl.ts"
import type { DestinationNotFound } from "../delivery/DeliveryErrors.ts"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { deliveryStates } from "../delivery/model/DeliveryState.ts"
import { shipmentSearch } from "../journey/ShipmentSearch.ts"
import { makeShipmentTimelines } from "../journey/ShipmentTimeline.ts"
import type { PickupNotFound } from "../pickups/PickupErrors.ts"
import type { PickupRow } from "../pickups/PickupStore.ts"
import { fault } from "../shared/Fault.ts"
import { formatInstant, InstantText } from "../shared/Instant.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { Count, HttpStatus } from "../shared/Members.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { ShipmentNotFound } from "../shipment-status/ShipmentStatusErrors.ts"
import { findDestination } from "../subscriptions/Destinations.ts"
import { TransitEventStore } from "../transit-events/TransitEventStore.ts"
import { makeExplainAreas, type Subject } from "./ExplainAreas.ts"
import { Verdict, verdictOf } from "./Verdict.ts"

/** A subscription and exactly one subject: `eventId`, `shipmentId`, `pro` or `pickupId`. */
export const ExplainQuery = Schema.Struct({
  subscriptionId: Schema.String,
  eventId: Schema.optionalKey(Schema.String),
  shipmentId: Schema.optionalKey(Schema.String),
  pro: Schema.optionalKey(Schema.String),
  pickupId: Schema.optionalKey(Schema.String)
})

/** Most shipments of one PRO, most bills and most pickups that are examined. */
const maxKeys = 20

/** Why a subscription did or did not get something: the verdict, its reasons, and the deliveries concerned. */
export const Explanation = Schema.Struct({
  ...Verdict.fields,
  deliveries: Schema.Array(Schema.Struct({
    deliveryId: Schema.String,
    state: Schema.Literals(deliveryStates),
    attempts: Count,
    lastStatus: Schema.NullOr(HttpStatus).annotate({ description: "The receiver's HTTP status at the last attempt, if there was a response." }),
    at: InstantText
  })).annotate({ description: "Newest first, 50 at most, from the subscription's newest 1,000 in each state." })
}).annotate({ identifier: "Explanation" })
export type Explanation = typeof Explanation.Type

/** Explains to operators why an event, shipment, bill or pickup was or was not sent to one subscription. */
export class Explanations extends Context.Service<Explanations, {
  /**
   * The query names one subject: an eventId, a shipmentId, a PRO or a pickup. For a shipment, the most urgent verdict of its entries wins. A
   * freight bill is found by its PRO, its id or its shipment, a pickup also by a PRO or shipment of its request.
   */
  readonly explain: (tenantId: string, query: typeof ExplainQuery.Encoded) => Effect.Effect<Explanation, InvalidInput | DestinationNotFound | PickupNotFound | ShipmentNotFound | StorageError>
}>()("@waybill/core/operator/Explanations") {
  static readonly layer = Layer.effect(Explanations, Effect.gen(function*() {
    const queue = yield* DeliveryQueue
    const control = yield* DeliveryControl
    const events = yield* TransitEventStore
    const search = yield* shipmentSearch
    const timelineOf = yield* makeShipmentTimelines
    const areas = yield* makeExplainAreas

    /** Finds the shipments and bills of the subject. */
    const subjectOf = Effect.fnUntraced(function*(tenantId: string, asked: Asked): Effect.fn.Return<Subject, PickupNotFound | ShipmentNotFound | StorageError> {
      const { name, value } = asked
      if (name === "pickupId") return { events: undefined, shipmentIds: [], bills: [], pickups: [yield* areas.pickupNamed(tenantId, value)] }
      const missing = new ShipmentNotFound({ key: `${subjectNames[name]} ${value.slice(0, 200)}`, advice: `Check it and the tenant: nothing with it was reported there.${name === "pro" ? billAdvice : ""}` })
      const withId = name === "eventId" ? yield* events.withId(tenantId, value, maxKeys) : undefined
      if (withId?.length === 0) return yield* missing
      const shipmentIds = withId !== undefined
        ? withId.map(({ shipmentId }) => shipmentId)
        : name === "pro" ? (yield* search(tenantId, value)).map(({ shipmentId }) => shipmentId) : [value]
      const billIds = new Set<string>()
      const known: Array<string> = []
      const pickups = new Map<string, PickupRow>()
      for (const shipmentId of shipmentIds.slice(0, maxKeys)) {
        const timeline = yield* timelineOf(tenantId, shipmentId, 1)
        if (timeline === undefined) continue
        known.push(shipmentId)
        for (const billId of timeline.billIds) billIds.add(billId)
        for (const pickup of timeline.pickups) pickups.set(pickup.pickupId, pickup)
      }
      const bills = yield* areas.billsNamed(tenantId, value, [...billIds].slice(0, maxKeys))
      if (known.length + bills.length === 0) return yield* missing
      return { events: withId, shipmentIds: known, bills, pickups: [...pickups.values()].slice(0, maxKeys) }
    })

    const explain = Effect.fn("Explanations.explain")(function*(tenantId: string, input: unknown) {
      const query = yield* decode(input)
      const asked = yield* onlySubject(query)
      const { destination } = yield* findDestination(queue, tenantId, query.subscriptionId)
      const subject = yield* subjectOf(tenantId, asked)
      const traces = yield* Effect.forEach(yield* areas.tracesOf(tenantId, destination, subject), (each) => control.trace(tenantId, destination.destinationId, each))
      const trace = merged(traces)
      const verdict = (trace === undefined ? undefined : verdictOf(destination, trace)) ?? (yield* areas.verdictOf(tenantId, destination, subject))
      return { ...verdict, deliveries: shown(trace) }
    })

    return Explanations.of({ explain })
  }))
}

const decode = decodeInput(ExplainQuery, { closed: true })

interface Asked {
  readonly name: typeof subjects[number]
  readonly value: string
}

/** Bills have no other key than their uniqueID, which by its published definition begins with the PRO. */
const billAdvice = " A freight bill whose uniqueID does not begin with its PRO is found by its uniqueID only, as shipmentId."

/** Their names in messages. */
const subjectNames = { eventId: "event", shipmentId: "id", pro: "PRO" } as const

const subjects = ["eventId", "shipmentId", "pro", "pickupId"] as const

const onlySubject = (query: typeof ExplainQuery.Type): Effect.Effect<Asked, InvalidInput> => {
  if (query.subscriptionId.trim() === "") return Effect.fail(InvalidInput.of(fault(["subscriptionId"], "subscriptionId is empty. Give the id of a subscription, of any area.")))
  const asked = subjects.flatMap((name) => query[name] === undefined ? [] : [{ name, value: query[name].trim() }])
  const [first, second] = asked
  if (first === undefined || second !== undefined) return Effect.fail(InvalidInput.of(fault([second?.name ?? "eventId"], "Name one of eventId, shipmentId, pro and pickupId.")))
  return first.value === "" ? Effect.fail(InvalidInput.of(fault([first.name], `${first.name} is empty. Give the id or number to explain.`))) : Effect.succeed(first)
}

/** Merges the traces of several shipments or bills. */
const merged = (traces: ReadonlyArray<DestinationTrace>): DestinationTrace | undefined => {
  const [first] = traces
  if (first === undefined || traces.length === 1) return first
  const dropped = traces.flatMap((each) => each.dropped ?? []).sort((a, b) => b.at - a.at)[0]
  return {
    now: first.now,
    waiting: traces.some(({ waiting }) => waiting),
    behind: traces.filter(({ waiting }) => waiting).every(({ behind }) => behind),
    deliveries: traces.flatMap(({ deliveries }) => deliveries).sort((a, b) => a.deliveryId < b.deliveryId ? 1 : -1).slice(0, 50),
    dropped,
    recent: first.recent
  }
}

const shown = (trace: DestinationTrace | undefined): Explanation["deliveries"] =>
  (trace?.deliveries ?? []).map(({ attempt, deliveryId, lastAttempt, sentAt, state }) => ({
    deliveryId,
    state,
    attempts: attempt,
    lastStatus: lastAttempt?.status ?? null,
    at: formatInstant(lastAttempt?.at ?? sentAt)
  }))
