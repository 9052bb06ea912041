/** Checks takes against the reference model. */
import { formatInstant } from "@waybill/core"
import { deliveryIdOf, flightOf, type Taken, type TakenDelivery, type TakenFrom, type TakeFrom, type TakeRequest } from "@waybill/core/delivery"
import { longestAnswerMillis } from "./FaultModel.ts"
import { GrantAudit } from "./GrantAudit.ts"
import { blocker, type Ledger, type LedgerDelivery, type LedgerDestination, type LedgerEntry, permitOf, sharesKey } from "./Ledger.ts"
import type { LedgerPartition } from "./PartitionLedger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** An attempt that was taken. It may be sent once. */
export interface Permit {
  readonly delivery: LedgerDelivery
  /** Attempts since the last manual retry, this one included. */
  readonly tries: number
  /** Of its partition, when it was taken. */
  readonly ownership: number
  /** When its worker asked for it, by the store's clock. */
  readonly askedAt: number
  readonly askedStep: number
  /** When its worker got it, by the store's clock. */
  learnedAt: number
  /** The version of the destination. */
  readonly version: number
}

/** By `permitOf`. */
export type Permits = Map<string, Permit>

/** A call of take, as it was made. */
export interface TakeCall {
  readonly who: string
  readonly request: TakeRequest
  readonly askedAt: number
  readonly askedStep: number
  /** Its caller no longer waits for it, so nothing of it is sent. */
  readonly late: boolean
}

const decoder = new TextDecoder()

export class TakeAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly grants: GrantAudit
  /** The settings of each version of a destination. */
  private readonly versions = new Map<string, string>()

  constructor(simulation: SimulationContext, ledger: Ledger) {
    this.simulation = simulation
    this.ledger = ledger
    this.grants = new GrantAudit(simulation)
  }

  /** Checks a take that the store has just made, updates the reference model, and returns the permits for its attempts. */
  taken(call: TakeCall, taken: Taken): Permits {
    const { request, who } = call
    const { simulation } = this
    const permits: Permits = new Map()
    const fenced = this.ledger.partitions.fenced(request.tenantId, request.owned)
    const expected = fenced.map(({ partition }) => partition).sort().join()
    if ([...taken.owned].sort().join() !== expected) {
      simulation.violate("A take needs the epoch of every partition it takes from", `${who} took from ${taken.owned.join()}, and owns ${expected}`)
    }
    if (fenced.length < request.owned.length) simulation.counts.lostLeases += 1
    if (taken.now !== simulation.storeNow) simulation.violate("A response contains the time of the store's clock", `${who}: ${taken.now - simulation.storeNow} ms off`)
    for (const { destinationId } of taken.signals) {
      if (this.destination(request.tenantId, destinationId, fenced) === undefined && this.ledger.destination(request.tenantId, destinationId)?.open === true) {
        simulation.violate("Only the owner of a partition consumes its signals", `${who}: ${destinationId}`)
      }
    }
    this.compareDeliveries(call, taken, fenced, permits)
    for (const found of taken.from) this.compareFrom(call, taken, found, fenced)
    return permits
  }

  /** Settings, state and secrets of a destination have one version, and another one once they change. */
  compareVersion(destination: LedgerDestination, version: number): void {
    const { client, destinationId, settings, state, tenantId } = destination
    const secrets = (this.ledger.keys.get(tenantId) ?? []).map(({ since }) => since)
    const now = JSON.stringify([settings.endpointUrl, settings.policy, state, client, secrets])
    const place = `${tenantId}/${destinationId} ${version}`
    const known = this.versions.get(place)
    if (known !== undefined && known !== now) this.simulation.violate("Every change of a destination raises its version", `${destination.name}, version ${version}: ${now} instead of ${known}`)
    if (known === undefined) this.ledger.settlements.wasRead(() => this.versions.delete(place))
    this.versions.set(place, now)
  }

  private destination(tenantId: string, destinationId: string, fenced: ReadonlyArray<LedgerPartition>): LedgerDestination | undefined {
    const destination = this.ledger.destination(tenantId, destinationId)
    return destination !== undefined && destination.open && fenced.includes(destination.partition) ? destination : undefined
  }

  private compareDeliveries(call: TakeCall, taken: Taken, fenced: ReadonlyArray<LedgerPartition>, permits: Permits): void {
    const { request, who } = call
    const { simulation } = this
    const again = new Map(request.from.flatMap((from) => from.again.map((id) => [id, from.destinationId] as const)))
    const fresh = taken.deliveries.filter(({ deliveryId }) => !again.has(deliveryId))
    const keysTaken = new Map<string, string>()
    // a retried delivery blocks its keys for new deliveries of the same take
    for (const delivery of [...taken.deliveries.filter(({ deliveryId }) => again.has(deliveryId)), ...fresh]) {
      const destination = this.destination(request.tenantId, delivery.destinationId, fenced)
      if (destination === undefined) {
        simulation.violate("A take returns deliveries of owned partitions and open destinations only", `${who} got ${delivery.deliveryId} of ${delivery.destinationId}`)
        continue
      }
      if (!this.ledger.admits(destination, simulation.storeNow)) {
        simulation.violate("Nothing is taken from a destination that is paused, inactive or without access", `${who} got ${delivery.deliveryId} of ${destination.name}, which is ${destination.state}`)
      }
      if (delivery.flight !== request.flight) simulation.violate("A delivery is in the flight of its take", `${delivery.deliveryId} in ${delivery.flight}, not ${request.flight}`)
      const own = again.has(delivery.deliveryId) ? this.again(destination, delivery) : this.fresh(destination, delivery, { request, keysTaken })
      if (own === undefined) continue
      own.flight = request.flight
      const flight = destination.partition.flights.get(request.flight) ?? new Set()
      destination.partition.flights.set(request.flight, flight.add(own))
      const permit = permitOf(own.id, own.attempt)
      destination.inFlight.set(permit, destination.partition.ownership)
      const version = taken.from.find(({ destinationId }) => destinationId === destination.destinationId)?.version ?? 0
      permits.set(permit, { delivery: own, tries: own.tries, ownership: destination.partition.ownership, askedAt: call.askedAt, askedStep: call.askedStep, learnedAt: 0, version })
    }
    this.compareIds(request, fresh)
    this.compareAmounts(request, fresh)
    this.compareBytes(request, fresh)
    if (!call.late) for (const [destination, count] of perDestination(permits)) this.grants.granted(call, destination, count)
  }

  private compareIds(request: TakeRequest, fresh: ReadonlyArray<TakenDelivery>): void {
    const ids = new Set(fresh.map(({ deliveryId }) => deliveryId))
    const expected = fresh.map((_, n) => deliveryIdOf(request.flight, n))
    if (ids.size !== fresh.length || expected.some((id) => !ids.has(id))) {
      this.simulation.violate("The ids of new deliveries follow from their flight", `${[...ids].join()} of ${request.flight}`)
    }
  }

  private compareAmounts({ from, skip, unrequested }: TakeRequest, fresh: ReadonlyArray<TakenDelivery>): void {
    const asked = new Map(from.map((each) => [each.destinationId, each.batches]))
    const counts = new Map<string, number>()
    for (const { destinationId } of fresh) counts.set(destinationId, (counts.get(destinationId) ?? 0) + 1)
    let extra = 0
    for (const [destinationId, count] of counts) {
      const limit = asked.get(destinationId)
      if (limit === undefined) extra += 1
      if (count > (limit ?? 1) || (limit === undefined && skip.includes(destinationId))) {
        this.simulation.violate("A take returns at most the deliveries that were asked for", `${destinationId}: ${count} of ${limit ?? (skip.includes(destinationId) ? 0 : 1)}`)
      }
    }
    if (extra > unrequested) this.simulation.violate("A take returns at most the deliveries that were asked for", `${extra} of ${unrequested} unrequested`)
  }

  /** The last event may be beyond the limit: one is read in any case. */
  private compareBytes({ from, unrequestedBytes }: TakeRequest, fresh: ReadonlyArray<TakenDelivery>): void {
    for (const [destinationId, bodies] of Map.groupBy(fresh, (each) => each.destinationId)) {
      const limit = from.find((each) => each.destinationId === destinationId)?.bytes ?? unrequestedBytes
      const sizes = bodies.flatMap(({ body }) => (JSON.parse(`[${decoder.decode(body)}]`) as ReadonlyArray<unknown>).map((event) => JSON.stringify(event).length))
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      if (bytes - Math.max(...sizes) >= limit) this.simulation.violate("A take reads at most the bytes that were asked for, and one event", `${destinationId}: ${bytes} of ${limit}`)
    }
  }

  private again(destination: LedgerDestination, taken: TakenDelivery): LedgerDelivery | undefined {
    const { simulation } = this
    const delivery = destination.unsettled.get(taken.deliveryId)
    if (delivery === undefined) {
      simulation.violate("Only unfinished deliveries are sent again", `${destination.name}: ${taken.deliveryId}`)
      return undefined
    }
    if (delivery.state !== "waiting") simulation.violate("A delivery has one attempt at a time", `${delivery.id} is ${delivery.state}`)
    if (delivery.dueAt > simulation.storeNow + longestAnswerMillis) simulation.violate("No delivery is sent again before its time", `${delivery.id}, ${delivery.dueAt - simulation.storeNow} ms early`)
    const unseen = delivery.entries.find(({ key }) => !this.ledger.access.sees(destination, key))
    if (unseen !== undefined) simulation.violate("A take returns only entries that the client may see", `${destination.name}: ${unseen.orderId} in ${delivery.id}`)
    const older = blocker(delivery)
    if (older !== undefined) simulation.violate("Deliveries of one shipment are sent one after the other", `${delivery.id} is taken, ${older.id} is ${older.state}`)
    delivery.state = "sending"
    delivery.attempt += 1
    delivery.tries += 1
    if (taken.attempt !== delivery.attempt || taken.tries !== delivery.tries) {
      simulation.violate("An attempt is counted when it is taken", `${delivery.id}: ${taken.attempt}/${taken.tries} instead of ${delivery.attempt}/${delivery.tries}`)
    }
    if (taken.sentAt !== delivery.sentAt || taken.events !== delivery.entries.length || decoder.decode(taken.body) !== delivery.events) {
      simulation.violate("A delivery keeps its bytes", `${delivery.id}: ${decoder.decode(taken.body)}`)
    }
    return delivery
  }

  private fresh(
    destination: LedgerDestination,
    taken: TakenDelivery,
    { keysTaken, request }: { readonly request: TakeRequest; readonly keysTaken: Map<string, string> }
  ): LedgerDelivery {
    const { simulation } = this
    const { deliveryId, sentAt } = taken
    if (this.ledger.deliveries.has(deliveryId)) simulation.violate("Every delivery has a unique id", deliveryId)
    if (taken.attempt !== 1 || taken.tries !== 1) simulation.violate("An attempt is counted when it is taken", `${deliveryId}: ${taken.attempt}/${taken.tries}`)
    if (sentAt !== request.sentAt) simulation.violate("sentAt of a delivery is the time of its take", `${deliveryId}: ${sentAt - request.sentAt} ms off`)
    const entries = this.entriesOf(destination, taken)
    const keys = new Set(entries.map(({ key }) => key))
    for (const other of destination.unsettled.values()) {
      const shared = [...keys].find((key) => other.keys.has(key))
      if (shared !== undefined) simulation.violate("A shipment is in one unfinished delivery", `${destination.name}: ${shared} is in ${deliveryId} and in ${other.id}, ${other.state}`)
    }
    for (const key of keys) {
      if (keysTaken.has(`${destination.destinationId} ${key}`)) simulation.violate("A shipment is in one delivery of a take", `${destination.name}: ${key}`)
      keysTaken.set(`${destination.destinationId} ${key}`, deliveryId)
    }
    const lastKey = [...keys].sort().at(-1)
    if (taken.lastKey !== lastKey) simulation.violate("A delivery names its last shipment", `${deliveryId}: ${taken.lastKey}, not ${lastKey}`)
    const bytes = entries.map(({ body }) => body.length)
    const total = bytes.reduce((sum, size) => sum + size, 0)
    const isOneLarge = bytes.some((size) => size > request.maxBatchBytes / 2)
    if (entries.length > destination.settings.policy.batchMaxSize || (total > request.maxBatchBytes && !isOneLarge)) {
      simulation.violate("A batch is within its size limits", `${destination.name}: ${entries.length} events, ${total} bytes`)
    }
    const events = entries.map((entry) => entry.body).join(",")
    const body = `{"deliveryId":"${deliveryId}","sentAt":"${formatInstant(sentAt)}","events":[${events}]}`
    return this.ledger.freeze(destination, { id: deliveryId, flight: flightOf(deliveryId), sentAt, entries, events, body })
  }

  /** The entries in a new delivery, each checked to be the next one of its shipment. */
  private entriesOf(destination: LedgerDestination, { body, deliveryId, events }: TakenDelivery): ReadonlyArray<LedgerEntry> {
    const { simulation } = this
    const text = decoder.decode(body)
    const named = JSON.parse(`[${text}]`) as ReadonlyArray<{ readonly eventId: string }>
    const taken: Array<LedgerEntry> = []
    const perKey = new Map<string, number>()
    for (const { eventId } of named) {
      const key = destination.entries.get(eventId)?.key ?? ""
      const place = perKey.get(key) ?? 0
      const entry = destination.waiting.get(key)?.[place]
      if (entry?.orderId !== eventId) {
        simulation.violate("A shipment's events are taken once and in order", `${destination.name}: ${eventId} in ${deliveryId}`)
        continue
      }
      if (!this.ledger.access.sees(destination, entry.key)) simulation.violate("A take returns only entries that the client may see", `${destination.name}: ${eventId}`)
      perKey.set(entry.key, place + 1)
      taken.push(entry)
    }
    const isSorted = taken.every((entry, at) => at === 0 || taken[at - 1]!.key < entry.key || (taken[at - 1]!.key === entry.key && taken[at - 1]!.sequence < entry.sequence))
    if (!isSorted) simulation.violate("Events of a batch are in order of shipment and sequence", deliveryId)
    if (events !== named.length || taken.map((entry) => entry.body).join(",") !== text) simulation.violate("A delivery has the bytes of its events", `${deliveryId}: ${text}`)
    return taken
  }

  private compareFrom({ request, who }: TakeCall, taken: Taken, found: TakenFrom, fenced: ReadonlyArray<LedgerPartition>): void {
    const { simulation } = this
    const destination = this.destination(request.tenantId, found.destinationId, fenced)
    if (destination === undefined) return simulation.violate("A take returns owned and open destinations only", `${who}: ${found.destinationId}`)
    this.compareVersion(destination, found.version)
    if (found.sends !== this.ledger.admits(destination, simulation.storeNow)) {
      simulation.violate("A take returns whether a destination may send", `${who}: ${destination.name}, which is ${destination.state}: ${found.sends}`)
    }
    const asked = request.from.find(({ destinationId }) => destinationId === found.destinationId)
    if (found.sends && (asked === undefined || asked.batches > 0)) this.compareRest(destination, asked, found)
    if (found.sends && asked !== undefined) this.compareAgain(destination, asked, taken, found)
  }

  /** A take reports remaining entries, so that the owner takes them later. */
  private compareRest(destination: LedgerDestination, asked: TakeFrom | undefined, found: TakenFrom): void {
    const { simulation } = this
    const isBeyond = (key: string) => found.after === undefined || key > found.after
    const wasLookedAt = (key: string) => !isBeyond(key) && (asked?.after === undefined || key > asked.after)
    const unseen = new Set(found.unseenKeys)
    for (const key of destination.waiting.keys()) {
      const sees = this.ledger.access.sees(destination, key)
      if (sees && unseen.has(key)) simulation.violate("A take names only entries that the client may not see", `${destination.name}: ${key}`)
      if (isBeyond(key) && !found.more && !unseen.has(key)) simulation.violate("A take returns whether entries are left", `${destination.name}: ${key} after ${found.after}`)
      if (wasLookedAt(key) && !found.blocked && !unseen.has(key)) simulation.violate("A take returns whether it skipped entries", `${destination.name}: ${key} up to ${found.after}`)
    }
  }

  /** Every delivery that may be sent again is taken. */
  private compareAgain(destination: LedgerDestination, asked: TakeFrom, taken: Taken, found: TakenFrom): void {
    for (const deliveryId of asked.again) {
      if (taken.deliveries.some((each) => each.deliveryId === deliveryId) || found.unseenDeliveries.includes(deliveryId)) continue
      const delivery = destination.unsettled.get(deliveryId)
      if (delivery?.state !== "waiting" || sharesAnyKey(delivery)) continue
      // a delivery that ended meanwhile is still named as in flight
      const named = asked.inFlight.flatMap((id) => this.ledger.deliveries.get(id) ?? [])
      if (named.some((other) => sharesKey(other, delivery))) continue
      this.simulation.violate("A take sends the deliveries again that it was asked for", `${deliveryId} of ${destination.name}`)
    }
  }
}

const perDestination = (permits: Permits): Map<LedgerDestination, number> => {
  const counts = new Map<LedgerDestination, number>()
  for (const { delivery: { destination } } of permits.values()) counts.set(destination, (counts.get(destination) ?? 0) + 1)
  return counts
}

const sharesAnyKey = (delivery: LedgerDelivery): boolean =>
  [...delivery.destination.unsettled.values()].some((other) => other !== delivery && sharesKey(other, delivery))
