/** A freight network from a seed: everything that its customers and carriers say, call by call, in order of time. */
import { millisOf } from "../journeys/Freight.ts"
import { type JourneyName, journeySteps } from "../journeys/Journeys.ts"
import type { JourneyCall, JourneyStep } from "../journeys/JourneyStep.ts"
import type { Terminal } from "../journeys/Lane.ts"
import { Agenda } from "./Agenda.ts"
import { orderedAt, type Shape, shipmentCount, shipmentOf } from "./Shipments.ts"
import { mostCarriers, type NetworkCarrier, type NetworkCustomer, type NetworkLane, type World, worldOf } from "./World.ts"

export interface NetworkOptions {
  /** The same seed and shape make the same calls, byte for byte. */
  readonly seed: number | string
  /** When the first truck is ordered; 2026-11-20T14:00:00Z otherwise. A server that runs takes no order for a day that is over. */
  readonly startAt?: Date | string
  /** Days on which trucks are ordered, from 1; 5 otherwise. `Infinity` never ends. Freight arrives up to two weeks after the last one. */
  readonly days?: number
  /** From 1; 200 otherwise. Each makes about 20 calls. */
  readonly shipmentsPerDay?: number
  /** Share of shipments, from 0 to 1, that are refused, missed, damaged, reconsigned, late or billed to somebody else; 0.15 otherwise. */
  readonly exceptions?: number
  /** From 1; 20 otherwise. Each has one to three accounts and two to five lanes. */
  readonly customers?: number
  /** 1 to 4; all four otherwise. Each numbers in its own way. */
  readonly carriers?: number
}

/** One call, as a journey's step has it, and who makes it when. */
export type NetworkCall = JourneyCall & {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Who calls: a customer orders trucks, a carrier says everything else. */
  readonly by: NetworkCarrier | NetworkCustomer
  readonly shipmentId: string
  readonly journey: JourneyName
  /** The step of the journey. */
  readonly name: string
}

/** Iterate over it as often as you like, each time from the beginning. What lies ahead is made as it is asked for. */
export interface FreightNetwork extends Iterable<NetworkCall> {
  readonly carriers: ReadonlyArray<NetworkCarrier>
  readonly terminals: ReadonlyArray<Terminal>
  readonly customers: ReadonlyArray<NetworkCustomer>
  readonly lanes: ReadonlyArray<NetworkLane>
}

const usualStart = "2026-11-20T14:00:00Z"

/** Throws a `RangeError` for a shape that there cannot be. */
export const freightNetwork = (options: NetworkOptions): FreightNetwork => {
  const { carriers = mostCarriers, customers = 20, days = 5, exceptions = 0.15, seed, shipmentsPerDay = 200, startAt = usualStart } = options
  const shape: Shape = { seed: String(seed), startAt: new Date(startAt).getTime(), days, shipmentsPerDay, exceptions }
  if (Number.isNaN(shape.startAt)) throw new RangeError(`startAt is ${JSON.stringify(startAt)}. Give a Date, or RFC 3339 such as ${usualStart}.`)
  if (days !== Infinity) whole("days", days, 1, 100_000)
  whole("shipmentsPerDay", shipmentsPerDay, 1, 1_000_000)
  whole("customers", customers, 1, 100_000)
  whole("carriers", carriers, 1, mostCarriers)
  if (!(exceptions >= 0 && exceptions <= 1)) throw new RangeError(`exceptions is a share from 0 to 1, not ${exceptions}.`)
  const world = worldOf(shape.seed, { carriers, customers })
  return { ...world, [Symbol.iterator]: () => callsOf(world, shape) }
}

const whole = (what: string, value: number, least: number, most: number) => {
  if (!(Number.isInteger(value) && value >= least && value <= most)) throw new RangeError(`${what} is a whole number from ${least} to ${most}, not ${value}.`)
}

/** What is still to come of one shipment. */
interface Ahead {
  readonly next: number
  /** Made again where they were let go. */
  readonly calls: ReadonlyArray<NetworkCall> | undefined
}

/** Freight that lies still for longer is not held meanwhile: most of what is on its way does, over nights and weekends. */
const heldMillis = 8 * 3_600_000

function* callsOf(world: World, shape: Shape): Generator<NetworkCall, void, undefined> {
  const agenda = new Agenda<Ahead>()
  const count = shipmentCount(shape)
  for (let begun = 0;;) {
    // whatever is ordered by then comes before it
    while (begun < count && !(agenda.firstAt() < orderedAt(shape, begun))) {
      agenda.add(orderedAt(shape, begun), begun, { next: 0, calls: undefined })
      begun += 1
    }
    const due = agenda.take()
    if (due === undefined) return
    const { at, order, what: { calls = shipmentCalls(world, shape, order), next } } = due
    yield calls[next]!
    const following = calls[next + 1]
    if (following !== undefined) agenda.add(following.at, order, { next: next + 1, calls: following.at - at > heldMillis ? undefined : calls })
  }
}

const shipmentCalls = (world: World, shape: Shape, number: number): ReadonlyArray<NetworkCall> => {
  const { freight, journey, lane } = shipmentOf(world, shape, number)
  return journeySteps(journey, freight).map((step) => {
    const { afterHours, ...call } = step
    return { ...call, at: millisOf(freight, afterHours), by: byWhom(step, lane), shipmentId: freight.shipmentId, journey }
  })
}

const byWhom = ({ call }: JourneyStep, { carrier, customer }: NetworkLane): NetworkCarrier | NetworkCustomer => call === "pickups.create" ? customer : carrier
