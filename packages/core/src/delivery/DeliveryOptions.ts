/** Options of a delivery worker. Each has a default. */
import { Context, Layer } from "effect"
import { checkOptions, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"

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

const { count, millis, period } = optionKinds

const kinds: OptionKinds<DeliveryOptionValues> = {
  concurrency: count,
  destinationConcurrency: count,
  attemptTimeoutMillis: millis,
  leaseMillis: millis,
  // without an end, where every signal arrives
  pollMillis: { what: "a number of milliseconds above 0", accepts: (value) => value === Infinity || millis.accepts(value) },
  maxBatchBytes: count,
  maxBytesInFlight: count,
  drainMillis: period,
  keepSettledMillis: period
}

/** The options of this process. `layer` throws when one is invalid, or if a lease is not longer than an attempt. */
export class DeliveryOptions extends Context.Reference<DeliveryOptionValues>("@waybill/core/delivery/DeliveryOptions", {
  defaultValue: () => defaults
}) {
  static readonly defaults = defaults

  static readonly layer = (options: Partial<DeliveryOptionValues> = {}): Layer.Layer<never> => {
    checkOptions("delivery", options, kinds)
    const merged = { ...defaults, ...options }
    if (merged.leaseMillis <= merged.attemptTimeoutMillis) {
      throw new RangeError(
        `leaseMillis (${merged.leaseMillis}) must be longer than attemptTimeoutMillis (${merged.attemptTimeoutMillis}); otherwise a partition is taken over while its attempts are still in flight.`
      )
    }
    return Layer.succeed(DeliveryOptions, merged)
  }
}
