/** Which tenants a worker should look at, and when it should ask about all of them. */
import { Effect, Latch } from "effect"

/** Retries of many lanes come due one by one; those of so many milliseconds are looked for together. */
const pollGapMillis = 25

export class Agenda {
  /** Tenants that may have something due. */
  readonly hot = new Set<string>()
  /** Those of them that somebody just published for. */
  readonly fresh = new Set<string>()
  /** Worker time at which the queue is asked whose turn it is. */
  nextPoll = 0
  private polledAt = -Infinity
  /** Tenants of which a claim passed over a lane, and the worker time at which they are asked about again, unless they are before. */
  private readonly crossed = new Map<string, number>()
  private readonly work = Latch.makeUnsafe(false)
  private readonly news = Latch.makeUnsafe(false)

  /** Somebody published for these. */
  hear(tenantIds: Iterable<string>): void {
    for (const tenantId of tenantIds) {
      this.hot.add(tenantId)
      this.fresh.add(tenantId)
    }
    this.work.openUnsafe()
    this.news.openUnsafe()
  }

  /** There is more for this tenant at once. */
  comeBack(tenantId: string): void {
    this.hot.add(tenantId)
    this.work.openUnsafe()
  }

  /** What had no room may have some now. */
  makeRoom(): void {
    if (this.hot.size > 0) this.work.openUnsafe()
  }

  lookAt(at: number): void {
    const soonest = Math.max(at, this.polledAt + pollGapMillis)
    if (soonest >= this.nextPoll) return
    this.nextPoll = soonest
    this.work.openUnsafe()
  }

  /** The queue is asked now, and at this time if nothing is to be looked at before. */
  beginPoll(now: number, next: number): void {
    this.polledAt = now
    this.nextPoll = next
  }

  comeBackAt(tenantId: string, at: number): void {
    this.crossed.set(tenantId, at)
    this.work.openUnsafe()
  }

  /** This tenant is asked about now. */
  ask(tenantId: string): void {
    this.fresh.delete(tenantId)
    this.crossed.delete(tenantId)
  }

  /** What comes from now on counts for the next turn. */
  beginTurn(now: number): void {
    this.work.closeUnsafe()
    for (const [tenantId, at] of this.crossed) if (at <= now) this.hot.add(tenantId)
  }

  beginFreshTurn(): void {
    this.news.closeUnsafe()
  }

  /** Until something may be claimed, or it is time. */
  untilWork(now: number, at: number): Effect.Effect<void> {
    const next = Math.min(at, this.nextPoll, ...this.crossed.values())
    return Effect.raceFirst(this.work.await, Effect.sleep(Math.max(1, next - now)))
  }

  get untilNews(): Effect.Effect<void> {
    return this.news.await
  }
}
