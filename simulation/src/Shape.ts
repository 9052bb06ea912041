/** The size of a schedule, and the settings of its workers and subscriptions: chosen by the seed, except those that the caller fixes. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { DeliveryOptions, type DeliveryOptionValues, type DeliveryPolicy, partitionsPerTenant } from "@waybill/core/delivery"
import { drawTraits, policyOf, shapeOf, type Traits } from "./Traits.ts"

/** Values that a caller may fix. The seed chooses all others. */
export interface SimulationShape {
  /** Worker processes, from 1. */
  readonly workers?: number
  /** Subscriptions, from 1. */
  readonly destinations?: number
  /** Shipments of each tenant, from 1. */
  readonly shipments?: number
  /** Publications, one to three events each. */
  readonly publications?: number
  /** Calls of owners and operators on subscriptions, secrets and deliveries. */
  readonly interventions?: number
  /** Operator calls that change the access of clients and tenants, the accounts of shipments, or pause and purge subscriptions. 0 by default if there are no interventions. */
  readonly accessChanges?: number
  readonly faults?: number
  /** Engine settings. The seed chooses the others. */
  readonly delivery?: Partial<DeliveryOptionValues>
}

export interface Shape {
  readonly traits: Traits
  readonly workers: number
  readonly tenants: number
  readonly destinations: ReadonlyArray<DestinationShape>
  /** Partitions that each tenant's destinations are in. */
  readonly partitions: number
  readonly shipments: number
  readonly publications: number
  readonly interventions: number
  readonly accessChanges: number
  readonly faults: number
  /** The time in which publications start, in milliseconds. */
  readonly spanMillis: number
  readonly options: DeliveryOptionValues
  /** Whether processes, store and network have faults, not only receivers. */
  readonly hasInternalFaults: boolean
  /** Share of processes that are killed early. */
  readonly shortLivedShare: number
  /** Whether the schedule continues until every partition is released. */
  readonly endsIdle: boolean
  /** Whether signatures are real HMACs, not a cheap substitute. */
  readonly realHmac: boolean
}

interface DestinationShape {
  readonly tenant: number
  readonly policy: DeliveryPolicy
  readonly whenDead: "continue" | "pause"
}

/** Workers of one schedule, at most. */
export const maxWorkers = 8

export const drawShape = (seed: number, given: SimulationShape): Shape => {
  const random = new SeededRandom(seed, "shape")
  const traits = drawTraits(new SeededRandom(seed, "traits"))
  const fixed = shapeOf(traits, given)
  const tenants = traits.has("few slots") ? 2 : random.pick([1, 1, 2])
  const isWide = random.share(1 / 48)
  const drawn = {
    workers: isWide ? random.between(2, maxWorkers) : random.pick([1, 2, 2, 3]),
    destinations: isWide ? random.between(6, 12) : random.pick([1, 1, 2, 3]),
    shipments: random.pick([1, 2, 3, 6]),
    publications: isWide ? random.between(3, 8) : random.between(1, 6),
    interventions: random.pick([0, 0, 1, 2, 3, 5]),
    faults: random.pick([0, 1, 2, 3, 4, 6, 8])
  }
  const faults = fixed.faults ?? drawn.faults
  const interventions = fixed.interventions ?? drawn.interventions
  // one random stream per destination, so that a smaller number of destinations does not change the others
  const destinations = Array.from({ length: fixed.destinations ?? drawn.destinations }, (_, at) => drawDestination(new SeededRandom(seed, `destination ${at}`), { tenant: at % tenants, isSlow: isWide, traits }))
  return {
    traits,
    workers: fixed.workers ?? drawn.workers,
    shipments: fixed.shipments ?? drawn.shipments,
    publications: fixed.publications ?? drawn.publications,
    interventions,
    accessChanges: given.accessChanges ?? (interventions === 0 ? 0 : fixed.accessChanges ?? new SeededRandom(seed, "access changes").pick([0, 0, 1, 2, 3, 5])),
    faults,
    tenants: Math.min(tenants, destinations.length),
    partitions: isWide ? partitionsPerTenant : random.pick([1, 2, partitionsPerTenant]),
    destinations,
    spanMillis: traits.has("long") || traits.has("killed while sending") ? 20_000 : random.pick([50, 1000, 4000]),
    options: drawOptions(random, fixed.delivery ?? {}),
    hasInternalFaults: random.share(0.8) && faults > 0,
    shortLivedShare: random.pick([0.1, 0.2, 0.2, 1]),
    endsIdle: random.share(1 / 8),
    realHmac: random.share(1 / 16)
  }
}

const drawOptions = (random: SeededRandom, fixed: Partial<DeliveryOptionValues>): DeliveryOptionValues => {
  const attemptTimeoutMillis = fixed.attemptTimeoutMillis ?? random.pick([1000, 2000, 5000])
  const options = {
    ...DeliveryOptions.defaults,
    concurrency: random.pick([1, 4, 64]),
    destinationConcurrency: random.pick([1, 2, 4]),
    leaseMillis: attemptTimeoutMillis + random.pick([1, 1, 500, 1500, 10_000]),
    pollMillis: random.pick([1000, 5000, 5000]),
    maxBatchBytes: random.pick([70, 1_000_000, 1_000_000]),
    maxBytesInFlight: random.pick([25_600, 1_000_000, 1_000_000]),
    drainMillis: random.pick([0, 500, 3000]),
    ...fixed
  }
  const longest = Math.min(attemptTimeoutMillis, fixed.attemptTimeoutMillis ?? options.leaseMillis - 1)
  if (options.leaseMillis <= longest) {
    throw new RangeError(`leaseMillis (${options.leaseMillis}) must be longer than attemptTimeoutMillis (${longest}), as in DeliveryOptions.`)
  }
  return { ...options, attemptTimeoutMillis: longest }
}

/** `isSlow`: published entries keep their partitions busy for some time. */
const drawDestination = (random: SeededRandom, { isSlow, tenant, traits }: { readonly tenant: number; readonly isSlow: boolean; readonly traits: Traits }): DestinationShape => ({
  tenant,
  policy: { ...drawPolicy(random), ...isSlow ? { batchMaxSize: 1, rateLimitPerMinute: 30 } : {}, ...policyOf(traits, random) },
  whenDead: random.share(0.2) ? "pause" : "continue"
})

const drawPolicy = (random: SeededRandom): DeliveryPolicy => ({
  maxAttempts: random.pick([1, 2, 3, 5, 12]),
  initialBackoffSeconds: 1,
  maxBackoffSeconds: random.pick([1, 2, 4]),
  batchMaxSize: random.pick([1, 1, 2, 4]),
  rateLimitPerMinute: random.pick([10, 20, 60, 600, 600, 600])
})
