/** What operators do to lanes and deliveries, in memory. */
import {
  type BacklogCount,
  type BacklogCounts,
  type BacklogExcess,
  type BacklogPosition,
  backlogStep,
  DeliveryControl,
  type DeliveryState,
  type LaneTrace,
  purgeReason,
  purgeStep,
  type PurgePosition,
  type PurgeStep,
  type TenantHealth,
  type TracedDelivery,
  type TraceSubject
} from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { compareText } from "../shared/CodePoints.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { oldestOf } from "./DeliveryLogMemory.ts"
import { type Delivery, type Lane, type LaneRows, LaneTables } from "./LaneTables.ts"

export const DeliveryControlMemory = {
  layer: Layer.effect(
    DeliveryControl,
    Effect.gen(function*() {
      const { journal, operate } = yield* MemoryDatabase
      const rows = yield* LaneTables

      const pause = (lane: Lane, reason: string, now: number): void => {
        const { since, state } = lane.status
        const resumesAs = state === "inactive" ? "inactive" as const : lane.resumesAs
        journal.set(lane, "status", { state: "paused", reason, pausedBy: "operator", since: state === "paused" ? since : now })
        journal.set(lane, "resumesAs", resumesAs)
      }

      const resume = (lane: Lane, now: number): void => {
        if (lane.status.state !== "paused") return
        const state = lane.resumesAs ?? "active"
        rows.setState(lane, state, undefined, now)
        if (state === "active") rows.wake(lane, now)
      }

      const withLane = (tenantId: string, laneId: string, work: (lane: Lane, now: number) => void) =>
        operate((now) => {
          const lane = rows.find(tenantId, laneId)
          if (lane !== undefined) work(lane, now)
          return lane !== undefined
        })

      const cancelRetries = (lane: Lane, now: number): number => {
        const retried = [...lane.unsettled.values()].filter(({ state }) => state === "waiting")
        for (const delivery of retried) {
          journal.set(delivery, "state", "cancelled")
          journal.set(delivery, "dueAt", undefined)
          journal.set(delivery, "settledAt", now)
          journal.drop(lane.unsettled, delivery.deliveryId)
        }
        const entries = retried.reduce((sum, each) => sum + each.payloads.length, 0)
        journal.set(lane, "dropped", lane.dropped + entries)
        return entries
      }

      const purgeNext = (lane: Lane, after: PurgePosition | undefined, now: number): PurgeStep => {
        if (lane.status.state === "active") return { dropped: 0, next: undefined }
        const cancelled = cancelRetries(lane, now)
        const stretch = [...lane.byRef.values()].sort(byPlace).filter((entry) => after === undefined || byPlace(entry, after) > 0).slice(0, purgeStep)
        for (const entry of stretch) rows.drop(lane, entry, "purged", now)
        const last = stretch.at(-1)
        return {
          dropped: cancelled + stretch.length,
          next: last === undefined || stretch.length < purgeStep ? undefined : placeOf(last)
        }
      }

      const dropExcess = (lane: Lane, excess: BacklogExcess, after: PurgePosition | undefined, now: number): PurgeStep => {
        if (lane.dropped !== excess.dropped) return { dropped: 0, next: undefined }
        const stretch = [...lane.byRef.values()].sort(byPlace).filter((entry) => after === undefined || byPlace(entry, after) > 0).slice(0, backlogStep)
        const chosen = stretch.filter(({ queuedAt }) => queuedAt < excess.queuedBefore).slice(0, excess.limit)
        for (const entry of chosen) rows.drop(lane, entry, excess.reason, now)
        const last = stretch.at(-1)
        return { dropped: chosen.length, next: last === undefined || stretch.length < backlogStep ? undefined : placeOf(last) }
      }

      const dismiss = (delivery: Delivery): DeliveryState => {
        const { state } = delivery
        if (state === "dead") journal.set(delivery, "state", "dismissed")
        return state
      }

      return DeliveryControl.of({
        pause: (tenantId, laneId, reason) => withLane(tenantId, laneId, (lane, now) => pause(lane, reason, now)),
        resume: (tenantId, laneId) => withLane(tenantId, laneId, resume),
        resumeOwn: (tenantId, laneId) =>
          operate((now) => {
            const lane = rows.find(tenantId, laneId)
            if (lane?.status.state !== "paused" || lane.status.pausedBy === "operator") return false
            resume(lane, now)
            return true
          }),
        beginPurge: (tenantId, laneId) =>
          withLane(tenantId, laneId, (lane, now) => {
            if (lane.status.state === "active") pause(lane, purgeReason, now)
          }),
        purgeNext: (tenantId, laneId, after) =>
          operate((now) => {
            const lane = rows.find(tenantId, laneId)
            return lane === undefined ? { dropped: 0, next: undefined } : purgeNext(lane, after, now)
          }),
        endPurge: (tenantId, laneId) =>
          Effect.asVoid(withLane(tenantId, laneId, (lane, now) => {
            if (lane.status.reason === purgeReason) resume(lane, now)
          })),
        countBacklog: (tenantId, widthMillis, after) => operate((now) => countsOf(rows, tenantId, widthMillis, after, now)),
        dropExcess: (tenantId, laneId, excess, after) =>
          operate((now) => {
            const lane = rows.find(tenantId, laneId)
            return lane === undefined ? { dropped: 0, next: undefined } : dropExcess(lane, excess, after, now)
          }),
        dismiss: (tenantId, deliveryId) =>
          operate(() => Option.map(Option.fromUndefinedOr(rows.tenant(tenantId).deliveries.get(deliveryId)), dismiss)),
        trace: (tenantId, laneId, subject) => operate((now) => traceOf(rows, tenantId, laneId, subject, now)),
        health: (tenantId) => operate(() => healthOf(rows, tenantId))
      })
    })
  )
}

const byPlace = (a: PurgePosition, b: PurgePosition): number => compareText(a.key, b.key) || a.sequence - b.sequence || a.ref - b.ref

const placeOf = ({ key, ref, sequence }: PurgePosition): PurgePosition => ({ key, sequence, ref })

const countsOf = (rows: LaneRows, tenantId: string, width: number, after: BacklogPosition | undefined, now: number): BacklogCounts => {
  const stretch = [...rows.tenant(tenantId).lanes.values()]
    .sort((a, b) => compareText(a.laneId, b.laneId))
    .flatMap((lane) => [...lane.byRef.values()].sort(byPlace).map((entry) => ({ lane, entry })))
    .filter(({ entry, lane }) => after === undefined || (compareText(lane.laneId, after.laneId) || byPlace(entry, after)) > 0)
    .slice(0, backlogStep)
  const counts = new Map<string, BacklogCount>()
  for (const { entry, lane: { dropped, laneId } } of stretch) {
    const queuedFrom = Math.floor(entry.queuedAt / width) * width
    const entries = (counts.get(`${laneId} ${queuedFrom}`)?.entries ?? 0) + 1
    counts.set(`${laneId} ${queuedFrom}`, { laneId, queuedFrom, entries, dropped })
  }
  const last = stretch.at(-1)
  return {
    now,
    counts: [...counts.values()],
    next: last === undefined || stretch.length < backlogStep ? undefined : { laneId: last.lane.laneId, ...placeOf(last.entry) }
  }
}

const isInFlight = ({ state }: { readonly state: DeliveryState }): boolean => state === "sending" || state === "waiting"

const traceOf = (rows: LaneRows, tenantId: string, laneId: string, { key, orderIds }: TraceSubject, now: number): LaneTrace => {
  const lane = rows.find(tenantId, laneId)
  const isMeant = (orderId: string) => orderIds === undefined || orderIds.includes(orderId)
  const ofKey = lane?.byKey.get(key) ?? []
  const place = ofKey.findIndex(({ orderId }) => isMeant(orderId))
  const holding = [...rows.tenant(tenantId).deliveries.values()]
    .filter((each) => each.laneId === laneId && each.keys.includes(key))
    .sort((a, b) => compareText(b.deliveryId, a.deliveryId))
  const drop = lane?.drops.findLast((each) => each.key === key && isMeant(each.orderId))
  return {
    now,
    waiting: place >= 0,
    behind: place > 0 || (place === 0 && holding.some(isInFlight)),
    deliveries: holding.filter((each) => each.orderIds.some(isMeant)).slice(0, 50).map(tracedOf),
    dropped: drop === undefined ? undefined : { reason: drop.reason, at: drop.at }
  }
}

const tracedOf = ({ attempt, deliveryId, records, sentAt, state }: Delivery): TracedDelivery => ({
  deliveryId,
  state,
  attempt,
  lastAttempt: records.at(-1),
  sentAt
})

const healthOf = (rows: LaneRows, tenantId: string): TenantHealth => {
  const { deliveries, lanes } = rows.tenant(tenantId)
  const all = [...lanes.values()]
  const dead = [...deliveries.values()].filter(({ state }) => state === "dead")
  const withDead = new Set(dead.map(({ laneId }) => laneId))
  const inTrouble = all.filter(({ breaker, laneId, status: { pausedBy, state } }) =>
    (state === "paused" && pausedBy !== "client") || (state === "active" && breaker.openUntil !== undefined) || withDead.has(laneId))
  const oldest = all.flatMap((lane) => oldestOf(lane) ?? [])
  return {
    subscriptions: all.length,
    inTrouble: inTrouble.length,
    waiting: all.reduce((sum, lane) => sum + lane.byRef.size, 0),
    oldestWaitingAt: oldest.length === 0 ? undefined : Math.min(...oldest),
    dead: dead.length
  }
}
