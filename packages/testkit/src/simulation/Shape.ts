/** How large a schedule is and how its workers and subscriptions are set: drawn from the seed, where nobody says otherwise. */
import { DeliveryOptions, type DeliveryPolicy } from "@waybill/core"
import { SimulationRandom } from "./SimulationRandom.ts"

/** What a caller may fix. Left out, the seed decides. */
export interface SimulationShape {
  /** Processes that deliver, from 1. */
  readonly workers?: number
  /** Subscriptions, from 1. */
  readonly lanes?: number
  /** Shipments of each tenant, from 1. */
  readonly shipments?: number
  /** Publications, one to three events each. */
  readonly publications?: number
  /** What their owners and operators do to subscriptions, secrets and deliveries. */
  readonly interventions?: number
  /** What operators do to the access of clients and tenants, to shipments' accounts, and to subscriptions that are not theirs. None without interventions, unless asked for. */
  readonly accessChanges?: number
  readonly faults?: number
  /** Engine settings. Others than these are drawn. */
  readonly delivery?: Partial<DeliveryOptions["Service"]>
}

export interface Shape {
  readonly workers: number
  readonly tenants: number
  readonly lanes: ReadonlyArray<LaneShape>
  readonly shipments: number
  readonly publications: number
  readonly interventions: number
  readonly accessChanges: number
  readonly faults: number
  /** Milliseconds over which all that is spread. */
  readonly spanMillis: number
  readonly options: DeliveryOptions["Service"]
  /** Whether processes, store and wires misbehave too, or only receivers. */
  readonly disturbed: boolean
  /** Share of processes that do not live long. */
  readonly frailty: number
  readonly byCallbacks: boolean
  /** Whether signatures are HMACs; otherwise a cheap stand-in. */
  readonly realHmac: boolean
}

export interface LaneShape {
  readonly tenant: number
  readonly policy: DeliveryPolicy
  readonly whenDead: "goOn" | "pause"
}

export const drawShape = (seed: number, asked: SimulationShape): Shape => {
  const random = new SimulationRandom(seed, "shape")
  const tenants = random.pick([1, 1, 2])
  const drawn = {
    workers: random.pick([1, 2, 2, 3]),
    lanes: random.pick([1, 1, 2, 3]),
    shipments: random.between(1, 3),
    publications: random.between(1, 6),
    interventions: random.pick([0, 0, 1, 2, 3, 5]),
    faults: random.pick([0, 1, 2, 3, 4, 6, 8])
  }
  const faults = asked.faults ?? drawn.faults
  const interventions = asked.interventions ?? drawn.interventions
  // each lane by draws of its own, so that fewer of them leave the rest as it was
  const lanes = Array.from({ length: asked.lanes ?? drawn.lanes }, (_, at) => drawLane(new SimulationRandom(seed, `lane ${at}`), at % tenants))
  return {
    workers: asked.workers ?? drawn.workers,
    shipments: asked.shipments ?? drawn.shipments,
    publications: asked.publications ?? drawn.publications,
    interventions,
    accessChanges: asked.accessChanges ?? (interventions === 0 ? 0 : new SimulationRandom(seed, "access changes").pick([0, 0, 1, 2, 3, 5])),
    faults,
    tenants: Math.min(tenants, lanes.length),
    lanes,
    spanMillis: random.pick([50, 1000, 4000]),
    options: drawOptions(random, asked.delivery ?? {}),
    disturbed: random.share(0.8) && faults > 0,
    frailty: random.pick([0.1, 0.2, 0.2, 1]),
    byCallbacks: random.share(0.5),
    realHmac: random.share(1 / 16)
  }
}

const drawOptions = (random: SimulationRandom, asked: Partial<DeliveryOptions["Service"]>): DeliveryOptions["Service"] => {
  const attemptTimeoutMillis = asked.attemptTimeoutMillis ?? random.pick([1000, 2000, 5000])
  const options = {
    ...DeliveryOptions.defaults,
    concurrency: random.pick([1, 4, 64]),
    laneConcurrency: random.pick([1, 2, 4]),
    maxLanes: random.pick([1, 2, 64]),
    leaseMillis: attemptTimeoutMillis + random.pick([1, 1, 500, 1500, 10_000]),
    pollMillis: random.pick([1000, 5000, 5000]),
    maxBatchBytes: random.pick([40, 1_000_000, 1_000_000]),
    drainMillis: random.pick([0, 500, 3000]),
    ...asked
  }
  const longest = Math.min(attemptTimeoutMillis, asked.attemptTimeoutMillis ?? options.leaseMillis - 1)
  if (options.leaseMillis <= longest) {
    throw new RangeError(`leaseMillis (${options.leaseMillis}) must be longer than attemptTimeoutMillis (${longest}), as in DeliveryOptions.`)
  }
  return { ...options, attemptTimeoutMillis: longest }
}

const drawLane = (random: SimulationRandom, tenant: number): LaneShape => ({
  tenant,
  policy: drawPolicy(random),
  whenDead: random.share(0.2) ? "pause" : "goOn"
})

const drawPolicy = (random: SimulationRandom): DeliveryPolicy => ({
  maxAttempts: random.pick([1, 2, 3, 5, 12]),
  initialBackoffSeconds: 1,
  maxBackoffSeconds: random.pick([1, 2, 4]),
  batchMaxSize: random.pick([1, 1, 2, 4]),
  rateLimitPerMinute: random.pick([10, 20, 60, 600, 600, 600])
})
