/** What can go wrong between the service and a receiver, one line each. */
import { millisOf, type TimeSpan } from "./TimeSpan.ts"

export type ReceiverFault =
  | { readonly kind: "duplicate" | "reorder" | "drop" | "wrongSignature" }
  | { readonly kind: "delay" | "slow" | "skew"; readonly millis: number }

export interface FaultTimes {
  /** How many requests it happens to, one after the other. 1 by default. */
  readonly times?: number
}

/** Each happens to the next request that no fault is waiting for yet. Answers the faults, so that several can be named in a row. */
export interface ReceiverFaults {
  /** It arrives twice, the second time right after the first. The sender hears the first answer. */
  readonly duplicate: (options?: FaultTimes) => ReceiverFaults
  /** The sender is told 200, and the receiver gets it after the next one. Without a next one it stays under way. */
  readonly reorder: (options?: FaultTimes) => ReceiverFaults
  /** It is lost on the way: the receiver gets nothing, and the sender runs into its deadline and tries again. */
  readonly drop: (options?: FaultTimes) => ReceiverFaults
  /** It arrives so much later. Past the sender's deadline it still arrives, beside the sender's next attempt. */
  readonly delay: (span: TimeSpan, options?: FaultTimes) => ReceiverFaults
  /** It arrives at once, and the answer takes so long. Past the sender's deadline the same delivery comes again. */
  readonly slow: (span: TimeSpan, options?: FaultTimes) => ReceiverFaults
  /** It was signed by a clock that is so far behind the receiver's. */
  readonly skew: (span: TimeSpan, options?: FaultTimes) => ReceiverFaults
  /** It is signed with a key that nobody has. */
  readonly wrongSignature: (options?: FaultTimes) => ReceiverFaults
}

/** Faults that `add` lines up. */
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
