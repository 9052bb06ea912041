/** Checks freezes against the reference model. */
import { type Freeze, formatInstant, type FreshDelivery } from "@waybill/core"
import { blocker, type Grant } from "./ClaimAudit.ts"
import { type Ledger, type LedgerEntry, type LedgerLane, laneKeyOf, spareTakeovers } from "./Ledger.ts"
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

  /** Lanes of this freeze that the store has to accept. */
  expected(tenantId: string, lanes: ReadonlyArray<Freeze>): ReadonlySet<string> {
    return new Set(lanes.filter((each) => {
      const lane = this.ledger.held(tenantId, each)
      return lane?.state === "active" && this.ledger.access.admits(lane, this.simulation.storeNow)
    }).map(({ laneId }) => laneId))
  }

  /** Whether an operator purged one of these lanes, which removes claimed entries. */
  purged(tenantId: string, lanes: ReadonlyArray<Freeze>, frozen: ReadonlySet<string>): boolean {
    return lanes.some(({ laneId }) => frozen.has(laneId) && this.ledger.lane(tenantId, laneId)!.purgedStep >= 0)
  }

  /** Whether all entries of this freeze are still waiting. They may not be if the call was late. */
  stillWaits(tenantId: string, lanes: ReadonlyArray<Freeze>, frozen: ReadonlySet<string>): boolean {
    return lanes.every((freeze) => {
      const lane = this.ledger.lane(tenantId, freeze.laneId)
      if (lane === undefined || !frozen.has(freeze.laneId)) return true
      return freeze.fresh.every(({ entries }) =>
        entries.every(({ key, sequence }) => lane.waiting.get(key)?.some((entry) => entry.sequence === sequence) === true))
    })
  }

  /** Whether an operator retried one of these deliveries after the claim. The store then has to refuse the whole call. */
  isOutdated(tenantId: string, lanes: ReadonlyArray<Freeze>, frozen: ReadonlySet<string>): boolean {
    return lanes.some(({ again, againTries, laneId }) =>
      frozen.has(laneId) && again.some((deliveryId, at) => this.ledger.lane(tenantId, laneId)?.unsettled.get(deliveryId)?.tries !== againTries?.[at]))
  }

  /** Updates the reference model after a freeze, and returns the permits for its attempts. `late`: its caller no longer waits for it. */
  frozen(
    who: string,
    tenantId: string,
    lanes: ReadonlyArray<Freeze>,
    { expected, grants, late, frozen }: {
      readonly expected: ReadonlySet<string>
      readonly frozen: ReadonlySet<string>
      readonly grants: ReadonlyMap<string, Grant>
      readonly late: boolean
    }
  ): Permits {
    const { counts } = this.simulation
    const permits: Permits = new Map()
    for (const freeze of lanes) {
      if (expected.has(freeze.laneId) !== frozen.has(freeze.laneId)) {
        this.simulation.violate("A freeze needs a valid lease on an active lane with access", `${who} by ${freeze.token}: ${frozen.has(freeze.laneId) ? "accepted" : "refused"}`)
      }
      if (!expected.has(freeze.laneId)) {
        counts.lostLeases += 1
        continue
      }
      const lane = this.ledger.lane(tenantId, freeze.laneId)!
      const grant = grants.get(laneKeyOf(tenantId, freeze.laneId))
      if (grant === undefined || grant.token !== freeze.token) {
        this.simulation.violate("Only claimed lanes are frozen", `${who} freezes ${lane.name}`)
        continue
      }
      if (!late) this.admit(lane, grant, freeze)
      lane.cursor = freeze.cursor ?? lane.cursor
      for (const fresh of freeze.fresh) {
        this.fresh(lane, fresh, grant)
        permits.set(permitOf(fresh.deliveryId, 1), grant)
      }
      for (const deliveryId of freeze.again) this.again(lane, deliveryId, grant, permits)
    }
    return permits
  }

  /** Checks circuit breaker and rate limit, with the values of the claim. */
  private admit(lane: LedgerLane, { claimed, claimedAt }: Grant, freeze: Freeze): void {
    const count = freeze.fresh.length + freeze.again.length
    const { openUntil } = claimed.breaker
    const inFlightCount = lane.inFlight.get(lane.token) ?? 0
    if (openUntil !== undefined && openUntil > claimedAt) {
      this.simulation.violate("No attempt is made while the circuit breaker is open", `${lane.name}: ${count} attempts, ${openUntil - claimedAt} ms early`)
    } else if (openUntil !== undefined && count + inFlightCount > 1) {
      this.simulation.violate("One probe is sent after the circuit breaker was open", `${lane.name}: ${count} attempts, ${inFlightCount} in flight`)
    }
    for (let each = 0; each < count; each++) lane.grants.push(claimedAt)
    const within = lane.grants.filter((at) => at > claimedAt - windowMillis).length
    if (within > lane.settings.policy.rateLimitPerMinute) {
      this.simulation.violate("Attempts in sixty seconds are within the rate limit", `${lane.name}: ${within} of ${lane.settings.policy.rateLimitPerMinute}`)
    }
  }

  private fresh(lane: LedgerLane, { deliveryId, entries, sentAt }: FreshDelivery, { claimedAt, claimedStep }: Grant): void {
    const { simulation } = this
    if (this.ledger.deliveries.has(deliveryId)) simulation.violate("Every delivery has a unique id", deliveryId)
    const taken: Array<LedgerEntry> = []
    const perKey = new Map<string, number>()
    for (const { key, sequence } of entries) {
      const place = perKey.get(key) ?? 0
      perKey.set(key, place + 1)
      const entry = lane.waiting.get(key)?.[place]
      if (entry?.sequence !== sequence) simulation.violate("A shipment's events are frozen once and in order", `${lane.name}: ${key}/${sequence}`)
      if (entry !== undefined) taken.push(entry)
    }
    for (const other of lane.unsettled.values()) {
      const shared = other.retriedStep > claimedStep ? undefined : [...perKey.keys()].find((key) => other.keys.has(key))
      if (shared !== undefined) simulation.violate("A shipment is in one unfinished delivery", `${lane.name}: ${shared} is in ${deliveryId} and in ${other.id}, ${other.state}`)
    }
    const sorted = taken.every((entry, at) => at === 0 || taken[at - 1]!.key < entry.key || (taken[at - 1]!.key === entry.key && taken[at - 1]!.sequence < entry.sequence))
    if (!sorted) simulation.violate("Events of a batch are in order of shipment and sequence", deliveryId)
    if (sentAt !== claimedAt) simulation.violate("sentAt of a delivery is the time of the store", `${deliveryId}: ${sentAt - claimedAt} ms off`)
    const bytes = taken.reduce((sum, { body }) => sum + body.length, 0)
    if (taken.length > lane.settings.policy.batchMaxSize || (taken.length > 1 && bytes > this.maxBatchBytes)) {
      simulation.violate("A batch is within its size limits", `${lane.name}: ${taken.length} events, ${bytes} bytes`)
    }
    const body = `{"deliveryId":"${deliveryId}","sentAt":"${formatInstant(sentAt)}","events":[${taken.map((entry) => entry.body).join(",")}]}`
    this.ledger.freeze(lane, { id: deliveryId, entries: taken, body })
  }

  private again(lane: LedgerLane, deliveryId: string, grant: Grant, permits: Permits): void {
    const { simulation } = this
    const delivery = lane.unsettled.get(deliveryId)
    if (delivery === undefined) return simulation.violate("Only unfinished deliveries are retried", `${lane.name}: ${deliveryId}`)
    const orphaned = delivery.state === "sending" && delivery.token !== lane.token
    if (!orphaned && delivery.state !== "waiting") simulation.violate("A delivery has one attempt at a time", `${deliveryId} is ${delivery.state}`)
    const { maxAttempts } = lane.settings.policy
    const allowed = maxAttempts + (orphaned ? spareTakeovers : delivery.excused)
    if (delivery.tries >= allowed) simulation.violate("No delivery has more attempts than its policy allows", `${deliveryId}: ${delivery.tries + 1} of ${maxAttempts}`)
    const older = blocker(delivery, grant.claimedStep)
    if (older !== undefined) simulation.violate("Deliveries of one shipment are sent one after the other", `${deliveryId} is sent, ${older.id} is ${older.state}`)
    if (orphaned) delivery.excused += 1
    delivery.state = "sending"
    delivery.token = lane.token
    delivery.attempt += 1
    delivery.tries += 1
    permits.set(permitOf(deliveryId, delivery.attempt), grant)
  }
}
