/** Calls of carriers, subscription owners and operators: publish, change subscriptions, rotate secrets, retry, recover and replay. */
import { destinationSettings, idOf, letSee, publish, recordOf, type SeededRandom, storedSecret, textOf } from "@waybill/conformance/fixtures"
import { AccessStore, Transaction } from "@waybill/core"
import { type DestinationSettings, type DestinationState, SecretStore } from "@waybill/core/delivery"
import { TransitSubscriptionStore } from "@waybill/core/transit-events"
import { Effect, Exit, Option } from "effect"
import { type AccessChange, AccessChanges, type Slot as AccessSlot } from "./AccessChanges.ts"
import type { Ledger, LedgerDelivery, LedgerDestination } from "./Ledger.ts"
import { sealedKey } from "./Secrets.ts"
import { Replays } from "./Replays.ts"
import type { Shape } from "./Shape.ts"
import type { SimulatedPorts, SimulatedStore } from "./SimulatedStore.ts"
import type { SimulationContext } from "./SimulationContext.ts"

export const interventions = ["pause", "resume", "stop", "resume", "remove", "add", "rotate", "rotate", "move", "retry", "retry", "recover"] as const

type Intervention = typeof interventions[number]

export const tenantOf = (tenant: number): string => `tenant-${tenant}`

/** A client with at most one open subscription at a time. */
interface Slot {
  readonly tenantId: string
  readonly client: string
  readonly at: number
  destinationId: string
}

const accountOf = ({ at }: Slot): string => `account-${at}`

export class Operators {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly store: SimulatedStore
  private readonly shape: Shape
  private readonly random: SeededRandom
  private readonly wake: (tenantId: string) => void
  private readonly slots: Array<Slot> = []
  private readonly access: AccessChanges
  private readonly replays: Replays
  /** How often each shipment was assigned to other accounts, by tenant and shipment. */
  private readonly reassignments = new Map<string, number>()
  /** How many destinations each tenant has had. Tenants have the same destination ids, so that mixed-up tenants are detected. */
  private readonly lastDestination = new Map<string, number>()
  private lastKey = 0

  constructor(
    simulation: SimulationContext,
    parts: {
      readonly ledger: Ledger
      readonly store: SimulatedStore
      readonly shape: Shape
      readonly random: SeededRandom
      /** Chooses access changes. */
      readonly accessRandom: SeededRandom
      /** Chooses replays. */
      readonly replayRandom: SeededRandom
      readonly wake: (tenantId: string) => void
    }
  ) {
    this.simulation = simulation
    this.ledger = parts.ledger
    this.store = parts.store
    this.shape = parts.shape
    this.random = parts.random
    this.wake = parts.wake
    this.replays = new Replays(parts.ledger, parts.replayRandom, parts.shape.interventions)
    this.access = new AccessChanges(simulation, {
      ...parts,
      random: parts.accessRandom,
      runOperation: (effect, then) => this.runOperation(effect, then),
      slots: () => this.slots.map((slot): AccessSlot => ({ ...slot, account: accountOf(slot), destination: this.ledger.destination(slot.tenantId, slot.destinationId)! })),
      reassign: (tenantId) => this.reassign(tenantId, parts.accessRandom)
    })
  }

  /** Creates tenants, clients and subscriptions before the schedule starts. */
  async begin(): Promise<void> {
    for (let tenant = 0; tenant < this.shape.tenants; tenant++) {
      const tenantId = tenantOf(tenant)
      const named = this.runOperation(Effect.flatMap(AccessStore, (store) => store.putTenant({ tenantId, name: tenantId, hosts: [] })), () => {})
      if (named !== undefined) await named
      const waits = this.rotate(tenantId, 0)
      if (waits !== undefined) await waits
    }
    for (const [at, { tenant }] of this.shape.destinations.entries()) {
      const slot: Slot = { tenantId: tenantOf(tenant), client: `client-${at}`, at, destinationId: "" }
      this.slots.push(slot)
      const waits = this.runOperation(letSee(slot.tenantId, slot.client, [accountOf(slot)]), () => {
        this.ledger.access.putClient(slot, [accountOf(slot)], Infinity, this.simulation.storeNow)
        return this.add(slot)
      })
      if (waits !== undefined) await waits
    }
    for (const moment of this.replays.times(this.shape.spanMillis * 2)) this.simulation.after(moment, () => this.replay(this.replays.pick(this.slots)))
  }

  publish(): void | Promise<void> {
    const { random } = this
    const { tenantId } = random.pick(this.slots)
    return this.publishOf(tenantId, `S${random.between(1, this.shape.shipments)}`, random.pick([1, 1, 2, 3]), random.share(0.1))
  }

  private reassign(tenantId: string, random: SeededRandom): void | Promise<void> {
    const shipmentId = `S${random.between(1, this.shape.shipments)}`
    const key = `${tenantId}/${shipmentId}`
    this.reassignments.set(key, (this.reassignments.get(key) ?? 0) + 1)
    return this.publishOf(tenantId, shipmentId, 1, false)
  }

  private publishOf(tenantId: string, shipmentId: string, count: number, traced: boolean): void | Promise<void> {
    // a shipment keeps its accounts until it is reassigned
    const turn = shipmentId.charCodeAt(1) + (this.reassignments.get(`${tenantId}/${shipmentId}`) ?? 0)
    const accounts = this.slots.filter((slot) => slot.tenantId === tenantId && (slot.at + turn) % 3 !== 0).map(accountOf)
    const options = { accounts, ...(traced ? { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" } : {}) }
    return this.runOperation(publish(tenantId, Array.from({ length: count }, () => ({ shipmentId })), options), (events) => {
      this.ledger.access.putShipment(tenantId, shipmentId, accounts, this.simulation.storeNow)
      if (this.simulation.trace) this.simulation.note("carrier", `publishes ${events.map(({ eventId }) => eventId).join(", ")} for ${accounts.join(", ")}`)
      const before = this.ledger.unfinished
      const published = events.map((event) => ({ ...event, body: textOf(event.body) }))
      this.ledger.publish(tenantId, published, this.simulation.storeNow)
      this.replays.stored(tenantId, published, this.simulation.storeNow)
      this.simulation.counts.owed += this.ledger.unfinished - before
      this.wake(tenantId)
    })
  }

  changeAccess(kind: AccessChange): void | Promise<void> {
    return this.access.change(kind)
  }

  changeTaken(destination: LedgerDestination): void | Promise<void> {
    return this.access.changeTaken(destination)
  }

  /** Moves, pauses, removes or replays a subscription during a take from it. */
  interveneTaken(destination: LedgerDestination): void | Promise<void> {
    const slot = this.slots.find(({ destinationId, tenantId }) => tenantId === destination.tenantId && destinationId === destination.destinationId)
    if (slot !== undefined && this.replays.comesNow()) return this.replay(slot)
    return slot === undefined ? undefined : this.intervene(this.random.pick(["pause", "stop", "remove", "move", "rotate", "recover"]), slot)
  }

  intervene(kind: Intervention, slot: Slot = this.random.pick(this.slots)): void | Promise<void> {
    const destination = this.ledger.destination(slot.tenantId, slot.destinationId)!
    switch (kind) {
      case "pause":
        return this.turn(destination, "paused")
      case "resume":
        return this.turn(destination, "active")
      case "stop":
        return this.turn(destination, "inactive")
      case "move":
        return this.change(destination, { ...destination.settings, state: destination.state, endpointUrl: `${destination.settings.endpointUrl.split("?")[0]}?${this.random.between(1, 9)}` })
      case "remove":
        return this.remove(destination)
      case "add":
        return destination.open ? undefined : this.add(slot)
      case "rotate":
        return this.rotate(slot.tenantId, this.random.pick([0, 1000, 60_000]))
      case "retry":
        return this.retryAny(slot.tenantId)
      case "recover":
        return this.recover(destination, this.simulation.storeNow - this.random.pick([0, 3000, 1e9]))
    }
  }

  /** Restores access, activates every open subscription, and recovers its dead letters if `recovering`. */
  *restore(recovering: boolean): Iterable<void | Promise<void>> {
    yield* this.access.restore()
    for (const destination of this.ledger.destinations.values()) {
      if (destination.open && destination.state !== "active") yield this.turn(destination, "active")
      if (destination.open && recovering) yield this.recover(destination, 0)
    }
  }

  private runOperation<A, E>(effect: Effect.Effect<A, E, SimulatedPorts>, then: (value: A) => void | Promise<void>): void | Promise<void> {
    let after: void | Promise<void> = undefined
    const waits = this.store.run(effect, (exit) => {
      this.ledger.changedAt = this.simulation.storeNow
      if (Exit.isSuccess(exit)) after = then(exit.value)
      else this.simulation.violate("A call of the store succeeds", String(exit.cause))
    })
    return waits === undefined ? after : waits.then(() => after)
  }

  private add(slot: Slot): void | Promise<void> {
    const n = (this.lastDestination.get(slot.tenantId) ?? 0) + 1
    this.lastDestination.set(slot.tenantId, n)
    // ids end in the number of their partition, so some destinations share one
    const number = n * 100 + n % this.shape.partitions
    slot.destinationId = idOf(number)
    const name = `destination ${n}${slot.tenantId === tenantOf(0) ? "" : ` of ${slot.tenantId}`}`
    const { policy, whenDead } = this.shape.destinations[slot.at]!
    const settings: DestinationSettings = { ...destinationSettings({ n: number, client: slot.client, policy, endpointUrl: `https://destination-${n}.${slot.tenantId}.example/` }), whenDead }
    const record = recordOf({ n: number, client: slot.client })
    const { queue } = this.store
    const effect = Effect.flatMap(Transaction, (transaction) =>
      transaction.run(Effect.andThen(
        queue.openDestination(slot.tenantId, settings),
        Effect.flatMap(TransitSubscriptionStore, (subscriptions) => subscriptions.insert(slot.tenantId, record))
      )))
    return this.runOperation(effect, () => {
      this.ledger.open(slot.tenantId, slot.client, name, settings)
      this.simulation.note("owner", `opens ${name}: ${JSON.stringify(policy)}, when dead ${whenDead}`)
    })
  }

  /** An owner cannot change the state while an operator has paused the subscription. */
  private turn(destination: LedgerDestination, state: DestinationState): void | Promise<void> {
    if (destination.pausedBy === "operator") return undefined
    return this.change(destination, { ...destination.settings, state })
  }

  private change(destination: LedgerDestination, settings: DestinationSettings): void | Promise<void> {
    if (!destination.open) return undefined
    const record = { ...recordOf({ n: Number(destination.destinationId.slice(-12)), client: destination.client }), matched: settings.state !== "inactive" && destination.resumesAs !== "inactive" }
    const effect = Effect.flatMap(Transaction, (transaction) =>
      transaction.run(Effect.andThen(
        this.store.queue.changeDestination(destination.tenantId, settings),
        Effect.flatMap(TransitSubscriptionStore, (subscriptions) => subscriptions.update(destination.tenantId, record))
      )))
    return this.runOperation(effect, () => {
      this.ledger.change(destination, settings)
      this.simulation.note("owner", `sets ${destination.name} ${settings.state} at ${settings.endpointUrl}`)
      this.wake(destination.tenantId)
    })
  }

  private remove(destination: LedgerDestination): void | Promise<void> {
    if (!destination.open) return undefined
    const effect = Effect.flatMap(Transaction, (transaction) =>
      transaction.run(Effect.andThen(
        Effect.flatMap(TransitSubscriptionStore, (subscriptions) => subscriptions.remove(destination.tenantId, destination.client, destination.destinationId)),
        this.store.queue.closeDestination(destination.tenantId, destination.destinationId)
      )))
    return this.runOperation(effect, () => {
      this.store.compare(destination.tenantId, [...destination.unsettled.values()])
      this.ledger.close(destination)
      this.simulation.note("owner", `removes ${destination.name}`)
    })
  }

  private rotate(tenantId: string, overlapMillis: number): void | Promise<void> {
    const key = new Uint8Array(32).fill(++this.lastKey)
    const now = this.simulation.storeNow
    const effect = Effect.gen(function*() {
      const store = yield* SecretStore
      const before = Option.getOrUndefined(yield* store.find(tenantId, "main", "change"))?.versions ?? []
      const retired = before.map(({ sealed, signsUntil }) => ({ sealed, signsUntil: Math.min(signsUntil ?? Infinity, now + overlapMillis) }))
      const versions = [{ sealed: sealedKey(tenantId, "main", key), signsUntil: undefined }, ...retired].slice(0, 3)
      yield* store.put(tenantId, "main", storedSecret(versions))
    })
    return this.runOperation(effect, () => {
      this.ledger.rotate(tenantId, key, now, overlapMillis)
      this.simulation.note("operator", `rotates the secret of ${tenantId}, overlap ${overlapMillis} ms`)
    })
  }

  private retryAny(tenantId: string): void | Promise<void> {
    const known = [...this.ledger.deliveries.values()].filter(({ destination }) => destination.tenantId === tenantId)
    return known.length === 0 ? undefined : this.retry(tenantId, this.random.pick(known))
  }

  /** Retries a delivery during its take. Random times rarely hit this moment, which is prone to errors. */
  retryTaken(tenantId: string, deliveryIds: ReadonlyArray<string>): void | Promise<void> {
    return this.retry(tenantId, this.ledger.deliveries.get(this.random.pick(deliveryIds))!)
  }

  private retry(tenantId: string, delivery: LedgerDelivery): void | Promise<void> {
    const isRetryable = delivery.destination.open && (delivery.state === "waiting" || delivery.state === "dead" || delivery.state === "delivered")
    return this.runOperation(this.store.queue.retry(tenantId, delivery.id), (state) => {
      if (Option.getOrUndefined(state) !== (delivery.destination.open || delivery.state === "sending" ? delivery.state : "cancelled")) {
        this.simulation.violate("A retry returns the previous state of the delivery", `${delivery.id} is ${delivery.state}, returned ${Option.getOrUndefined(state)}`)
      }
      if (this.simulation.trace) this.simulation.note("operator", `retries ${delivery.id}, which is ${delivery.state}`)
      if (isRetryable) this.ledger.retry(delivery, this.simulation.storeNow)
      this.wake(tenantId)
    })
  }

  private recover(destination: LedgerDestination, since: number): void | Promise<void> {
    if (!destination.open) return undefined
    const dead: ReadonlyArray<LedgerDelivery> = [...this.ledger.deliveries.values()]
      .filter((each) => each.destination === destination && each.state === "dead" && each.diedAt >= since)
    return this.runOperation(this.store.queue.recover(destination.tenantId, destination.destinationId, since), (count) => {
      if (count !== dead.length) this.simulation.violate("recover retries every dead letter since its start time", `${destination.name}: ${count} of ${dead.length}`)
      if (this.simulation.trace && dead.length > 0) this.simulation.note("operator", `recovers ${dead.map(({ id }) => id).join(", ")}`)
      for (const each of dead) this.ledger.retry(each, this.simulation.storeNow)
      this.wake(destination.tenantId)
    })
  }

  private replay({ destinationId, tenantId }: Slot): void | Promise<void> {
    const destination = this.ledger.destination(tenantId, destinationId)!
    if (!destination.open) return undefined
    const from = this.replays.from(this.simulation.storeNow)
    const effect = Effect.flatMap(TransitSubscriptionStore, (subscriptions) => subscriptions.replay(tenantId, destinationId, { from, to: undefined, shipmentIds: undefined }))
    return this.runOperation(effect, (answer) => {
      const before = this.ledger.unfinished
      const queued = this.replays.replay(destination, from, this.simulation.storeNow)
      this.simulation.counts.owed += this.ledger.unfinished - before
      this.simulation.note("operator", `replays ${destination.name} from ${from}, ${queued} events`)
      if (Option.getOrUndefined(answer) !== queued) this.simulation.violate("A replay queues what its client may see and what does not wait", `${destination.name}: ${Option.getOrUndefined(answer)} instead of ${queued}`)
      this.wake(tenantId)
    })
  }
}
