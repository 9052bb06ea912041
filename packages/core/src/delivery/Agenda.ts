/** Which tenants a worker should look at, and when it should ask about all of them. */
import { Effect, Latch } from "effect"

/** Retries of many destinations come due one by one; those of so many milliseconds are looked for together. */
const pollGapMillis = 25

/** Tenants that one of a worker's loops should claim for. */
export class CallList {
  readonly tenants = new Set<string>()
  /** Tenants of which a claim passed over a destination, and the worker time at which they are asked about again, unless they are before. */
  private readonly crossed = new Map<string, number>()
  private readonly latch = Latch.makeUnsafe(false)

  /** At the next turn, whenever that is. */
  add(tenantId: string): void {
    this.tenants.add(tenantId)
  }

  comeBack(tenantId: string): void {
    this.tenants.add(tenantId)
    this.latch.openUnsafe()
  }

  comeBackAt(tenantId: string, at: number): void {
    this.crossed.set(tenantId, at)
    this.latch.openUnsafe()
  }

  /** Whoever waits looks again what he waits for. */
  wake(): void {
    this.latch.openUnsafe()
  }

  /** What had no room may have some now. */
  makeRoom(): void {
    if (this.tenants.size > 0) this.latch.openUnsafe()
  }

  /** This tenant is asked about now. */
  ask(tenantId: string): void {
    this.tenants.delete(tenantId)
    this.crossed.delete(tenantId)
  }

  /** What comes from now on counts for the next turn. */
  beginTurn(now: number): void {
    this.latch.closeUnsafe()
    for (const [tenantId, at] of this.crossed) {
      if (at > now) continue
      this.crossed.delete(tenantId)
      this.tenants.add(tenantId)
    }
  }

  /** Until something may be claimed, or it is time. */
  until(now: number, at: number): Effect.Effect<void> {
    const next = Math.min(at, ...this.crossed.values())
    return next === Infinity ? this.latch.await : Effect.raceFirst(this.latch.await, Effect.sleep(Math.max(1, next - now)))
  }
}

export class Agenda {
  /** Those that somebody published for. Their loop never waits for destinations that are due. */
  readonly arrived = new CallList()
  /** Those that may have a destination due, or one we hold that can be handed more. */
  readonly due = new CallList()
  /** Worker time at which the queue is asked whose turn it is. */
  nextPoll = 0
  private polledAt = -Infinity

  lookAt(at: number): void {
    const soonest = Math.max(at, this.polledAt + pollGapMillis)
    if (soonest >= this.nextPoll) return
    this.nextPoll = soonest
    this.due.wake()
  }

  /** The queue is asked now, and at this time if nothing is to be looked at before. */
  beginPoll(now: number, next: number): void {
    this.polledAt = now
    this.nextPoll = next
  }

  makeRoom(): void {
    this.arrived.makeRoom()
    this.due.makeRoom()
  }

  /** Until something due may be claimed, or it is time to ask. */
  untilDue(now: number, at: number): Effect.Effect<void> {
    return this.due.until(now, Math.min(at, this.nextPoll))
  }
}
