/** Checks freezes against the reference model. */
import { type Freeze, formatInstant, type FreshDelivery } from "@waybill/core"
import { blocker, type Grant } from "./ClaimAudit.ts"
import { type Ledger, type LedgerEntry, type LedgerDestination, destinationKeyOf, spareTakeovers } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** Frozen attempts, each of which may be sent once. */
export type Permits = Map<string, Grant>

export const permitOf = (deliveryId: string, attempt: number): string => `${deliveryId} ${attempt}`

const windowMillis = 60_000

export class FreezeAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly maxBatchBytes: number

  constructor(simulation: SimulationContext, ledger: Ledger, maxBatchBytes: number) {
    this.simulation = simulation
    this.ledger = ledger
    this.maxBatchBytes = maxBatchBytes
  }

  /** Destinations of this freeze that the store has to accept. */
  expected(tenantId: string, destinations: ReadonlyArray<Freeze>): ReadonlySet<string> {
    return new Set(destinations.filter((each) => {
      const destination = this.ledger.held(tenantId, each)
      return destination?.state === "active" && this.ledger.access.admits(destination, this.simulation.storeNow)
    }).map(({ destinationId }) => destinationId))
  }

  /** Whether an operator purged one of these destinations, which removes claimed entries. */
  purged(tenantId: string, destinations: ReadonlyArray<Freeze>, frozen: ReadonlySet<string>): boolean {
    return destinations.some(({ destinationId }) => frozen.has(destinationId) && this.ledger.destination(tenantId, destinationId)!.purgedStep >= 0)
  }

  /** Whether all entries of this freeze are still waiting. They may not be if the call was late. */
  stillWaits(tenantId: string, destinations: ReadonlyArray<Freeze>, frozen: ReadonlySet<string>): boolean {
    return destinations.every((freeze) => {
      const destination = this.ledger.destination(tenantId, freeze.destinationId)
      if (destination === undefined || !frozen.has(freeze.destinationId)) return true
      return freeze.fresh.every(({ entries }) =>
        entries.every(({ key, sequence }) => destination.waiting.get(key)?.some((entry) => entry.sequence === sequence) === true))
    })
  }

  /** Whether an operator retried one of these deliveries after the claim. The store then has to refuse the whole call. */
  isOutdated(tenantId: string, destinations: ReadonlyArray<Freeze>, frozen: ReadonlySet<string>): boolean {
    return destinations.some(({ again, againTries, destinationId }) =>
      frozen.has(destinationId) && again.some((deliveryId, at) => this.ledger.destination(tenantId, destinationId)?.unsettled.get(deliveryId)?.tries !== againTries?.[at]))
  }

  /** Updates the reference model after a freeze, and returns the permits for its attempts. `late`: its caller no longer waits for it. */
  frozen(
    who: string,
    tenantId: string,
    destinations: ReadonlyArray<Freeze>,
    { expected, grants, late, frozen }: {
      readonly expected: ReadonlySet<string>
      readonly frozen: ReadonlySet<string>
      readonly grants: ReadonlyMap<string, Grant>
      readonly late: boolean
    }
  ): Permits {
    const { counts } = this.simulation
    const permits: Permits = new Map()
    for (const freeze of destinations) {
      if (expected.has(freeze.destinationId) !== frozen.has(freeze.destinationId)) {
        this.simulation.violate("A freeze needs a valid lease on an active destination with access", `${who} by ${freeze.token}: ${frozen.has(freeze.destinationId) ? "accepted" : "refused"}`)
      }
      if (!expected.has(freeze.destinationId)) {
        counts.lostLeases += 1
        continue
      }
      const destination = this.ledger.destination(tenantId, freeze.destinationId)!
      const grant = grants.get(destinationKeyOf(tenantId, freeze.destinationId))
      if (grant === undefined || grant.token !== freeze.token) {
        this.simulation.violate("Only claimed destinations are frozen", `${who} freezes ${destination.name}`)
        continue
      }
      if (!late) this.admit(destination, grant, freeze)
      destination.cursor = freeze.cursor ?? destination.cursor
      for (const fresh of freeze.fresh) {
        this.fresh(destination, fresh, grant)
        permits.set(permitOf(fresh.deliveryId, 1), grant)
      }
      for (const deliveryId of freeze.again) this.again(destination, deliveryId, grant, permits)
    }
    return permits
  }

  /** Checks circuit breaker and rate limit, with the values of the claim. */
  private admit(destination: LedgerDestination, { claimed, claimedAt }: Grant, freeze: Freeze): void {
    const count = freeze.fresh.length + freeze.again.length
    const { openUntil } = claimed.breaker
    const inFlightCount = destination.inFlight.get(destination.token) ?? 0
    if (openUntil !== undefined && openUntil > claimedAt) {
      this.simulation.violate("No attempt is made while the circuit breaker is open", `${destination.name}: ${count} attempts, ${openUntil - claimedAt} ms early`)
    } else if (openUntil !== undefined && count + inFlightCount > 1) {
      this.simulation.violate("One probe is sent after the circuit breaker was open", `${destination.name}: ${count} attempts, ${inFlightCount} in flight`)
    }
    for (let each = 0; each < count; each++) destination.grants.push(claimedAt)
    const within = destination.grants.filter((at) => at > claimedAt - windowMillis).length
    if (within > destination.settings.policy.rateLimitPerMinute) {
      this.simulation.violate("Attempts in sixty seconds are within the rate limit", `${destination.name}: ${within} of ${destination.settings.policy.rateLimitPerMinute}`)
    }
  }

  private fresh(destination: LedgerDestination, { deliveryId, entries, sentAt }: FreshDelivery, { claimedAt, claimedStep }: Grant): void {
    const { simulation } = this
    if (this.ledger.deliveries.has(deliveryId)) simulation.violate("Every delivery has a unique id", deliveryId)
    const taken: Array<LedgerEntry> = []
    const perKey = new Map<string, number>()
    for (const { key, sequence } of entries) {
      const place = perKey.get(key) ?? 0
      perKey.set(key, place + 1)
      const entry = destination.waiting.get(key)?.[place]
      if (entry?.sequence !== sequence) simulation.violate("A shipment's events are frozen once and in order", `${destination.name}: ${key}/${sequence}`)
      if (entry !== undefined) taken.push(entry)
    }
    for (const other of destination.unsettled.values()) {
      const shared = other.retriedStep > claimedStep ? undefined : [...perKey.keys()].find((key) => other.keys.has(key))
      if (shared !== undefined) simulation.violate("A shipment is in one unfinished delivery", `${destination.name}: ${shared} is in ${deliveryId} and in ${other.id}, ${other.state}`)
    }
    const sorted = taken.every((entry, at) => at === 0 || taken[at - 1]!.key < entry.key || (taken[at - 1]!.key === entry.key && taken[at - 1]!.sequence < entry.sequence))
    if (!sorted) simulation.violate("Events of a batch are in order of shipment and sequence", deliveryId)
    if (sentAt !== claimedAt) simulation.violate("sentAt of a delivery is the time of the store", `${deliveryId}: ${sentAt - claimedAt} ms off`)
    const bytes = taken.reduce((sum, { body }) => sum + body.length, 0)
    if (taken.length > destination.settings.policy.batchMaxSize || (taken.length > 1 && bytes > this.maxBatchBytes)) {
      simulation.violate("A batch is within its size limits", `${destination.name}: ${taken.length} events, ${bytes} bytes`)
    }
    const body = `{"deliveryId":"${deliveryId}","sentAt":"${formatInstant(sentAt)}","events":[${taken.map((entry) => entry.body).join(",")}]}`
    this.ledger.freeze(destination, { id: deliveryId, entries: taken, body })
  }

  private again(destination: LedgerDestination, deliveryId: string, grant: Grant, permits: Permits): void {
    const { simulation } = this
    const delivery = destination.unsettled.get(deliveryId)
    if (delivery === undefined) return simulation.violate("Only unfinished deliveries are retried", `${destination.name}: ${deliveryId}`)
    const orphaned = delivery.state === "sending" && delivery.token !== destination.token
    if (!orphaned && delivery.state !== "waiting") simulation.violate("A delivery has one attempt at a time", `${deliveryId} is ${delivery.state}`)
    const { maxAttempts } = destination.settings.policy
    const allowed = maxAttempts + (orphaned ? spareTakeovers : delivery.excused)
    if (delivery.tries >= allowed) simulation.violate("No delivery has more attempts than its policy allows", `${deliveryId}: ${delivery.tries + 1} of ${maxAttempts}`)
    const older = blocker(delivery, grant.claimedStep)
    if (older !== undefined) simulation.violate("Deliveries of one shipment are sent one after the other", `${deliveryId} is sent, ${older.id} is ${older.state}`)
    if (orphaned) delivery.excused += 1
    delivery.state = "sending"
    delivery.token = destination.token
    delivery.attempt += 1
    delivery.tries += 1
    permits.set(permitOf(deliveryId, delivery.attempt), grant)
  }
}
