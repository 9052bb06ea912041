/** Counts attempts in memory by destination, client and minute, and writes the counts about once a minute. Deliveries do not wait for it. */
import { Context, Effect, Layer } from "effect"
import { logUnwritten, makeFlushLater, writeOfTenants } from "../../shared/WriteOfTenants.ts"
import { partitionOf } from "../DeliveryStore.ts"
import type { Reported } from "../DeliveryReport.ts"
import { type Counted, type MinuteCounts, minuteMillis, StatisticsStore, statisticsPerWrite, totalOf } from "./StatisticsStore.ts"

/**
 * Maximum numbers of unwritten counts. Beyond the first, further destinations are not counted; beyond the second, further clients are not counted
 * either. The totals of the tenant are always counted.
 */
const maxPending = 100_000
const maxPendingWithClients = 2 * maxPending

type Counts = { -readonly [Name in keyof MinuteCounts]: MinuteCounts[Name] }

/** Called with attempts of a tenant whose outcomes are written. The list is emptied afterwards. */
export type ObserveAttempts = (tenantId: string, finished: ReadonlyArray<Reported>) => Effect.Effect<void>

/** Observes attempts whose outcomes are written. `flush` writes what it keeps in memory. Default: does nothing. */
export class AttemptObserver extends Context.Reference<{ readonly observe: ObserveAttempts; readonly flush: Effect.Effect<void> }>("@waybill/core/delivery/AttemptObserver", {
  defaultValue: () => ({ observe: () => Effect.void, flush: Effect.void })
}) {}

/** An observer that writes to the `StatisticsStore` until its scope closes, and then once more. A killed process loses its unwritten counts. */
export const layerStatisticsRecorder = Layer.effect(AttemptObserver, Effect.gen(function*() {
  const store = yield* StatisticsStore
  /** By tenant and minute, then by destination or total. */
  const pending = new Map<string, Map<number, Map<string, Counts>>>()
  let size = 0

  const count = (tenantId: string, counted: Counted, { verdict: { record } }: Reported, bound: number) => {
    const name = counted.client === undefined ? counted.destinationId : counted.destinationId + counted.client
    const at = Math.floor((record.at + record.durationMillis) / minuteMillis) * minuteMillis
    let counts = pending.get(tenantId)?.get(at)?.get(name)
    if (counts === undefined) {
      if (size >= bound) return
      counts = { ...counted, at, deliveries: 0, failures: 0, latencyMillis: 0, maxLatencyMillis: 0 }
      const minutes = pending.get(tenantId) ?? new Map<number, Map<string, Counts>>()
      const minute = minutes.get(at) ?? new Map<string, Counts>()
      pending.set(tenantId, minutes.set(at, minute.set(name, counts)))
      size += 1
    }
    if (record.outcome === "accepted") counts.deliveries += 1
    else counts.failures += 1
    const millis = Math.round(record.durationMillis)
    counts.latencyMillis += millis
    counts.maxLatencyMillis = Math.max(counts.maxLatencyMillis, millis)
  }

  const flush: Effect.Effect<void> = Effect.suspend(() => {
    const taken = [...pending]
    pending.clear()
    size = 0
    const writing = writeOfTenants(taken, (tenantId, minutes) =>
      Effect.forEach(inParts([...minutes.values()].flatMap((minute) => [...minute.values()])), (part) => store.add(tenantId, part), { discard: true }))
    return Effect.flatMap(writing, (unwritten) =>
      logUnwritten(unwritten, (error) => Effect.logWarning("Delivery statistics of up to a minute not written. Charts show too few attempts.", error)))
  })

  const flushLater = yield* makeFlushLater(flush)

  const observe: ObserveAttempts = (tenantId, finished) =>
    Effect.suspend(() => {
      for (const each of finished) {
        // its outcome is unknown, and does not depend on the receiver
        if (each.verdict.record.outcome === "interrupted") continue
        const { client, destinationId } = each.attempt.destination
        const total = totalOf(partitionOf(destinationId))
        count(tenantId, { destinationId }, each, maxPending)
        count(tenantId, { destinationId: total, client }, each, maxPendingWithClients)
        count(tenantId, { destinationId: total }, each, Infinity)
      }
      return size === 0 ? Effect.void : flushLater
    })

  return { observe, flush }
}))

const inParts = (counts: ReadonlyArray<MinuteCounts>): ReadonlyArray<ReadonlyArray<MinuteCounts>> =>
  Array.from({ length: Math.ceil(counts.length / statisticsPerWrite) }, (_, n) => counts.slice(n * statisticsPerWrite, (n + 1) * statisticsPerWrite))
