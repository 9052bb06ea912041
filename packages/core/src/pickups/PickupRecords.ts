/** Finds pickups and stores their changes, each with its history, its entry in the work list and its effect on waiting calls. */
import { Clock, Effect, Option } from "effect"
import { Hex } from "effect/encoding"
import type { Principal } from "../access/model/Principal.ts"
import { sha256 } from "../access/Sha256.ts"
import type { Wakeups } from "../delivery/Wakeups.ts"
import { canonicalText } from "../shared/Json.ts"
import { currentTraceparent } from "../shared/TraceContext.ts"
import { isUniqueId } from "../shared/UniqueIds.ts"
import type { KeptPickup } from "./model/Pickup.ts"
import { pickupChangeBody } from "./model/PickupChange.ts"
import { isPickupNumber, isTestNumber, issuedNumber, pickupAccounts, pickupPros, plainPros } from "./model/PickupLookup.ts"
import type { PickupEvent } from "./model/PickupRecord.ts"
import { claimed, viewerOf } from "./PickupAccess.ts"
import { PickupNotFound } from "./PickupErrors.ts"
import type { PickupMail } from "./PickupMail.ts"
import type { PickupSignals } from "./PickupSignals.ts"
import type { PickupRow, PickupStore, PickupViewer } from "./PickupStore.ts"

/** A pickup as it is stored. */
export interface FoundPickup {
  readonly row: PickupRow
  readonly pickup: KeptPickup
}

export const pickupIn = (row: PickupRow): KeptPickup => JSON.parse(row.doc) as KeptPickup

export const fingerprintOf = (value: unknown): Effect.Effect<string> =>
  Effect.map(sha256(canonicalText(value)), Hex.encode)

/** Finds a pickup that the viewer sees by its number, or by Waybill's id. With `forUpdate`, locks it until the transaction ends. */
export const findPickup = Effect.fnUntraced(function*(store: (typeof PickupStore)["Service"], tenantId: string, viewer: PickupViewer, pickupId: string, forUpdate = false) {
  const byNumber = isPickupNumber(pickupId)
    ? yield* store.find(tenantId, viewer, { number: pickupId, isTest: isTestNumber(pickupId) }, forUpdate)
    : Option.none<PickupRow>()
  const found = Option.isNone(byNumber) && isUniqueId(pickupId) ? yield* store.findById(tenantId, viewer, pickupId, forUpdate) : byNumber
  return yield* Effect.fromOption(found, () => new PickupNotFound({ pickupId }))
})

/** The store's columns of a pickup. */
const columnsOf = (pickup: KeptPickup) => ({
  accounts: pickupAccounts(pickup.request),
  pros: [...new Set([...pickupPros(pickup.request), ...plainPros((pickup.shipments ?? []).map((each) => each.proNumber))])],
  status: pickup.status,
  waits: pickup.waiting !== null,
  doc: JSON.stringify(pickup)
})

const writeOf = Effect.fnUntraced(function*(row: PickupRow, pickup: KeptPickup, at: number, event: PickupEvent) {
  const history = { pickupId: row.pickupId, position: pickup.entries, at, doc: JSON.stringify(event) }
  // no driver is sent to a test, so the carrier does not see it
  const change = row.isTest ? undefined : { body: pickupChangeBody(row, pickup, at, event), traceparent: yield* currentTraceparent }
  return { history, change }
})

interface PickupRecordParts {
  readonly store: (typeof PickupStore)["Service"]
  readonly signals: (typeof PickupSignals)["Service"]
  readonly wakeups: (typeof Wakeups)["Service"]
  readonly mail: PickupMail
}

export const makePickupRecords = ({ mail, signals, store, wakeups }: PickupRecordParts) => {
  /** Skips numbers that a desk has already issued. */
  const issue = Effect.fnUntraced(function*(tenantId: string, isTest: boolean) {
    for (;;) {
      const number = issuedNumber(yield* store.nextNumber(tenantId, isTest), isTest)
      if (Option.isNone(yield* store.find(tenantId, "all", { number, isTest }))) return number
    }
  })

  const insert = Effect.fnUntraced(function*(
    tenantId: string,
    key: Pick<PickupRow, "pickupId" | "number" | "isTest" | "client" | "carrier" | "createdAt">,
    pickup: KeptPickup,
    event: PickupEvent
  ) {
    const row = { ...key, ...columnsOf(pickup) }
    const { change, history } = yield* writeOf(row, pickup, row.createdAt, event)
    yield* store.insert(tenantId, row, history, change)
    yield* wakeups.wake(tenantId)
  })

  /** Finds and locks a pickup that the caller may see, by number. */
  const findOwn = Effect.fnUntraced(function*(principal: Principal, number: string, isTest: boolean) {
    const found = isPickupNumber(number)
      ? yield* store.find(principal.tenantId, viewerOf(principal), { number, isTest }, true)
      : Option.none<PickupRow>()
    const row = yield* Effect.fromOption(found, () => new PickupNotFound({ pickupId: number }))
    return { row: claimed(principal, row), pickup: pickupIn(row) }
  })

  /** Finds and locks a pickup that the caller may see, by number or by Waybill's id. */
  const findByAnyId = Effect.fnUntraced(function*(principal: Principal, pickupId: string) {
    const row = yield* findPickup(store, principal.tenantId, viewerOf(principal), pickupId, true)
    return { row: claimed(principal, row), pickup: pickupIn(row) }
  })

  /** Stores the answer of a request that no longer waits, for retries, and wakes its call. */
  const endWait = Effect.fnUntraced(function*(tenantId: string, before: FoundPickup, after: KeptPickup) {
    const { waiting } = before.pickup
    if (waiting === null || after.waiting?.id === waiting.id) return
    const { client, pickupId } = before.row
    if (waiting.key !== null && after.decided?.id === waiting.id) {
      yield* store.remember(tenantId, client, waiting.key, { fingerprint: yield* fingerprintOf(waiting.request), answer: JSON.stringify([after.decided.answer]) })
    }
    yield* signals.decided(tenantId, pickupId)
  })

  /** Sends the answer of a request that no longer waits by e-mail as well. */
  const confirmed = Effect.fnUntraced(function*(tenantId: string, { pickup: { waiting }, row: { client, pickupId } }: FoundPickup, after: KeptPickup) {
    const { decided, entries } = after
    if (waiting === null || decided?.id !== waiting.id) return after
    const answer = yield* mail.confirm({ tenantId, client, pickupId, entry: entries }, waiting.request, decided.answer)
    return { ...after, decided: { ...decided, answer } }
  })

  const update = Effect.fnUntraced(function*(tenantId: string, before: FoundPickup, after: KeptPickup, event: PickupEvent, number = before.row.number) {
    const counted = yield* confirmed(tenantId, before, { ...after, entries: before.pickup.entries + 1 })
    const row = { ...before.row, number, ...columnsOf(counted) }
    const { change, history } = yield* writeOf(row, counted, yield* Clock.currentTimeMillis, event)
    yield* store.update(tenantId, row, history, change)
    yield* wakeups.wake(tenantId)
    yield* endWait(tenantId, before, counted)
  })

  return { issue, insert, findOwn, findByAnyId, update }
}

export type PickupRecords = ReturnType<typeof makePickupRecords>
