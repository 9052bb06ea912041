/** One statement at a time on a connection, because a cancel request cancels the statement that runs at that moment. */
import * as Effect from "effect/Effect"

export class StatementTurns {
  /** A statement is running. */
  isTaken = false
  private waiting: Array<() => void> = []

  /** Waits until the running statement has ended. Another one may have begun since. */
  readonly wait = Effect.callback<void>((resume) => {
    this.waiting.push(() => resume(Effect.void))
  })

  /** Wakes all waiting statements, and the first of them is sent: a single woken one could have been interrupted. */
  end(): void {
    this.isTaken = false
    const { waiting } = this
    if (waiting.length === 0) return
    this.waiting = []
    for (const wake of waiting) wake()
  }
}
