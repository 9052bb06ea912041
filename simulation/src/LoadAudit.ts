/** Checks the results of loads, and the entries that owners drop. */
import { type DropRequest, flightOf, type LoadedDestination, type WaitingDelivery } from "@waybill/core/delivery"
import { isInFlight, type Ledger, type LedgerDestination, sharesKey } from "./Ledger.ts"
import { textOf, waitingOf } from "./OwnershipAudit.ts"
import type { SimulationContext } from "./SimulationContext.ts"

export class LoadAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly compareVersion: (destination: LedgerDestination, version: number) => void

  constructor(simulation: SimulationContext, ledger: Ledger, compareVersion: (destination: LedgerDestination, version: number) => void) {
    this.simulation = simulation
    this.ledger = ledger
    this.compareVersion = compareVersion
  }

  loaded(who: string, tenantId: string, asked: ReadonlyArray<string>, answer: ReadonlyArray<LoadedDestination>): void {
    const open = asked.filter((id) => this.ledger.destination(tenantId, id)?.open === true)
    if (open.sort().join() !== answer.map(({ destinationId }) => destinationId).sort().join()) {
      this.simulation.violate("Open destinations are loaded, and no others", `${who}: ${answer.length} of ${open.length}`)
    }
    for (const loaded of answer) {
      const destination = this.ledger.destination(tenantId, loaded.destinationId)
      if (destination !== undefined) this.compare(who, destination, loaded)
    }
  }

  private compare(who: string, destination: LedgerDestination, loaded: LoadedDestination): void {
    const { simulation } = this
    this.compareVersion(destination, loaded.version)
    if (loaded.endpointUrl !== destination.settings.endpointUrl) simulation.violate("The endpoint of a destination is loaded", `${who}: ${destination.name}, ${loaded.endpointUrl}`)
    if (loaded.breaker.failures !== destination.breaker.failures || loaded.breaker.openUntil !== destination.breaker.openUntil) {
      simulation.violate("The stored state of the circuit breaker is loaded", `${who}: ${destination.name}, ${JSON.stringify(loaded.breaker)} instead of ${JSON.stringify(destination.breaker)}`)
    }
    const keys = this.ledger.liveKeys(destination.tenantId, simulation.storeNow)
    const isSame = loaded.secrets.length === keys.length && keys.every(({ key }, at) => Buffer.from(loaded.secrets[at]!.sealed.subarray(-key.length)).equals(key))
    if (!isSame) simulation.violate("The secrets that sign now are loaded", `${who}: ${destination.name}, ${loaded.secrets.length} instead of ${keys.length}`)
    // those that are sent for the first time are in flights only
    const unsettled = [...destination.unsettled.values()].filter(({ flight, id, state }) => state === "waiting" || flight !== flightOf(id))
    const isHeldBack = ({ deliveryId }: WaitingDelivery) => unsettled.some((other) =>
      other.id !== deliveryId && sharesKey(other, this.ledger.deliveries.get(deliveryId)!) && (isInFlight(other) || other.id < deliveryId))
    const first = textOf(waitingOf(destination).filter((each) => !isHeldBack(each)))
    if (!loaded.moreWaiting && textOf(loaded.waiting) !== first) {
      simulation.violate("An owner loads all waiting deliveries that nothing holds back", `${who}: ${textOf(loaded.waiting)} instead of ${first}`)
    }
  }

  dropped(who: string, { closed, deliveries, keys, owned, tenantId }: DropRequest, answer: { readonly dropped: number; readonly more: boolean }): void {
    const { ledger, simulation } = this
    const fenced = ledger.partitions.fenced(tenantId, owned)
    const named = deliveries.flatMap(({ deliveryId }) => ledger.deliveries.get(deliveryId) ?? []).filter(({ destination }) => fenced.includes(destination.partition))
    ledger.withdrawUnseen(named, simulation.storeNow)
    let expected = 0
    for (const destinationId of closed) {
      const destination = ledger.destination(tenantId, destinationId)
      if (destination !== undefined && !destination.open && fenced.includes(destination.partition)) expected += ledger.dropLeftover(destination)
    }
    for (const { destinationId, key } of keys) {
      const destination = ledger.destination(tenantId, destinationId)
      if (destination !== undefined && destination.open && fenced.includes(destination.partition)) expected += ledger.dropUnseen(destination, key)
    }
    if (answer.dropped !== expected || answer.more) {
      simulation.violate("Only entries that a client may no longer see, and entries of closed subscriptions, are dropped", `${who}: ${answer.dropped} instead of ${expected}`)
    }
  }
}
