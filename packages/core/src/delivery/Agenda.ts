/** Which tenants a worker should look at, and when it should ask about all of them. */
import { Effect, Latch } from "effect"

export class Agenda {
  /** Tenants that may have something due. */
  readonly hot = new Set<string>()
  /** Those of them that somebody just published for. */
  readonly fresh = new Set<string>()
  /** Worker time at which the queue is asked whose turn it is. */
  nextPoll = 0
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
    if (at >= this.nextPoll) return
    this.nextPoll = at
    this.work.openUnsafe()
  }

  /** What comes from now on counts for the next turn. */
  beginTurn(): void {
    this.work.closeUnsafe()
  }

  beginFreshTurn(): void {
    this.news.closeUnsafe()
  }

  /** Until something may be claimed, or it is time. */
  untilWork(now: number, at: number): Effect.Effect<void> {
    return Effect.raceFirst(this.work.await, Effect.sleep(Math.max(1, Math.min(at, this.nextPoll) - now)))
  }

  get untilNews(): Effect.Effect<void> {
    return this.news.await
  }
}
