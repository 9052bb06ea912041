/** Whoever delivers: Waybill, a job queue, or a bare loop. Each runs in a process of its own. */

/** How a contender is to be set up. */
export interface ContenderOptions {
  readonly database: string
  /** Scheme, host and port. */
  readonly receiver: string
  /** Waybill: subscriptions, each to one customer. */
  readonly lanes?: number
  /** Events of one POST. */
  readonly batchMaxSize?: number
  /** Waybill: one subscription more, to which nothing is published; its path, and its events of one POST. */
  readonly extra?: { readonly path: string; readonly batchMaxSize: number }
  /** Waybill: how long settled deliveries are kept. */
  readonly keepSettledMillis?: number
  /** Tuned for many at once, or for one at a time to arrive soon. */
  readonly tuned: "throughput" | "latency"
}

export interface Contender {
  /** Queues that many events, 1 KB each, without delivering any. */
  readonly fill: (count: number) => Promise<void>
  /** Waybill: queues that many for the extra subscription. */
  readonly fillExtra?: (count: number) => Promise<void>
  /** Waybill: whether nothing waits for the extra subscription. */
  readonly extraIsEmpty?: () => Promise<boolean>
  /** Waybill: removes what is old, and answers how many rows that were. */
  readonly sweep?: () => Promise<number>
  /**
   * Starts the workers; resolves when that many events have been delivered and the workers have stopped, with the instant
   * at which they had started.
   */
  readonly drain: (count: number) => Promise<number>
  /** Starts the workers. */
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Queues one event with this mark; resolves, when it is committed, with the instant in milliseconds since 1970. */
  readonly publish: (mark: string) => Promise<number>
  readonly close: () => Promise<void>
}

export const nowMillis = (): number => performance.timeOrigin + performance.now()

/** Counts down to a promise. */
export const countdown = (count: number) => {
  let left = count
  let open: () => void = () => undefined
  const done = new Promise<void>((resolve) => open = resolve)
  return {
    done,
    tick: () => {
      if (--left === 0) open()
    }
  }
}
