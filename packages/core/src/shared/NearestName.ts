/** Finds the known name that is nearest to a misspelt one. */

/**
 * The known name nearest to `written`, without regard to case; a name that contains the other is nearer than any other, from three characters on.
 * None if more than half of the characters of the longer name differ.
 */
export const nearestName = (written: string, known: ReadonlyArray<string>): string | undefined => {
  const text = written.toLowerCase().slice(0, 100)
  const distanceTo = (name: string): number => {
    const other = name.toLowerCase()
    if (text === other) return 0
    return Math.min(text.length, other.length) > 2 && (other.includes(text) || text.includes(other)) ? 0.5 : editDistance(text, other)
  }
  let nearest: { readonly name: string; readonly distance: number } | undefined
  for (const name of known) {
    const distance = distanceTo(name)
    if (distance <= Math.max(text.length, name.length) / 2 && (nearest === undefined || distance < nearest.distance)) nearest = { name, distance }
  }
  return nearest?.name
}

/** Characters to add, remove, change or swap with their neighbour. */
export const editDistance = (a: string, b: string): number => {
  let previous: Array<number> = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const before = previous
    previous = row
    row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1)
      row.push(cost)
    }
  }
  return row[b.length]!
}
