/** Options of a delivery worker. Each has a default. */
import { Context, Layer } from "effect"

/** All options. Durations are milliseconds. */
export interface DeliveryOptionValues {
  /** Maximum number of attempts in flight in one process. */
  readonly concurrency: number
  /** Maximum number of attempts in flight to one destination: the slots that a hanging receiver can occupy. */
  readonly destinationConcurrency: number
  /** Timeout of a whole attempt, from name lookup to the last byte of the response. */
  readonly attemptTimeoutMillis: number
  /** Duration of a lease without renewal, after which others take over the partitions of a killed process. Longer than an attempt. */
  readonly leaseMillis: number
  /** Poll interval of an idle worker that is not woken; at most a third of a lease is used. */
  readonly pollMillis: number
  /** Maximum bytes of one request body, unless a single event is larger than half of it. */
  readonly maxBatchBytes: number
  /** Approximate maximum of bytes of bodies in memory. */
  readonly maxBytesInFlight: number
  /** Time that a stop waits for attempts in flight. */
  readonly drainMillis: number
  /** Time that settled deliveries are kept. Default 30 days. */
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

/** The options of this process. `layer` throws a `RangeError` if a lease is not longer than an attempt. */
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
