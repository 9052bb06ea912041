/** Operator calls that change access: of clients and tenants, of shipments' accounts, and pauses and purges of clients' subscriptions. */
import type { SeededRandom } from "@waybill/conformance/fixtures"
import { AccessStore, Transaction } from "@waybill/core"
import { DeliveryControl, pauseByOperator, pauseForPurge } from "@waybill/core/delivery"
import { Effect } from "effect"
import type { Ledger, LedgerDestination } from "./Ledger.ts"
import type { SimulatedPorts, SimulatedStore } from "./SimulatedStore.ts"
import type { SimulationContext } from "./SimulationContext.ts"

export const accessChanges = [
  "end access",
  "end access",
  "give access",
  "narrow access",
  "suspend tenant",
  "resume tenant",
  "reassign",
  "reassign",
  "pause",
  "resume",
  "purge",
  "drop excess"
] as const

export type AccessChange = typeof accessChanges[number]

/** A client with at most one open subscription. */
export interface Slot {
  readonly tenantId: string
  readonly client: string
  readonly account: string
  /** Its latest subscription, open or closed. */
  readonly destination: LedgerDestination
}

/** Runs an operation on the store, then updates the reference model. */
type RunOperation = <A, E>(effect: Effect.Effect<A, E, SimulatedPorts>, then: (value: A) => void | Promise<void>) => void | Promise<void>

interface AccessChangesParts {
  readonly ledger: Ledger
  readonly store: SimulatedStore
  readonly random: SeededRandom
  readonly runOperation: RunOperation
  readonly wake: (tenantId: string) => void
  readonly slots: () => ReadonlyArray<Slot>
  /** Publishes an event that assigns its shipment to other accounts. */
  readonly reassign: (tenantId: string) => void | Promise<void>
}

const live = Infinity

export class AccessChanges {
  private readonly simulation: SimulationContext
  private readonly parts: AccessChangesParts

  constructor(simulation: SimulationContext, parts: AccessChangesParts) {
    this.simulation = simulation
    this.parts = parts
  }

  change(kind: AccessChange, slot: Slot = this.parts.random.pick(this.parts.slots())): void | Promise<void> {
    const { random } = this.parts
    switch (kind) {
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
      case "reassign":
        return this.parts.reassign(slot.tenantId)
      case "pause":
        return this.pause(slot.destination)
      case "resume":
        return this.resume(slot.destination)
      case "purge":
        return this.purge(slot.destination)
      case "drop excess":
        return this.dropExcess(slot.destination)
    }
  }

  /** Changes access during a take from this destination. Random times rarely hit this moment, which is prone to errors. */
  changeTaken(destination: LedgerDestination): void | Promise<void> {
    const slot = this.parts.slots().find((each) => each.destination === destination)
    return slot === undefined ? undefined : this.change(this.parts.random.pick(["end access", "suspend tenant", "reassign", "pause", "purge", "purge", "drop excess"]), slot)
  }

  /** Gives every client access, and resumes destinations that an operator paused. */
  *restore(): Iterable<void | Promise<void>> {
    const { access } = this.parts.ledger
    for (const slot of this.parts.slots()) {
      if (access.isSuspended(slot.tenantId)) yield this.setTenant(slot.tenantId, "active")
      if (!access.isLive(slot, Number.MAX_SAFE_INTEGER) || !access.accountsOf(slot).has(slot.account)) yield this.putAccess(slot, [slot.account], live)
      if (slot.destination.open && slot.destination.pausedBy === "operator") yield this.resume(slot.destination)
    }
  }

  /** As on issue or revocation of a key, or use of a token. If the client had no access before, its waiting entries become due. */
  private putAccess(slot: Slot, accounts: ReadonlyArray<string>, until: number): void | Promise<void> {
    const { client, tenantId } = slot
    const { ledger, store, runOperation, wake } = this.parts
    const access = { client, origin: "key" as const, seesAll: false, accounts, ...(until === live ? {} : { live: { until } }) }
    const effect = Effect.gen(function*() {
      const wasHeld = yield* (yield* AccessStore).putClientAccess(tenantId, access)
      if (wasHeld) yield* store.queue.accessRestored(tenantId, client)
    })
    return runOperation(Effect.flatMap(Transaction, ({ run }) => run(effect)), () => {
      ledger.access.putClient(slot, accounts, until, this.simulation.storeNow)
      this.simulation.note("operator", `lets ${client} of ${tenantId} see ${accounts.join() || "no account"}${until === live ? "" : ` for ${until - this.simulation.storeNow} ms`}`)
      wake(tenantId)
    })
  }

  private setTenant(tenantId: string, state: "active" | "suspended"): void | Promise<void> {
    const { ledger, store, runOperation, wake } = this.parts
    const effect = Effect.gen(function*() {
      yield* (yield* AccessStore).setTenantState(tenantId, state)
      if (state === "active") yield* store.queue.accessRestored(tenantId, undefined)
    })
    return runOperation(Effect.flatMap(Transaction, ({ run }) => run(effect)), () => {
      if (state === "suspended") ledger.access.suspend(tenantId, this.simulation.storeNow)
      else ledger.access.resume(tenantId)
      this.simulation.note("operator", `sets ${tenantId} ${state}`)
      wake(tenantId)
    })
  }

  private pause(destination: LedgerDestination): void | Promise<void> {
    return this.control(destination, "pauses", (control) => control.pause(destination.tenantId, destination.destinationId, pauseByOperator("By an operator.")), () => this.parts.ledger.pause(destination, false))
  }

  private resume(destination: LedgerDestination): void | Promise<void> {
    return this.control(destination, "resumes", (control) => control.resume(destination.tenantId, destination.destinationId, "all"), () => this.parts.ledger.resume(destination))
  }

  /** Runs the steps of a purge, with other events in between. */
  private purge(destination: LedgerDestination): void | Promise<void> {
    const { random, ledger } = this.parts
    const wait = random.pick([0, 0, 1, 30, 400])
    const end = () =>
      this.control(destination, "ends the purge of", (control) => control.resume(destination.tenantId, destination.destinationId, "purge"), () => {
        if (destination.purging) ledger.resume(destination)
      })
    const next = () =>
      this.control(destination, "purges", (control) => control.purgeNext(destination.tenantId, destination.destinationId, undefined), ({ dropped }) => {
        const expected = ledger.purge(destination)
        if (dropped !== expected) this.simulation.violate("A purge drops all waiting entries, and nothing else", `${destination.name}: ${dropped} instead of ${expected}`)
        this.simulation.after(random.pick([0, 0, wait]), end)
      })
    const begin = (): void => {
      if (destination.state === "active") ledger.pause(destination, true)
      this.simulation.after(wait, next)
    }
    return this.control(destination, "begins to purge", (control) => control.pause(destination.tenantId, destination.destinationId, pauseForPurge), begin)
  }

  /** Like a backlog quota, drops the oldest entries. */
  private dropExcess(destination: LedgerDestination): void | Promise<void> {
    const { ledger, random } = this.parts
    const limit = random.pick([1, 2, 5])
    const queuedBefore = this.simulation.storeNow - random.pick([0, 10, 1000])
    const { destinationId, tenantId } = destination
    const drop = (control: DeliveryControl["Service"]) =>
      Effect.flatMap(control.countBacklog(tenantId, 60_000, undefined), ({ counts }) => {
        const dropped = counts.find((each) => each.destinationId === destinationId)?.dropped ?? 0
        return control.dropExcess(tenantId, destinationId, { queuedBefore, limit, reason: "over_count", dropped }, undefined)
      })
    return this.control(destination, "drops excess of", drop, ({ dropped }) => {
      const expected = ledger.dropExcess(destination, queuedBefore, limit)
      if (dropped !== expected) this.simulation.violate("A backlog quota drops the entries above it, and nothing else", `${destination.name}: ${dropped} instead of ${expected}`)
    })
  }

  private control<A>(
    destination: LedgerDestination,
    verb: string,
    call: (control: DeliveryControl["Service"]) => Effect.Effect<A, unknown>,
    then: (answer: A) => void
  ): void | Promise<void> {
    const { store, runOperation, wake } = this.parts
    if (!destination.open) return undefined
    return runOperation(Effect.flatMap(DeliveryControl, call), (answer) => {
      then(answer)
      this.simulation.note("operator", `${verb} ${destination.name}, which is now ${destination.state}`)
      store.compareDestination(destination)
      wake(destination.tenantId)
    })
  }
}
