/** What operators do to destinations and deliveries, in memory. */
import { compareText } from "@waybill/core"
import {
  type BacklogCount,
  type BacklogCounts,
  type BacklogExcess,
  type BacklogPosition,
  backlogStep,
  DeliveryControl,
  type DeliveryTroubles,
  type DestinationTrace,
  type EndedPauses,
  lateWaitingMillis,
  mostTroubled,
  type Pause,
  purgeReason,
  purgeStep,
  type PurgePosition,
  type PurgeStep,
  recentDeadMillis,
  type TenantHealth,
  type TracedDelivery,
  traceDeliveries,
  type TraceSubject,
  type TroubledDestination
} from "@waybill/core/delivery"
import { storeLayer } from "../shared/StoreLayer.ts"
import { destinationsInTrouble, isInFlight, oldestOf } from "./DeliveryLogMemory.ts"
import { type Delivery, type Destination, type DestinationRows, DestinationTables, entriesOf } from "./DestinationTables.ts"

export const layer = storeLayer(DeliveryControl, { rows: DestinationTables }, ({ journal, operate, rows }) => {
  const pause = (destination: Destination, { by, onlyActive, reason }: Pause, now: number): boolean => {
    const { since, state } = destination.status
    if (onlyActive && state !== "active") return false
    const resumesAs = state === "inactive" ? state : destination.resumesAs
    rows.setStatus(destination, { state: "paused", reason, pausedBy: by, since: state === "paused" ? since : now }, resumesAs)
    return true
  }

  const resume = (destination: Destination, pauses: EndedPauses, now: number): boolean => {
    const { pausedBy, reason, state } = destination.status
    const isEnded = pauses === "all" || (pauses === "purge" ? reason === purgeReason : pausedBy !== "operator")
    if (state !== "paused" || !isEnded) return false
    rows.setStatus(destination, { state: destination.resumesAs ?? "active", reason: undefined, pausedBy: undefined, since: now })
    return true
  }

  const change = (tenantId: string, destinationId: string, by: (destination: Destination, now: number) => boolean) =>
    operate((now) => {
      const destination = rows.find(tenantId, destinationId)
      if (destination === undefined) return "unknown"
      if (!by(destination, now)) return "unchanged"
      rows.signal(destination, undefined)
      return "changed"
    })

  const cancelRetries = (destination: Destination, now: number): number => {
    const retried = [...destination.unsettled.values()].filter(({ state }) => state === "waiting")
    for (const delivery of retried) rows.write(destination, delivery, "cancelled", now)
    const entries = retried.reduce((sum, each) => sum + each.entries.length, 0)
    journal.set(destination, "dropped", destination.dropped + entries)
    return entries
  }

  const purgeNext = (destination: Destination, after: PurgePosition | undefined, now: number): PurgeStep => {
    if (destination.status.state === "active") return { dropped: 0, next: undefined }
    const cancelled = cancelRetries(destination, now)
    const { entries, next } = stretchOf(destination, after, purgeStep)
    for (const entry of entries) rows.drop(destination, entry, "purged", now)
    return { dropped: cancelled + entries.length, next }
  }

  const dropExcess = (destination: Destination, excess: BacklogExcess, after: PurgePosition | undefined, now: number): PurgeStep => {
    if (destination.dropped !== excess.dropped) return { dropped: 0, next: undefined }
    const { entries, next } = stretchOf(destination, after, backlogStep)
    const chosen = entries.filter(({ queuedAt }) => queuedAt < excess.queuedBefore).slice(0, excess.limit)
    for (const entry of chosen) rows.drop(destination, entry, excess.reason, now)
    return { dropped: chosen.length, next }
  }

  const stepOf = (tenantId: string, destinationId: string, step: (destination: Destination, now: number) => PurgeStep) =>
    operate((now) => {
      const destination = rows.find(tenantId, destinationId)
      return destination === undefined ? { dropped: 0, next: undefined } : step(destination, now)
    })

  return {
    pause: (tenantId, destinationId, how) => change(tenantId, destinationId, (destination, now) => pause(destination, how, now)),
    resume: (tenantId, destinationId, pauses) => change(tenantId, destinationId, (destination, now) => resume(destination, pauses, now)),
    purgeNext: (tenantId, destinationId, after) => stepOf(tenantId, destinationId, (destination, now) => purgeNext(destination, after, now)),
    countBacklog: (tenantId, widthMillis, after) => operate((now) => countsOf(rows, tenantId, widthMillis, after, now)),
    dropExcess: (tenantId, destinationId, excess, after) =>
      stepOf(tenantId, destinationId, (destination, now) => dropExcess(destination, excess, after, now)),
    dismiss: (tenantId, deliveryIds) =>
      operate(() => {
        const dead = deliveryIds.flatMap((id) => rows.of(tenantId).deliveries.get(id) ?? []).filter(({ state }) => state === "dead")
        for (const delivery of dead) journal.set(delivery, "state", "dismissed")
        return dead.length
      }),
    trace: (tenantId, destinationId, subject) => operate((now) => traceOf(rows, tenantId, destinationId, subject, now)),
    health: (tenantId) => operate(() => healthOf(rows, tenantId)),
    troubles: operate((now) => troublesOf(rows, now))
  }
})

const byPlace = (a: PurgePosition, b: PurgePosition): number => compareText(a.key, b.key) || a.sequence - b.sequence || a.ref - b.ref

/** The next so many entries of a destination in their order. */
const stretchOf = (destination: Destination, after: PurgePosition | undefined, most: number) => {
  const entries = destination.entries.toSorted(byPlace).filter((entry) => after === undefined || byPlace(entry, after) > 0).slice(0, most)
  return { entries, next: entries.length < most ? undefined : placeOf(entries.at(-1)!) }
}

const placeOf = ({ key, ref, sequence }: PurgePosition): PurgePosition => ({ key, sequence, ref })

const countsOf = (rows: DestinationRows, tenantId: string, width: number, after: BacklogPosition | undefined, now: number): BacklogCounts => {
  const stretch = [...rows.of(tenantId).destinations.values()]
    .sort((a, b) => compareText(a.destinationId, b.destinationId))
    .flatMap((destination) => destination.entries.toSorted(byPlace).map((entry) => ({ destination, entry })))
    .filter(({ entry, destination }) => after === undefined || (compareText(destination.destinationId, after.destinationId) || byPlace(entry, after)) > 0)
    .slice(0, backlogStep)
  const counts = new Map<string, BacklogCount>()
  for (const { entry, destination: { dropped, destinationId, settings: { client } } } of stretch) {
    const queuedFrom = Math.floor(entry.queuedAt / width) * width
    const entries = (counts.get(`${destinationId} ${queuedFrom}`)?.entries ?? 0) + 1
    counts.set(`${destinationId} ${queuedFrom}`, { destinationId, client, queuedFrom, entries, dropped })
  }
  const last = stretch.at(-1)
  return {
    now,
    counts: [...counts.values()],
    next: last === undefined || stretch.length < backlogStep ? undefined : { destinationId: last.destination.destinationId, ...placeOf(last.entry) }
  }
}

const traceOf = (rows: DestinationRows, tenantId: string, destinationId: string, { key, orderIds }: TraceSubject, now: number): DestinationTrace => {
  const destination = rows.find(tenantId, destinationId)
  const isMeant = (orderId: string) => orderIds === undefined || orderIds.includes(orderId)
  const ofKey = destination === undefined ? [] : entriesOf(destination, key)
  const place = ofKey.findIndex(({ orderId }) => isMeant(orderId))
  const holding = rows.deliveries(rows.of(tenantId))
    .filter((each) => each.destinationId === destinationId && each.keys.includes(key))
    .sort((a, b) => compareText(b.deliveryId, a.deliveryId))
  const drop = destination?.drops.findLast((each) => each.key === key && isMeant(each.orderId))
  return {
    now,
    waiting: place >= 0,
    behind: place > 0 || (place === 0 && holding.some(isInFlight)),
    deliveries: holding.filter((each) => each.entries.some(({ orderId }) => isMeant(orderId))).slice(0, 50).map(tracedOf),
    dropped: drop === undefined ? undefined : { reason: drop.reason, at: drop.at },
    recent: rows.deliveries(rows.of(tenantId))
      .filter((each) => each.destinationId === destinationId && each.sentAt >= now - 60_000)
      .map(({ sentAt }) => sentAt)
      .sort((a, b) => a - b)
      .slice(-traceDeliveries)
  }
}

const tracedOf = ({ attempt, deliveryId, records, sentAt, state }: Delivery): TracedDelivery => ({
  deliveryId,
  state,
  attempt,
  lastAttempt: records.at(-1),
  sentAt
})

const troublesOf = (rows: DestinationRows, now: number): DeliveryTroubles => {
  const all = [...rows.byTenant.values()].flatMap((tenant) =>
    [...tenant.destinations.values()].map((destination): TroubledDestination & { readonly client: string } => {
      const { breaker, destinationId, settings: { client, source }, status: { pausedBy = "service", state } } = destination
      const paused = state === "paused" && pausedBy === "service"
      const recent = [...tenant.deliveries.values()].filter((each) => each.destinationId === destinationId && each.state === "dead" && each.settledAt! > now - recentDeadMillis)
      const oldest = state === "active" || paused ? oldestOf(destination) : undefined
      return {
        client,
        tenantId: tenant.tenantId,
        destinationId,
        source,
        paused,
        breakerOpen: state === "active" && breaker.openUntil !== undefined,
        dead: recent.length,
        waitingMillis: oldest === undefined ? undefined : now - oldest
      }
    }))
  const oldestOfAll = (found: ReadonlyArray<TroubledDestination>) =>
    found.reduce<number | undefined>((oldest, { waitingMillis }) => waitingMillis === undefined ? oldest : Math.max(oldest ?? 0, waitingMillis), undefined)
  return {
    now,
    sources: [...new Set(all.map(({ source }) => source))].map((source) => {
      const found = all.filter((each) => each.source === source)
      return {
        source,
        paused: found.filter(({ paused }) => paused).length,
        breakersOpen: found.filter(({ breakerOpen }) => breakerOpen).length,
        dead: found.reduce((sum, { dead }) => sum + dead, 0),
        waitingMillis: oldestOfAll(found)
      }
    }),
    destinations: inTurns(inTurns(
      all
        .filter(({ breakerOpen, dead, paused, waitingMillis = 0 }) => paused || breakerOpen || dead > 0 || waitingMillis > lateWaitingMillis)
        .sort((a, b) => b.dead - a.dead || (b.waitingMillis ?? -1) - (a.waitingMillis ?? -1)),
      ({ client, tenantId }) => `${tenantId} ${client}`
    ), ({ tenantId }) => tenantId).slice(0, mostTroubled).map(({ client: _, ...destination }) => destination)
  }
}

/** The first of each owner, then the second of each, and so on. */
const inTurns = <Item>(items: ReadonlyArray<Item>, ownerOf: (item: Item) => string): ReadonlyArray<Item> => {
  const counts = new Map<string, number>()
  const placed = items.map((item) => {
    const owner = ownerOf(item)
    const place = counts.get(owner) ?? 0
    counts.set(owner, place + 1)
    return { item, place }
  })
  return placed.sort((a, b) => a.place - b.place).map(({ item }) => item)
}

const healthOf = (rows: DestinationRows, tenantId: string): TenantHealth => {
  const { deliveries, destinations } = rows.of(tenantId)
  const all = [...destinations.values()]
  const oldest = all.flatMap((destination) => oldestOf(destination) ?? [])
  return {
    subscriptions: all.length,
    inTrouble: destinationsInTrouble(rows, tenantId).length,
    waiting: all.reduce((sum, destination) => sum + destination.entries.length, 0),
    oldestWaitingAt: oldest.length === 0 ? undefined : Math.min(...oldest),
    dead: [...deliveries.values()].filter(({ state }) => state === "dead").length
  }
}
