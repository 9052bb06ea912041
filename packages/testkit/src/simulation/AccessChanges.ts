/** What operators do to access: of clients, of tenants, to shipments and to subscriptions that are not theirs. */
import { AccessStore, DeliveryControl, Transaction } from "@waybill/core"
import { Effect } from "effect"
import type { SimulationRandom } from "./SimulationRandom.ts"
import type { Ledger, LedgerLane } from "./Ledger.ts"
import type { SimulatedPorts, SimulatedStore } from "./SimulatedStore.ts"
import type { SimulationContext } from "./SimulationContext.ts"

export const accessChanges = [
  "end access",
  "end access",
  "give access",
  "narrow access",
  "suspend tenant",
  "resume tenant",
  "hand over",
  "hand over",
  "pause",
  "resume",
  "purge"
] as const

export type AccessChange = typeof accessChanges[number]

/** A client with at most one subscription. */
export interface Slot {
  readonly tenantId: string
  readonly client: string
  readonly account: string
  /** Its subscription, open or not. */
  readonly lane: LedgerLane
}

export type Tell = <A, E>(effect: Effect.Effect<A, E, SimulatedPorts>, then: (value: A) => void | Promise<void>) => void | Promise<void>

export interface AccessChangesParts {
  readonly ledger: Ledger
  readonly store: SimulatedStore
  readonly random: SimulationRandom
  readonly tell: Tell
  readonly wake: (tenantId: string) => void
  readonly slots: () => ReadonlyArray<Slot>
  /** Publishes an event of a shipment that belongs to other accounts from then on. */
  readonly handOver: (tenantId: string) => void | Promise<void>
}

const live = Infinity

export class AccessChanges {
  private readonly simulation: SimulationContext
  private readonly parts: AccessChangesParts

  constructor(simulation: SimulationContext, parts: AccessChangesParts) {
    this.simulation = simulation
    this.parts = parts
  }

  change(what: AccessChange, slot: Slot = this.parts.random.pick(this.parts.slots())): void | Promise<void> {
    const { random } = this.parts
    switch (what) {
      case "end access":
        return this.putAccess(slot, [...this.parts.ledger.access.accountsOf(slot)], this.simulation.storeNow + random.pick([0, 0, 0, 20, 1500]))
      case "give access":
        return this.putAccess(slot, [slot.account], live)
      case "narrow access":
        return this.putAccess(slot, [], live)
      case "suspend tenant":
        return this.setTenant(slot.tenantId, "suspended")
      case "resume tenant":
        return this.setTenant(slot.tenantId, "active")
      case "hand over":
        return this.parts.handOver(slot.tenantId)
      case "pause":
        return this.pause(slot.lane)
      case "resume":
        return this.resume(slot.lane)
      case "purge":
        return this.purge(slot.lane)
    }
  }

  /** A claim handed out something of this lane, which is not frozen yet: where a change does harm, and seldom met by chance. */
  changeHandedOut(lane: LedgerLane): void | Promise<void> {
    const slot = this.parts.slots().find((each) => each.lane === lane)
    return slot === undefined ? undefined : this.change(this.parts.random.pick(["end access", "suspend tenant", "hand over", "pause", "purge", "purge"]), slot)
  }

  /** Everybody has access, and no lane is paused by an operator. */
  *restore(): Iterable<void | Promise<void>> {
    const { access } = this.parts.ledger
    for (const slot of this.parts.slots()) {
      if (access.isSuspended(slot.tenantId)) yield this.setTenant(slot.tenantId, "active")
      if (!access.isLive(slot, Number.MAX_SAFE_INTEGER) || !access.accountsOf(slot).has(slot.account)) yield this.putAccess(slot, [slot.account], live)
      if (slot.lane.open && slot.lane.pausedBy === "operator") yield this.resume(slot.lane)
    }
  }

  /** As where a key is issued, revoked or a token is seen: a client that was held is sent what waits for it. */
  private putAccess(slot: Slot, accounts: ReadonlyArray<string>, until: number): void | Promise<void> {
    const { client, tenantId } = slot
    const { ledger, store, tell, wake } = this.parts
    const access = { client, origin: "key" as const, seesAll: false, accounts, ...(until === live ? {} : { live: { until } }) }
    const effect = Effect.gen(function*() {
      const wasHeld = yield* (yield* AccessStore).putClientAccess(tenantId, access)
      if (wasHeld) yield* store.queue.accessRestored(tenantId, client)
    })
    return tell(Effect.flatMap(Transaction, ({ run }) => run(effect)), () => {
      ledger.access.putClient(slot, accounts, until, this.simulation.storeNow)
      this.simulation.note("operator", `has ${client} of ${tenantId} see ${accounts.join() || "nothing"}${until === live ? "" : ` for ${until - this.simulation.storeNow} ms`}`)
      wake(tenantId)
    })
  }

  private setTenant(tenantId: string, state: "active" | "suspended"): void | Promise<void> {
    const { ledger, store, tell, wake } = this.parts
    const effect = Effect.gen(function*() {
      yield* (yield* AccessStore).setTenantState(tenantId, state)
      if (state === "active") yield* store.queue.accessRestored(tenantId, undefined)
    })
    return tell(Effect.flatMap(Transaction, ({ run }) => run(effect)), () => {
      if (state === "suspended") ledger.access.suspend(tenantId, this.simulation.storeNow)
      else ledger.access.resume(tenantId)
      this.simulation.note("operator", `has ${tenantId} ${state}`)
      wake(tenantId)
    })
  }

  private pause(lane: LedgerLane): void | Promise<void> {
    return this.control(lane, "pauses", (control) => control.pause(lane.tenantId, lane.laneId, "By an operator."), () => this.parts.ledger.pause(lane, false))
  }

  private resume(lane: LedgerLane): void | Promise<void> {
    return this.control(lane, "resumes", (control) => control.resume(lane.tenantId, lane.laneId), () => this.parts.ledger.resume(lane))
  }

  /** In its steps, between which anything may happen. */
  private purge(lane: LedgerLane): void | Promise<void> {
    const { random, ledger } = this.parts
    const wait = random.pick([0, 0, 1, 30, 400])
    const end = () =>
      this.control(lane, "ends the purge of", (control) => control.endPurge(lane.tenantId, lane.laneId), () => {
        if (lane.purging) ledger.resume(lane)
      })
    const next = () =>
      this.control(lane, "purges", (control) => control.purgeNext(lane.tenantId, lane.laneId, undefined), ({ dropped }) => {
        const expected = ledger.purge(lane, this.simulation.counts.steps)
        if (dropped !== expected) this.simulation.violate("A purge drops what waits, and nothing else", `${lane.name}: ${dropped} instead of ${expected}`)
        this.simulation.after(random.pick([0, 0, wait]), end)
      })
    const begin = (): void => {
      if (lane.state === "active") ledger.pause(lane, true)
      this.simulation.after(wait, next)
    }
    return this.control(lane, "begins to purge", (control) => control.beginPurge(lane.tenantId, lane.laneId), begin)
  }

  private control<A>(
    lane: LedgerLane,
    verb: string,
    call: (control: DeliveryControl["Service"]) => Effect.Effect<A, unknown>,
    then: (answer: A) => void
  ): void | Promise<void> {
    const { store, tell, wake } = this.parts
    if (!lane.open) return undefined
    return tell(Effect.flatMap(DeliveryControl, call), (answer) => {
      then(answer)
      this.simulation.note("operator", `${verb} ${lane.name}, which is ${lane.state} now`)
      store.compareLane(lane)
      wake(lane.tenantId)
    })
  }
}
