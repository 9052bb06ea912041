/** Writes shipment status. Intake calls it inside its own transaction. */
import { Clock, Context, Effect, Layer } from "effect"
import { carrierGrants, carrierNamed } from "../access/model/CarrierNumbers.ts"
import { isOwn } from "../access/model/Principal.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { currentTraceparent } from "../shared/TraceContext.ts"
import { mapPaced } from "../shared/Turns.ts"
import { UniqueIds } from "../shared/UniqueIds.ts"
import { parseInstant } from "../shared/Instant.ts"
import { isDateOnly } from "./model/FreightShapes.ts"
import { type KeyedShipment, keysOf, keyOf, referencesOf } from "./model/LookupKey.ts"
import type { PostedShipment } from "./model/PostedShipment.ts"
import { registerAgain, registerShipment, type Registered } from "./model/Registration.ts"
import { applyReport, furtherReferences, type KnownShipment, whyNotNotified } from "./model/ShipmentState.ts"
import { type StatusNotification, wordOf } from "./model/StatusNotification.ts"
import { ignoreFarFutureTime, type ReportOutcome, type StatusReport } from "./model/StatusReport.ts"
import { answerOf, publicOf } from "./model/VerifiedShipment.ts"
import {
  ShipmentStatusStore,
  type StatusClaim,
  type StatusHistoryEntry,
  type StatusNotice,
  type StatusWrite,
  type StoredStatus
} from "./ShipmentStatusStore.ts"

/** Shipments with a status, by shipmentId. */
export type KnownShipments = ReadonlyMap<string, KnownShipment>

/** A report about one shipment. */
export interface ShipmentReport {
  readonly shipmentId: string
  readonly report: StatusReport
}

/** Result of one report. `why` explains a refusal. */
export interface ReportResult {
  readonly outcome: ReportOutcome | "unknown"
  /** Whether the shipment reached a milestone. */
  readonly moved: boolean
  /** The notifications that were queued for every subscription that follows the shipment: their message, or their milestone and terminal status. */
  readonly notified: ReadonlyArray<string>
  /** Why the report was refused, or why there is no notification. */
  readonly why?: string
}

/** What a posted shipment did. `why` explains a refusal in one sentence. */
export interface RegistrationResult {
  readonly result: Registered["result"]
  readonly why?: string
}

/** Writes statuses: registers shipments and applies reports, for intake. */
export class ShipmentReports extends Context.Service<ShipmentReports, {
  /** Finds the shipments of PRO numbers in any spelling. With `writer` (`carrierOf`), only shipments of this carrier. */
  readonly resolve: (
    tenantId: string,
    proNumbers: ReadonlyArray<string>,
    writer?: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string | undefined>, StorageError>
  /** Locks shipments until the transaction ends, stores their accounts and carrier, and returns the status of those that the writer may write to. */
  readonly lock: (
    tenantId: string,
    claims: ReadonlyArray<StatusClaim>,
    writer?: ReadonlyArray<string>
  ) => Effect.Effect<KnownShipments, StorageError>
  /** Returns those of the shipments that belong to another carrier or to none. */
  readonly foreign: (tenantId: string, shipmentIds: ReadonlyArray<string>, writer: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, StorageError>
  /** Reads shipments that are already locked. */
  readonly read: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<KnownShipments, StorageError>
  /**
   * Registers shipments that the carrier's system posts. `historyOf` returns the event log's reports of a new shipment, oldest first.
   * Returns one result per post; refused posts change nothing. A new shipment belongs to its `writer` (`carrierOf`).
   */
  readonly register: (
    tenantId: string,
    known: KnownShipments,
    posted: ReadonlyArray<PostedShipment>,
    historyOf: (posted: PostedShipment) => ReadonlyArray<StatusReport>,
    writer?: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<RegistrationResult>, StorageError>
  /** Applies reports in order and queues their notifications. Returns one result per report; refused reports change nothing. */
  readonly report: (
    tenantId: string,
    known: KnownShipments,
    reports: ReadonlyArray<ShipmentReport>
  ) => Effect.Effect<ReadonlyArray<ReportResult>, StorageError>
}>()("@waybill/core/shipment-status/ShipmentReports") {
  static readonly layer = Layer.effect(ShipmentReports, Effect.gen(function*() {
    const store = yield* ShipmentStatusStore
    const ids = yield* UniqueIds

    const write = Effect.fnUntraced(function*(tenantId: string, { written }: ReturnType<typeof makeChanges>) {
      const changes = yield* written
      if (changes !== undefined) yield* store.write(tenantId, { ...changes, traceparent: yield* currentTraceparent })
    })

    const changesOf = (known: KnownShipments) => Effect.map(Clock.currentTimeMillis, (now) => makeChanges(known, now, ids.nextAt))

    return ShipmentReports.of({
      resolve: Effect.fn("ShipmentReports.resolve")(function*(tenantId: string, proNumbers: ReadonlyArray<string>, writer?: ReadonlyArray<string>) {
        const keys = proNumbers.map((proNumber) => keyOf({ kind: "pro", proNumber }))
        const found = new Map<string, string | undefined>()
        const uniqueKeys = [...new Set(keys.filter((key) => key !== undefined))]
        if (uniqueKeys.length > 0) {
          const shipmentIds = yield* store.resolve(tenantId, uniqueKeys, writer)
          uniqueKeys.forEach((key, at) => found.set(key, shipmentIds[at]))
        }
        return keys.map((key) => key === undefined ? undefined : found.get(key))
      }),
      lock: (tenantId, claims, writer) => Effect.flatMap(store.lock(tenantId, claims, writer), knownOf),
      foreign: (tenantId, shipmentIds, writer) =>
        Effect.map(store.carriers(tenantId, shipmentIds), (carriers) =>
          new Set([...carriers].filter(([, carrier]) => !isOwn(writer, carrier)).map(([shipmentId]) => shipmentId))),
      read: (tenantId, shipmentIds) => Effect.flatMap(store.read(tenantId, shipmentIds), knownOf),
      register: Effect.fn("ShipmentReports.register")(function*(tenantId, known, posted, historyOf, writer) {
        const changes = yield* changesOf(known)
        const results = yield* mapPaced(posted, (each) => changes.register(each, historyOf))
        // the shipment's carrier must be stored before its notifications are queued; refused and duplicate posts do not change it
        const claims = claimsOf(posted.filter((_, at) => results[at]!.result === "accepted"), writer)
        if (claims.length > 0) yield* store.lock(tenantId, claims, writer)
        yield* write(tenantId, changes)
        return results
      }),
      report: Effect.fn("ShipmentReports.report")(function*(tenantId, known, reports) {
        const changes = yield* changesOf(known)
        const results = yield* mapPaced(reports, ({ report, shipmentId }) => changes.report(shipmentId, report))
        yield* write(tenantId, changes)
        return results
      })
    })
  }))
}

/** One claim per shipment; later posts override earlier ones. */
const claimsOf = (posted: ReadonlyArray<PostedShipment>, writer: ReadonlyArray<string> | undefined): ReadonlyArray<StatusClaim> => {
  const claims = new Map<string, StatusClaim>()
  for (const { accounts, carrier, shipmentId } of posted) {
    const before = claims.get(shipmentId)
    const named = carrier === undefined ? writer : carrierGrants({ ...carrier, ...(writer === undefined ? {} : carrierNamed(writer)) })
    claims.set(shipmentId, { shipmentId, accounts: accounts ?? before?.accounts, carrier: named ?? before?.carrier, written: true })
  }
  return [...claims.values()]
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const knownOf = (stored: ReadonlyArray<StoredStatus>): Effect.Effect<KnownShipments> =>
  Effect.map(
    mapPaced(stored, (each): [string, KnownShipment] => [each.shipmentId, { view: JSON.parse(decoder.decode(each.verified)), state: JSON.parse(each.state) }]),
    (known) => new Map(known)
  )

const encode = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value))

/** Collects the changes of one call, so that they are written together. */
const makeChanges = (before: KnownShipments, now: number, nextId: (now: number) => string) => {
  const known = new Map(before)
  const changed = new Set<string>()
  const history: Array<StatusHistoryEntry> = []
  const notices: Array<StatusNotice> = []

  const remember = (shipmentId: string, position: number, report: StatusReport, outcome: ReportOutcome): void => {
    const { at: occurredAt, onlyForward: _onlyForward, ...document } = report
    history.push({ shipmentId, position, occurredAt, doc: JSON.stringify({ outcome, ...document }) })
  }

  const change = (shipmentId: string, after: KnownShipment, notifications: ReadonlyArray<StatusNotification>): void => {
    known.set(shipmentId, after)
    changed.add(shipmentId)
    notifications.forEach((notification, at) =>
      notices.push({
        shipmentId,
        sequence: after.state.notices - notifications.length + at + 1,
        noticeId: nextId(now),
        body: encode(notification)
      })
    )
  }

  return {
    register: (posted: PostedShipment, historyOf: (posted: PostedShipment) => ReadonlyArray<StatusReport>): RegistrationResult => {
      const { shipmentId } = posted
      const shipment = known.get(shipmentId)
      const registered = shipment === undefined ? registerShipment(posted, historyOf(posted), now) : registerAgain(shipment, posted, now)
      if (registered.result !== "accepted") return registered
      registered.applied.forEach(({ outcome, report }, at) => remember(shipmentId, (shipment?.state.reports ?? 0) + at + 1, report, outcome))
      change(shipmentId, registered.known, registered.notifications)
      return { result: "accepted" }
    },
    report: (shipmentId: string, reported: StatusReport): ReportResult => {
      const shipment = known.get(shipmentId)
      if (shipment === undefined) return { outcome: "unknown", moved: false, notified: [] }
      const report = ignoreFarFutureTime(reported, now)
      const applied = applyReport(shipment, report)
      if (applied.outcome === "refused") return { outcome: "refused", moved: false, notified: [], why: applied.why! }
      remember(shipmentId, applied.known.state.reports, report, applied.outcome)
      change(shipmentId, applied.known, applied.notifications)
      const { moved, notifications, outcome } = applied
      return notifications.length > 0
        ? { outcome, moved, notified: notifications.map(wordOf) }
        : { outcome, moved, notified: [], why: whyNotNotified(applied) }
    },
    /** `undefined` if nothing changed. */
    written: Effect.suspend(() =>
      changed.size === 0
        ? Effect.undefined
        : Effect.map(mapPaced([...changed], (shipmentId) => writeOf(known.get(shipmentId)!, before.get(shipmentId))), (statuses) => ({ statuses, history, notices })))
  }
}

const writeOf = (known: KnownShipment, before: KnownShipment | undefined): StatusWrite => {
  const { state, view } = known
  const keyed = keyedOf(known)
  const keys = keysOf(keyed)
  const references = referencesOf(keyed)
  const keyedBefore = before === undefined ? undefined : keyedOf(before)
  return {
    shipmentId: state.shipmentId,
    state: JSON.stringify(state),
    verified: encode(answerOf(view)),
    public: encode(publicOf(view)),
    covered: view.ShipmentMilestoneStatus !== undefined,
    pickupAt: pickupInstant(state.posted.pickupDate) ?? state.pickedUpAt ?? state.registeredAt,
    deliveredAt: state.deliveredAt ?? undefined,
    keys: keyedBefore !== undefined && sameTexts(keysOf(keyedBefore), keys) ? undefined : keys,
    references: keyedBefore !== undefined && sameTexts(referencesOf(keyedBefore), references) ? undefined : references
  }
}

export const keyedOf = ({ state, view }: KnownShipment): KeyedShipment => ({ ...view, shipmentId: state.shipmentId, references: furtherReferences(state) })

const sameTexts = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean => a.length === b.length && a.every((text, at) => text === b[at])

/** A date without a time counts as noon UTC, which is the same day in nearly every time zone. Used for range queries only, never shown. */
const pickupInstant = (date: string | null | undefined): number | undefined =>
  date == null ? undefined : parseInstant(isDateOnly(date) ? `${date}T12:00:00Z` : date)
