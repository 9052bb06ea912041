/** The delivery queue in memory. */
import {
  type AttemptRecord,
  closedBreaker,
  type ClaimRequest,
  DeliveryQueue,
  type DeliveryState,
  type Freeze,
  type DestinationSettlement,
  type Settlement,
  StorageError
} from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { AccessTables } from "../access/AccessTables.ts"
import { ShipmentTables } from "../access/ShipmentTables.ts"
import type { Journal } from "../shared/Journal.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { claimedDestination, dueAfterRelease } from "./DestinationClaims.ts"
import { carrying, destinationOverviews, listed, summaryOf } from "./DeliveryLogMemory.ts"
import { type Delivery, type Destination, type DestinationRows, DestinationTables } from "./DestinationTables.ts"
import { DestinationGate } from "./DestinationGate.ts"
import { SecretTables } from "./SecretTables.ts"

/** Most rows one call of `prune` removes. */
const pruneLimit = 2000

export const DeliveryQueueMemory = {
  layer: Layer.effect(
    DeliveryQueue,
    Effect.gen(function*() {
      const { journal, operate } = yield* MemoryDatabase
      const rows = yield* DestinationTables
      const secrets = yield* SecretTables
      const outcomes = new Outcomes(rows, journal)
      const access = yield* AccessTables
      const gate = new DestinationGate(rows, { access, shipments: yield* ShipmentTables, journal })

      const claim = (request: ClaimRequest, now: number) => {
        const refilled = request.refill.flatMap((lease) => rows.held(request.tenantId, lease) ?? []).filter(isActive)
          .filter((destination) => gate.admits(destination, now))
        for (const destination of refilled) rows.setDue(destination, now + request.leaseMillis)
        const asked = (destination: Destination) => request.only === undefined || (destination.arrival !== undefined) === (request.only === "arrived")
        const due = [...rows.tenant(request.tenantId).scheduled].filter((destination) => isActive(destination) && destination.dueAt! <= now && asked(destination))
        for (const destination of due) if (!gate.admits(destination, now)) holdBack(destination)
        const fresh = due.filter((destination) => !destination.held)
          .sort((a, b) => a.dueAt! - b.dueAt!)
          .slice(0, request.maxDestinations)
        for (const destination of fresh) {
          journal.set(destination, "token", destination.token + 1)
          journal.set(destination, "leased", true)
          journal.set(destination, "held", false)
          journal.set(destination, "arrival", undefined)
          rows.setDue(destination, now + request.leaseMillis)
        }
        const ours = [...refilled, ...fresh]
        const dropped = ours.reduce((sum, destination) => sum + gate.clear(destination, now), 0)
        return { now, destinations: ours.map((destination) => claimedDestination(destination, { secrets, accounts: access.accountsOf(request.tenantId, destination.settings.client) }, request, now)), crossed: false, dropped }
      }

      const holdBack = (destination: Destination) => {
        journal.set(destination, "held", true)
        journal.set(destination, "leased", false)
        journal.set(destination, "arrival", undefined)
        rows.setDue(destination, undefined)
      }

      return DeliveryQueue.of({
        openDestination: (tenantId, destination) =>
          operate((now) => {
            rows.open(tenantId, destination, now)
            return [...rows.tenant(tenantId).destinations.values()].filter(({ settings: { client, source } }) => client === destination.client && source === destination.source).length
          }),
        countDestinations: (tenantId) => operate(() => rows.tenant(tenantId).destinations.size),
        changeDestination: (tenantId, settings) =>
          operate((now) => {
            const destination = rows.find(tenantId, settings.destinationId)
            if (destination === undefined) return
            const { client, endpointUrl, envelope, signing, source, whenDead } = destination.settings
            const turned = destination.status.state !== settings.state
            journal.set(destination, "settings", { ...settings, client, envelope, signing, source, whenDead })
            rows.setState(destination, settings.state, undefined, now)
            // another address is another destination
            if (endpointUrl !== settings.endpointUrl) journal.set(destination, "breaker", closedBreaker)
            if (turned && settings.state === "active") rows.wake(destination, now)
          }),
        closeDestination: (tenantId, destinationId) =>
          operate((now) => {
            const destination = rows.find(tenantId, destinationId)
            if (destination !== undefined) rows.close(destination, now)
          }),
        accessRestored: (tenantId, client) =>
          operate((now) => {
            for (const destination of rows.tenant(tenantId).destinations.values()) {
              if (!destination.held || destination.settings.client !== (client ?? destination.settings.client)) continue
              journal.set(destination, "held", false)
              rows.wake(destination, now)
            }
          }),
        destinationStatus: (tenantId, destinationId) => operate(() => Option.fromUndefinedOr(rows.find(tenantId, destinationId)?.status)),
        tenantsDue: (limit) => operate((now) => tenantsDue(rows, limit, now)),
        claim: (request) => operate((now) => claim(request, now)),
        freeze: (tenantId, destinations) =>
          operate((now) => {
            const sending = destinations.filter((each) => {
              const destination = rows.held(tenantId, each)
              return destination !== undefined && isActive(destination) && gate.admits(destination, now)
            })
            for (const each of sending) outcomes.freeze(rows.find(tenantId, each.destinationId)!, each)
            return new Set(sending.map((each) => each.destinationId))
          }).pipe(Effect.catchDefect((cause) => Effect.fail(new StorageError({ operation: "DeliveryQueue.freeze", cause })))),
        settle: (tenantId, { deliveries, destinations }) =>
          operate((now) => {
            for (const each of deliveries) outcomes.settle(tenantId, each, now)
            const dead = new Set(deliveries.filter(({ state }) => state === "dead").map(({ destinationId }) => destinationId))
            return destinations.map((each) => outcomes.settleDestination(tenantId, each, { now, dead: dead.has(each.destinationId) })).some((dueNow) => dueNow)
          }),
        heartbeat: (tenantId, leases, leaseMillis) =>
          operate((now) => {
            const kept = leases.flatMap((lease) => rows.held(tenantId, lease) ?? [])
            for (const destination of kept) rows.setDue(destination, now + leaseMillis)
            return new Set(kept.map((destination) => destination.destinationId))
          }),
        destinations: (tenantId, query) => operate((now) => ({ now, destinations: destinationOverviews(rows, tenantId, query) })),
        list: (tenantId, query) => operate(() => listed(rows, tenantId, query)),
        carrying: (tenantId, keys, range) => operate(() => carrying(rows, tenantId, keys, range)),
        find: (tenantId, deliveryId) =>
          operate(() =>
            Option.map(Option.fromUndefinedOr(rows.tenant(tenantId).deliveries.get(deliveryId)), (delivery) => ({
              ...summaryOf(delivery),
              endpointUrl: rows.find(tenantId, delivery.destinationId)?.settings.endpointUrl ?? delivery.endpointUrl!,
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
        recover: (tenantId, destinationId, since) =>
          operate((now) => {
            const dead = [...rows.tenant(tenantId).deliveries.values()]
              .filter((each) => each.destinationId === destinationId && each.state === "dead" && each.settledAt! >= since)
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

const isActive = (destination: Destination): boolean => destination.status.state === "active"

/** What becomes of deliveries: frozen, settled, sent again. */
class Outcomes {
  private readonly rows: DestinationRows
  private readonly journal: Journal

  constructor(rows: DestinationRows, journal: Journal) {
    this.rows = rows
    this.journal = journal
  }

  freeze(destination: Destination, freeze: Freeze): void {
    const { journal } = this
    journal.set(destination, "rateMark", freeze.rateMark)
    if (freeze.cursor !== undefined) journal.set(destination, "cursor", freeze.cursor)
    for (const [at, deliveryId] of freeze.again.entries()) {
      const delivery = destination.unsettled.get(deliveryId)
      if (delivery === undefined || delivery.tries !== (freeze.againTries?.[at] ?? delivery.tries)) {
        throw new Error(`Delivery ${deliveryId} is no longer as the claim told it.`)
      }
      journal.set(delivery, "state", "sending")
      journal.set(delivery, "dueAt", undefined)
      journal.set(delivery, "token", destination.token)
      journal.set(delivery, "attempt", delivery.attempt + 1)
      journal.set(delivery, "tries", delivery.tries + 1)
    }
    for (const { deliveryId, entries: named, sentAt, traceparent } of freeze.fresh) {
      const entries = named.map(({ ref }) => destination.byRef.get(ref)!)
      for (const entry of entries) this.rows.dequeue(destination, entry)
      const keys = [...new Set(entries.map((entry) => entry.key))]
      const delivery: Delivery = {
        deliveryId,
        destinationId: destination.destinationId,
        source: destination.settings.source,
        createdAt: sentAt,
        sentAt,
        keys,
        orderIds: entries.map((entry) => entry.orderId),
        payloads: entries.map((entry) => entry.payload),
        entries,
        traceparent,
        envelope: destination.settings.envelope,
        state: "sending",
        token: destination.token,
        attempt: 1,
        tries: 1,
        dueAt: undefined,
        settledAt: undefined,
        records: [],
        reason: undefined,
        endpointUrl: undefined
      }
      journal.put(destination.tenant.deliveries, deliveryId, delivery)
      journal.put(destination.unsettled, deliveryId, delivery)
    }
  }

  settle(tenantId: string, outcome: Settlement, now: number): void {
    const { journal } = this
    const delivery = this.rows.tenant(tenantId).deliveries.get(outcome.deliveryId)
    if (delivery === undefined) return
    const { record } = outcome
    const known = (each: AttemptRecord) => each.attempt === record?.attempt && each.at === record.at && each.outcome === record.outcome
    if (record !== undefined && !delivery.records.some(known)) journal.set(delivery, "records", [...delivery.records, record])
    const destination = this.rows.held(tenantId, outcome)
    const attempt = record?.attempt ?? outcome.attempt
    const current = attempt === undefined || attempt === delivery.attempt
    if (destination === undefined || delivery.destinationId !== destination.destinationId || delivery.state !== "sending" || !current) return
    journal.set(delivery, "state", outcome.state)
    if (outcome.state === "waiting") journal.set(delivery, "dueAt", now + outcome.dueInMillis)
    else this.end(destination, delivery, now)
    if (outcome.uncount) journal.set(delivery, "tries", delivery.tries - 1)
  }

  private end(destination: Destination, delivery: Delivery, now: number): void {
    this.journal.set(delivery, "settledAt", now)
    this.journal.drop(destination.unsettled, delivery.deliveryId)
  }

  /** Answers whether the destination was given back and is due at once. */
  settleDestination(tenantId: string, outcome: DestinationSettlement, { dead, now }: { readonly now: number; readonly dead: boolean }): boolean {
    const destination = this.rows.held(tenantId, outcome)
    if (destination === undefined) return false
    const replaced = outcome.endpointUrl !== undefined && outcome.endpointUrl !== destination.settings.endpointUrl
    if (!replaced) this.journal.set(destination, "breaker", outcome.breaker)
    if (outcome.pause !== undefined && isActive(destination) && (dead || !replaced)) this.rows.setState(destination, "paused", outcome.pause, now, "engine")
    if (outcome.release === undefined) return false
    this.journal.set(destination, "leased", false)
    this.rows.setDue(destination, replaced ? now : dueAfterRelease(destination, outcome.release, now))
    return isActive(destination) && destination.dueAt !== undefined && destination.dueAt <= now
  }

  /** Due now with a full series of attempts. Without its destination there is nowhere to send it, so it counts as cancelled. */
  retry(tenantId: string, delivery: Delivery, now: number): DeliveryState {
    const { state } = delivery
    const destination = this.rows.find(tenantId, delivery.destinationId)
    if (destination === undefined) return "cancelled"
    if (state === "sending" || state === "cancelled") return state
    this.journal.set(delivery, "state", "waiting")
    this.journal.set(delivery, "dueAt", now)
    this.journal.set(delivery, "settledAt", undefined)
    this.journal.set(delivery, "tries", 0)
    this.journal.put(destination.unsettled, delivery.deliveryId, delivery)
    destination.clearedAt = undefined
    this.rows.wake(destination, now)
    return state
  }
}

interface Turn {
  readonly tenantId: string
  readonly at: number
}

const soonest = (turns: Array<Turn>, limit: number) => turns.sort((a, b) => a.at - b.at).slice(0, limit).map((each) => each.tenantId)

const tenantsDue = (rows: DestinationRows, limit: number, now: number) => {
  const due: Array<Turn> = []
  const arrived: Array<Turn> = []
  let next = Infinity
  for (const { scheduled, tenantId } of rows.tenants.values()) {
    let earliest = Infinity
    let first = Infinity
    for (const destination of scheduled) {
      if (!isActive(destination)) continue
      if (destination.dueAt! > now) next = Math.min(next, destination.dueAt!)
      else if (destination.arrival !== undefined) first = Math.min(first, destination.arrival)
      else earliest = Math.min(earliest, destination.dueAt!)
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

const depthOf = (rows: DestinationRows, now: number) => {
  const depth = { waitingEntries: 0, unsettled: 0, dead: 0, lagMillis: 0 }
  for (const tenant of rows.tenants.values()) {
    for (const destination of tenant.destinations.values()) {
      depth.waitingEntries += destination.byRef.size
      depth.unsettled += destination.unsettled.size
      if (isActive(destination) && destination.dueAt !== undefined) depth.lagMillis = Math.max(depth.lagMillis, now - destination.dueAt)
    }
    for (const delivery of tenant.deliveries.values()) if (delivery.state === "dead") depth.dead += 1
  }
  return depth
}
