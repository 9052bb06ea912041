/** Conditions that some schedules concentrate on: most rare errors need several events of a few kinds within a short time. */
import type { SeededRandom } from "@waybill/conformance/fixtures"
import type { DeliveryPolicy } from "@waybill/core/delivery"
import type { SimulationShape } from "./Shape.ts"

interface Effects {
  /** Values that the seed would choose. */
  readonly shape?: SimulationShape
  readonly policy?: (random: SeededRandom) => Partial<DeliveryPolicy>
}

const effects = {
  /** Receivers fail for seconds. */
  "failing receivers": { policy: (random) => ({ maxAttempts: random.pick([1, 12, 12]) }) },
  "many faults": { shape: { workers: 3, faults: 12 } },
  "many access changes": { shape: { interventions: 2, accessChanges: 12 } },
  "many operations": { shape: { interventions: 12 } },
  /** Half of all calls take long, and few signals are answered at a time. */
  "slow store": {},
  /** Most shipments have one event. */
  "backlog": { shape: { shipments: 40, publications: 16 }, policy: () => ({ batchMaxSize: 1, rateLimitPerMinute: 600 }) },
  /** Two tenants share one. */
  "few slots": { shape: { destinations: 3, delivery: { concurrency: 1 } } },
  "killed while sending": { shape: { workers: 1, destinations: 1, delivery: { attemptTimeoutMillis: 1000, leaseMillis: 1001 } }, policy: () => ({ maxAttempts: 1 }) },
  /** Longer than partitions without work are kept. */
  "long": { shape: { publications: 12 }, policy: (random) => ({ rateLimitPerMinute: random.pick([20, 600]) }) },
  /** Of each seven calls one fails, before or after the store runs it. */
  "lossy": {},
  /** Processes pause for longer than their lease. */
  "pauses": {}
} satisfies Readonly<Record<string, Effects>>

type Trait = keyof typeof effects

export type Traits = ReadonlySet<Trait>

/** Share of the schedules with traits, and of each trait in them. */
const traitsShare = 1 / 8
const traitShare = 0.3

export const drawTraits = (random: SeededRandom): Traits =>
  new Set(random.share(traitsShare) ? (Object.keys(effects) as Array<Trait>).filter(() => random.share(traitShare)) : [])

const effectsOf = (traits: Traits): ReadonlyArray<Effects> => Array.from(traits, (trait) => effects[trait])

/** The values that traits fix, unless the caller does. */
export const shapeOf = (traits: Traits, given: SimulationShape): SimulationShape => {
  const all = effectsOf(traits).map(({ shape }) => shape)
  const delivery = Object.assign({}, ...all.map((shape) => shape?.delivery))
  return Object.assign({}, ...all, { delivery }, given)
}

export const policyOf = (traits: Traits, random: SeededRandom): Partial<DeliveryPolicy> =>
  Object.assign({}, ...effectsOf(traits).map(({ policy }) => policy?.(random)))
