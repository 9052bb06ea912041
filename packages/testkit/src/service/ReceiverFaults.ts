/** Faults between the service and a receiver. */
import { millisOf, type TimeSpan } from "./TimeSpan.ts"

export type ReceiverFault =
  | { readonly kind: "duplicate" | "reorder" | "drop" | "wrongSignature" }
  | { readonly kind: "delay" | "slow" | "skew"; readonly millis: number }

/** How often a fault happens. */
export interface FaultTimes {
  /** The number of consecutive requests with the fault. 1 by default. */
  readonly times?: number
}

/** Each fault affects the next request without a scheduled fault. Returns itself, so that calls can be chained. */
export interface ReceiverFaults {
  /** It arrives twice in a row. The sender gets the first response. */
  readonly duplicate: (options?: FaultTimes) => ReceiverFaults
  /** The sender gets 200, and the receiver gets the request after the next one. Without a next one it never arrives. */
  readonly reorder: (options?: FaultTimes) => ReceiverFaults
  /** It is lost: the receiver gets nothing, and the sender times out and retries. */
  readonly drop: (options?: FaultTimes) => ReceiverFaults
  /** It arrives later. Past the sender's deadline it still arrives, in addition to the next attempt. */
  readonly delay: (span: TimeSpan, options?: FaultTimes) => ReceiverFaults
  /** It arrives at once, and the response is slow. Past the sender's deadline the same delivery arrives again. */
  readonly slow: (span: TimeSpan, options?: FaultTimes) => ReceiverFaults
  /** It was signed by a clock that is this far behind the receiver's. */
  readonly skew: (span: TimeSpan, options?: FaultTimes) => ReceiverFaults
  /** It is signed with an unknown key. */
  readonly wrongSignature: (options?: FaultTimes) => ReceiverFaults
}

/** Faults that are scheduled with `add`. */
export const makeReceiverFaults = (add: (fault: ReceiverFault) => void): ReceiverFaults => {
  const line = (fault: ReceiverFault, { times = 1 }: FaultTimes = {}): ReceiverFaults => {
    if (!Number.isInteger(times) || times < 1) throw new RangeError(`times is ${times}. Give a whole number from 1.`)
    for (let time = 0; time < times; time++) add(fault)
    return faults
  }
  const faults: ReceiverFaults = {
    duplicate: (options) => line({ kind: "duplicate" }, options),
    reorder: (options) => line({ kind: "reorder" }, options),
    drop: (options) => line({ kind: "drop" }, options),
    delay: (span, options) => line({ kind: "delay", millis: millisOf(span) }, options),
    slow: (span, options) => line({ kind: "slow", millis: millisOf(span) }, options),
    skew: (span, options) => line({ kind: "skew", millis: millisOf(span) }, options),
    wrongSignature: (options) => line({ kind: "wrongSignature" }, options)
  }
  return faults
}
