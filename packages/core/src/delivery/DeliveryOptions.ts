/** Options of a delivery worker. Each has a default. */
import { Context, Layer } from "effect"
import { checkOptions, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"

const defaults = {
  /** Maximum number of attempts in flight in one process. */
  concurrency: 2048,
  /** Maximum number of attempts in flight to one destination: the slots that a hanging receiver can occupy. */
  destinationConcurrency: 16,
  /** Timeout of a whole attempt, from name lookup to the last byte of the response. */
  attemptTimeoutMillis: 15_000,
  /** Duration of a lease without renewal, after which others take over the partitions of a killed process. Longer than an attempt. */
  leaseMillis: 20_000,
  /** Poll interval of an idle worker that is not woken; at most a third of a lease is used. */
  pollMillis: 1_000,
  /** Maximum bytes of one request body, unless a single event is larger than half of it. */
  maxBatchBytes: 1024 * 1024,
  /** Approximate maximum of bytes of bodies in memory. */
  maxBytesInFlight: 16 * 1024 * 1024,
  /** Time that a stop waits for attempts in flight. */
  drainMillis: 10_000,
  /** Time that settled deliveries, and what is left of deleted subscriptions, are kept. Default 30 days. */
  keepSettledMillis: 30 * 86_400_000
}

/** All options. Durations are milliseconds. */
export type DeliveryOptionValues = { readonly [Name in keyof typeof defaults]: number }

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
  static readonly defaults: DeliveryOptionValues = defaults

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
