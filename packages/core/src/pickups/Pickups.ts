/** Orders, changes, cancels and looks up pickups. Carriers list them, decide on them and report their progress. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { type NotPermitted, QuotaExceeded } from "../access/AccessErrors.ts"
import { carriersAndCustomers, carriersOnly } from "../access/Callers.ts"
import { carrierOf, type Principal } from "../access/model/Principal.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { MailOutbox } from "../mail/MailOutbox.ts"
import { fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { canonicalText } from "../shared/Json.ts"
import { HostTransaction, type StorageError, Transaction } from "../shared/StoragePort.ts"
import { mapPaced } from "../shared/Turns.ts"
import { UniqueIds } from "../shared/UniqueIds.ts"
import { makeDecide } from "./DecidePickup.ts"
import { makeListChanges, type PickupChangePage } from "./ListChanges.ts"
import type { CarrierDecision } from "./model/CarrierDecision.ts"
import { cancelledPickup, changedPickup, type KeptPickup, newPickup, reportedPickup, type WaitingRequest, withAnswer } from "./model/Pickup.ts"
import { type PickupAnswer, pickupAnswer, answerWords } from "./model/PickupAnswer.ts"
import type { PickupChangeQueryInput } from "./model/PickupChange.ts"
import { isPickupNumber, isTestNumber, pickupLookup, type PickupQuery } from "./model/PickupLookup.ts"
import { type PickupEvent, type PickupRecord, pickupRecord } from "./model/PickupRecord.ts"
import { type PickupReport, type PickupReportResult, reportResult } from "./model/PickupReport.ts"
import type { PickupRequest } from "./model/PickupRequest.ts"
import { decidedStatus, isFinalPickup, isVisiblePickup, type PickupStatus, shipperMayCancel } from "./model/PickupStatus.ts"
import { type PickupVisibility, visiblePickup } from "./model/PickupVisibility.ts"
import { settledByReport } from "./model/SettledByReport.ts"
import { viewerOf } from "./PickupAccess.ts"
import { type CancelledPickup, PickupDesk, type PickupDeskCall, type PickupDispatch, type PickupOrder } from "./PickupDesk.ts"
import { type PickupDecided, PickupDeskFailed, PickupFinal, PickupNotFound, type PickupNumberTaken } from "./PickupErrors.ts"
import { makePickupMail } from "./PickupMail.ts"
import { fingerprintOf, type FoundPickup, makePickupRecords, pickupIn } from "./PickupRecords.ts"
import { PickupSignals } from "./PickupSignals.ts"
import { type AnsweredRequest, type PickupRow, PickupStore } from "./PickupStore.ts"
import { makePickupWaits, type Waits } from "./PickupWaits.ts"
import { type Decided, decidedTest, readDecision } from "./ReadDecision.ts"
import { checkChange, checkIdempotencyKey, checkNew, readQuery, readReport, readRequest } from "./ReadRequest.ts"

/** Options of ordering a pickup. */
export interface PickupOptions {
  /** A retry with the same key and content gets the same answer, and no second truck. */
  readonly idempotencyKey?: string
  /** Longest wait for the carrier's decision; the desk's own wait is the most. 0 answers at once. */
  readonly waitMillis?: number
}

type Failure = InvalidInput | NotPermitted | StorageError

/** How long an idempotency key is remembered, 30 days. SPEC-GAP-C18 */
export const pickupKeyMillis = 30 * 86_400_000

/** Pickups (area C): order, change, cancel, look up; for carriers: report, decide, list changes. */
export class Pickups extends Context.Service<Pickups, {
  /** Orders a pickup, once per idempotency key. Answers one entry; with a desk that waits, after the carrier's decision or `waitMillis`. */
  readonly create: (
    principal: Principal,
    input: typeof PickupRequest.Encoded,
    options?: PickupOptions
  ) => Effect.Effect<ReadonlyArray<PickupAnswer>, PickupDeskFailed | QuotaExceeded | Failure>
  /** Replaces the whole request of the pickup with this number. */
  readonly update: (
    principal: Principal,
    number: string,
    input: typeof PickupRequest.Encoded
  ) => Effect.Effect<ReadonlyArray<PickupAnswer>, PickupNotFound | PickupFinal | PickupDeskFailed | QuotaExceeded | Failure>
  /** Cancels until the driver has arrived, by the pickup's number, or by Waybill's id, which "Call us" names. Cancelling again succeeds. */
  readonly cancel: (
    principal: Principal,
    pickupId: string
  ) => Effect.Effect<void, PickupNotFound | PickupFinal | PickupDeskFailed | NotPermitted | StorageError>
  /** The status of a pickup that the carrier has accepted, by number or PRO. */
  readonly visibility: (principal: Principal, query: typeof PickupQuery.Encoded) => Effect.Effect<PickupVisibility, PickupNotFound | Failure>
  /** For carriers: reports progress of a pickup, by its number, or by Waybill's id while it has no number. */
  readonly report: (principal: Principal, pickupId: string, body: typeof PickupReport.Encoded) => Effect.Effect<PickupReportResult, PickupNotFound | Failure>
  /** For carriers: decides on an order, or on a change, that waits for a decision. */
  readonly decide: (
    principal: Principal,
    pickupId: string,
    decision: typeof CarrierDecision.Encoded
  ) => Effect.Effect<PickupReportResult, PickupNotFound | PickupDecided | Failure>
  /**
   * For carriers: the same for the pickup that waits with this reference of its shipper, for answers that name no other number. The same decision
   * again under its key is a duplicate.
   */
  readonly decideReferenced: (
    principal: Principal,
    reference: string,
    decision: typeof CarrierDecision.Encoded,
    options: { readonly idempotencyKey: string }
  ) => Effect.Effect<"accepted" | "duplicate", PickupNotFound | PickupDecided | Failure>
  /** For carriers: the work list in commit order. A page continues at the `nextCursor` of the page before, also after the list's end. */
  readonly changes: (principal: Principal, query?: PickupChangeQueryInput) => Effect.Effect<PickupChangePage, Failure>
  /** Answers all waiting calls, and later ones at once. Called before a stop. */
  readonly endWaits: Effect.Effect<void>
  /** For carriers: returns the pickup with its history; without what is older than `maxHistoryBytes` of it. */
  readonly record: (principal: Principal, pickupId: string) => Effect.Effect<PickupRecord, PickupNotFound | NotPermitted | StorageError>
}>()("@waybill/core/pickups/Pickups") {
  static readonly layer = Layer.effect(Pickups, Effect.gen(function*() {
    const store = yield* PickupStore
    const limits = yield* TenantLimits
    const transaction = yield* Transaction
    const ids = yield* UniqueIds
    const desk = yield* PickupDesk
    const signals = yield* PickupSignals
    const mail = makePickupMail(yield* MailOutbox)
    const records = makePickupRecords({ store, signals, wakeups: yield* Wakeups, mail })
    const waits = makePickupWaits(store, signals, mail)
    const wait = "waitMillis" in desk ? desk : undefined

    /** Before the desk is asked. Concurrent calls may exceed the quota by their own bytes. */
    const checkBytes = Effect.fnUntraced(function*(tenantId: string, client: string) {
      const { pickupBytesPerClient: limit } = yield* limits.of(tenantId)
      if ((yield* store.storedBytes(tenantId, client)) >= limit) return yield* new QuotaExceeded({ quota: "pickupBytesPerClient", limit })
    })

    /** Calls the desk with the open transaction. */
    const callDesk = <A>(call: (call: PickupDeskCall) => Effect.Effect<A, PickupDeskFailed>): Effect.Effect<A, PickupDeskFailed | StorageError> =>
      Effect.flatMap(HostTransaction, (host) =>
        host === undefined
          ? Effect.scoped(Effect.flatMap(transaction.handle, (handle) => call({ transaction: handle })))
          : call({ transaction: host }))

    const ask = (dispatch: PickupDispatch, order: PickupOrder): Effect.Effect<Decided, PickupDeskFailed | StorageError> =>
      order.request.isTest
        ? Effect.succeed(decidedTest(order.request))
        : Effect.flatMap(callDesk((call) => dispatch.decide(order, call)), (decision) => readDecision(decision, order.request))

    const answerOf = (principal: Principal, outcome: Outcome, waitMillis = Infinity): Effect.Effect<ReadonlyArray<PickupAnswer>, StorageError> =>
      "answer" in outcome ? Effect.succeed(outcome.answer) : Effect.map(waits.answer(principal, outcome, Math.min(waitMillis, wait?.waitMillis ?? 0)), (answer) => [answer])

    /** Stores an order that waits for the carrier's decision. */
    const orderWaiting = Effect.fnUntraced(function*(principal: Principal, request: PickupRequest, key: string | undefined) {
      const { client, tenantId } = principal
      const now = yield* Clock.currentTimeMillis
      const pickupId = ids.nextAt(now)
      const waiting: WaitingRequest = { id: pickupId, request, key: key ?? null, since: now }
      const carrier = { carrierName: null, scac: null, routing: null, trailerNumber: request.trailerNumber }
      const pickup = newPickup(request, "Call us", carrier, waiting)
      const row = { pickupId, number: undefined, isTest: false, client, carrier: carrierOf(principal), createdAt: now }
      yield* Effect.catchTag(records.insert(tenantId, row, pickup, { what: "ordered", by: client, status: pickup.words, request }), "PickupNumberTaken", numberTaken)
      return { pickupId, waiting }
    })

    const orderDecided = Effect.fnUntraced(function*(principal: Principal, request: PickupRequest, dispatch: PickupDispatch, requestId: string | undefined) {
      const { client, tenantId } = principal
      const now = yield* Clock.currentTimeMillis
      const pickupId = ids.nextAt(now)
      const decided = yield* ask(dispatch, { tenantId, requestId: requestId ?? pickupId, pickupId, kind: "new", request })
      const number = decided.decision === "accept" ? decided.number ?? (yield* records.issue(tenantId, request.isTest)) : undefined
      const pickup = newPickup(request, decidedStatus[decided.decision], decided.carrier, null)
      const row = { pickupId, number, isTest: request.isTest, client, carrier: carrierOf(principal), createdAt: now }
      const event: PickupEvent = { what: "ordered", by: client, status: pickup.words, messages: decided.messages, request }
      yield* Effect.catchTag(records.insert(tenantId, row, pickup, event), "PickupNumberTaken", numberTaken)
      const answer = pickupAnswer(request, { ...decided, pickupStatus: answerWords[decided.decision], carrierPickupNumber: number ?? null })
      return { answer: [yield* mail.confirm({ tenantId, client, pickupId, entry: pickup.entries }, request, answer)] }
    })

    const order = (principal: Principal, request: PickupRequest, requestId?: string, key?: string): Effect.Effect<Outcome, PickupDeskFailed | QuotaExceeded | StorageError> =>
      Effect.andThen(checkBytes(principal.tenantId, principal.client), Effect.suspend((): Effect.Effect<Outcome, PickupDeskFailed | StorageError> =>
        "waitMillis" in desk
          ? request.isTest ? orderDecided(principal, request, neverAsked, requestId) : orderWaiting(principal, request, key)
          : orderDecided(principal, request, desk, requestId)))

    /** Carries out a request once per idempotency key. SPEC-GAP-C18 */
    const once = Effect.fnUntraced(function*(
      principal: Principal,
      key: string,
      request: PickupRequest,
      checked: Effect.Effect<void, InvalidInput>
    ) {
      const { client, tenantId } = principal
      const fingerprint = yield* fingerprintOf(request)
      const known = yield* store.answered(tenantId, client, key)
      if (Option.isSome(known)) return yield* remembered(known.value, fingerprint, request)
      yield* checked
      const outcome = yield* order(principal, request, yield* fingerprintOf([tenantId, client, key]), key)
      const answer = "answer" in outcome ? outcome.answer : { waitsFor: outcome.pickupId }
      yield* store.remember(tenantId, client, key, { fingerprint, answer: JSON.stringify(answer) })
      return outcome
    })

    const create = Effect.fn("Pickups.create")(function*(principal: Principal, input: unknown, options: PickupOptions = {}) {
      yield* carriersAndCustomers(principal)
      const key = yield* checkIdempotencyKey(options.idempotencyKey)
      const request = yield* readRequest(input)
      const checked = checkNew(principal, request, yield* Clock.currentTimeMillis)
      if (key !== undefined) return yield* answerOf(principal, yield* transaction.run(once(principal, key, request, checked)), options.waitMillis)
      yield* checked
      return yield* answerOf(principal, yield* transaction.run(order(principal, request)), options.waitMillis)
    })

    const changeWaiting = Effect.fnUntraced(function*(principal: Principal, found: FoundPickup, request: PickupRequest) {
      const { client, tenantId } = principal
      const { pickup, row: { pickupId } } = found
      // a retry waits for the same decision
      if (pickup.waiting !== null && sameRequest(pickup.waiting.request, request)) return { pickupId, waiting: pickup.waiting }
      yield* checkBytes(tenantId, found.row.client)
      const now = yield* Clock.currentTimeMillis
      const waiting: WaitingRequest = { id: ids.nextAt(now), request, key: null, since: now }
      yield* records.update(tenantId, found, { ...pickup, waiting }, { what: "change requested", by: client, status: pickup.words, request })
      return { pickupId, waiting }
    })

    const changeDecided = Effect.fnUntraced(function*(principal: Principal, found: FoundPickup, request: PickupRequest, dispatch: PickupDispatch) {
      const { client, tenantId } = principal
      const { pickup, row: { pickupId, number } } = found
      yield* checkBytes(tenantId, found.row.client)
      const requestId = yield* fingerprintOf([tenantId, pickupId, pickup.entries, request])
      const key = { tenantId, client, pickupId, entry: pickup.entries + 1 }
      const decided = yield* ask(dispatch, { tenantId, requestId, pickupId, kind: "modify", request, before: { carrierPickupNumber: number!, request: pickup.request } })
      if (decided.decision !== "accept") {
        // the earlier agreement stays valid
        yield* records.update(tenantId, found, pickup, { what: "change not accepted", by: client, status: pickup.words, messages: decided.messages, request })
        return { answer: [yield* mail.confirm(key, request, pickupAnswer(request, { ...decided, pickupStatus: answerWords[decided.decision], carrierPickupNumber: null }))] }
      }
      const after = changedPickup(pickup, request, decided.carrier)
      const event: PickupEvent = { what: "changed", by: client, status: after.words, messages: decided.messages, request }
      yield* records.update(tenantId, found, after, event, decided.number)
      return { answer: [yield* mail.confirm(key, request, pickupAnswer(request, { ...decided, pickupStatus: "Accept", carrierPickupNumber: decided.number ?? number! }))] }
    })

    const change = Effect.fnUntraced(function*(principal: Principal, number: string, request: PickupRequest, now: number) {
      const found = yield* records.findOwn(principal, number, request.isTest)
      const { pickup } = found
      if (isFinalPickup(pickup.status)) return yield* new PickupFinal({ pickupId: number, status: pickup.words })
      const current = { carrier: pickup.carrier, messages: [], carrierPickupNumber: number, pickupStatus: "Accept" as const }
      if (pickup.waiting === null && sameRequest(pickup.request, request)) return { answer: [mail.announced(request, pickupAnswer(request, current), true)] }
      yield* checkChange(principal, pickup, request, now)
      if (!("waitMillis" in desk)) return yield* changeDecided(principal, found, request, desk)
      return request.isTest ? yield* changeDecided(principal, found, request, neverAsked) : yield* changeWaiting(principal, found, request)
    })

    const update = Effect.fn("Pickups.update")(function*(principal: Principal, number: string, input: unknown) {
      yield* carriersAndCustomers(principal)
      const request = yield* readRequest(input, number)
      const now = yield* Clock.currentTimeMillis
      const outcome = yield* Effect.catchTag(transaction.run(change(principal, number, request, now)), "PickupNumberTaken", numberTaken)
      return yield* answerOf(principal, outcome)
    })

    const callBack = (pickup: CancelledPickup): Effect.Effect<void, PickupDeskFailed | StorageError> => {
      const cancelled = "waitMillis" in desk ? undefined : desk.cancelled
      return pickup.request.isTest || cancelled === undefined ? Effect.void : callDesk((call) => cancelled(pickup, call))
    }

    const cancel = Effect.fn("Pickups.cancel")(function*(principal: Principal, pickupId: string) {
      yield* carriersAndCustomers(principal)
      yield* transaction.run(Effect.gen(function*() {
        const { tenantId } = principal
        const found = yield* records.findByAnyId(principal, pickupId)
        const { pickup, row } = found
        if (pickup.status === "Cancelled") return
        if (!shipperMayCancel(pickup.status)) return yield* new PickupFinal({ pickupId, status: pickup.words })
        if (row.number !== undefined) yield* callBack({ tenantId, pickupId: row.pickupId, carrierPickupNumber: row.number, request: pickup.request })
        const after = withoutWait(cancelledPickup(pickup))
        yield* records.update(tenantId, found, after, { what: "cancelled", by: principal.client, status: after.words })
        yield* mail.cancelled({ tenantId, client: principal.client, pickupId: row.pickupId, entry: pickup.entries + 1 }, pickup.request, row.number ?? null)
      })).pipe(Effect.catchTag("PickupNumberTaken", numberTaken))
    })

    const visibility = Effect.fn("Pickups.visibility")(function*(principal: Principal, input: unknown) {
      yield* carriersAndCustomers(principal)
      const lookup = pickupLookup(yield* readQuery(input))
      const found = lookup.by === "pro"
        ? lookup.pro === "" ? Option.none<PickupRow>() : yield* store.findByPro(principal.tenantId, viewerOf(principal), lookup)
        : isPickupNumber(lookup.number) ? yield* store.find(principal.tenantId, viewerOf(principal), lookup) : Option.none<PickupRow>()
      const pickup = Option.map(found, pickupIn)
      if (Option.isNone(found) || Option.isNone(pickup) || found.value.number === undefined || !isVisiblePickup(pickup.value.status)) {
        return yield* new PickupNotFound({ pickupId: lookup.by === "pro" ? lookup.pro : lookup.number })
      }
      return visiblePickup(found.value.number, pickup.value)
    })

    const applyReport = Effect.fnUntraced(function*(principal: Principal, pickupId: string, report: PickupReport) {
      const { tenantId } = principal
      const found = yield* records.findByAnyId(principal, pickupId)
      const { pickup, row } = found
      const fingerprint = yield* fingerprintOf(report)
      if (pickup.lastReport === fingerprint) return reportResult("duplicate", row, pickup)
      const outcome = reportedPickup(pickup, report)
      if (outcome._tag === "Refused") return yield* InvalidInput.of(outcome.fault)
      const number = yield* numberAfter(row, report, outcome.pickup.status)
      const after = { ...settledByReport(row.pickupId, outcome.pickup, number), lastReport: fingerprint }
      const event: PickupEvent = { what: "reported", by: principal.client, status: after.words, report }
      const taken = Effect.as(records.update(tenantId, found, after, event, number), reportResult("accepted", { ...row, number }, after))
      return yield* Effect.catchTag(taken, "PickupNumberTaken", (error) =>
        InvalidInput.of(fault(["carrierPickupNumber"], `${error.number} belongs to another pickup.`, "conflict")))
    })

    const report = Effect.fn("Pickups.report")(function*(principal: Principal, pickupId: string, body: unknown) {
      yield* carriersOnly(principal)
      const read = yield* readReport(body)
      return yield* transaction.run(applyReport(principal, pickupId, read))
    })

    const record = Effect.fn("Pickups.record")(function*(principal: Principal, pickupId: string) {
      yield* carriersOnly(principal)
      return yield* transaction.run(Effect.gen(function*() {
        const { pickup, row } = yield* records.findByAnyId(principal, pickupId)
        const history = yield* store.history(principal.tenantId, row.pickupId)
        return pickupRecord(row, pickup, yield* mapPaced(history, ({ at, doc, position }) => ({ at, position, event: JSON.parse(doc) as PickupEvent })))
      }))
    })

    const { decide, decideReferenced } = makeDecide({ records, store, transaction })
    const changes = makeListChanges(store)

    return Pickups.of({ create, update, cancel, visibility, report, decide, decideReferenced, changes, endWaits: waits.endAll, record })
  }))
}

/** The next step of a call: it answers, or waits for the carrier's decision after its transaction. */
type Outcome = { readonly answer: ReadonlyArray<PickupAnswer> } | Waits

/** For test pickups, which no desk decides. */
const neverAsked: PickupDispatch = { decide: () => Effect.die(new Error("A test pickup was sent to the desk.")) }

/** A cancelled pickup cannot be changed, so a change of it no longer waits. */
const withoutWait = (pickup: KeptPickup): KeptPickup =>
  pickup.waiting === null
    ? pickup
    : withAnswer(pickup, pickup.waiting, pickupAnswer(pickup.waiting.request, {
      pickupStatus: "Reject",
      carrierPickupNumber: null,
      carrier: pickup.carrier,
      messages: ["The pickup was cancelled."]
    }))

/** Compares two requests without function and number, which identify the call and not its content. */
const sameRequest = (a: PickupRequest, b: PickupRequest): boolean => contentOf(a) === contentOf(b)

const contentOf = ({ carrierPickupNumber: _number, requestFunction: _function, ...content }: PickupRequest): string => canonicalText(content)

const remembered = (known: AnsweredRequest, fingerprint: string, request: PickupRequest): Effect.Effect<Outcome, InvalidInput> => {
  if (known.fingerprint !== fingerprint) {
    return Effect.fail(InvalidInput.of(fault(
      ["Idempotency-Key"],
      "Another request came under this key. Use a new key for a new request, or send the first one unchanged.",
      "conflict"
    )))
  }
  const answer = JSON.parse(known.answer) as ReadonlyArray<PickupAnswer> | { readonly waitsFor: string }
  return Effect.succeed("waitsFor" in answer ? { pickupId: answer.waitsFor, waiting: { id: answer.waitsFor, request } } : { answer })
}

/** SPEC-GAP-C1: a pickup that is accepted later gets its number with that report, and keeps it. */
const numberAfter = (row: PickupRow, report: PickupReport, status: PickupStatus): Effect.Effect<string | undefined, InvalidInput> => {
  const number = report.carrierPickupNumber
  const refused = (detail: string, code: "required" | "invalid" | "conflict") =>
    Effect.fail(InvalidInput.of(fault(["carrierPickupNumber"], detail, code)))
  if (number !== undefined && row.number !== undefined && number !== row.number) {
    return refused(`The pickup has the number ${row.number} already.`, "conflict")
  }
  if (number !== undefined && (!isPickupNumber(number) || isTestNumber(number) !== row.isTest)) {
    return refused("This is not a valid pickup number.", "invalid")
  }
  const after = row.number ?? number
  return after === undefined && isVisiblePickup(status) && status !== "Cancelled"
    ? refused("The pickup has no number yet: give the one that it is accepted under.", "required")
    : Effect.succeed(after)
}

/** The desk issued a number twice. This is the host's mistake, not the caller's. */
const numberTaken = (error: PickupNumberTaken) =>
  Effect.fail(new PickupDeskFailed({ cause: error }))
