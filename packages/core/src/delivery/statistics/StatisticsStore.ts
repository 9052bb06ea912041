/**
 * Storage port: attempts and waiting entries of destinations by minute and by hour, for charts. Both are written at the same time, so that no
 * job has to sum up minutes.
 *
 * A worker writes its counts about once a minute, in bulk. A destination has one owner at a time, so rows are not contended; if the
 * owner changes within a minute, counts are added.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../../shared/StoragePort.ts"
import { partitionsPerTenant } from "../DeliveryStore.ts"

/** A minute in milliseconds. */
export const minuteMillis = 60_000

/** An hour in milliseconds. */
export const hourMillis = 3_600_000

/** Maximum number of rows of one call. */
export const statisticsPerWrite = 1000

/**
 * An id for the total of a partition, so that a tenant's chart reads few rows for each minute. Its last digit puts it into that
 * partition, so its row has the same single writer as the destinations.
 */
export const totalOf = (partition: number): string => `00000000-0000-0000-0000-00000000000${partition}`

/** The totals of all partitions. */
export const totals: ReadonlyArray<string> = Array.from({ length: partitionsPerTenant }, (_, partition) => totalOf(partition))

/** What a count is about. */
export interface Counted {
  /** A destination, or the total of a partition. */
  readonly destinationId: string
  /** A total counts one client, or the tenant if `undefined`. Always `undefined` with the id of a destination. */
  readonly client?: string | undefined
}

/** Counts of attempts, and their latencies in whole milliseconds. */
export interface AttemptCounts {
  /** Accepted attempts. */
  readonly deliveries: number
  /** Attempts that failed. */
  readonly failures: number
  /** Sum over accepted and failed attempts. */
  readonly latencyMillis: number
  readonly maxLatencyMillis: number
}

/** Counts of one minute. */
export interface MinuteCounts extends AttemptCounts, Counted {
  /** Start of the minute. */
  readonly at: number
}

/** Number of waiting entries at one instant. */
export interface WaitingSample extends Counted {
  readonly waiting: number
}

/** Which counts to read, and in which steps. Instants are milliseconds since 1970. */
export interface StatisticsRange {
  /** Destinations or totals by id, or the totals of a client, summed over all partitions. */
  readonly of: { readonly destinationIds: ReadonlyArray<string> } | { readonly client: string }
  /** Multiples of `stepMillis`; `to` is not included. */
  readonly from: number
  readonly to: number
  /** A multiple of an hour for `hours`, and of a minute for `minutes`. */
  readonly stepMillis: number
  readonly resolution: "minutes" | "hours"
}

/** Counts of one step. */
export interface StatisticsRow extends AttemptCounts {
  /** `undefined` for a client. */
  readonly destinationId: string | undefined
  /** Start of the step. */
  readonly at: number
  /** The highest number of waiting entries in a sample; `undefined` without a sample. For a client the sum over the partitions. */
  readonly waiting: number | undefined
}

/** Storage port of delivery statistics. */
export class StatisticsStore extends Context.Service<StatisticsStore, {
  /** Adds at most `statisticsPerWrite` counts to those of their minutes and hours. Each minute of a destination or total occurs once. */
  readonly add: (tenantId: string, counts: ReadonlyArray<MinuteCounts>) => Effect.Effect<void, StorageError>
  /** Stores at most `statisticsPerWrite` samples; the largest of a minute, and of an hour, is kept. Each destination or total occurs once. */
  readonly sample: (tenantId: string, at: number, samples: ReadonlyArray<WaitingSample>) => Effect.Effect<void, StorageError>
  /** Reads the steps with counts or samples, in any order. */
  readonly read: (tenantId: string, range: StatisticsRange) => Effect.Effect<ReadonlyArray<StatisticsRow>, StorageError>
  /** Removes rows before these instants. Returns their number; at most a few thousand per call. */
  readonly prune: (tenantId: string, before: { readonly minutes: number; readonly hours: number }) => Effect.Effect<number, StorageError>
}>()("@waybill/core/delivery/StatisticsStore") {}
