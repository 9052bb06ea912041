/** Carriers that publish, owners that change their subscriptions, operators that rotate secrets and send deliveries again. */
import { AccessStore, type LaneSettings, type LaneState, SecretStore, Transaction, TransitSubscriptionStore } from "@waybill/core"
import { Effect, Exit, Option } from "effect"
import { idOf, laneSettings, letSee, publish, recordOf, storedSecret, textOf } from "../StorageFixtures.ts"
import { type AccessChange, AccessChanges, type Slot as AccessSlot } from "./AccessChanges.ts"
import type { SimulationRandom } from "./SimulationRandom.ts"
import type { Ledger, LedgerDelivery, LedgerLane } from "./Ledger.ts"
import { sealedKey } from "./Secrets.ts"
import type { Shape } from "./Shape.ts"
import type { SimulatedPorts, SimulatedStore } from "./SimulatedStore.ts"
import type { SimulationContext } from "./SimulationContext.ts"

export const interventions = ["pause", "resume", "stop", "resume", "remove", "add", "rotate", "rotate", "move", "retry", "retry", "recover"] as const

export type Intervention = typeof interventions[number]

export const tenantOf = (tenant: number): string => `tenant-${tenant}`

/** A place for one subscription after the other. */
interface Slot {
  readonly tenantId: string
  readonly client: string
  readonly at: number
  laneId: string
}

const accountOf = ({ at }: Slot): string => `account-${at}`

export class Operators {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly store: SimulatedStore
  private readonly shape: Shape
  private readonly random: SimulationRandom
  private readonly wake: (tenantId: string) => void
  private readonly slots: Array<Slot> = []
  private readonly access: AccessChanges
  /** How often each shipment was handed over, by tenant and shipment. */
  private readonly handedOver = new Map<string, number>()
  /** Lanes so far, by tenant: their ids are the same in each, so that what is mixed up between tenants shows. */
  private readonly lastLane = new Map<string, number>()
  private lastKey = 0

  constructor(
    simulation: SimulationContext,
    parts: {
      readonly ledger: Ledger
      readonly store: SimulatedStore
      readonly shape: Shape
      readonly random: SimulationRandom
      /** Draws what operators do to access. */
      readonly accessChance: SimulationRandom
      readonly wake: (tenantId: string) => void
    }
  ) {
    this.simulation = simulation
    this.ledger = parts.ledger
    this.store = parts.store
    this.shape = parts.shape
    this.random = parts.random
    this.wake = parts.wake
    this.access = new AccessChanges(simulation, {
      ...parts,
      random: parts.accessChance,
      tell: (effect, then) => this.tell(effect, then),
      slots: () => this.slots.map((slot): AccessSlot => ({ ...slot, account: accountOf(slot), lane: this.ledger.lane(slot.tenantId, slot.laneId)! })),
      handOver: (tenantId) => this.handOver(tenantId, parts.accessChance)
    })
  }

  /** Who is there when the schedule begins. */
  async begin(): Promise<void> {
    for (let tenant = 0; tenant < this.shape.tenants; tenant++) {
      const tenantId = tenantOf(tenant)
      const named = this.tell(Effect.flatMap(AccessStore, (store) => store.putTenant({ tenantId, name: tenantId, hosts: [] })), () => {})
      if (named !== undefined) await named
      const waits = this.rotate(tenantId, 0)
      if (waits !== undefined) await waits
    }
    for (const [at, { tenant }] of this.shape.lanes.entries()) {
      const slot: Slot = { tenantId: tenantOf(tenant), client: `client-${at}`, at, laneId: "" }
      this.slots.push(slot)
      const waits = this.tell(letSee(slot.tenantId, slot.client, [accountOf(slot)]), () => {
        this.ledger.access.putClient(slot, [accountOf(slot)], Infinity, this.simulation.storeNow)
        return this.add(slot)
      })
      if (waits !== undefined) await waits
    }
  }

  publish(): void | Promise<void> {
    const { random } = this
    const { tenantId } = random.pick(this.slots)
    return this.publishOf(tenantId, `S${random.between(1, this.shape.shipments)}`, random.between(1, 3), random.share(0.1))
  }

  private handOver(tenantId: string, random: SimulationRandom): void | Promise<void> {
    const shipmentId = `S${random.between(1, this.shape.shipments)}`
    const key = `${tenantId}/${shipmentId}`
    this.handedOver.set(key, (this.handedOver.get(key) ?? 0) + 1)
    return this.publishOf(tenantId, shipmentId, 1, false)
  }

  private publishOf(tenantId: string, shipmentId: string, count: number, traced: boolean): void | Promise<void> {
    // until it is handed over, the same shipment is always seen by the same clients
    const turn = shipmentId.charCodeAt(1) + (this.handedOver.get(`${tenantId}/${shipmentId}`) ?? 0)
    const accounts = this.slots.filter((slot) => slot.tenantId === tenantId && (slot.at + turn) % 3 !== 0).map(accountOf)
    const options = { accounts, ...(traced ? { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" } : {}) }
    return this.tell(publish(tenantId, Array.from({ length: count }, () => ({ shipmentId })), options), (events) => {
      this.ledger.access.putShipment(tenantId, shipmentId, accounts, this.simulation.storeNow)
      if (this.simulation.trace) this.simulation.note("carrier", `publishes ${events.map(({ eventId }) => eventId).join(", ")} for ${accounts.join(", ")}`)
      const before = this.ledger.restless
      this.ledger.publish(tenantId, events.map((event) => ({ ...event, body: textOf(event.body) })))
      this.simulation.counts.owed += this.ledger.restless - before
      this.wake(tenantId)
    })
  }

  changeAccess(what: AccessChange): void | Promise<void> {
    return this.access.change(what)
  }

  changeHandedOut(lane: LedgerLane): void | Promise<void> {
    return this.access.changeHandedOut(lane)
  }

  intervene(what: Intervention): void | Promise<void> {
    const slot = this.random.pick(this.slots)
    const lane = this.ledger.lane(slot.tenantId, slot.laneId)!
    switch (what) {
      case "pause":
        return this.turn(lane, "paused")
      case "resume":
        return this.turn(lane, "active")
      case "stop":
        return this.turn(lane, "inactive")
      case "move":
        return this.change(lane, { ...lane.settings, state: lane.state, endpointUrl: `${lane.settings.endpointUrl.split("?")[0]}?${this.random.between(1, 9)}` })
      case "remove":
        return this.remove(lane)
      case "add":
        return lane.open ? undefined : this.add(slot)
      case "rotate":
        return this.rotate(slot.tenantId, this.random.pick([0, 1000, 60_000]))
      case "retry":
        return this.retryAny(slot.tenantId)
      case "recover":
        return this.recover(lane, this.simulation.storeNow - this.random.pick([0, 3000, 1e9]))
    }
  }

  /** Every subscription sends again; every dead letter too, where that is asked for. */
  *restore(recovering: boolean): Iterable<void | Promise<void>> {
    yield* this.access.restore()
    for (const lane of this.ledger.lanes.values()) {
      if (lane.open && lane.state !== "active") yield this.turn(lane, "active")
      if (lane.open && recovering) yield this.recover(lane, 0)
    }
  }

  private tell<A, E>(effect: Effect.Effect<A, E, SimulatedPorts>, then: (value: A) => void | Promise<void>): void | Promise<void> {
    let after: void | Promise<void> = undefined
    const waits = this.store.run(effect, (exit) => {
      if (Exit.isSuccess(exit)) after = then(exit.value)
      else this.simulation.violate("The store does what it is told", String(exit.cause))
    })
    return waits === undefined ? after : waits.then(() => after)
  }

  private add(slot: Slot): void | Promise<void> {
    const n = (this.lastLane.get(slot.tenantId) ?? 0) + 1
    this.lastLane.set(slot.tenantId, n)
    slot.laneId = idOf(n)
    const name = `lane ${n}${slot.tenantId === tenantOf(0) ? "" : ` of ${slot.tenantId}`}`
    const { policy, whenDead } = this.shape.lanes[slot.at]!
    const settings: LaneSettings = { ...laneSettings({ n, client: slot.client, policy, endpointUrl: `https://lane-${n}.${slot.tenantId}.example/` }), whenDead }
    const record = recordOf({ n, client: slot.client })
    const { queue } = this.store
    const effect = Effect.flatMap(Transaction, (transaction) =>
      transaction.run(Effect.andThen(
        queue.openLane(slot.tenantId, settings),
        Effect.flatMap(TransitSubscriptionStore, (subscriptions) => subscriptions.insert(slot.tenantId, record))
      )))
    return this.tell(effect, () => {
      this.ledger.open(slot.tenantId, slot.client, name, settings)
      this.simulation.note("owner", `opens ${name}: ${JSON.stringify(policy)}, when dead ${whenDead}`)
    })
  }

  /** An owner's change of the state is refused while an operator's pause lasts. */
  private turn(lane: LedgerLane, state: LaneState): void | Promise<void> {
    if (lane.pausedBy === "operator") return undefined
    return this.change(lane, { ...lane.settings, state })
  }

  private change(lane: LedgerLane, settings: LaneSettings): void | Promise<void> {
    if (!lane.open) return undefined
    const record = { ...recordOf({ n: Number(lane.laneId.slice(-12)), client: lane.client }), matched: settings.state !== "inactive" && lane.resumesAs !== "inactive" }
    const effect = Effect.flatMap(Transaction, (transaction) =>
      transaction.run(Effect.andThen(
        this.store.queue.changeLane(lane.tenantId, settings),
        Effect.flatMap(TransitSubscriptionStore, (subscriptions) => subscriptions.update(lane.tenantId, record))
      )))
    return this.tell(effect, () => {
      this.ledger.change(lane, settings)
      this.simulation.note("owner", `has ${lane.name} ${settings.state} at ${settings.endpointUrl}`)
      this.wake(lane.tenantId)
    })
  }

  private remove(lane: LedgerLane): void | Promise<void> {
    if (!lane.open) return undefined
    const effect = Effect.flatMap(Transaction, (transaction) =>
      transaction.run(Effect.andThen(
        Effect.flatMap(TransitSubscriptionStore, (subscriptions) => subscriptions.remove(lane.tenantId, lane.client, lane.laneId)),
        this.store.queue.closeLane(lane.tenantId, lane.laneId)
      )))
    return this.tell(effect, () => {
      this.store.compare(lane.tenantId, [...lane.unsettled.values()])
      this.ledger.close(lane)
      this.simulation.note("owner", `removes ${lane.name}`)
    })
  }

  private rotate(tenantId: string, overlapMillis: number): void | Promise<void> {
    const key = new Uint8Array(32).fill(++this.lastKey)
    const now = this.simulation.storeNow
    const effect = Effect.gen(function*() {
      const store = yield* SecretStore
      const before = Option.getOrUndefined(yield* store.findForUpdate(tenantId, "main"))?.versions ?? []
      const retired = before.map(({ sealed, signsUntil }) => ({ sealed, signsUntil: Math.min(signsUntil ?? Infinity, now + overlapMillis) }))
      const versions = [{ sealed: sealedKey(tenantId, "main", key), signsUntil: undefined }, ...retired].slice(0, 3)
      yield* store.put(tenantId, "main", storedSecret(versions))
    })
    return this.tell(effect, () => {
      this.ledger.rotate(tenantId, key, now, overlapMillis)
      this.simulation.note("operator", `rotates the secret of ${tenantId}, overlap ${overlapMillis} ms`)
    })
  }

  private retryAny(tenantId: string): void | Promise<void> {
    const known = [...this.ledger.deliveries.values()].filter(({ lane }) => lane.tenantId === tenantId)
    return known.length === 0 ? undefined : this.retry(tenantId, this.random.pick(known))
  }

  /** What a worker has claimed and not frozen yet is where a retry does harm, and seldom met by chance. */
  retryHandedOut(tenantId: string, deliveryIds: ReadonlyArray<string>): void | Promise<void> {
    return this.retry(tenantId, this.ledger.deliveries.get(this.random.pick(deliveryIds))!)
  }

  private retry(tenantId: string, delivery: LedgerDelivery): void | Promise<void> {
    const left = delivery.lane.open && (delivery.state === "waiting" || delivery.state === "dead" || delivery.state === "delivered")
    return this.tell(this.store.queue.retry(tenantId, delivery.id), (state) => {
      if (Option.getOrUndefined(state) !== (delivery.lane.open ? delivery.state : "cancelled")) {
        this.simulation.violate("An operator learns what state a delivery was in", `${delivery.id} is ${delivery.state}, told ${Option.getOrUndefined(state)}`)
      }
      if (this.simulation.trace) this.simulation.note("operator", `retries ${delivery.id}, which is ${delivery.state}`)
      if (left) this.ledger.retry(delivery, this.simulation.storeNow, this.simulation.counts.steps)
      this.wake(tenantId)
    })
  }

  private recover(lane: LedgerLane, since: number): void | Promise<void> {
    if (!lane.open) return undefined
    const dead: ReadonlyArray<LedgerDelivery> = [...this.ledger.deliveries.values()]
      .filter((each) => each.lane === lane && each.state === "dead" && each.diedAt >= since)
    return this.tell(this.store.queue.recover(lane.tenantId, lane.laneId, since), (count) => {
      if (count !== dead.length) this.simulation.violate("Every dead letter since then is recovered", `${lane.name}: ${count} of ${dead.length}`)
      if (this.simulation.trace && dead.length > 0) this.simulation.note("operator", `recovers ${dead.map(({ id }) => id).join(", ")}`)
      for (const each of dead) this.ledger.retry(each, this.simulation.storeNow, this.simulation.counts.steps)
      this.wake(lane.tenantId)
    })
  }
}

