/**
 * Storage port: attempts and waiting entries of destinations by minute and by hour, for charts. Both are written at the same time, so that no
 * job has to turn minutes into hours.
 *
 * A worker writes what it has counted about once a minute, in bulk. A destination has one owner at a time, so rows are not contended; when the
 * owner changes within a minute, counts are added up.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../../shared/StorageError.ts"
import { partitionsPerTenant } from "../DeliveryStore.ts"

export const minuteMillis = 60_000
export const hourMillis = 3_600_000

/** Rows of one call, at most. */
export const statisticsPerWrite = 1000

/**
 * Stands for all destinations of a partition, so that a tenant's chart reads a few rows for each minute. By its last digit it lies in that
 * partition: its row has the same single writer as the destinations.
 */
export const totalOf = (partition: number): string => `00000000-0000-0000-0000-00000000000${partition}`

/** Those of all partitions. */
export const totals: ReadonlyArray<string> = Array.from({ length: partitionsPerTenant }, (_, partition) => totalOf(partition))

/** What a number belongs to. */
export interface Counted {
  /** A destination, or the total of a partition. */
  readonly destinationId: string
  /** The total of a partition has one for each client beside that of the tenant. `undefined` with the id of a destination. */
  readonly client?: string | undefined
}

/** Whole numbers. */
export interface AttemptCounts {
  /** Accepted attempts. */
  readonly deliveries: number
  /** Attempts that failed. */
  readonly failures: number
  /** Of both together. */
  readonly latencyMillis: number
  readonly maxLatencyMillis: number
}

export interface MinuteCounts extends AttemptCounts, Counted {
  /** When the minute began. */
  readonly at: number
}

export interface WaitingSample extends Counted {
  readonly waiting: number
}

export interface StatisticsRange {
  /** Destinations, or the totals of a client in all partitions, as one. */
  readonly of: { readonly destinationIds: ReadonlyArray<string> } | { readonly client: string }
  /** Multiples of `stepMillis`; `to` is not included. */
  readonly from: number
  readonly to: number
  /** A multiple of an hour for `hours`, and of a minute for `minutes`. */
  readonly stepMillis: number
  readonly resolution: "minutes" | "hours"
}

export interface StatisticsRow extends AttemptCounts {
  /** `undefined` for a client. */
  readonly destinationId: string | undefined
  readonly at: number
  /** The most entries that waited at one sample; `undefined` without a sample. For a client the sum over the partitions. */
  readonly waiting: number | undefined
}

export class StatisticsStore extends Context.Service<StatisticsStore, {
  /** Adds counts to those of their minutes and hours: `statisticsPerWrite` at most, each minute of a destination or total once. */
  readonly add: (tenantId: string, counts: ReadonlyArray<MinuteCounts>) => Effect.Effect<void, StorageError>
  /** Keeps the larger of this sample and others of the same minute and hour. `statisticsPerWrite` at most, each destination or total once. */
  readonly sample: (tenantId: string, at: number, samples: ReadonlyArray<WaitingSample>) => Effect.Effect<void, StorageError>
  /** Steps in which something was counted or sampled, in any order. */
  readonly read: (tenantId: string, range: StatisticsRange) => Effect.Effect<ReadonlyArray<StatisticsRow>, StorageError>
  /** Removes old rows. Answers how many; at most a few thousand a call. */
  readonly prune: (tenantId: string, before: { readonly minutes: number; readonly hours: number }) => Effect.Effect<number, StorageError>
}>()("@waybill/core/delivery/StatisticsStore") {}
