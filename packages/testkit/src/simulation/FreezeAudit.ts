/** What may be frozen, and what freezing must change. */
import { type Freeze, formatInstant, type FreshDelivery } from "@waybill/core"
import { blocker, type Grant } from "./ClaimAudit.ts"
import { type Ledger, type LedgerEntry, type LedgerLane, laneKeyOf, spareTakeovers } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** Attempts granted: each may be sent once. */
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

  /** Lanes that may be sent from, as things are now. */
  expected(tenantId: string, lanes: ReadonlyArray<Freeze>): ReadonlySet<string> {
    return new Set(lanes.filter((each) => {
      const lane = this.ledger.held(tenantId, each)
      return lane?.state === "active" && this.ledger.access.admits(lane, this.simulation.storeNow)
    }).map(({ laneId }) => laneId))
  }

  /** Whether an operator purged one of these lanes: what a claim handed out before is gone then. */
  purged(tenantId: string, lanes: ReadonlyArray<Freeze>, ours: ReadonlySet<string>): boolean {
    return lanes.some(({ laneId }) => ours.has(laneId) && this.ledger.lane(tenantId, laneId)!.purgedIn >= 0)
  }

  /** Whether everything that these lanes freeze still waits: a call that came late finds that it does not. */
  stillWaits(tenantId: string, lanes: ReadonlyArray<Freeze>, ours: ReadonlySet<string>): boolean {
    return lanes.every((freeze) => {
      const lane = this.ledger.lane(tenantId, freeze.laneId)
      if (lane === undefined || !ours.has(freeze.laneId)) return true
      return freeze.fresh.every(({ entries }) =>
        entries.every(({ key, sequence }) => lane.waiting.get(key)?.some((entry) => entry.sequence === sequence) === true))
    })
  }

  /** Whether an operator began a new series of attempts since the claim told of these: nothing of the call may happen then. */
  overtaken(tenantId: string, lanes: ReadonlyArray<Freeze>, ours: ReadonlySet<string>): boolean {
    return lanes.some(({ again, againTries, laneId }) =>
      ours.has(laneId) && again.some((deliveryId, at) => this.ledger.lane(tenantId, laneId)?.unsettled.get(deliveryId)?.tries !== againTries?.[at]))
  }

  /** Books what was frozen, and answers what may be sent for it. `late`: its caller had given up on it. */
  frozen(
    who: string,
    tenantId: string,
    lanes: ReadonlyArray<Freeze>,
    { expected, grants, late, ours }: {
      readonly expected: ReadonlySet<string>
      readonly ours: ReadonlySet<string>
      readonly grants: ReadonlyMap<string, Grant>
      readonly late: boolean
    }
  ): Permits {
    const { counts } = this.simulation
    const permits: Permits = new Map()
    for (const freeze of lanes) {
      if (expected.has(freeze.laneId) !== ours.has(freeze.laneId)) {
        this.simulation.violate("Only who holds the lease of an active lane with access freezes", `${who} by ${freeze.token}: ${ours.has(freeze.laneId) ? "let" : "refused"}`)
      }
      if (!expected.has(freeze.laneId)) {
        counts.lostLeases += 1
        continue
      }
      const lane = this.ledger.lane(tenantId, freeze.laneId)!
      const grant = grants.get(laneKeyOf(tenantId, freeze.laneId))
      if (grant === undefined || grant.token !== freeze.token) {
        this.simulation.violate("Only what was claimed is frozen", `${who} freezes ${lane.name}`)
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

  /** Breaker and rate, by what the claim told. */
  private admit(lane: LedgerLane, { claimed, claimedAt }: Grant, freeze: Freeze): void {
    const count = freeze.fresh.length + freeze.again.length
    const { openUntil } = claimed.breaker
    const underWay = lane.flights.get(lane.token) ?? 0
    if (openUntil !== undefined && openUntil > claimedAt) {
      this.simulation.violate("Nothing goes out while a breaker is open", `${lane.name}: ${count} attempts, ${openUntil - claimedAt} ms early`)
    } else if (openUntil !== undefined && count + underWay > 1) {
      this.simulation.violate("One probe goes out when a breaker was open", `${lane.name}: ${count} attempts beside ${underWay}`)
    }
    for (let each = 0; each < count; each++) lane.grants.push(claimedAt)
    const within = lane.grants.filter((at) => at > claimedAt - windowMillis).length
    if (within > lane.settings.policy.rateLimitPerMinute) {
      this.simulation.violate("No sixty seconds see more attempts than the rate allows", `${lane.name}: ${within} of ${lane.settings.policy.rateLimitPerMinute}`)
    }
  }

  private fresh(lane: LedgerLane, { deliveryId, entries, sentAt }: FreshDelivery, { claimedAt, claimedIn }: Grant): void {
    const { simulation } = this
    if (this.ledger.deliveries.has(deliveryId)) simulation.violate("Every delivery has an id of its own", deliveryId)
    const taken: Array<LedgerEntry> = []
    const perKey = new Map<string, number>()
    for (const { key, sequence } of entries) {
      const place = perKey.get(key) ?? 0
      perKey.set(key, place + 1)
      const entry = lane.waiting.get(key)?.[place]
      if (entry?.sequence !== sequence) simulation.violate("A shipment's events are frozen in order, each once", `${lane.name}: ${key}/${sequence}`)
      if (entry !== undefined) taken.push(entry)
    }
    for (const other of lane.unsettled.values()) {
      const shared = other.retriedIn > claimedIn ? undefined : [...perKey.keys()].find((key) => other.keys.has(key))
      if (shared !== undefined) simulation.violate("A shipment's next event waits for the one before", `${lane.name}: ${deliveryId} holds ${shared}, so does ${other.id}, ${other.state}`)
    }
    const sorted = taken.every((entry, at) => at === 0 || taken[at - 1]!.key < entry.key || (taken[at - 1]!.key === entry.key && taken[at - 1]!.sequence < entry.sequence))
    if (!sorted) simulation.violate("A batch is in order of shipment and number", deliveryId)
    if (sentAt !== claimedAt) simulation.violate("A delivery is dated by the store's clock", `${deliveryId}: ${sentAt - claimedAt} ms off`)
    const bytes = taken.reduce((sum, { body }) => sum + body.length, 0)
    if (taken.length > lane.settings.policy.batchMaxSize || (taken.length > 1 && bytes > this.maxBatchBytes)) {
      simulation.violate("A batch is within its bounds", `${lane.name}: ${taken.length} events, ${bytes} bytes`)
    }
    const body = `{"deliveryId":"${deliveryId}","sentAt":"${formatInstant(sentAt)}","events":[${taken.map((entry) => entry.body).join(",")}]}`
    this.ledger.freeze(lane, { id: deliveryId, entries: taken, body })
  }

  private again(lane: LedgerLane, deliveryId: string, grant: Grant, permits: Permits): void {
    const { simulation } = this
    const delivery = lane.unsettled.get(deliveryId)
    if (delivery === undefined) return simulation.violate("Only what has not ended is sent again", `${lane.name}: ${deliveryId}`)
    const orphaned = delivery.state === "sending" && delivery.token !== lane.token
    if (!orphaned && delivery.state !== "waiting") simulation.violate("A delivery is under way once at a time", `${deliveryId} is ${delivery.state}`)
    const { maxAttempts } = lane.settings.policy
    const allowed = maxAttempts + (orphaned ? spareTakeovers : delivery.excused)
    if (delivery.tries >= allowed) simulation.violate("No delivery has more attempts than its policy allows", `${deliveryId}: ${delivery.tries + 1} of ${maxAttempts}`)
    const older = blocker(delivery, grant.claimedIn)
    if (older !== undefined) simulation.violate("Deliveries that share a shipment go out one after the other", `${deliveryId} goes out, ${older.id} is ${older.state}`)
    if (orphaned) delivery.excused += 1
    delivery.state = "sending"
    delivery.token = lane.token
    delivery.attempt += 1
    delivery.tries += 1
    permits.set(permitOf(deliveryId, delivery.attempt), grant)
  }
}
