/** A freight network from a seed: all calls of its customers and carriers, in order of time. */
import { checkOptions, Heap, type OptionKinds, optionKinds } from "@waybill/core"
import { millisOf } from "../journeys/Freight.ts"
import { type JourneyName, journeySteps } from "../journeys/Journeys.ts"
import type { JourneyCall, JourneyStep } from "../journeys/JourneyStep.ts"
import { orderedAt, type Shape, shipmentCount, shipmentOf } from "./Shipments.ts"
import { mostCarriers, type NetworkCarrier, type NetworkCustomer, type NetworkLane, type NetworkPlan, networkPlanOf } from "./NetworkPlan.ts"

/** How much freight there is and when. */
export interface NetworkOptions {
  /** The same seed and options give the same calls, byte for byte. */
  readonly seed: number | string
  /** When the first pickup is ordered; 2026-11-20T14:00:00Z by default. A running server refuses pickups for past days. */
  readonly startAt?: Date | string
  /** Days with pickup orders, from 1; 5 by default. `Infinity` never ends. Freight arrives up to two weeks after the last one. */
  readonly days?: number
  /** From 1; 200 by default. Each makes about 20 calls. */
  readonly shipmentsPerDay?: number
  /** Share of shipments, from 0 to 1, that are refused, missed, damaged, reconsigned, late or billed to another account; 0.15 by default. */
  readonly exceptions?: number
  /** From 1; 20 by default. Each has one to three accounts and two to five lanes. */
  readonly customers?: number
  /** 1 to 4; 4 by default. Each has its own PRO format. */
  readonly carriers?: number
}

/** One call of a journey step, with its caller and time. */
export type NetworkCall = JourneyCall & {
  /** Milliseconds since 1970. */
  readonly at: number
  /** The caller: customers order pickups, carriers make all other calls. */
  readonly by: NetworkCarrier | NetworkCustomer
  readonly shipmentId: string
  readonly journey: JourneyName
  /** The step of the journey. */
  readonly name: string
}

/** Can be iterated repeatedly, each time from the beginning. Calls are generated lazily. */
export interface FreightNetwork extends Iterable<NetworkCall>, NetworkPlan {}

const usualStart = "2026-11-20T14:00:00Z"

const { any } = optionKinds

/** Their values are checked with messages of their own. */
const kinds: OptionKinds<NetworkOptions> = { seed: any, startAt: any, days: any, shipmentsPerDay: any, exceptions: any, customers: any, carriers: any }

/** Throws a `RangeError` for impossible options, and a `TypeError` for unknown ones. */
export const freightNetwork = (options: NetworkOptions): FreightNetwork => {
  checkOptions("freightNetwork", options, kinds)
  const { carriers = mostCarriers, customers = 20, days = 5, exceptions = 0.15, seed, shipmentsPerDay = 200, startAt = usualStart } = options
  const shape: Shape = { seed: String(seed), startAt: new Date(startAt).getTime(), days, shipmentsPerDay, exceptions }
  if (Number.isNaN(shape.startAt)) throw new RangeError(`startAt is ${JSON.stringify(startAt)}. Give a Date, or RFC 3339 such as ${usualStart}.`)
  if (days !== Infinity) whole("days", days, 1, 100_000)
  whole("shipmentsPerDay", shipmentsPerDay, 1, 1_000_000)
  whole("customers", customers, 1, 100_000)
  whole("carriers", carriers, 1, mostCarriers)
  if (!(exceptions >= 0 && exceptions <= 1)) throw new RangeError(`exceptions is a share from 0 to 1, not ${exceptions}.`)
  const plan = networkPlanOf(shape.seed, { carriers, customers })
  return { ...plan, [Symbol.iterator]: () => callsOf(plan, shape) }
}

const whole = (what: string, value: number, least: number, most: number) => {
  if (!(Number.isInteger(value) && value >= least && value <= most)) throw new RangeError(`${what} is a whole number from ${least} to ${most}, not ${value}.`)
}

/** The remaining calls of one shipment. */
interface Ahead {
  /** Of the next call. */
  readonly at: number
  readonly shipment: number
  readonly next: number
  /** Generated again after they were dropped from memory. */
  readonly calls: ReadonlyArray<NetworkCall> | undefined
}

/** Steps of freight that rests longer than this are dropped from memory: most freight in transit rests over nights and weekends. */
const heldMillis = 8 * 3_600_000

function* callsOf(plan: NetworkPlan, shape: Shape): Generator<NetworkCall, void, undefined> {
  const queue = new Heap<Ahead>((one, other) => one.at < other.at || (one.at === other.at && one.shipment < other.shipment))
  const count = shipmentCount(shape)
  for (let begun = 0;;) {
    // earlier pickups are sent first
    while (begun < count && !((queue.first?.at ?? Infinity) < orderedAt(shape, begun))) {
      queue.add({ at: orderedAt(shape, begun), shipment: begun, next: 0, calls: undefined })
      begun += 1
    }
    const due = queue.take()
    if (due === undefined) return
    const { at, calls = shipmentCalls(plan, shape, due.shipment), next, shipment } = due
    yield calls[next]!
    const following = calls[next + 1]
    if (following !== undefined) queue.add({ at: following.at, shipment, next: next + 1, calls: following.at - at > heldMillis ? undefined : calls })
  }
}

const shipmentCalls = (plan: NetworkPlan, shape: Shape, number: number): ReadonlyArray<NetworkCall> => {
  const { freight, journey, lane } = shipmentOf(plan, shape, number)
  return journeySteps(journey, freight).map((step) => {
    const { afterHours, ...call } = step
    return { ...call, at: millisOf(freight, afterHours), by: byWhom(step, lane), shipmentId: freight.shipmentId, journey }
  })
}

const byWhom = ({ call }: JourneyStep, { carrier, customer }: NetworkLane): NetworkCarrier | NetworkCustomer => call === "pickups.create" ? customer : carrier
