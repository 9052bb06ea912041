/** Port: wakes the calls that wait for a carrier's decision, in every process. Only the delay depends on it: a call reads the pickup itself. */
import { Context, Effect, Latch, type Scope } from "effect"

/** Port: wakes calls that wait for a carrier's decision, in every process. A lost signal is noticed by polling. */
export class PickupSignals extends Context.Service<PickupSignals, {
  /** Wakes the calls that wait for this pickup when the transaction commits. Never fails, may be lost. */
  readonly decided: (tenantId: string, pickupId: string) => Effect.Effect<void>
  /** From now on until the scope closes: an effect that waits for the next signal about this pickup since it last returned. */
  readonly listen: (tenantId: string, pickupId: string) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
}>()("@waybill/core/pickups/PickupSignals") {}

/** The waiting calls of one process. For adapters. */
export class WaitingCalls {
  private readonly latches = new Map<string, Set<Latch.Latch>>()

  readonly listen = (key: string): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
    Effect.map(
      Effect.acquireRelease(Effect.sync(() => this.add(key)), (latch) => Effect.sync(() => this.remove(key, latch))),
      (latch) => Effect.andThen(latch.await, Effect.sync(() => void latch.closeUnsafe()))
    )

  wake(key: string): void {
    for (const latch of this.latches.get(key) ?? []) latch.openUnsafe()
  }

  /** When signals may have been lost. */
  wakeAll(): void {
    for (const key of this.latches.keys()) this.wake(key)
  }

  private add(key: string): Latch.Latch {
    const latch = Latch.makeUnsafe(false)
    const waiting = this.latches.get(key)
    if (waiting === undefined) this.latches.set(key, new Set([latch]))
    else waiting.add(latch)
    return latch
  }

  private remove(key: string, latch: Latch.Latch): void {
    const waiting = this.latches.get(key)
    waiting?.delete(latch)
    if (waiting?.size === 0) this.latches.delete(key)
  }
}
