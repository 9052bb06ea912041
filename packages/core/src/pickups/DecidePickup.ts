/** The carrier's decisions on pickups that wait, and its work list. */
import { Effect, Option } from "effect"
import { carriersOnly } from "../access/Callers.ts"
import { carrierOf, isOwn, type Principal } from "../access/model/Principal.ts"
import { fault } from "../shared/Fault.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import type { Transaction } from "../shared/StoragePort.ts"
import { CarrierDecision, decisionWords } from "./model/CarrierDecision.ts"
import { given } from "./model/KeptText.ts"
import { changedPickup, decidedPickup, type KeptPickup, type WaitingRequest, withAnswer } from "./model/Pickup.ts"
import { answerWords, pickupAnswer } from "./model/PickupAnswer.ts"
import { isPickupNumber, isTestNumber } from "./model/PickupLookup.ts"
import type { PickupEvent } from "./model/PickupRecord.ts"
import { reportResult } from "./model/PickupReport.ts"
import { decidedStatus } from "./model/PickupStatus.ts"
import { PickupDecided, PickupNotFound } from "./PickupErrors.ts"
import { fingerprintOf, type FoundPickup, pickupIn, type PickupRecords } from "./PickupRecords.ts"
import type { PickupStore } from "./PickupStore.ts"
import { type Decided, defaultMessages } from "./ReadDecision.ts"

/** Without a misspelt `confirmationNumber` the shipper would get a number that the carrier does not know. SPEC-GAP-X7 */
const decodeDecision = decodeInput(CarrierDecision, { closed: true })

/** SPEC-GAP-C1: a number promises the truck. */
const numberFault = ({ confirmationNumber, decision }: CarrierDecision) => {
  const number = given(confirmationNumber)
  if (number === undefined) return undefined
  if (decision !== "accept") return fault(["confirmationNumber"], "Only an accepted pickup has a confirmationNumber. Leave it out.", "not_allowed")
  return isPickupNumber(number) && !isTestNumber(number) ? undefined : fault(["confirmationNumber"], "This is not a valid pickup number.", "invalid")
}

const readDecision = Effect.fnUntraced(function*(input: unknown) {
  const decision = yield* decodeDecision(input)
  const refused = numberFault(decision)
  if (refused !== undefined) return yield* InvalidInput.of(refused)
  return decision
})

/** Members that the carrier leaves out keep the agreed values. */
const decidedOf = ({ carrierName, confirmationNumber, decision, message, scac }: CarrierDecision, pickup: KeptPickup, waiting: WaitingRequest): Decided => {
  const word = decisionWords[decision]
  const text = given(message)
  return {
    decision: word,
    number: given(confirmationNumber),
    carrier: {
      carrierName: given(carrierName) ?? pickup.carrier.carrierName,
      scac: given(scac)?.toUpperCase() ?? pickup.carrier.scac,
      routing: pickup.carrier.routing,
      trailerNumber: waiting.request.trailerNumber
    },
    messages: text === undefined ? defaultMessages[word] : [text]
  }
}

const afterOrder = (pickup: KeptPickup, { carrier, decision }: Decided): KeptPickup => decidedPickup(pickup, decidedStatus[decision], carrier)

const afterChange = (pickup: KeptPickup, { request }: WaitingRequest, { carrier, decision }: Decided): KeptPickup =>
  decision === "accept" ? changedPickup(pickup, request, carrier) : pickup

/** Pickups that wait and are looked through for a reference, at most. */
const mostWaiting = 10_000
const rowsAtATime = 100

interface DecideParts {
  readonly records: PickupRecords
  readonly store: (typeof PickupStore)["Service"]
  readonly transaction: (typeof Transaction)["Service"]
}

export const makeDecide = ({ records, store, transaction }: DecideParts) => {
  const apply = Effect.fnUntraced(function*(principal: Principal, before: FoundPickup, waiting: WaitingRequest, decided: Decided) {
    const { tenantId } = principal
    const { pickup, row } = before
    const isOrder = waiting.id === row.pickupId
    const accepted = decided.decision === "accept"
    const issued = accepted ? decided.number ?? row.number ?? (yield* records.issue(tenantId, row.isTest)) : undefined
    const answer = pickupAnswer(waiting.request, { ...decided, pickupStatus: answerWords[decided.decision], carrierPickupNumber: issued ?? null })
    const after = withAnswer(isOrder ? afterOrder(pickup, decided) : afterChange(pickup, waiting, decided), waiting, answer)
    const event: PickupEvent = {
      what: "decided",
      by: principal.client,
      status: after.words,
      decision: decided.decision,
      messages: decided.messages,
      ...(isOrder ? {} : { request: waiting.request })
    }
    const number = issued ?? row.number
    yield* records.update(tenantId, before, after, event, number)
    return reportResult("accepted", { ...row, number }, after)
  })

  const decideOne = Effect.fnUntraced(function*(principal: Principal, pickupId: string, decision: CarrierDecision) {
    const before = yield* records.findByAnyId(principal, pickupId)
    const { pickup } = before
    if (pickup.waiting === null) return yield* new PickupDecided({ pickupId, status: pickup.words })
    return yield* apply(principal, before, pickup.waiting, decidedOf(decision, pickup, pickup.waiting))
  })

  const numberTaken = (error: { readonly number: string }) => InvalidInput.of(fault(["confirmationNumber"], `${error.number} belongs to another pickup.`, "conflict"))

  const decide = Effect.fn("Pickups.decide")(function*(principal: Principal, pickupId: string, input: unknown) {
    yield* carriersOnly(principal)
    const decision = yield* readDecision(input)
    return yield* transaction.run(decideOne(principal, pickupId, decision)).pipe(Effect.catchTag("PickupNumberTaken", numberTaken))
  })

  /** The pickup that waits with this reference of its shipper, or with this id. */
  const findWaiting = Effect.fnUntraced(function*(principal: Principal, reference: string) {
    const own = carrierOf(principal)
    let after: string | undefined
    for (let looked = 0; looked < mostWaiting; looked += rowsAtATime) {
      const rows = yield* store.list(principal.tenantId, { waiting: true, after, limit: rowsAtATime })
      const found = rows.find((row) =>
        (row.carrier === undefined || isOwn(own, row.carrier)) && (row.pickupId === reference || pickupIn(row).waiting?.request.shipmentDetails?.some(({ shipperRef }) => shipperRef === reference)))
      if (found !== undefined) return found.pickupId
      if (rows.length < rowsAtATime) break
      after = rows.at(-1)!.pickupId
    }
    return yield* new PickupNotFound({ pickupId: reference })
  })

  const decideReferenced = Effect.fn("Pickups.decideReferenced")(function*(principal: Principal, reference: string, input: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) {
    yield* carriersOnly(principal)
    const decision = yield* readDecision(input)
    const { client, tenantId } = principal
    const fingerprint = yield* fingerprintOf([reference, decision])
    return yield* transaction.run(Effect.gen(function*() {
      const known = yield* store.answered(tenantId, client, idempotencyKey)
      if (Option.isSome(known) && known.value.fingerprint === fingerprint) return "duplicate" as const
      yield* decideOne(principal, yield* findWaiting(principal, reference), decision)
      yield* store.remember(tenantId, client, idempotencyKey, { fingerprint, answer: "[]" })
      return "accepted" as const
    })).pipe(Effect.catchTag("PickupNumberTaken", numberTaken))
  })

  return { decide, decideReferenced }
}
