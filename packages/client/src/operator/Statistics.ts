/** Deliveries, failures, latency and waiting entries over time. */

/** One series for each subscriptionId; otherwise one for the client or the whole tenant. The last hour by default. */
export interface StatisticsQuery {
  /** At most 100. */
  readonly subscriptionId?: ReadonlyArray<string> | undefined
  /** Its subscriptions as one series, also those deleted since. A bare name means `key:<name>`. */
  readonly client?: string | undefined
  readonly from?: string | Date | undefined
  readonly to?: string | Date | undefined
  /** Interval of a point in seconds: a multiple of 60 up to 3600, or of 3600. By default it depends on the range. */
  readonly step?: number | undefined
}

/** Counts of one step. */
export interface StatisticsPoint {
  /** When it begins. */
  readonly at: string
  /** Accepted attempts. */
  readonly deliveries: number
  /** Failed attempts. */
  readonly failures: number
  /** Mean duration of an attempt; `null` without attempts. */
  readonly meanMillis: number | null
  readonly maxMillis: number | null
  /** The most entries that waited at one sample, taken about every five minutes; `null` without a sample. */
  readonly waiting: number | null
}

/** The points of one subscription, or of the client or tenant. */
export interface StatisticsSeries {
  /** `null` for a series of the client or the tenant. */
  readonly subscriptionId: string | null
  /** One for each step, oldest first. */
  readonly points: ReadonlyArray<StatisticsPoint>
}

/** Deliveries, failures, latency and waiting entries between two instants. */
export interface Statistics {
  readonly from: string
  readonly to: string
  /** Interval of a point in seconds. */
  readonly step: number
  readonly series: ReadonlyArray<StatisticsSeries>
}
