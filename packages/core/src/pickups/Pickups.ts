/** Orders, changes, cancels and looks up pickups. Carriers report their progress. */
import { Context, Effect, Layer, Option } from "effect"
import * as Clock from "effect/Clock"
import { NotPermitted } from "../access/AccessErrors.ts"
import { carrierOf, isCarrier, isOperator, type Principal } from "../access/model/Principal.ts"
import { sha256 } from "../access/Sha256.ts"
import { fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { canonicalText } from "../shared/Json.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { HostTransaction, Transaction } from "../shared/Transaction.ts"
import { mapPaced } from "../shared/Turns.ts"
import { isUniqueId, UniqueIds } from "../shared/UniqueIds.ts"
import { type Decided, decidedTest, readDecision } from "./ReadDecision.ts"
import { reportedPickup, cancelledPickup, type KeptPickup, changedPickup, newPickup } from "./model/Pickup.ts"
import { type PickupAnswer, pickupAnswer, answerWords } from "./model/PickupAnswer.ts"
import { pickupAccounts, isPickupNumber, isTestNumber, issuedNumber, pickupLookup, plainPros, pickupPros, type PickupQuery } from "./model/PickupLookup.ts"
import { type PickupEvent, type PickupRecord, pickupRecord } from "./model/PickupRecord.ts"
import type { PickupReport, PickupReportResult } from "./model/PickupReport.ts"
import type { PickupRequest } from "./model/PickupRequest.ts"
import { isFinalPickup, isVisiblePickup, type PickupStatus, shipperMayCancel } from "./model/PickupStatus.ts"
import { type PickupVisibility, visiblePickup } from "./model/PickupVisibility.ts"
import { type CancelledPickup, PickupDesk, type PickupDeskCall, type PickupOrder } from "./PickupDesk.ts"
import { PickupDeskFailed, PickupFinal, PickupNotFound, type PickupNumberTaken } from "./PickupErrors.ts"
import { type AnsweredRequest, type PickupHistoryEntry, type PickupRow, PickupStore, type PickupViewer } from "./PickupStore.ts"
import { checkChange, checkIdempotencyKey, checkNew, readQuery, readReport, readRequest } from "./ReadRequest.ts"

export interface PickupOptions {
  /** A retry with the same key and content gets the same answer, and no second truck. */
  readonly idempotencyKey?: string
}

type Failure = InvalidInput | NotPermitted | StorageError

export class Pickups extends Context.Service<Pickups, {
  readonly create: (
    principal: Principal,
    input: typeof PickupRequest.Encoded,
    options?: PickupOptions
  ) => Effect.Effect<ReadonlyArray<PickupAnswer>, PickupDeskFailed | Failure>
  /** Replaces the whole request of the pickup with this number. */
  readonly update: (
    principal: Principal,
    number: string,
    input: typeof PickupRequest.Encoded
  ) => Effect.Effect<ReadonlyArray<PickupAnswer>, PickupNotFound | PickupFinal | PickupDeskFailed | Failure>
  /** Cancels until the driver has arrived. Cancelling again succeeds. */
  readonly cancel: (
    principal: Principal,
    number: string
  ) => Effect.Effect<void, PickupNotFound | PickupFinal | PickupDeskFailed | NotPermitted | StorageError>
  readonly visibility: (principal: Principal, query: typeof PickupQuery.Encoded) => Effect.Effect<PickupVisibility, PickupNotFound | Failure>
  /** For carriers: reports progress of a pickup, by its number, or by Waybill's id while it has no number. */
  readonly report: (principal: Principal, pickupId: string, body: typeof PickupReport.Encoded) => Effect.Effect<PickupReportResult, PickupNotFound | Failure>
  /** For carriers: returns the pickup with its history. */
  readonly record: (principal: Principal, pickupId: string) => Effect.Effect<PickupRecord, PickupNotFound | NotPermitted | StorageError>
}>()("@waybill/core/pickups/Pickups") {
  static readonly layer = Layer.effect(
    Pickups,
    Effect.gen(function*() {
      const store = yield* PickupStore
      const transaction = yield* Transaction
      const ids = yield* UniqueIds
      const desk = yield* PickupDesk

      /** Calls the desk with the open transaction. */
      const callDesk = <A>(call: (call: PickupDeskCall) => Effect.Effect<A, PickupDeskFailed>): Effect.Effect<A, PickupDeskFailed | StorageError> =>
        Effect.flatMap(HostTransaction, (host) =>
          host === undefined
            ? Effect.scoped(Effect.flatMap(transaction.handle, (handle) => call({ transaction: handle })))
            : call({ transaction: host }))

      const ask = (order: PickupOrder): Effect.Effect<Decided, PickupDeskFailed | StorageError> =>
        order.request.isTest
          ? Effect.succeed(decidedTest(order.request))
          : Effect.flatMap(callDesk((call) => desk.decide(order, call)), (decision) => readDecision(decision, order.request))

      /** Skips numbers that a desk has already issued. */
      const issue = Effect.fnUntraced(function*(tenantId: string, isTest: boolean) {
        for (;;) {
          const number = issuedNumber(yield* store.nextNumber(tenantId, isTest), isTest)
          if (Option.isNone(yield* store.find(tenantId, "all", { number, isTest }))) return number
        }
      })

      const order = Effect.fnUntraced(function*(principal: Principal, request: PickupRequest, requestId: string | undefined) {
        const { client, tenantId } = principal
        const now = yield* Clock.currentTimeMillis
        const pickupId = ids.nextAt(now)
        const decided = yield* ask({ tenantId, requestId: requestId ?? pickupId, pickupId, kind: "new", request })
        const number = decided.decision === "accept" ? decided.number ?? (yield* issue(tenantId, request.isTest)) : undefined
        const pickup = newPickup(request, decidedStatus[decided.decision], decided.carrier)
        const row = { pickupId, number, isTest: request.isTest, client, carrier: carrierOf(principal), createdAt: now, ...foundBy(pickup) }
        const event: PickupEvent = { what: "ordered", by: client, status: pickup.words, messages: decided.messages, request }
        yield* Effect.catchTag(store.insert(tenantId, row, entryOf(row, pickup, now, event)), "PickupNumberTaken", numberTaken)
        return [pickupAnswer(request, { ...decided, pickupStatus: answerWords[decided.decision], carrierPickupNumber: number ?? null })]
      })

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
        if (Option.isSome(known)) return yield* remembered(known.value, fingerprint)
        yield* checked
        const answer = yield* order(principal, request, yield* fingerprintOf([tenantId, client, key]))
        yield* store.remember(tenantId, client, key, { fingerprint, answer: JSON.stringify(answer) })
        return answer
      })

      const create = Effect.fn("Pickups.create")(function*(principal: Principal, input: unknown, options: PickupOptions = {}) {
        yield* shippersAndCarriers(principal)
        const key = yield* checkIdempotencyKey(options.idempotencyKey)
        const request = yield* readRequest(input)
        const checked = checkNew(principal, request, yield* Clock.currentTimeMillis)
        if (key !== undefined) return yield* transaction.run(once(principal, key, request, checked))
        yield* checked
        return yield* transaction.run(order(principal, request, undefined))
      })

      /** Finds and locks a pickup that the caller may see, by number. */
      const findOwn = Effect.fnUntraced(function*(principal: Principal, number: string, isTest: boolean) {
        const found = isPickupNumber(number)
          ? yield* store.find(principal.tenantId, viewerOf(principal), { number, isTest }, true)
          : Option.none<PickupRow>()
        if (Option.isNone(found)) return yield* new PickupNotFound({ pickupId: number })
        return { row: claimed(principal, found.value), pickup: pickupIn(found.value) }
      })

      const storeChange = Effect.fnUntraced(function*(tenantId: string, before: PickupRow, pickup: KeptPickup, event: PickupEvent, number = before.number) {
        const now = yield* Clock.currentTimeMillis
        const counted = { ...pickup, entries: pickup.entries + 1 }
        const row = { ...before, number, ...foundBy(counted) }
        yield* store.update(tenantId, row, entryOf(row, counted, now, event))
      })

      const change = Effect.fnUntraced(function*(principal: Principal, number: string, request: PickupRequest, now: number) {
        const { client, tenantId } = principal
        const { pickup, row } = yield* findOwn(principal, number, request.isTest)
        if (isFinalPickup(pickup.status)) return yield* new PickupFinal({ pickupId: number, status: pickup.words })
        const current = { carrier: pickup.carrier, messages: [], carrierPickupNumber: number, pickupStatus: "Accept" as const }
        if (sameRequest(pickup.request, request)) return [pickupAnswer(request, current)]
        yield* checkChange(principal, pickup, request, now)
        const { pickupId } = row
        const requestId = yield* fingerprintOf([tenantId, pickupId, pickup.entries, request])
        const before = { carrierPickupNumber: number, request: pickup.request }
        const decided = yield* ask({ tenantId, requestId, pickupId, kind: "modify", request, before })
        if (decided.decision !== "accept") {
          // the earlier agreement stays valid
          yield* storeChange(tenantId, row, pickup, { what: "change not accepted", by: client, status: pickup.words, messages: decided.messages, request })
          return [pickupAnswer(request, { ...decided, pickupStatus: answerWords[decided.decision], carrierPickupNumber: null })]
        }
        const after = changedPickup(pickup, request, decided.carrier)
        const event: PickupEvent = { what: "changed", by: client, status: after.words, messages: decided.messages, request }
        yield* storeChange(tenantId, row, after, event, decided.number ?? number)
        return [pickupAnswer(request, { ...decided, pickupStatus: "Accept", carrierPickupNumber: decided.number ?? number })]
      })

      const update = Effect.fn("Pickups.update")(function*(principal: Principal, number: string, input: unknown) {
        yield* shippersAndCarriers(principal)
        const request = yield* readRequest(input, number)
        const now = yield* Clock.currentTimeMillis
        return yield* Effect.catchTag(transaction.run(change(principal, number, request, now)), "PickupNumberTaken", numberTaken)
      })

      const callBack = (pickup: CancelledPickup): Effect.Effect<void, PickupDeskFailed | StorageError> => {
        const { cancelled } = desk
        return pickup.request.isTest || cancelled === undefined ? Effect.void : callDesk((call) => cancelled(pickup, call))
      }

      const cancel = Effect.fn("Pickups.cancel")(function*(principal: Principal, number: string) {
        yield* shippersAndCarriers(principal)
        yield* transaction.run(Effect.gen(function*() {
          const { tenantId } = principal
          const { pickup, row } = yield* findOwn(principal, number, isTestNumber(number))
          if (pickup.status === "Cancelled") return
          if (!shipperMayCancel(pickup.status)) return yield* new PickupFinal({ pickupId: number, status: pickup.words })
          yield* callBack({ tenantId, pickupId: row.pickupId, carrierPickupNumber: number, request: pickup.request })
          const after = cancelledPickup(pickup)
          yield* storeChange(tenantId, row, after, { what: "cancelled", by: principal.client, status: after.words })
        })).pipe(Effect.catchTag("PickupNumberTaken", numberTaken))
      })

      const visibility = Effect.fn("Pickups.visibility")(function*(principal: Principal, input: unknown) {
        yield* shippersAndCarriers(principal)
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

      /** Finds and locks a pickup by number or by Waybill's id. For carriers. */
      const findForCarrier = Effect.fnUntraced(function*(principal: Principal, pickupId: string) {
        const { tenantId } = principal
        const viewer = viewerOf(principal)
        const byNumber = isPickupNumber(pickupId)
          ? yield* store.find(tenantId, viewer, { number: pickupId, isTest: isTestNumber(pickupId) }, true)
          : Option.none<PickupRow>()
        const found = Option.isNone(byNumber) && isUniqueId(pickupId) ? yield* store.findById(tenantId, viewer, pickupId) : byNumber
        if (Option.isNone(found)) return yield* new PickupNotFound({ pickupId })
        return { row: claimed(principal, found.value), pickup: pickupIn(found.value) }
      })

      const applyReport = Effect.fnUntraced(function*(principal: Principal, pickupId: string, report: PickupReport) {
        const { tenantId } = principal
        const { pickup, row } = yield* findForCarrier(principal, pickupId)
        const fingerprint = yield* fingerprintOf(report)
        if (pickup.lastReport === fingerprint) return reportResult("duplicate", row, pickup)
        const outcome = reportedPickup(pickup, report)
        if (outcome._tag === "Refused") return yield* InvalidInput.of(outcome.fault)
        const number = yield* numberAfter(row, report, outcome.pickup.status)
        const event: PickupEvent = { what: "reported", by: principal.client, status: outcome.pickup.words, report }
        const taken = Effect.as(
          storeChange(tenantId, row, { ...outcome.pickup, lastReport: fingerprint }, event, number),
          reportResult("accepted", { ...row, number }, outcome.pickup)
        )
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
          const { pickup, row } = yield* findForCarrier(principal, pickupId)
          const history = yield* store.history(principal.tenantId, row.pickupId)
          return pickupRecord(row, pickup, yield* mapPaced(history, ({ at, doc, position }) => ({ at, position, event: JSON.parse(doc) as PickupEvent })))
        }))
      })

      return Pickups.of({ create, update, cancel, visibility, report, record })
    })
  )
}

const shippersAndCarriers = (principal: Principal) =>
  isOperator(principal) ? Effect.fail(new NotPermitted({ needed: "carrier or customer" })) : Effect.void

const carriersOnly = (principal: Principal) =>
  isCarrier(principal) ? Effect.void : Effect.fail(new NotPermitted({ needed: "carrier" }))

const viewerOf = (principal: Principal): PickupViewer => {
  if (!isCarrier(principal)) return { client: principal.client, accounts: principal.accounts }
  const carrier = carrierOf(principal)
  return carrier === undefined ? "all" : { carrier }
}

/** The first carrier with a number that writes to a pickup owns it. */
const claimed = (principal: Principal, row: PickupRow): PickupRow => ({ ...row, carrier: row.carrier ?? carrierOf(principal) })

const decidedStatus = { accept: "Accepted", reject: "Rejected", callUs: "Call us" } as const satisfies Record<string, PickupStatus>

const pickupIn = (row: PickupRow): KeptPickup => JSON.parse(row.doc) as KeptPickup

/** The store's columns of a pickup. */
const foundBy = (pickup: KeptPickup) => ({
  accounts: pickupAccounts(pickup.request),
  pros: [...new Set([...pickupPros(pickup.request), ...plainPros((pickup.shipments ?? []).map((each) => each.proNumber))])],
  doc: JSON.stringify(pickup)
})

const entryOf = (row: PickupRow, pickup: KeptPickup, at: number, event: PickupEvent): PickupHistoryEntry => ({
  pickupId: row.pickupId,
  position: pickup.entries,
  at,
  doc: JSON.stringify(event)
})

const fingerprintOf = (value: unknown): Effect.Effect<string> =>
  Effect.map(sha256(canonicalText(value)), (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""))

/** Compares two requests without function and number, which identify the call and not its content. */
const sameRequest = (a: PickupRequest, b: PickupRequest): boolean => contentOf(a) === contentOf(b)

const contentOf = ({ carrierPickupNumber: _number, requestFunction: _function, ...content }: PickupRequest): string => canonicalText(content)

const remembered = (known: AnsweredRequest, fingerprint: string): Effect.Effect<ReadonlyArray<PickupAnswer>, InvalidInput> =>
  known.fingerprint === fingerprint
    ? Effect.succeed(JSON.parse(known.answer) as ReadonlyArray<PickupAnswer>)
    : Effect.fail(InvalidInput.of(fault(
      ["Idempotency-Key"],
      "Another request came under this key. Use a new key for a new request, or send the first one unchanged.",
      "conflict"
    )))

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

const reportResult = (result: PickupReportResult["result"], row: PickupRow, pickup: KeptPickup): PickupReportResult => ({
  result,
  pickupId: row.pickupId,
  carrierPickupNumber: row.number ?? null,
  status: pickup.words
})

/** The desk issued a number twice. This is the host's mistake, not the caller's. */
const numberTaken = (error: PickupNumberTaken) =>
  Effect.andThen(Effect.logError(error.message), Effect.fail(new PickupDeskFailed({ cause: error })))
