/** Begins the attempts of taken deliveries, and updates destinations by their outcomes. */
import { Effect, Semaphore } from "effect"
import { type Attempt, pausedByDeadLetter, undecided, type Verdict } from "./Attempts.ts"
import { attemptsBegin, begun, type Destination, failed, isFailing, learnSize, ownerOf, pause, secretOpened, type SlotOwner, succeeded } from "./Destination.ts"
import { reportPaused } from "../DeliveryReport.ts"
import { type DeliveryOutcome, flightOf, type LoadedDestination, partitionOf, type TakenDelivery } from "../DeliveryStore.ts"
import type { EngineState } from "./EngineState.ts"
import type { OwnedTenant } from "./WorkSet.ts"
import { maySendAgainAfterCrash } from "../model/RetryDecision.ts"
import { monotonicMillis } from "../../shared/MonotonicTime.ts"

/** Attempts, and about so many bytes of them, begin in one turn of the event loop: hundreds, or long signatures, would block it. */
export const sendsPerTurn = 16
const bytesPerTurn = 512 * 1024

/** Slots and bytes that a take reserved for a destination. */
export interface Promised {
  attempts: number
  /** Returned when the first attempt begins, which knows its own. */
  bytes: number
  readonly owner: SlotOwner
  readonly wasFailing: boolean
}

/** Starts attempts of taken deliveries. */
export class Sending {
  /** Number of attempts that began. */
  begun = 0
  /** Held until the next turn of the event loop. Takes whose attempts need several turns go on one a turn, in the order in which they waited. */
  private readonly turns = Semaphore.makeUnsafe(1)
  private readonly parts: EngineState

  constructor(parts: EngineState) {
    this.parts = parts
  }

  /** Starts an attempt for each delivery, or returns it to the store without one. */
  begin(
    tenant: OwnedTenant,
    deliveries: ReadonlyArray<TakenDelivery>,
    { isHeld, left, loaded, promised }: {
      /** Whether a partition is owned without interruption since the take. */
      readonly isHeld: (partition: number) => boolean
      /** Deliveries that were neither begun nor returned. */
      readonly left: Set<TakenDelivery>
      /** Whether changed destinations could be loaded. */
      readonly loaded: boolean
      /** What the take reserved. */
      readonly promised: Map<Destination, Promised>
    }
  ): Effect.Effect<void> {
    const { parts } = this
    const { slots, work } = parts
    return Effect.gen({ self: this }, function*() {
      let keys: ReadonlyArray<Uint8Array> | undefined
      let keysOf: LoadedDestination | undefined
      let now = yield* monotonicMillis
      let sends = 0
      let bytes = 0
      for (const delivery of deliveries) {
        if (sends >= sendsPerTurn || bytes >= bytesPerTurn) {
          yield* this.turns.withPermit(Effect.yieldNow)
          now = yield* monotonicMillis
          sends = bytes = 0
        }
        sends += 1
        bytes += delivery.body.length
        const destination = isHeld(partitionOf(delivery.destinationId)) ? work.find(tenant.tenantId, delivery.destinationId) : undefined
        if (destination === undefined) continue
        const { settings } = destination
        if (settings === undefined || !loaded && destination.stale || settings.secretRefused) {
          left.delete(delivery)
          this.giveBack(destination, delivery)
          continue
        }
        if (!maySendAgainAfterCrash(settings.policy, delivery.tries - 1)) {
          left.delete(delivery)
          yield* this.giveUp(destination, delivery, settings.policy.maxAttempts)
          continue
        }
        if (keysOf !== settings) {
          keys = yield* parts.services.keysOf(tenant.tenantId, settings, parts.storeTime(now))
          keysOf = settings
          now = yield* monotonicMillis
          secretOpened(destination, keys !== undefined, now)
          if (destination.owned.lost) continue
        }
        left.delete(delivery)
        // another process may have the key; one that was suspended may have lost the partition, whose new owner sends this delivery
        if (keys === undefined || now >= parts.leasedUntil) {
          this.giveBack(destination, delivery)
          continue
        }
        const promise = promised.get(destination)
        const isPromised = promise !== undefined && promise.attempts > 0
        const wasFailing = isPromised ? promise.wasFailing : isFailing(destination)
        const attempt = { tenantId: tenant.tenantId, destination: settings, taken: delivery, keys, storeAhead: parts.storeAhead }
        if (isPromised) {
          promise.attempts -= 1
          slots.returnBytes(promise.owner, promise.bytes, wasFailing)
          promise.bytes = 0
        } else slots.use(ownerOf(destination), 1, wasFailing)
        this.send(destination, attempt, { wasFailing, now })
      }
    })
  }

  /** Records that these deliveries are in flight, as soon as the take is answered: a destination with nothing in flight may be forgotten before its attempts begin. */
  taken(tenant: OwnedTenant, deliveries: ReadonlyArray<TakenDelivery>): void {
    for (const { deliveryId, destinationId, flight, lastKey } of deliveries) {
      const destination = this.parts.work.find(tenant.tenantId, destinationId)
      if (destination === undefined) continue
      begun(destination, deliveryId, { lastKey, first: flight === flightOf(deliveryId) })
      tenant.busy.add(destination)
      const { flights, partition } = destination.owned
      const open = flights.get(flight)
      if (open === undefined) flights.set(flight, { partition, flight, left: 1 })
      else open.left += 1
    }
  }

  /** Returns deliveries to the store whose attempts do not begin, because this process stops or host code has failed. */
  giveBackAll(tenant: OwnedTenant, deliveries: Iterable<TakenDelivery>, isHeld: (partition: number) => boolean): void {
    for (const delivery of deliveries) {
      const destination = isHeld(partitionOf(delivery.destinationId)) ? this.parts.work.find(tenant.tenantId, delivery.destinationId) : undefined
      if (destination !== undefined) this.giveBack(destination, delivery)
    }
  }

  /** Returns a delivery to the store without an attempt. */
  private giveBack(destination: Destination, delivery: TakenDelivery): void {
    this.parts.outcomes.add({ destination, outcome: unsent(delivery, "waiting"), sent: undefined }, false)
  }

  /** Makes a dead letter of a delivery whose senders all crashed. */
  private giveUp(destination: Destination, delivery: TakenDelivery, maxAttempts: number): Effect.Effect<void> {
    const pauses = destination.settings?.whenDead === "pause"
    const isFirst = pauses && destination.pause === undefined
    const reason = pausedByDeadLetter(maxAttempts)
    if (pauses) pause(destination, { reason, always: true, cause: delivery.deliveryId })
    this.parts.outcomes.add({ destination, outcome: unsent(delivery, "dead"), sent: undefined }, pauses)
    return isFirst ? reportPaused(destination.owned.tenantId, destination.destinationId, reason) : Effect.void
  }

  private send(destination: Destination, attempt: Attempt, { now, wasFailing }: { readonly wasFailing: boolean; readonly now: number }): void {
    const { parts } = this
    const { slots } = parts
    this.begun += 1
    const { body, events } = attempt.taken
    learnSize(destination, body.length, events)
    attemptsBegin(destination, now, 1)
    const end = slots.begin(ownerOf(destination), body.length, wasFailing)
    parts.attempts.begin(attempt, (verdict) => {
      end()
      this.ended(destination, attempt, verdict)
    })
  }

  private ended(destination: Destination, attempt: Attempt, verdict: Verdict): void {
    const { outcomes, slots, work } = this.parts
    destination.running -= 1
    work.makeRoom()
    if (destination.owned.lost) return
    slots.unwritten += 1
    const before = destination.pause
    const isChanged = this.judge(destination, attempt, verdict)
    outcomes.add({ destination, outcome: verdict, sent: { attempt, verdict, pauses: before === undefined && destination.pause !== undefined } }, isChanged)
  }

  /** Updates the health of the destination. Returns whether its breaker or a pause must be written. */
  private judge(destination: Destination, attempt: Attempt, verdict: Verdict): boolean {
    const elsewhere = attempt.destination.endpointUrl !== destination.settings?.endpointUrl
    // a dead letter pauses the destination for any endpoint; other outcomes of an old endpoint do not apply to the new one
    const pauses = verdict.pause !== undefined && (verdict.state === "dead" || !elsewhere)
    if (pauses) pause(destination, { reason: verdict.pause!, always: verdict.state === "dead", cause: verdict.deliveryId })
    if (elsewhere) return pauses
    const before = destination.breaker
    if (verdict.health === "up") succeeded(destination, this.parts.options.destinationConcurrency)
    if (verdict.health === "down") {
      const pauseMillis = verdict.state === "waiting" ? verdict.dueInMillis : attempt.destination.policy.initialBackoffSeconds * 1000
      failed(destination, verdict.record.at + verdict.record.durationMillis - attempt.storeAhead, pauseMillis)
    }
    return pauses || destination.breaker !== before
  }
}

const unsent = (delivery: TakenDelivery, state: "waiting" | "dead"): DeliveryOutcome => ({ ...undecided(delivery), state, notCounted: true, record: undefined })
