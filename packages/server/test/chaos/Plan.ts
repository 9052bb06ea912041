/** How much of everything there is, and when; the same seed makes the same choices. */

export interface ChaosPlan {
  readonly seed: number
  readonly events: number
  readonly eventsPerShipment: number
  readonly subscriptions: number
  readonly tenants: number
  /** Server processes, all at once. */
  readonly processes: number
  /** `kill -9` of a server process. */
  readonly kills: number
  /** Restarts of Postgres, fast and immediate in turn. */
  readonly restarts: number
  /** Times that somebody else takes every connection the database has left. */
  readonly exhaustions: number
  /** How long events are published and things are broken. */
  readonly seconds: number
  /** How long nothing at all may arrive afterwards while something is still missing. */
  readonly drainSeconds: number
  readonly leaseSeconds: number
  /** How long after the end of its lease a lane may take to go on, on a machine that has nothing else to do. */
  readonly resumeSeconds: number
  readonly attemptTimeoutSeconds: number
  /** What two of the clocks are off by, one each way: more than receivers forgive. */
  readonly clockShiftSeconds: number
  /** The most memory that a server process may ever hold. */
  readonly maxRssMiB: number
}

/** One command's worth: minutes. */
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

/** A test's worth: under a minute. */
export const shortPlan: ChaosPlan = {
  ...longPlan,
  events: 3_000,
  subscriptions: 20,
  tenants: 2,
  processes: 3,
  kills: 5,
  restarts: 2,
  exhaustions: 1,
  seconds: 20,
  drainSeconds: 30,
  leaseSeconds: 3
}

/** Numbers from 0 up to 1, by a seed: mulberry32. */
export type Random = () => number

export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const pick = <A>(random: Random, among: ReadonlyArray<A>): A | undefined => among[Math.floor(random() * among.length)]

export const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))
