/** Size and schedule of a run; the same seed makes the same choices. */

export interface ChaosPlan {
  readonly seed: number
  readonly events: number
  readonly eventsPerShipment: number
  readonly subscriptions: number
  readonly tenants: number
  /** Concurrent server processes. */
  readonly processes: number
  /** `kill -9` of a server process. */
  readonly kills: number
  /** Restarts of Postgres, fast and immediate alternately. */
  readonly restarts: number
  /** Number of times that another client takes all remaining connections of the database. */
  readonly exhaustions: number
  /** Duration of publishing and fault injection. */
  readonly seconds: number
  /** Maximum time without progress afterwards, while events are missing. */
  readonly drainSeconds: number
  readonly leaseSeconds: number
  /** Maximum recovery time of a subscription after its lease ended, on an idle machine. */
  readonly resumeSeconds: number
  readonly attemptTimeoutSeconds: number
  /** Clock offset of two processes, one in each direction: more than receivers tolerate. */
  readonly clockShiftSeconds: number
  /** Maximum resident memory of a server process. */
  readonly maxRssMiB: number
}

/** For `npm run chaos`: minutes. */
export const longPlan: ChaosPlan = {
  seed: 1,
  events: 100_000,
  eventsPerShipment: 25,
  subscriptions: 200,
  tenants: 4,
  processes: 4,
  kills: 50,
  restarts: 6,
  exhaustions: 4,
  seconds: 360,
  drainSeconds: 60,
  leaseSeconds: 5,
  resumeSeconds: 5,
  attemptTimeoutSeconds: 2,
  clockShiftSeconds: 330,
  maxRssMiB: 700
}

/** For a test: less than a minute. */
export const shortPlan: ChaosPlan = {
  ...longPlan,
  events: 3_000,
  subscriptions: 20,
  tenants: 2,
  processes: 3,
  kills: 5,
  restarts: 3,
  exhaustions: 1,
  seconds: 20,
  drainSeconds: 30,
  leaseSeconds: 3
}

/** Numbers from 0 up to 1, exclusive. */
export type Random = () => number

export const pick = <A>(random: Random, among: ReadonlyArray<A>): A | undefined => among[Math.floor(random() * among.length)]

export const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))
