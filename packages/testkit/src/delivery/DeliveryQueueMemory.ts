/** The delivery queue in memory. */
import {
  type AttemptRecord,
  closedBreaker,
  type ClaimRequest,
  DeliveryQueue,
  type DeliveryState,
  type Freeze,
  type LaneSettlement,
  type Settlement,
  StorageError
} from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { AccessTables } from "../access/AccessTables.ts"
import { ShipmentTables } from "../access/ShipmentTables.ts"
import type { Journal } from "../shared/Journal.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { claimedLane, dueAfterRelease } from "./LaneClaims.ts"
import { carrying, laneOverviews, listed, summaryOf } from "./DeliveryLogMemory.ts"
import { type Delivery, type Lane, type LaneRows, LaneTables } from "./LaneTables.ts"
import { LaneGate } from "./LaneGate.ts"
import { SecretTables } from "./SecretTables.ts"

/** Most rows one call of `prune` removes. */
const pruneLimit = 2000

export const DeliveryQueueMemory = {
  layer: Layer.effect(
    DeliveryQueue,
    Effect.gen(function*() {
      const { journal, operate } = yield* MemoryDatabase
      const rows = yield* LaneTables
      const secrets = yield* SecretTables
      const outcomes = new Outcomes(rows, journal)
      const access = yield* AccessTables
      const gate = new LaneGate(rows, { access, shipments: yield* ShipmentTables, journal })

      const claim = (request: ClaimRequest, now: number) => {
        const refilled = request.refill.flatMap((lease) => rows.held(request.tenantId, lease) ?? []).filter(isActive)
          .filter((lane) => gate.admits(lane, now))
        for (const lane of refilled) rows.setDue(lane, now + request.leaseMillis)
        const asked = (lane: Lane) => request.only === undefined || (lane.arrival !== undefined) === (request.only === "arrived")
        const due = [...rows.tenant(request.tenantId).scheduled].filter((lane) => isActive(lane) && lane.dueAt! <= now && asked(lane))
        for (const lane of due) if (!gate.admits(lane, now)) holdBack(lane)
        const fresh = due.filter((lane) => !lane.held)
          .sort((a, b) => a.dueAt! - b.dueAt!)
          .slice(0, request.maxLanes)
        for (const lane of fresh) {
          journal.set(lane, "token", lane.token + 1)
          journal.set(lane, "leased", true)
          journal.set(lane, "held", false)
          journal.set(lane, "arrival", undefined)
          rows.setDue(lane, now + request.leaseMillis)
        }
        const ours = [...refilled, ...fresh]
        const dropped = ours.reduce((sum, lane) => sum + gate.clear(lane, now), 0)
        return { now, lanes: ours.map((lane) => claimedLane(lane, { secrets, accounts: access.accountsOf(request.tenantId, lane.settings.client) }, request, now)), crossed: false, dropped }
      }

      const holdBack = (lane: Lane) => {
        journal.set(lane, "held", true)
        journal.set(lane, "leased", false)
        journal.set(lane, "arrival", undefined)
        rows.setDue(lane, undefined)
      }

      return DeliveryQueue.of({
        openLane: (tenantId, lane) =>
          operate((now) => {
            rows.open(tenantId, lane, now)
            return [...rows.tenant(tenantId).lanes.values()].filter(({ settings: { client, source } }) => client === lane.client && source === lane.source).length
          }),
        countLanes: (tenantId) => operate(() => rows.tenant(tenantId).lanes.size),
        changeLane: (tenantId, settings) =>
          operate((now) => {
            const lane = rows.find(tenantId, settings.laneId)
            if (lane === undefined) return
            const { client, endpointUrl, envelope, signing, source, whenDead } = lane.settings
            const turned = lane.status.state !== settings.state
            journal.set(lane, "settings", { ...settings, client, envelope, signing, source, whenDead })
            rows.setState(lane, settings.state, undefined, now)
            // another address is another destination
            if (endpointUrl !== settings.endpointUrl) journal.set(lane, "breaker", closedBreaker)
            if (turned && settings.state === "active") rows.wake(lane, now)
          }),
        closeLane: (tenantId, laneId) =>
          operate((now) => {
            const lane = rows.find(tenantId, laneId)
            if (lane !== undefined) rows.close(lane, now)
          }),
        accessRestored: (tenantId, client) =>
          operate((now) => {
            for (const lane of rows.tenant(tenantId).lanes.values()) {
              if (!lane.held || lane.settings.client !== (client ?? lane.settings.client)) continue
              journal.set(lane, "held", false)
              rows.wake(lane, now)
            }
          }),
        laneStatus: (tenantId, laneId) => operate(() => Option.fromUndefinedOr(rows.find(tenantId, laneId)?.status)),
        tenantsDue: (limit) => operate((now) => tenantsDue(rows, limit, now)),
        claim: (request) => operate((now) => claim(request, now)),
        freeze: (tenantId, lanes) =>
          operate((now) => {
            const sending = lanes.filter((each) => {
              const lane = rows.held(tenantId, each)
              return lane !== undefined && isActive(lane) && gate.admits(lane, now)
            })
            for (const each of sending) outcomes.freeze(rows.find(tenantId, each.laneId)!, each)
            return new Set(sending.map((each) => each.laneId))
          }).pipe(Effect.catchDefect((cause) => Effect.fail(new StorageError({ operation: "DeliveryQueue.freeze", cause })))),
        settle: (tenantId, { deliveries, lanes }) =>
          operate((now) => {
            for (const each of deliveries) outcomes.settle(tenantId, each, now)
            const dead = new Set(deliveries.filter(({ state }) => state === "dead").map(({ laneId }) => laneId))
            return lanes.map((each) => outcomes.settleLane(tenantId, each, { now, dead: dead.has(each.laneId) })).some((dueNow) => dueNow)
          }),
        heartbeat: (tenantId, leases, leaseMillis) =>
          operate((now) => {
            const kept = leases.flatMap((lease) => rows.held(tenantId, lease) ?? [])
            for (const lane of kept) rows.setDue(lane, now + leaseMillis)
            return new Set(kept.map((lane) => lane.laneId))
          }),
        lanes: (tenantId, query) => operate((now) => ({ now, lanes: laneOverviews(rows, tenantId, query) })),
        list: (tenantId, query) => operate(() => listed(rows, tenantId, query)),
        carrying: (tenantId, keys, range) => operate(() => carrying(rows, tenantId, keys, range)),
        find: (tenantId, deliveryId) =>
          operate(() =>
            Option.map(Option.fromUndefinedOr(rows.tenant(tenantId).deliveries.get(deliveryId)), (delivery) => ({
              ...summaryOf(delivery),
              endpointUrl: rows.find(tenantId, delivery.laneId)?.settings.endpointUrl ?? delivery.endpointUrl!,
              sentAt: delivery.sentAt,
              envelope: delivery.envelope,
              payloads: delivery.payloads
            }))
          ),
        retry: (tenantId, deliveryId) =>
          operate((now) => {
            const delivery = rows.tenant(tenantId).deliveries.get(deliveryId)
            return delivery === undefined ? Option.none() : Option.some(outcomes.retry(tenantId, delivery, now))
          }),
        recover: (tenantId, laneId, since) =>
          operate((now) => {
            const dead = [...rows.tenant(tenantId).deliveries.values()]
              .filter((each) => each.laneId === laneId && each.state === "dead" && each.settledAt! >= since)
            return dead.filter((each) => outcomes.retry(tenantId, each, now) === "dead").length
          }),
        prune: (tenantId, settledBefore) =>
          operate(() => {
            const { deliveries } = rows.tenant(tenantId)
            const old = [...deliveries.values()]
              .filter((each) => each.settledAt !== undefined && each.settledAt < settledBefore)
              .slice(0, pruneLimit)
            for (const each of old) journal.drop(deliveries, each.deliveryId)
            return old.length
          }),
        depth: operate((now) => depthOf(rows, now))
      })
    })
  )
}

const isActive = (lane: Lane): boolean => lane.status.state === "active"

/** What becomes of deliveries: frozen, settled, sent again. */
class Outcomes {
  private readonly rows: LaneRows
  private readonly journal: Journal

  constructor(rows: LaneRows, journal: Journal) {
    this.rows = rows
    this.journal = journal
  }

  freeze(lane: Lane, freeze: Freeze): void {
    const { journal } = this
    journal.set(lane, "rateMark", freeze.rateMark)
    if (freeze.cursor !== undefined) journal.set(lane, "cursor", freeze.cursor)
    for (const [at, deliveryId] of freeze.again.entries()) {
      const delivery = lane.unsettled.get(deliveryId)
      if (delivery === undefined || delivery.tries !== (freeze.againTries?.[at] ?? delivery.tries)) {
        throw new Error(`Delivery ${deliveryId} is no longer as the claim told it.`)
      }
      journal.set(delivery, "state", "sending")
      journal.set(delivery, "dueAt", undefined)
      journal.set(delivery, "token", lane.token)
      journal.set(delivery, "attempt", delivery.attempt + 1)
      journal.set(delivery, "tries", delivery.tries + 1)
    }
    for (const { deliveryId, entries: named, sentAt, traceparent } of freeze.fresh) {
      const entries = named.map(({ ref }) => lane.byRef.get(ref)!)
      for (const entry of entries) this.rows.dequeue(lane, entry)
      const keys = [...new Set(entries.map((entry) => entry.key))]
      const delivery: Delivery = {
        deliveryId,
        laneId: lane.laneId,
        source: lane.settings.source,
        createdAt: sentAt,
        sentAt,
        keys,
        orderIds: entries.map((entry) => entry.orderId),
        payloads: entries.map((entry) => entry.payload),
        entries,
        traceparent,
        envelope: lane.settings.envelope,
        state: "sending",
        token: lane.token,
        attempt: 1,
        tries: 1,
        dueAt: undefined,
        settledAt: undefined,
        records: [],
        reason: undefined,
        endpointUrl: undefined
      }
      journal.put(lane.tenant.deliveries, deliveryId, delivery)
      journal.put(lane.unsettled, deliveryId, delivery)
    }
  }

  settle(tenantId: string, outcome: Settlement, now: number): void {
    const { journal } = this
    const delivery = this.rows.tenant(tenantId).deliveries.get(outcome.deliveryId)
    if (delivery === undefined) return
    const { record } = outcome
    const known = (each: AttemptRecord) => each.attempt === record?.attempt && each.at === record.at && each.outcome === record.outcome
    if (record !== undefined && !delivery.records.some(known)) journal.set(delivery, "records", [...delivery.records, record])
    const lane = this.rows.held(tenantId, outcome)
    const attempt = record?.attempt ?? outcome.attempt
    const current = attempt === undefined || attempt === delivery.attempt
    if (lane === undefined || delivery.laneId !== lane.laneId || delivery.state !== "sending" || !current) return
    journal.set(delivery, "state", outcome.state)
    if (outcome.state === "waiting") journal.set(delivery, "dueAt", now + outcome.dueInMillis)
    else this.end(lane, delivery, now)
    if (outcome.uncount) journal.set(delivery, "tries", delivery.tries - 1)
  }

  private end(lane: Lane, delivery: Delivery, now: number): void {
    this.journal.set(delivery, "settledAt", now)
    this.journal.drop(lane.unsettled, delivery.deliveryId)
  }

  /** Answers whether the lane was given back and is due at once. */
  settleLane(tenantId: string, outcome: LaneSettlement, { dead, now }: { readonly now: number; readonly dead: boolean }): boolean {
    const lane = this.rows.held(tenantId, outcome)
    if (lane === undefined) return false
    const replaced = outcome.endpointUrl !== undefined && outcome.endpointUrl !== lane.settings.endpointUrl
    if (!replaced) this.journal.set(lane, "breaker", outcome.breaker)
    if (outcome.pause !== undefined && isActive(lane) && (dead || !replaced)) this.rows.setState(lane, "paused", outcome.pause, now, "engine")
    if (outcome.release === undefined) return false
    this.journal.set(lane, "leased", false)
    this.rows.setDue(lane, replaced ? now : dueAfterRelease(lane, outcome.release, now))
    return isActive(lane) && lane.dueAt !== undefined && lane.dueAt <= now
  }

  /** Due now with a full series of attempts. Without its lane there is nowhere to send it, so it counts as cancelled. */
  retry(tenantId: string, delivery: Delivery, now: number): DeliveryState {
    const { state } = delivery
    const lane = this.rows.find(tenantId, delivery.laneId)
    if (lane === undefined) return "cancelled"
    if (state === "sending" || state === "cancelled") return state
    this.journal.set(delivery, "state", "waiting")
    this.journal.set(delivery, "dueAt", now)
    this.journal.set(delivery, "settledAt", undefined)
    this.journal.set(delivery, "tries", 0)
    this.journal.put(lane.unsettled, delivery.deliveryId, delivery)
    lane.clearedAt = undefined
    this.rows.wake(lane, now)
    return state
  }
}

interface Turn {
  readonly tenantId: string
  readonly at: number
}

const soonest = (turns: Array<Turn>, limit: number) => turns.sort((a, b) => a.at - b.at).slice(0, limit).map((each) => each.tenantId)

const tenantsDue = (rows: LaneRows, limit: number, now: number) => {
  const due: Array<Turn> = []
  const arrived: Array<Turn> = []
  let next = Infinity
  for (const { scheduled, tenantId } of rows.tenants.values()) {
    let earliest = Infinity
    let first = Infinity
    for (const lane of scheduled) {
      if (!isActive(lane)) continue
      if (lane.dueAt! > now) next = Math.min(next, lane.dueAt!)
      else if (lane.arrival !== undefined) first = Math.min(first, lane.arrival)
      else earliest = Math.min(earliest, lane.dueAt!)
    }
    if (earliest <= now) due.push({ tenantId, at: earliest })
    if (first < Infinity) arrived.push({ tenantId, at: first })
  }
  return {
    due: soonest(due, limit),
    arrived: soonest(arrived, limit),
    nextDueInMillis: next === Infinity ? undefined : next - now
  }
}

const depthOf = (rows: LaneRows, now: number) => {
  const depth = { waitingEntries: 0, unsettled: 0, dead: 0, lagMillis: 0 }
  for (const tenant of rows.tenants.values()) {
    for (const lane of tenant.lanes.values()) {
      depth.waitingEntries += lane.byRef.size
      depth.unsettled += lane.unsettled.size
      if (isActive(lane) && lane.dueAt !== undefined) depth.lagMillis = Math.max(depth.lagMillis, now - lane.dueAt)
    }
    for (const delivery of tenant.deliveries.values()) if (delivery.state === "dead") depth.dead += 1
  }
  return depth
}
