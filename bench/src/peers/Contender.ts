/** A contender: Waybill, a job queue, or a minimal loop. Each runs in its own process. */

/** The settings of a contender. */
export interface ContenderOptions {
  readonly database: string
  /** Scheme, host and port. */
  readonly receiver: string
  /** Waybill: subscriptions, each to one customer. */
  readonly destinations?: number
  /** Events of one POST. */
  readonly batchMaxSize?: number
  /** Waybill: an extra subscription without published events; its path, and its batch size. */
  readonly extra?: { readonly path: string; readonly batchMaxSize: number }
  /** Waybill: how long finished deliveries are kept. */
  readonly keepSettledMillis?: number
  /** Tuned for throughput or for latency. */
  readonly tuned: "throughput" | "latency"
}

export interface Contender {
  /** Queues that many events, 1 KB each, without delivering any. */
  readonly fill: (count: number) => Promise<void>
  /** Waybill: queues that many events for the extra subscription. */
  readonly fillExtra?: (count: number) => Promise<void>
  /** Waybill: whether nothing waits for the extra subscription. */
  readonly extraIsEmpty?: () => Promise<boolean>
  /** Waybill: runs retention, and returns the number of removed rows. */
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
