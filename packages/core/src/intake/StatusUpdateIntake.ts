/** The carrier's system posts status updates here. Each also becomes a transit event, in the same transaction. */
import { Clock, Context, Effect, Layer } from "effect"
import { Base64Url } from "effect/encoding"
import type { NotPermitted } from "../access/AccessErrors.ts"
import { carrierOf, type Principal } from "../access/model/Principal.ts"
import { sha256 } from "../access/Sha256.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { fault } from "../shared/Fault.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { canonicalText } from "../shared/Json.ts"
import { type RefusedItem, refusedCall } from "../shared/ReadItems.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { forEachPaced, mapPaced } from "../shared/Turns.ts"
import { hasPro } from "../shipment-status/model/LookupKey.ts"
import type { ReportOutcome } from "../shipment-status/model/StatusReport.ts"
import { faultsIn, reportOfUpdate, StatusUpdate } from "../shipment-status/model/StatusUpdate.ts"
import { keyedOf, type KnownShipments, ShipmentReports } from "../shipment-status/ShipmentReports.ts"
import type { ReportedEvent } from "../transit-events/model/TransitEvent.ts"
import { TransitEvents } from "../transit-events/TransitEvents.ts"
import { TransitEventStore } from "../transit-events/TransitEventStore.ts"
import { type IntakeBody, type IntakeOptions, type IntakeResults, type ItemResult, type ReadItem, takeItems } from "./IntakeItems.ts"
import { withoutException, transitEventFromStatus } from "./TransitEventFromStatus.ts"

/** The shipment and event of an update. */
export interface StatusUpdateKey {
  readonly shipmentId: string
  /** Its event in the event log. */
  readonly eventId: string
  /** Its effect on the shipment. Missing for a duplicate. */
  readonly outcome?: ReportOutcome
  /** The notifications to subscriptions that follow the shipment: messages, or milestones with a terminal status. Missing for a duplicate. */
  readonly notified?: ReadonlyArray<string>
  /** Why they are sent nothing. */
  readonly notNotified?: string
}

/** Accepts status updates from a carrier's system, and adds each to the event log. */
export class StatusUpdateIntake extends Context.Service<StatusUpdateIntake, {
  /**
   * Accepts `{updates: […]}`, `{updates: {…}}`, a list, or one update. A move that is not permitted is refused with a reason. One refused
   * update refuses the whole call, unless `partial` is set.
   */
  readonly report: (
    principal: Principal,
    body: IntakeBody<"updates", typeof StatusUpdate.Encoded>,
    options?: IntakeOptions
  ) => Effect.Effect<IntakeResults<StatusUpdateKey>, InvalidInput | NotPermitted | StorageError>
}>()("@waybill/core/intake/StatusUpdateIntake") {
  static readonly layer = Layer.effect(StatusUpdateIntake, Effect.gen(function*() {
    const reports = yield* ShipmentReports
    const transitEvents = yield* TransitEvents
    const eventStore = yield* TransitEventStore
    const transaction = yield* Transaction
    const wakeups = yield* Wakeups

    /** Finds and locks the shipment of each update. */
    const located = Effect.fnUntraced(function*(principal: Principal, good: ReadonlyArray<ReadItem<StatusUpdate>>) {
      const { tenantId } = principal
      const writer = carrierOf(principal)
      const byPro = yield* reports.resolve(tenantId, good.map(({ value }) => value.shipmentId === undefined ? value.proNumber ?? "" : ""), writer)
      const named = good.map(({ value }, at) => value.shipmentId ?? byPro[at])
      const shipmentIds = [...new Set(named.filter((id) => id !== undefined))]
      const known = yield* reports.lock(tenantId, shipmentIds.map((shipmentId) => ({ shipmentId, accounts: undefined })), writer)
      const others = yield* reports.resolve(tenantId, good.map(({ value }) => contradictoryPro(known, value)), writer)
      const found: Array<LocatedUpdate> = []
      const refused: Array<RefusedItem> = []
      for (const [at, item] of good.entries()) {
        const shipmentId = named[at]
        if (shipmentId === undefined || !known.has(shipmentId)) refused.push(unknownShipment(item))
        else if (others[at] !== undefined) refused.push(twoShipments(item, others[at]))
        else found.push({ ...item, shipmentId, eventId: yield* eventIdOf(shipmentId, item.value) })
      }
      return { known, found, refused }
    })

    /** Separates new updates from duplicates, and from conflicts with an earlier update under the same id. */
    const withoutDuplicates = Effect.fnUntraced(function*(tenantId: string, known: KnownShipments, found: ReadonlyArray<LocatedUpdate>) {
      // the shipment is part of the id that is made of an update
      const keys = new Map(found.map(({ eventId, shipmentId }) => [eventId, { eventId, shipmentId }]))
      const stored = keys.size === 0 ? [] : yield* eventStore.find(tenantId, [...keys.values()])
      const events = new Map(yield* mapPaced(stored, (event): [string, ReportedEvent] => [event.eventId, JSON.parse(decoder.decode(event.body))]))
      const now = yield* Clock.currentTimeMillis
      const newUpdates: Array<NewUpdate> = []
      const others: Array<ItemResult<StatusUpdateKey>> = []
      yield* forEachPaced(found, (update) => {
        const { eventId, index, shipmentId, value } = update
        const before = events.get(eventId)
        const report = reportOfUpdate(value, value.updateId ?? eventId, now)
        const event = transitEventFromStatus({ shipmentId, view: known.get(shipmentId)!.view }, value, eventId, value.occurredAt ?? before?.occurredAt ?? report.occurredAt)
        if (before === undefined) {
          events.set(eventId, event)
          newUpdates.push({ ...update, report, event })
        } else if (sameUpdate(event, before)) others.push({ index, result: "duplicate", shipmentId, eventId })
        else others.push(contradicting(update))
      })
      return { newUpdates, others }
    })

    /** Runs in a transaction, so all of it commits or nothing does. */
    const apply = Effect.fnUntraced(function*(principal: Principal, good: ReadonlyArray<ReadItem<StatusUpdate>>, partial: boolean) {
      const { tenantId } = principal
      const { found, known, refused: unknown } = yield* located(principal, good)
      const { newUpdates, others } = yield* withoutDuplicates(tenantId, known, found)
      const applied = newUpdates.length === 0 ? [] : yield* reports.report(tenantId, known, newUpdates)
      const results = applied.map(({ notified, outcome, why }, at): ItemResult<StatusUpdateKey> => {
        const update = newUpdates[at]!
        return outcome === "refused" || outcome === "unknown"
          ? refusedMove(update, why ?? "")
          : { index: update.index, result: "accepted", shipmentId: update.shipmentId, eventId: update.eventId, outcome, notified, ...(why === undefined ? {} : { notNotified: why }) }
      })
      const all = [...unknown, ...others, ...results]
      const refused = all.filter((each) => each.result === "refused")
      if (refused.length > 0 && !partial) return yield* refusedCall(refused)
      const events = newUpdates.flatMap((update, at) => results[at]!.result === "accepted" ? eventsOf(update, applied[at]!.moved, known) : [])
      if (events.length > 0) yield* transitEvents.append(principal, events)
      return all
    })

    return StatusUpdateIntake.of({
      report: Effect.fn("StatusUpdateIntake.report")((principal: Principal, body: unknown, options: IntakeOptions = {}) =>
        takeItems(principal, body, options, {
          member: "updates",
          looksLikeOne: (one) => "proNumber" in one || "shipmentId" in one,
          read: readUpdate,
          take: Effect.fnUntraced(function*(good, partial) {
            const results = yield* transaction.run(apply(principal, good, partial))
            if (results.some((each) => each.result === "accepted")) yield* wakeups.wake(principal.tenantId)
            return results
          })
        })
      )
    })
  }))
}

interface LocatedUpdate extends ReadItem<StatusUpdate> {
  readonly shipmentId: string
  readonly eventId: string
}

interface NewUpdate extends LocatedUpdate {
  readonly report: ReturnType<typeof reportOfUpdate>
  readonly event: ReportedEvent
}

/** Freight that arrives damaged has also moved, so its update becomes two events. */
const eventsOf = ({ event, eventId, shipmentId, value }: NewUpdate, moved: boolean, known: KnownShipments): ReadonlyArray<ReportedEvent> => {
  if (event.type !== "EXCEPTION" || (!moved && value.countsToDelivery == null)) return [event]
  const { view } = known.get(shipmentId)!
  return [transitEventFromStatus({ shipmentId, view }, withoutException(value), `${eventId}-move`, event.occurredAt), event]
}

const decoder = new TextDecoder()
const decode = decodeInput(StatusUpdate)

const readUpdate = (item: unknown, at: ReadonlyArray<PropertyKey>): Effect.Effect<StatusUpdate, InvalidInput> =>
  Effect.tap(decode(item, at), (update) => InvalidInput.ifAny(faultsIn(update, at)))

/** SPEC-GAP-A18: the sender's id identifies an update, else its content. An update that may occur twice with equal content needs a time or an id. */
const eventIdOf = (shipmentId: string, update: StatusUpdate): Effect.Effect<string> => {
  const { proNumber: _proNumber, shipmentId: _shipmentId, updateId, ...content } = update
  const key = updateId === undefined ? canonicalText([shipmentId, content]) : canonicalText([shipmentId, "updateId", updateId])
  return Effect.map(sha256(key), (hash) => `status-update-${Base64Url.encode(hash)}`)
}

/** Compares without the shipment's addresses, which may have been corrected meanwhile. */
const sameUpdate = (event: ReportedEvent, before: ReportedEvent): boolean => {
  const contentOf = ({ attributes, location, notes, occurredAt, status, type }: ReportedEvent) =>
    canonicalText(JSON.parse(JSON.stringify({ attributes, location, notes, occurredAt, status, type })))
  return contentOf(event) === contentOf(before)
}

const refusal = (index: number, member: string, detail: string, code: "conflict" | "unknown_reference"): RefusedItem => ({
  index,
  result: "refused",
  faults: [fault(["updates", index, member], detail, code)]
})

const unknownShipment = ({ index, value }: ReadItem<StatusUpdate>): RefusedItem =>
  value.shipmentId === undefined
    ? refusal(index, "proNumber", `No shipment with PRO ${value.proNumber}. Post the shipment first.`, "unknown_reference")
    : refusal(index, "shipmentId", `No shipment ${value.shipmentId}. Post the shipment first.`, "unknown_reference")

/** The PRO of an update whose `shipmentId` names a shipment without this PRO; blank for any other update, because no shipment has that. SPEC-GAP-A35 */
const contradictoryPro = (known: KnownShipments, { proNumber = "", shipmentId }: StatusUpdate): string => {
  const named = shipmentId === undefined ? undefined : known.get(shipmentId)
  return named === undefined || hasPro(keyedOf(named), proNumber) ? "" : proNumber
}

const twoShipments = ({ index, value }: ReadItem<StatusUpdate>, other: string): RefusedItem =>
  refusal(index, "proNumber", `PRO ${value.proNumber} is of shipment ${other}, not of ${value.shipmentId}. Send only the one that is right.`, "conflict")

const contradicting = ({ index, value }: LocatedUpdate): RefusedItem =>
  refusal(index, "updateId", `Update ${value.updateId} is known with other content. An update never changes: give a correction an updateId of its own.`, "conflict")

const refusedMove = ({ index }: NewUpdate, why: string): RefusedItem => refusal(index, "shipmentMilestoneStatus", why, "conflict")
