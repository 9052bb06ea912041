/** A journal of changes to objects, maps, sets and lists, for rollbacks. */

interface Step {
  readonly undo: () => void
  /** Makes the change again, on the state that it was made on. */
  readonly redo: () => void
}

export class Journal {
  private readonly steps: Array<Step> = []
  /** The changes that are not counted. */
  private readonly uncounted = new Set<Step>()
  /** The kept changes that `lose` undoes, by transaction. */
  private unflushed: Array<ReadonlyArray<Step>> = []

  /** The total number of kept changes. */
  kept = 0

  /** Elements added to maps, sets and lists minus elements removed. */
  entries = 0

  /** The current position, for `rewindTo`. */
  get mark(): number {
    return this.steps.length
  }

  /** Undoes all changes since `mark`, newest first. */
  rewindTo(mark: number): void {
    while (this.steps.length > mark) {
      const step = this.steps.pop()!
      this.uncounted.delete(step)
      step.undo()
    }
  }

  /** Keeps all changes, of one transaction. Those that are not flushed are lost in a crash, until later changes are flushed. */
  forget(isFlushed = true): void {
    if (!isFlushed) this.unflushed.push([...this.steps])
    else if (this.steps.length > 0) this.unflushed = []
    this.kept += this.steps.length - this.uncounted.size
    this.steps.length = 0
    this.uncounted.clear()
  }

  /** Undoes the kept changes of the newest transactions that are not flushed, at most of so many, and flushes the others. Returns the number of undone transactions. */
  lose(newest = Infinity): number {
    const lost = this.unflushed.splice(Math.max(0, this.unflushed.length - newest))
    for (const { undo } of lost.flat().toReversed()) undo()
    this.unflushed = []
    return lost.length
  }

  /** Runs `read` on the last kept state. Returns `undefined` and undoes everything if it makes changes. */
  readKept<A>(read: () => A): { readonly answer: A } | undefined {
    const steps = this.steps.splice(0)
    for (const { undo } of steps.toReversed()) undo()
    try {
      const answer = read()
      return this.steps.length === 0 ? { answer } : undefined
    } finally {
      this.rewindTo(0)
      for (const step of steps) {
        step.redo()
        this.steps.push(step)
      }
    }
  }

  /** Changes that only record a call: they can be undone, but are not counted. */
  asRecord<A>(work: () => A): A {
    const [mark, before] = [this.mark, this.entries]
    const answer = work()
    const steps = this.steps.splice(mark)
    this.entries = before
    for (const step of steps) this.uncounted.delete(step)
    if (steps.length === 0) return answer
    const uncounted = (change: () => void) => () => {
      const entries = this.entries
      change()
      this.entries = entries
    }
    const step: Step = {
      undo: uncounted(() => {
        for (const { undo } of steps.toReversed()) undo()
      }),
      redo: uncounted(() => {
        for (const { redo } of steps) redo()
      })
    }
    this.steps.push(step)
    this.uncounted.add(step)
    return answer
  }

  set<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): void {
    const before = target[key]
    if (before === value) return
    this.make(() => void (target[key] = value), () => void (target[key] = before))
  }

  put<K, V>(map: Map<K, V>, key: K, value: V): void {
    const had = map.has(key)
    const before = map.get(key)
    this.make(() => map.set(key, value), () => had ? map.set(key, before!) : map.delete(key), had ? 0 : 1)
  }

  drop<K, V>(map: Map<K, V>, key: K): void {
    if (!map.has(key)) return
    const before = map.get(key)!
    this.make(() => map.delete(key), () => map.set(key, before), -1)
  }

  /** Drops the first entries with a chosen value, at most `most`, and returns their number. */
  dropWhere<K, V>(map: Map<K, V>, isChosen: (value: V) => boolean, most = Infinity): number {
    const chosen = [...map].filter(([, value]) => isChosen(value)).slice(0, most)
    for (const [key] of chosen) this.drop(map, key)
    return chosen.length
  }

  add<V>(set: Set<V>, value: V): void {
    if (set.has(value)) return
    this.make(() => set.add(value), () => set.delete(value), 1)
  }

  remove<V>(set: Set<V>, value: V): void {
    if (!set.has(value)) return
    this.make(() => set.delete(value), () => set.add(value), -1)
  }

  insert<V>(list: Array<V>, at: number, value: V): void {
    this.make(() => list.splice(at, 0, value), () => list.splice(at, 1), 1)
  }

  take<V>(list: Array<V>, at: number): void {
    const before = list[at]!
    this.make(() => list.splice(at, 1), () => list.splice(at, 0, before), -1)
  }

  /** The list with this key. Adds an empty one if there is none. */
  listIn<K, V>(map: Map<K, Array<V>>, key: K): Array<V> {
    const known = map.get(key)
    if (known !== undefined) return known
    const list: Array<V> = []
    this.put(map, key, list)
    return list
  }

  /** Makes a change. `added`: how many entries it adds. */
  private make(change: () => void, back: () => void, added = 0): void {
    const redo = () => {
      change()
      this.entries += added
    }
    const undo = () => {
      back()
      this.entries -= added
    }
    redo()
    this.steps.push({ undo, redo })
  }
}

/** The first index of a sorted list whose item does not sort before the given one. */
export const lowerBound = <V>(list: ReadonlyArray<V>, compare: (item: V) => number): number => {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(list[middle]!) < 0) low = middle + 1
    else high = middle
  }
  return low
}
