/** How to undo in the reference model what settlements changed, for crashes of the store: it may lose the last ones, because their commits do not wait for the disk. */

interface Settlement {
  readonly undo: () => void
  /** What to do if the store loses it. */
  readonly afterLoss: Array<() => void>
}

export class SettlementLog {
  private settlements: Array<Settlement> = []

  /** Adds a settlement whose commit does not wait for the disk, in the order of the store. */
  add(undo: () => void): void {
    this.settlements.push({ undo, afterLoss: [] })
  }

  /** Something was read from the store that may be untrue after the loss of the last settlement. */
  wasRead(forget: () => void): void {
    this.settlements.at(-1)?.afterLoss.push(forget)
  }

  /** The store crashed and lost the newest settlements, and has the others on its disk. */
  lose(newest: number): void {
    const lost = this.settlements.slice(Math.max(0, this.settlements.length - newest))
    this.settlements = []
    for (const { undo } of lost.toReversed()) undo()
    for (const { afterLoss } of lost) for (const forget of afterLoss) forget()
  }
}

/** Returns what gives these properties their present values again. */
export const restoring = <T extends object>(target: T, ...names: ReadonlyArray<keyof T>): () => void => {
  const before = names.map((name) => target[name])
  return () => {
    for (const [at, name] of names.entries()) target[name] = before[at]!
  }
}
