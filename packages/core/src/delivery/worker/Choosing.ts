/** Chooses what the next take of a tenant takes from which destinations, and reserves slots and bytes for it. */
import { type Destination, hasSent, isFailing, needsLoad, type Plan, planOf, type SlotOwner, takeFromOf } from "./Destination.ts"
import { deliveriesPerTake, type TakeFrom } from "../DeliveryStore.ts"
import type { EngineState } from "./EngineState.ts"
import type { Promised } from "./Sending.ts"
import type { OwnedTenant, ReadyGroup } from "./WorkSet.ts"

/** Maximum number of destinations in one load, and in one take. */
export const destinationsPerTake = 256

/** Approximate maximum of events in one take: larger statements delay other takes and are not more efficient. */
const eventsPerTake = 1024

/** A destination with this number of expected events is taken alone: deliveries of others in the same take would wait for all of them. */
const largeTake = eventsPerTake / 4

/** Deliveries of a destination may have so many times the bytes of its last ones. A further take reads what is more, because many destinations may change at once. */
const growthPerTake = 2

/** The planned part of a take for one destination. */
export interface Asked {
  readonly destination: Destination
  readonly from: TakeFrom
  readonly promised: Promised
}

interface Among {
  /** All destinations of the tenant that may send if undefined. */
  readonly among?: ReadonlySet<Destination>
  /** Leaves out destinations that need a take of their own. */
  readonly isSmall?: boolean
}

/** Chooses the next destinations in turn by group, within the slots of their clients. */
export const chooseDestinations = (parts: EngineState, tenant: OwnedTenant, now: number, { among, isSmall = false }: Among = {}): ReadonlyArray<Asked> => {
  const { options, slots, work } = parts
  const asked: Array<Asked> = []
  let attempts = deliveriesPerTake
  let events = eventsPerTake
  let bytes = options.maxBytesInFlight
  const groups = among === undefined ? tenant.ready.values() : readyAmong(among)
  const turns = Array.from(groups, ({ destinations, isFailing, owner }) => ({ owner, isFailing, own: destinations.values() }))
  while (turns.length > 0 && asked.length < destinationsPerTake && attempts > 0 && events > 0 && bytes > 0) {
    const turn = turns.shift()!
    if (slots.ofClient(turn.owner, turn.isFailing) === 0) continue
    const next = turn.own.next()
    if (next.done === true) continue
    turns.push(turn)
    const destination = next.value
    if (!mayTakeFrom(parts, tenant, destination, now)) continue
    const most = Math.min(attempts, Math.max(1, Math.floor(events / destination.eventsPerDelivery)))
    const room = destination.taking || destination.owned.leaving ? 0 : Math.min(slots.ofClient(turn.owner, isFailing(destination)), most)
    // less than a destination's first window may be allowed
    const plan = planOf(destination, now, Math.min(room, options.destinationConcurrency - destination.running))
    const wanted = plan.again.length + plan.batches
    const isLarge = wanted * destination.eventsPerDelivery >= largeTake
    if (isLarge && (isSmall || asked.length > 0)) continue
    if (plan.lookAt !== undefined) work.lookAt(destination, plan.lookAt)
    // it is checked again when an attempt of its client ends
    if (room === 0 && !destination.taking) continue
    work.unready(destination)
    if (wanted === 0) continue
    const one = reserve(parts, destination, plan, turn.owner)
    destination.taking = true
    tenant.busy.add(destination)
    asked.push(one)
    attempts -= wanted
    events -= wanted * destination.eventsPerDelivery
    // nothing limits what is read of retries, and the first one may be a full batch
    bytes -= one.from.bytes + (hasSent(destination) ? 0 : plan.again.length * options.maxBatchBytes)
    if (isLarge) break
  }
  return asked
}

/** Whether a take may name it. One that is unknown or has changed is loaded first. */
const mayTakeFrom = ({ work }: EngineState, tenant: OwnedTenant, destination: Destination, now: number): boolean => {
  if (needsLoad(destination, now)) {
    destination.stale = true
    work.unready(destination)
    work.touch(destination)
    return false
  }
  // the concurrent signal take may return deliveries of it
  return tenant.guess === undefined || tenant.guess.has(destination.destinationId)
}

/** Uses the slots and bytes of what is planned, until its attempts begin. */
const reserve = ({ options, slots }: EngineState, destination: Destination, plan: Plan, owner: SlotOwner): Asked => {
  const wasFailing = isFailing(destination)
  const attempts = plan.again.length + plan.batches
  slots.use(owner, attempts, wasFailing)
  const most = bytesOf(options, plan.batches, destination.bytesPerDelivery)
  const expected = Math.min(most, bytesOf(options, plan.batches, destination.reservedPerDelivery)) + plan.again.length * destination.bytesPerDelivery
  const bytes = slots.useBytes(owner, expected, wasFailing)
  return { destination, from: takeFromOf(destination, plan, most), promised: { attempts, bytes, owner, wasFailing } }
}

/** Maximum bytes of so many new deliveries of a destination that have about `bytesPerDelivery`. */
const bytesOf = ({ maxBatchBytes, maxBytesInFlight }: EngineState["options"], batches: number, bytesPerDelivery: number): number =>
  Math.ceil(Math.min(batches * maxBatchBytes, Math.max(maxBytesInFlight / deliveriesPerTake, batches * bytesPerDelivery * growthPerTake)))

/** Those of these destinations that may send, by group. A tenant may have thousands more. */
const readyAmong = (among: Iterable<Destination>): Iterable<ReadyGroup> => {
  const found = new Map<ReadyGroup, ReadyGroup>()
  for (const destination of among) {
    const { readyIn } = destination
    if (readyIn === undefined) continue
    const own = found.get(readyIn)
    if (own === undefined) found.set(readyIn, { ...readyIn, destinations: new Set([destination]) })
    else own.destinations.add(destination)
  }
  return found.values()
}
