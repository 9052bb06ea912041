/** Writes the outcomes of deliveries. */
import { Effect } from "effect"
import { completeAll } from "../../shared/CompleteAll.ts"
import type { StorageError } from "../../shared/StoragePort.ts"
import { changeWritten, type Destination, settled, type PendingPause } from "./Destination.ts"
import { report } from "../DeliveryReport.ts"
import type { DestinationChange, OwnedPartition, Settled, SettleRequest, WaitingDelivery } from "../DeliveryStore.ts"
import type { EngineState } from "./EngineState.ts"
import { type OpenFlight, type OwnedPartitionState, type OwnedTenant, ownershipOf } from "./WorkSet.ts"
import type { Ended } from "./OutcomeBuffer.ts"
import { monotonicMillis } from "../../shared/MonotonicTime.ts"

const tenantsAtOnce = 4

interface OfTenant {
  readonly ended: Array<Ended>
  /**
   * With the pause to write. It is fixed when the outcomes leave the buffer: it is written with the outcome that is its cause, and a later attempt may request another
   * one before the write begins.
   */
  readonly changed: Map<Destination, PendingPause | undefined>
}

/** The loop that writes outcomes. */
export class Settling {
  private readonly parts: EngineState
  /** Average duration of the last writes. */
  private writeMillis = 0

  constructor(parts: EngineState) {
    this.parts = parts
  }

  /** Writes all buffered outcomes, by tenant. */
  get turn(): Effect.Effect<void, StorageError> {
    const { outcomes, slots } = this.parts
    return Effect.gen({ self: this }, function*() {
      yield* outcomes.gather(() => slots.used, this.writeMillis)
      const { changed, ended } = outcomes.take()
      const tenants = new Map<OwnedTenant, OfTenant>()
      const of = ({ owned: { tenant } }: Destination): OfTenant => {
        const own = tenants.get(tenant) ?? { ended: [], changed: new Map() }
        tenants.set(tenant, own)
        return own
      }
      for (const each of ended) {
        // another worker owns the destination and sends the delivery again
        if (each.destination.owned.lost) this.forget([each])
        else of(each.destination).ended.push(each)
      }
      for (const destination of changed) if (!destination.owned.lost) of(destination).changed.set(destination, destination.pause)
      const left = new Map(tenants)
      const write = ([tenant, own]: readonly [OwnedTenant, OfTenant]) => Effect.suspend(() => {
        left.delete(tenant)
        return this.ofTenant(tenant, own)
      })
      yield* completeAll(Array.from(tenants, write), tenantsAtOnce).pipe(Effect.onError(() => Effect.sync(() => {
        // those that did not begin before an interruption
        for (const own of left.values()) this.putBack(own)
      })))
    })
  }

  private putBack({ changed, ended }: OfTenant): void {
    this.parts.outcomes.putBack({ ended, changed: changed.keys() })
  }

  private forget(ended: ReadonlyArray<Ended>): void {
    this.parts.slots.unwritten -= ended.reduce((sum, { sent }) => sum + (sent === undefined ? 0 : 1), 0)
    // others may wait for slots
    this.parts.work.makeRoom()
  }

  private ofTenant(tenant: OwnedTenant, own: OfTenant): Effect.Effect<void, StorageError> {
    const { store } = this.parts
    const owned = ownershipOf(partitionsOf(own))
    return Effect.uninterruptibleMask((restore) => Effect.gen({ self: this }, function*() {
      const asked = yield* monotonicMillis
      const answer = yield* restore(store.settle(requestOf(this.parts, tenant.tenantId, own, owned))).pipe(Effect.onError(() => Effect.sync(() => this.putBack(own))))
      const answered = yield* monotonicMillis
      this.writeMillis += (answered - asked - this.writeMillis) / 4
      const written = this.keep(own, owned, answer)
      this.forget(written)
      for (const { destination, outcome } of written) {
        settled(destination, outcome.deliveryId, waitingOf(outcome, answered), this.parts.work.nextEvent())
        this.parts.work.touch(destination)
      }
      this.parts.work.makeRoom()
      const finished = written.flatMap(({ sent }) => sent === undefined ? [] : [sent])
      yield* report(tenant.tenantId, written, this.parts.deadLetters)
      yield* this.parts.services.observe(tenant.tenantId, finished)
      // V8 may keep what is left of this turn until it collects the whole heap, with all that it refers to (docs/decisions/0110)
      for (const list of [own.ended, written, finished]) list.length = 0
    }))
  }

  /** Returns the written outcomes. Others are written again, unless their partition has another owner. */
  private keep(own: OfTenant, owned: ReadonlyArray<OwnedPartition>, answer: Settled): Array<Ended> {
    const { outcomes, work } = this.parts
    const [kept, locked] = [new Set(answer.owned), new Set(answer.locked)]
    const isWritten = ({ destinationId, owned: { partition } }: Destination) => kept.has(partition) && !locked.has(destinationId)
    work.loseRefused(owned.filter(({ partition }) => !kept.has(partition)))
    const written: Array<Ended> = []
    const again = { ended: new Array<Ended>(), changed: new Set<Destination>() }
    for (const each of own.ended) {
      const { destination } = each
      if (isWritten(destination)) {
        const open = flightOf(each)
        if (open !== undefined && --open.left === 0) destination.owned.flights.delete(open.flight)
        destination.owned.lastOutcome = each.outcome
        written.push(each)
      } else if (destination.owned.lost) this.forget([each])
      else again.ended.push(each)
    }
    for (const [destination, pause] of own.changed) {
      if (isWritten(destination)) {
        changeWritten(destination, pause)
        work.touch(destination)
      } else if (!destination.owned.lost) again.changed.add(destination)
    }
    if (again.ended.length + again.changed.size > 0) outcomes.putBack(again)
    return written
  }
}

const partitionsOf = ({ changed, ended }: OfTenant): ReadonlySet<OwnedPartitionState> =>
  new Set([...ended.map(({ destination }) => destination.owned), ...Array.from(changed.keys(), ({ owned }) => owned)])

const requestOf = (parts: EngineState, tenantId: string, { changed, ended }: OfTenant, owned: ReadonlyArray<OwnedPartition>): SettleRequest => {
  const counts = new Map<OpenFlight, number>()
  for (const each of ended) {
    const open = flightOf(each)
    if (open !== undefined) counts.set(open, (counts.get(open) ?? 0) + 1)
  }
  return {
    tenantId,
    owned,
    outcomes: ended.map(({ outcome }) => outcome),
    ended: Array.from(counts).flatMap(([{ flight, left, partition }, count]) => left === count ? [{ partition, flight }] : []),
    // a load of another endpoint clears a pause for the one before
    destinations: Array.from(changed, ([destination, pause]) => changeOf(parts, destination, destination.pause && pause))
  }
}

const flightOf = ({ destination: { owned }, outcome: { flight } }: Ended): OpenFlight | undefined => owned.flights.get(flight)

const changeOf = (parts: EngineState, { breaker: { failures, openUntil }, destinationId, settings }: Destination, pause: PendingPause | undefined): DestinationChange => ({
  destinationId,
  endpointUrl: settings?.endpointUrl ?? "",
  breaker: { failures, openUntil: openUntil === undefined ? undefined : parts.storeTime(openUntil) },
  pause: pause?.reason,
  always: pause?.always ?? false,
  cause: pause?.cause
})

const waitingOf = (outcome: Ended["outcome"], now: number): WaitingDelivery | undefined =>
  outcome.state !== "waiting" ? undefined : { deliveryId: outcome.deliveryId, dueAt: Math.ceil(now + outcome.dueInMillis) }
