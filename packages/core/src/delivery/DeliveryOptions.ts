/** How a delivery worker behaves. Every option has a default. */
import { Context, Layer } from "effect"

export interface DeliveryOptionValues {
  /** Attempts one process has in flight at the same time. */
  readonly concurrency: number
  /** Attempts one destination has in flight at the same time: what a hanging receiver can hold. */
  readonly destinationConcurrency: number
  /** The whole attempt, from name lookup to the last byte read, in milliseconds. */
  readonly attemptTimeoutMillis: number
  /** How long a lease lasts without a renewal. Longer than the attempt; a killed process's partitions are taken over after it. */
  readonly leaseMillis: number
  /** How long an idle worker waits before it looks for work without having been woken; a third of a lease at most. */
  readonly pollMillis: number
  /** Bytes of one request body, at most, unless a single event is larger. */
  readonly maxBatchBytes: number
  /** Bytes of bodies in memory, about. */
  readonly maxBytesInFlight: number
  /** How long a stop waits for attempts in flight. */
  readonly drainMillis: number
  /** How long settled deliveries stay visible to operators. */
  readonly keepSettledMillis: number
}

const defaults: DeliveryOptionValues = {
  concurrency: 2048,
  destinationConcurrency: 16,
  attemptTimeoutMillis: 15_000,
  leaseMillis: 20_000,
  pollMillis: 1_000,
  maxBatchBytes: 1024 * 1024,
  maxBytesInFlight: 16 * 1024 * 1024,
  drainMillis: 10_000,
  keepSettledMillis: 30 * 86_400_000
}

export class DeliveryOptions extends Context.Reference<DeliveryOptionValues>("@waybill/core/delivery/DeliveryOptions", {
  defaultValue: () => defaults
}) {
  static readonly defaults = defaults

  static readonly layer = (options: Partial<DeliveryOptionValues> = {}): Layer.Layer<never> => {
    const merged = { ...defaults, ...options }
    if (merged.leaseMillis <= merged.attemptTimeoutMillis) {
      throw new RangeError(
        `leaseMillis (${merged.leaseMillis}) must be longer than attemptTimeoutMillis (${merged.attemptTimeoutMillis}); otherwise a partition is taken over while its attempts are still in flight.`
      )
    }
    return Layer.succeed(DeliveryOptions, merged)
  }
}
