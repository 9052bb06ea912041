/** Publishes the events of one call: reads every event, removes duplicates, assigns sequences, stores and queues. */
import { Clock, Effect, Result } from "effect"
import { unknownToCarrier } from "../access/AccessFaults.ts"
import { isOwn } from "../access/model/Principal.ts"
import { encodeTexts } from "../shared/EncodeTexts.ts"
import { fault, type FaultCode, inexactFault } from "../shared/Fault.ts"
import { parseInstant } from "../shared/Instant.ts"
import { checkInput, InvalidInput } from "../shared/InvalidInput.ts"
import { inexactNumber, isObject, isSmallJson, maxDepth, nestsDeeperThan } from "../shared/Json.ts"
import { readEach, type RefusedItem, refusedCall } from "../shared/ReadItems.ts"
import type { StorageError, Transaction } from "../shared/StoragePort.ts"
import { forEachPaced, mapPaced } from "../shared/Turns.ts"
import type { UniqueIds } from "../shared/UniqueIds.ts"
import { type EventKey, eventText, type KnownEvent, type Publication, type ReadEvent, type Repeat, reportedText, type StoredPublication, makeDuplicateFilter, textOfKey } from "./model/EventPublication.ts"
import { typeMask } from "./model/EventType.ts"
import { maxEventBytes, ReportedEvent } from "./model/TransitEvent.ts"
import { EventIdTaken, ShipmentNotOwn } from "./TransitEventErrors.ts"
import type { NewEvent, SequenceRequest, TransitEventStore } from "./TransitEventStore.ts"

/** Options of publishing events. */
export interface PublishOptions {
  /** Stores the valid events even if others are refused. */
  readonly partial?: boolean
  /** Runs in the same transaction after new events are stored, so that its writes commit together with them. */
  readonly also?: (accepted: ReadonlyArray<AcceptedEvent>) => Effect.Effect<void, StorageError>
}

/** Options and context of one call. */
interface Publishing extends PublishOptions {
  readonly traceparent: string | undefined
  /** The caller's grants, if it is one of several carriers. */
  readonly writer: ReadonlyArray<string> | undefined
}

/** An event that was just stored. */
export interface AcceptedEvent extends EventKey {
  readonly sequence: number
  readonly event: ReportedEvent
  /** Whether the shipment has a status that the event may change. */
  readonly hasStatus: boolean
}

/** Most events per call. */
export const maxEventsPerCall = 1000

const decoder = new TextDecoder()
const encoder = new TextEncoder()
const checkEvent = checkInput(ReportedEvent)

/** Makes the function that stores events and queues them for subscriptions, in one transaction. */
export const publishEvents = (services: {
  readonly store: TransitEventStore["Service"]
  readonly transaction: Transaction["Service"]
  readonly ids: UniqueIds["Service"]
}) => {
  const { ids, store, transaction } = services

  const findKnown = (tenantId: string, read: ReadonlyArray<ReadEvent>): Effect.Effect<ReadonlyMap<string, KnownEvent>, StorageError> => {
    const keys = new Map<string, EventKey>()
    for (const { event: { eventId, shipment: { shipmentId } } } of read) {
      if (eventId !== undefined) keys.set(textOfKey({ eventId, shipmentId }), { eventId, shipmentId })
    }
    if (keys.size === 0) return Effect.succeed(new Map())
    return Effect.flatMap(store.find(tenantId, [...keys.values()]), (stored) =>
      Effect.map(
        mapPaced(stored, (event): [string, KnownEvent] => [textOfKey(event), { ...event, json: JSON.parse(decoder.decode(event.body)) }]),
        (known) => new Map(known)
      ))
  }

  /** Finds the shipments of known events that belong to another carrier. */
  const foreignOf = Effect.fnUntraced(function*(tenantId: string, known: ReadonlyMap<string, KnownEvent>, writer: Publishing["writer"]) {
    if (writer === undefined || known.size === 0) return []
    const carriers = yield* store.carriers(tenantId, [...new Set([...known.values()].map((each) => each.shipmentId))])
    return [...carriers].filter(([, carrier]) => !isOwn(writer, carrier)).map(([shipmentId]) => shipmentId)
  })

  /**
   * The events with their ids, sequences and bytes. Locks their shipments; meanwhile their texts are made, without an object for each: V8 learns to
   * allocate objects that live through the wait in the old generation, where they keep their texts long after the call.
   */
  const numbered = Effect.fnUntraced(function*(tenantId: string, newEvents: ReadonlyArray<ReadEvent>, writer: Publishing["writer"]) {
    const requests = sequenceRequests(newEvents)
    const [firsts, reported] = yield* Effect.all(
      [store.allocate(tenantId, requests, writer), mapPaced(newEvents, ({ event }) => reportedText(event))],
      { concurrency: 2 }
    )
    const now = yield* Clock.currentTimeMillis
    const next = new Map(requests.map((request, at) => [request.shipmentId, firsts[at]!]))
    const texts: Array<string> = []
    const events = yield* mapPaced(newEvents, ({ event }, at) => {
      const { shipmentId } = event.shipment
      let sequence = event.sequence
      if (sequence === undefined) {
        sequence = next.get(shipmentId)!
        next.set(shipmentId, sequence + 1)
      }
      const eventId = event.eventId ?? ids.nextAt(now)
      texts.push(eventText(reported[at]!, eventId, sequence))
      return { eventId, shipmentId, sequence, type: event.type, typeBit: typeMask([event.type]), occurredAt: parseInstant(event.occurredAt)! }
    })
    const bodies = yield* encodeTexts(texts)
    return events.map((event, at): NewEvent => ({ ...event, body: bodies[at]! }))
  })

  /** Runs in a transaction, so all of the call commits or nothing does. `foreign`: shipments known to belong to another carrier. */
  const decideAndStore = Effect.fnUntraced(function*(
    tenantId: string,
    read: ReadonlyArray<ReadEvent>,
    foreign: ReadonlySet<string>,
    { also, partial = false, traceparent, writer }: Publishing
  ) {
    const known = yield* findKnown(tenantId, read)
    const notOwn = new Set([...foreign, ...(yield* foreignOf(tenantId, known, writer))])
    const isForeign = ({ event }: ReadEvent) => notOwn.has(event.shipment.shipmentId)
    const duplicateFilter = makeDuplicateFilter(known)
    yield* forEachPaced(notOwn.size === 0 ? read : read.filter((each) => !isForeign(each)), duplicateFilter.add)
    const { newEvents, refused: contradicting, repeats } = duplicateFilter.sorted
    const refused = notOwn.size === 0 ? contradicting : [...read.filter(isForeign).map(notOwnShipment), ...contradicting]
    if (refused.length > 0 && !partial) return yield* refusedCall(refused)
    const accepted: Array<StoredPublication> = []
    if (newEvents.length > 0) {
      const events = yield* numbered(tenantId, newEvents, writer)
      const withStatus = yield* store.append(tenantId, events, traceparent)
      events.forEach(({ eventId, sequence, shipmentId }, at) => {
        accepted.push({ index: newEvents[at]!.index, result: "accepted", eventId, shipmentId, sequence })
      })
      if (also !== undefined) {
        yield* also(events.map(({ eventId, sequence, shipmentId }, at) =>
          ({ eventId, shipmentId, sequence, event: newEvents[at]!.event, hasStatus: withStatus.has(shipmentId) })))
      }
    }
    return [...refused, ...accepted, ...duplicates(repeats, known, accepted)]
  })

  return Effect.fnUntraced(function*(
    tenantId: string,
    events: ReadonlyArray<unknown>,
    options: Publishing
  ): Effect.fn.Return<ReadonlyArray<Publication>, InvalidInput | StorageError> {
    const partial = options.partial === true
    yield* checkCount(events.length)
    const { good: read, refused } = yield* readEach(events, partial, readEvent)
    if (refused.length > 0 && !partial) return yield* refusedCall(refused)
    const foreign = new Set<string>()
    // every decision that fails finds an id that a concurrent call stored since, or a shipment that it owns; more would be a defect
    const mostDecisions = 2 * events.length + 1
    for (let decision = 1;; decision++) {
      const decided = yield* transaction.run(decideAndStore(tenantId, read, foreign, options)).pipe(
        Effect.catchTag(["EventIdTaken", "ShipmentNotOwn"], (again) => decision < mostDecisions ? Effect.succeed(again) : Effect.die(again))
      )
      if (decided instanceof ShipmentNotOwn) decided.shipmentIds.forEach((shipmentId) => foreign.add(shipmentId))
      else if (!(decided instanceof EventIdTaken)) return [...refused, ...decided].sort((a, b) => a.index - b.index)
    }
  })
}

/** Each repeats an event that was stored before, or by this call. */
const duplicates = (
  repeats: ReadonlyArray<Repeat>,
  known: ReadonlyMap<string, KnownEvent>,
  accepted: ReadonlyArray<StoredPublication>
): ReadonlyArray<Publication> => {
  if (repeats.length === 0) return []
  const stored = new Map([...known.values(), ...accepted].map(({ eventId, sequence, shipmentId }) => [textOfKey({ eventId, shipmentId }), { eventId, shipmentId, sequence }]))
  return repeats.map(({ index, key }) => ({ index, result: "duplicate", ...stored.get(key)! }))
}

/** The same fault as for any shipment that the caller may not write to. */
const notOwnShipment = ({ event, index }: ReadEvent): RefusedItem => ({
  index,
  result: "refused",
  faults: [unknownToCarrier(["events", index, "shipment", "shipmentId"], event.shipment.shipmentId)]
})

const checkCount = (count: number): Effect.Effect<void, InvalidInput> => {
  if (count === 0) return Effect.fail(InvalidInput.of(fault(["events"], "Send at least one event.", "out_of_bounds")))
  if (count <= maxEventsPerCall) return Effect.void
  const detail = `At most ${maxEventsPerCall} events in one call, this call has ${count}. Send several calls.`
  return Effect.fail(InvalidInput.of(fault(["events"], detail, "out_of_bounds")))
}

const readEvent = (input: unknown, index: number): Result.Result<ReadEvent, InvalidInput> => {
  const at = ["events", index]
  const refuse = (detail: string, code?: FaultCode) => Result.fail(InvalidInput.of(fault(at, detail, code)))
  if (!isObject(input)) return refuse("An event is a JSON object.")
  const isSmall = isSmallJson(input, maxEventBytes)
  if (!isSmall && nestsDeeperThan(input, maxDepth)) return refuse(`An event nests at most ${maxDepth} levels deep.`, "out_of_bounds")
  return Result.flatMap(checkEvent(input, at), (event) => {
    if (isSmall) return Result.succeed({ index, event })
    const bytes = textBytes(event)
    if (bytes === undefined) return refuse("An event can contain JSON values only.")
    if (bytes > maxEventBytes) return refuse(`An event has at most ${maxEventBytes} bytes of JSON.`, "out_of_bounds")
    const inexact = inexactNumber(input)
    return inexact === undefined ? Result.succeed({ index, event }) : Result.fail(InvalidInput.of(inexactFault([...at, ...inexact])))
  })
}

/** The bytes of an event's text; `undefined` if a host's object is not JSON. */
const textBytes = (event: ReportedEvent): number | undefined => {
  try {
    return encoder.encode(reportedText(event)).length
  } catch {
    return undefined
  }
}

/** One request per shipment, in the order of shipmentId, so that all calls lock in the same order. */
const sequenceRequests = (newEvents: ReadonlyArray<ReadEvent>): ReadonlyArray<SequenceRequest> => {
  const byShipment = new Map<string, { shipmentId: string; needed: number; highestGiven: number; accounts: ReadonlyArray<string> | undefined }>()
  for (const { event } of newEvents) {
    const { shipmentId } = event.shipment
    const request = byShipment.get(shipmentId) ?? { shipmentId, needed: 0, highestGiven: 0, accounts: undefined }
    if (event.sequence === undefined) request.needed += 1
    else request.highestGiven = Math.max(request.highestGiven, event.sequence)
    if (event.parties !== undefined) request.accounts = distinct(event.parties.accounts)
    byShipment.set(shipmentId, request)
  }
  return [...byShipment.values()].sort((a, b) => a.shipmentId < b.shipmentId ? -1 : 1)
}

const distinct = (accounts: ReadonlyArray<string>): ReadonlyArray<string> => accounts.length < 2 ? accounts : [...new Set(accounts)]
